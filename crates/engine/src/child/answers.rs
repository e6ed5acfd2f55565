//! Answers of a child to `count` and `latencies`: allocations and latencies (docs/internals/src/protocol.md, sections 9 and
//! 10).
//!
//! Every answer is checked before use. An answer that contradicts itself or its request is rejected as a whole; the
//! error message completes the sentence "its answer ...".

use serde::Deserialize;

use perfcheck_analysis::model::{Allocations, Latencies, LatencyWindow, Nanos, limits};
use perfcheck_stats::HdrPrecision;

/// Largest number of messages of failed operations in an answer.
const MOST_MESSAGES: usize = 5;

/// The fields of a `counted` frame.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct AllocationsAnswer {
    allocations: Vec<u64>,
    bytes: Vec<u64>,
    peak_bytes: Vec<u64>,
    other_allocations: Vec<u64>,
    other_bytes: Vec<u64>,
}

impl AllocationsAnswer {
    /// Converts the columns to one entry per iteration, after checking that they can answer `count asked`.
    pub(super) fn to_allocations(&self, asked: u64) -> Result<Vec<Allocations>, String> {
        let columns = [
            ("allocations", &self.allocations),
            ("bytes", &self.bytes),
            ("peak_bytes", &self.peak_bytes),
            ("other_allocations", &self.other_allocations),
            ("other_bytes", &self.other_bytes),
        ];
        let length = self.allocations.len();
        for (name, column) in columns {
            if column.len() != length {
                return Err(format!(
                    "has {length} entries in `allocations` and {} in `{name}`",
                    column.len()
                ));
            }
            check_below_limit(name, column)?;
        }
        if length == 0 || length as u64 > asked.max(1) {
            return Err(format!(
                "counts {length} iterations where 1 to {asked} were asked for"
            ));
        }
        let counted: Vec<Allocations> = (0..length)
            .map(|i| Allocations {
                count: self.allocations[i],
                bytes: self.bytes[i],
                peak_bytes: self.peak_bytes[i],
                other_count: self.other_allocations[i],
                other_bytes: self.other_bytes[i],
            })
            .collect();
        let from_nothing = |found: &&Allocations| {
            (found.count == 0 && found.bytes > 0)
                || (found.other_count == 0 && found.other_bytes > 0)
        };
        if let Some(found) = counted.iter().find(from_nothing) {
            return Err(format!(
                "has {} bytes of {} allocations and {} bytes of {} allocations of other threads",
                found.bytes, found.count, found.other_bytes, found.other_count
            ));
        }
        if let Some(found) = counted.iter().find(|found| found.peak_bytes > found.bytes) {
            return Err(format!(
                "has a peak of {} bytes where only {} bytes were allocated",
                found.peak_bytes, found.bytes
            ));
        }
        Ok(counted)
    }
}

/// The fields of a `latencies` frame.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct LatenciesAnswer {
    /// Significant digits of the histogram; three if absent.
    #[serde(default)]
    digits: Option<u8>,
    counts: Vec<(u32, u64)>,
    clamped: u64,
    errors: u64,
    messages: Vec<String>,
    reservoir_ns: Vec<u64>,
    windows: Vec<LatencyWindowAnswer>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct LatencyWindowAnswer {
    operations: u64,
    errors: u64,
    #[serde(default)]
    p50_ns: Option<u64>,
    #[serde(default)]
    p95_ns: Option<u64>,
    #[serde(default)]
    p99_ns: Option<u64>,
}

impl LatenciesAnswer {
    /// Converts the answer, after checking that it can answer `latencies asked` for this number of operations.
    pub(super) fn into_latencies(self, asked: u64, operations: u64) -> Result<Latencies, String> {
        let precision = self.precision()?;
        let total = self.check_counts(precision)?;
        let told = total.saturating_add(self.errors);
        if told != operations {
            return Err(format!(
                "counts {total} operations and {} errors where the samples had {operations} iterations",
                self.errors
            ));
        }
        if self.messages.len() > MOST_MESSAGES || self.messages.len() as u64 > self.errors {
            return Err(format!(
                "has {} messages of {} errors, of which the first {MOST_MESSAGES} are told",
                self.messages.len(),
                self.errors
            ));
        }
        let single = self.reservoir_ns.len() as u64;
        if single > asked.min(total) {
            return Err(format!(
                "has {single} single times of {total} operations where at most {asked} were asked for"
            ));
        }
        check_below_limit("reservoir_ns", &self.reservoir_ns)?;
        if let Some(time) = self.find_uncounted_time(precision) {
            return Err(format!(
                "has a single time of {time} ns, which is in none of its counters"
            ));
        }
        let windows = self.windows.iter().map(LatencyWindowAnswer::to_window);
        let windows = windows.collect::<Result<Vec<LatencyWindow>, String>>()?;
        let sum = |pick: fn(&LatencyWindow) -> u64| {
            windows
                .iter()
                .try_fold(0_u64, |sum, window| sum.checked_add(pick(window)))
        };
        let in_windows = (sum(|window| window.operations), sum(|window| window.errors));
        if in_windows != (Some(total), Some(self.errors)) {
            return Err(format!(
                "has other numbers of operations and errors in its windows than the {total} and {} in all",
                self.errors
            ));
        }
        let mut reservoir: Vec<Nanos> = self.reservoir_ns.into_iter().map(Nanos).collect();
        // Their order carries no information, and sorted values compress better.
        reservoir.sort_unstable();
        Ok(Latencies {
            digits: precision.digits(),
            counts: self.counts,
            clamped: self.clamped,
            errors: self.errors,
            messages: self.messages.into_iter().map(limits::cut_message).collect(),
            reservoir,
            windows,
        })
    }

    /// Returns the precision of the histogram.
    fn precision(&self) -> Result<HdrPrecision, String> {
        self.digits.map_or(Ok(HdrPrecision::default()), |digits| {
            HdrPrecision::from_digits(digits)
                .ok_or_else(|| format!("has a histogram of {digits} digits; 1 to 5 there are"))
        })
    }

    /// Checks the counters and returns the number of operations in them.
    fn check_counts(&self, precision: HdrPrecision) -> Result<u64, String> {
        if let Some(pair) = self.counts.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            return Err(format!(
                "has the counter {} after the counter {}",
                pair[1].0, pair[0].0
            ));
        }
        let last = precision.last_index();
        if let Some((index, _)) = self.counts.iter().find(|(index, _)| *index > last) {
            return Err(format!(
                "has the counter {index}, and the last one is {last}"
            ));
        }
        if let Some((index, _)) = self.counts.iter().find(|(_, count)| *count == 0) {
            return Err(format!("tells the counter {index}, which is 0"));
        }
        let in_last = match self.counts.last() {
            Some((index, count)) if *index == last => *count,
            _ => 0,
        };
        if self.clamped > in_last {
            return Err(format!(
                "says that {} operations took too long, and has {in_last} in its last counter",
                self.clamped
            ));
        }
        let counters = self.counts.iter();
        counters
            .map(|(_, count)| *count)
            .try_fold(0_u64, u64::checked_add)
            .filter(|total| *total < limits::BEYOND_NUMBERS)
            .ok_or_else(|| "has counters whose sum is not below 2^63".to_owned())
    }

    /// Returns a single time that has no counter, if there is one.
    fn find_uncounted_time(&self, precision: HdrPrecision) -> Option<u64> {
        let has_counter = |time: u64| {
            let index = precision.index_of(time);
            self.counts
                .binary_search_by_key(&index, |(index, _)| *index)
                .is_ok()
        };
        self.reservoir_ns
            .iter()
            .copied()
            .find(|time| !has_counter(*time))
    }
}

impl LatencyWindowAnswer {
    fn to_window(&self) -> Result<LatencyWindow, String> {
        let told = [self.p50_ns, self.p95_ns, self.p99_ns];
        let percentiles = match (self.operations, told) {
            (0, [None, None, None]) => [0; 3],
            (1.., [Some(p50), Some(p95), Some(p99)])
                if p50 <= p95 && p95 <= p99 && p99 < limits::BEYOND_NUMBERS =>
            {
                [p50, p95, p99]
            }
            (operations, _) => {
                return Err(format!(
                    "has a window of {operations} operations with the percentiles {told:?}"
                ));
            }
        };
        let [p50, p95, p99] = percentiles.map(Nanos);
        Ok(LatencyWindow {
            operations: self.operations,
            errors: self.errors,
            p50,
            p95,
            p99,
        })
    }
}

fn check_below_limit(name: &str, values: &[u64]) -> Result<(), String> {
    match values
        .iter()
        .find(|value| **value >= limits::BEYOND_NUMBERS)
    {
        Some(value) => Err(format!("has {value} in `{name}`, which is not below 2^63")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::codec::Frame;

    fn counted(line: &str) -> Result<Vec<Allocations>, String> {
        match Frame::parse(line.as_bytes()) {
            Ok(Frame::Counted(counted)) => counted.to_allocations(2),
            other => panic!("{other:?}"),
        }
    }

    const COUNTED: &str = r#"{"type":"counted","allocations":[1,0],"bytes":[64,0],"peak_bytes":[64,0],"other_allocations":[0,2],"other_bytes":[0,9]}"#;

    #[test]
    fn an_answer_to_count_is_an_entry_an_iteration() {
        let found = counted(COUNTED).expect("a good one");
        assert_eq!((found[0].count, found[0].peak_bytes), (1, 64));
        assert_eq!((found[1].other_count, found[1].other_bytes), (2, 9));
    }

    #[test]
    fn counts_that_contradict_each_other_are_refused_with_what_is_wrong() {
        for (good, bad, said) in [
            (
                "\"bytes\":[64,0]",
                "\"bytes\":[64]",
                "2 entries in `allocations` and 1 in `bytes`",
            ),
            (
                "[64,0],\"other",
                "[65,0],\"other",
                "a peak of 65 bytes where only 64",
            ),
            (
                "\"allocations\":[1,0]",
                "\"allocations\":[0,0]",
                "64 bytes of 0 allocations",
            ),
            (
                "\"other_bytes\":[0,9]",
                "\"other_bytes\":[1,9]",
                "1 bytes of 0 allocations of other",
            ),
            ("[0,9]", "[0,9223372036854775808]", "not below 2^63"),
        ] {
            let line = COUNTED.replacen(good, bad, 1);
            assert_ne!(line, COUNTED);
            let what = counted(&line).expect_err(bad);
            assert!(what.contains(said), "{what}");
        }
        let empty = r#"{"type":"counted","allocations":[],"bytes":[],"peak_bytes":[],"other_allocations":[],"other_bytes":[]}"#;
        assert!(
            counted(empty)
                .expect_err("empty")
                .contains("counts 0 iterations")
        );
        let three = empty.replace("[]", "[0,0,0]");
        assert!(counted(&three).expect_err("three").contains("where 1 to 2"));
    }

    const LATENCIES: &str = r#"{"type":"latencies","counts":[[100,3],[2048,1]],"clamped":0,"errors":1,"messages":["refused"],"reservoir_ns":[2049,100],"windows":[{"operations":3,"errors":0,"p50_ns":100,"p95_ns":100,"p99_ns":100},{"operations":0,"errors":1,"p50_ns":null,"p95_ns":null,"p99_ns":null},{"operations":1,"errors":0,"p50_ns":2048,"p95_ns":2048,"p99_ns":2048}]}"#;

    fn latencies(line: &str) -> Result<Latencies, String> {
        match Frame::parse(line.as_bytes()) {
            Ok(Frame::Latencies(told)) => told.into_latencies(2, 5),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_answer_to_latencies_has_counters_single_times_and_windows() {
        let found = latencies(LATENCIES).expect("a good one");
        assert_eq!(found.counts, [(100, 3), (2048, 1)]);
        assert_eq!(found.reservoir, [Nanos(100), Nanos(2049)]);
        assert_eq!((found.windows.len(), found.windows[1].p50), (3, Nanos(0)));
        let none = r#"{"type":"latencies","counts":[],"clamped":0,"errors":5,"messages":[],"reservoir_ns":[],"windows":[{"operations":0,"errors":5}]}"#;
        assert_eq!(latencies(none).expect("all failed").errors, 5);
    }

    #[test]
    fn latencies_that_contradict_each_other_are_refused_with_what_is_wrong() {
        for (good, bad, said) in [
            (
                "[[100,3],[2048,1]]",
                "[[2048,1],[100,3]]",
                "counter 100 after the counter 2048",
            ),
            (
                "[[100,3],[2048,1]]",
                "[[100,3],[100,1]]",
                "counter 100 after the counter 100",
            ),
            (
                "[2048,1]]",
                "[33421,1]]",
                "counter 33421, and the last one is 33420",
            ),
            (
                "[2048,1]]",
                "[2048,1],[2050,0]]",
                "tells the counter 2050, which is 0",
            ),
            ("[100,3]", "[100,9223372036854775807]", "not below 2^63"),
            (
                "[100,3]",
                "[100,4]",
                "5 operations and 1 errors where the samples had 5",
            ),
            (
                "\"clamped\":0",
                "\"clamped\":1",
                "1 operations took too long",
            ),
            (
                "[\"refused\"]",
                "[\"refused\",\"again\"]",
                "2 messages of 1 errors",
            ),
            (
                "[2049,100]",
                "[2049,100,100]",
                "3 single times of 4 operations",
            ),
            ("[2049,100]", "[2050,100]", "single time of 2050 ns"),
            (
                "\"operations\":1",
                "\"operations\":2",
                "in its windows than the 4 and 1",
            ),
            (
                "\"p95_ns\":2048",
                "\"p95_ns\":2049",
                "window of 1 operations",
            ),
            ("\"p50_ns\":null", "\"p50_ns\":1", "window of 0 operations"),
        ] {
            let line = LATENCIES.replacen(good, bad, 1);
            assert_ne!(line, LATENCIES, "{good}");
            let what = latencies(&line).expect_err(bad);
            assert!(what.contains(said), "{what}");
        }
    }

    #[test]
    fn negative_and_broken_numbers_are_no_frames() {
        for (good, bad) in [
            ("[100,3]", "[100,-3]"),
            ("[100,3]", "[100]"),
            ("2049,", "1.5,"),
        ] {
            let line = LATENCIES.replacen(good, bad, 1);
            assert!(Frame::parse(line.as_bytes()).is_err(), "{line}");
        }
    }
}
