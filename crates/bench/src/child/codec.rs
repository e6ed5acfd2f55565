//! Encodes requests as lines of words and decodes frames, one JSON object a line (docs/internals/src/protocol.md, sections 2 to 4), including
//! allocations and latencies (sections 9 and 10).
//!
//! Invariant: every answer is checked before use. An answer that contradicts itself or its request is rejected as a whole; the error message
//! completes the sentence "its answer ...".

use serde::Deserialize;
use std::fmt;

use perfcheck_analysis::model::{
    Allocations, AuthorSettings, Latencies, LatencyWindow, Metric, Nanos, Sample, Throughput,
    limits,
};
use perfcheck_stats::{HdrCounter, HdrPrecision};

/// The version of docs/internals/src/protocol.md that this crate implements.
pub const PROTOCOL_VERSION: u64 = 1;

/// The order in which the parent can run a child's benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    /// The parent can run any benchmark, any number of times and in any order.
    Addressable,
    /// The child offers its benchmarks in program order, and the parent runs or skips each of them.
    Sequential,
}

/// The measurements that a benchmark offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// The benchmark offers samples of the time.
    Time,
    /// The benchmark offers samples of the time, and the latencies of single operations.
    Latency,
}

impl RequestKind {
    /// Parses the kind of a benchmark. An absent or unknown word means `Time`.
    pub(super) fn parse(word: Option<&str>) -> Self {
        match word {
            Some("latency") => Self::Latency,
            _ => Self::Time,
        }
    }
}

/// The first frame of a child.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Hello {
    /// Version of the protocol that the child chose.
    pub protocol: u64,
    /// Name of the harness.
    pub harness: String,
    /// Version of the harness.
    pub version: String,
    /// Capabilities of the harness, unknown words included.
    pub capabilities: Vec<String>,
    /// The smallest difference in time that the child's clock can show.
    pub quantum_ns: Nanos,
}

impl Hello {
    /// Reports whether the harness counts allocations.
    pub fn counts_allocations(&self) -> bool {
        self.has("allocations")
    }

    /// Returns an error message if a name or a number in the frame is larger than the limits on input from outside allow.
    pub(super) fn find_excess(&self) -> Option<String> {
        let names = [("harness", &self.harness), ("version", &self.version)];
        let long = names.into_iter().find_map(|(what, text)| {
            let why = limits::check_name(text).err()?;
            Some(format!("its {what} {why}"))
        });
        let step = self.quantum_ns.0;
        let large = (step >= limits::BEYOND_NUMBERS)
            .then(|| format!("`quantum_ns` is {step}, but must be below 2^63"));
        long.or(large)
    }

    fn has(&self, word: &str) -> bool {
        self.capabilities
            .iter()
            .any(|capability| capability == word)
    }

    /// Returns how the parent runs the benchmarks of this child. Returns `Addressable` if the harness has both capabilities, and `None` if it has
    /// neither.
    pub fn capability(&self) -> Option<Capability> {
        if self.has("addressable") {
            Some(Capability::Addressable)
        } else if self.has("sequential") {
            Some(Capability::Sequential)
        } else {
            None
        }
    }
}

/// A benchmark as announced by its child.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Announcement {
    /// Id within the executable.
    pub id: String,
    /// The benchmark version that the author set, if any. Results of different versions are not compared.
    #[serde(default)]
    pub version: Option<String>,
    /// The bytes or elements that one iteration processes.
    #[serde(default, deserialize_with = "null_is_default")]
    pub throughput: Throughput,
    /// The quantity that the samples measure. Time if the child does not name another one.
    #[serde(default, deserialize_with = "null_is_default")]
    pub metric: Metric,
    /// Settings that the author made in code.
    #[serde(default, deserialize_with = "null_is_default")]
    pub settings: AuthorSettings,
}

fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Every frame that a child can send.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(super) enum Frame {
    Hello(Hello),
    Benchmark(Announcement),
    Broken {
        message: String,
    },
    Listed {
        count: usize,
    },
    Started {
        id: String,
        #[serde(default, deserialize_with = "null_is_default")]
        throughput: Throughput,
        #[serde(default)]
        kind: Option<String>,
    },
    WarmedUp {
        iterations: u64,
        elapsed_ns: Nanos,
        #[serde(default)]
        total_ns: Option<Nanos>,
    },
    Samples {
        iterations: Vec<u64>,
        elapsed_ns: Vec<Nanos>,
    },
    Counted(AllocationsAnswer),
    Latencies(LatenciesAnswer),
    Finished {
        id: String,
    },
    Skipped {
        id: String,
        reason: String,
    },
    Error {
        /// The benchmark that failed. `None` if the child rejected the request and changed nothing.
        #[serde(default)]
        id: Option<String>,
        message: String,
        #[serde(default)]
        fatal: bool,
    },
    End,
    Bye,
}

impl Frame {
    pub(super) fn parse(line: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(line)
    }

    /// Returns an error message if a number of the frame exceeds its limit. Announcements are not checked here, because a bad announcement must not
    /// prevent the other benchmarks from being measured.
    pub(super) fn find_excess(&self) -> Option<String> {
        let numbers = match self {
            Self::Hello(hello) => return hello.find_excess(),
            Self::Started { throughput, .. } => [throughput.bytes, throughput.elements],
            Self::WarmedUp {
                iterations,
                elapsed_ns,
                total_ns,
            } => [
                Some(*iterations),
                total_ns.map(|t| t.0).max(Some(elapsed_ns.0)),
            ],
            _ => return None,
        };
        let large = numbers.into_iter().flatten().max();
        let large = large.filter(|number| *number >= limits::BEYOND_NUMBERS);
        large.map(|number| format!("{number} is not below 2^63"))
    }

    /// Reports whether `line`, which is not a valid frame, was meant to be a hello.
    pub(super) fn resembles_hello(line: &[u8]) -> bool {
        serde_json::from_slice::<serde_json::Value>(line)
            .is_ok_and(|value| value.get("type").is_some_and(|kind| kind == "hello"))
    }
}

/// The benchmarks of an addressable child.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// The benchmarks of the child, in program order.
    pub benchmarks: Vec<Announcement>,
    /// One error message for each part of the bench that could not list its benchmarks, such as a function that panicked.
    pub broken: Vec<String>,
}

/// The result of a warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarmUp {
    /// Iterations of the warm-up, and the time of their bodies.
    pub body: Sample,
    /// The time of the whole warm-up, including set-up and drops.
    pub total: Nanos,
}

impl WarmUp {
    /// Returns the elapsed time per iteration in nanoseconds, including set-up and drops.
    pub fn total_per_iteration(self) -> f64 {
        self.total.as_f64() / self.body.iterations as f64
    }
}

/// Asks for a number of samples that all have the same number of iterations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleSpec {
    /// Iterations of each sample.
    pub iterations: u64,
    /// Number of samples.
    pub count: u64,
}

impl fmt::Display for SampleSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            1 => write!(f, "{}", self.iterations),
            count => write!(f, "{}*{count}", self.iterations),
        }
    }
}

/// Every request that the parent can send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChildRequest<'a> {
    List,
    Start(&'a str),
    Begin,
    Run,
    Skip,
    Next,
    WarmUp(Nanos),
    Sample(&'a [SampleSpec]),
    /// Runs at most this number of iterations, and counts what each of them allocates.
    Count(u64),
    /// Asks for the latencies of all samples so far, with the times of at most this number of single operations.
    Latencies(u64),
    Finish,
    Bye,
}

impl ChildRequest<'_> {
    /// Reports whether the request concerns the benchmark that has been started.
    pub(super) fn needs_started_benchmark(&self) -> bool {
        matches!(
            self,
            Self::WarmUp(_) | Self::Sample(_) | Self::Count(_) | Self::Latencies(_) | Self::Finish
        )
    }
}

impl fmt::Display for ChildRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List => f.write_str("list"),
            Self::Start(id) => write!(f, "start {}", escape(id)),
            Self::Begin => f.write_str("begin"),
            Self::Run => f.write_str("run"),
            Self::Skip => f.write_str("skip"),
            Self::Next => f.write_str("next"),
            Self::WarmUp(time) => write!(f, "warm-up {}", time.0),
            Self::Sample(specs) => {
                f.write_str("sample")?;
                specs.iter().try_for_each(|spec| write!(f, " {spec}"))
            }
            Self::Count(iterations) => write!(f, "count {iterations}"),
            Self::Latencies(values) => write!(f, "latencies {values}"),
            Self::Finish => f.write_str("finish"),
            Self::Bye => f.write_str("bye"),
        }
    }
}

fn escape(id: &str) -> String {
    id.replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\r', "\\r")
}

/// An answer may contain the messages of at most this number of failed operations.
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
    /// Converts the columns to one entry per iteration. Fails if they contradict each other, or do not answer a request to count `requested`
    /// iterations.
    pub(super) fn to_allocations(&self, requested: u64) -> Result<Vec<Allocations>, String> {
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
                    "has {length} entries in `allocations` but {} in `{name}`",
                    column.len()
                ));
            }
            check_below_limit(name, column)?;
        }
        if length == 0 || length as u64 > requested.max(1) {
            return Err(format!(
                "counts {length} iterations, but 1 to {requested} were requested"
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
                "has bytes without allocations: {} bytes in {} allocations, and {} bytes in {} allocations of other threads",
                found.bytes, found.count, found.other_bytes, found.other_count
            ));
        }
        if let Some(found) = counted.iter().find(|found| found.peak_bytes > found.bytes) {
            return Err(format!(
                "has a peak of {} bytes, but only {} bytes were allocated",
                found.peak_bytes, found.bytes
            ));
        }
        Ok(counted)
    }
}

/// The fields of a `latencies` frame.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct LatenciesAnswer {
    /// The significant digits of the histogram. Three if the child does not send them.
    #[serde(default)]
    digits: Option<u8>,
    counts: Vec<HdrCounter>,
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
    /// Converts the answer to latencies. Fails if the answer contradicts itself, has more than `requested` single latencies, or does not count
    /// exactly `operations` operations.
    pub(super) fn into_latencies(
        self,
        requested: u64,
        operations: u64,
    ) -> Result<Latencies, String> {
        let precision = self.precision()?;
        let total = self.check_counts(precision)?;
        let counted = total.saturating_add(self.errors);
        if counted != operations {
            return Err(format!(
                "counts {total} operations and {} errors, but the samples had {operations} iterations",
                self.errors
            ));
        }
        if self.messages.len() > MOST_MESSAGES || self.messages.len() as u64 > self.errors {
            return Err(format!(
                "has {} messages for {} errors, but only the first {MOST_MESSAGES} errors may have one",
                self.messages.len(),
                self.errors
            ));
        }
        let single = self.reservoir_ns.len() as u64;
        if single > requested.min(total) {
            return Err(format!(
                "has {single} single-operation times for {total} operations, but at most {requested} were requested"
            ));
        }
        check_below_limit("reservoir_ns", &self.reservoir_ns)?;
        if let Some(time) = self.find_uncounted_time(precision) {
            return Err(format!(
                "has a single-operation time of {time} ns, which is in none of its counters"
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
                "has windows that do not add up to its {total} operations and {} errors",
                self.errors
            ));
        }
        let mut reservoir: Vec<Nanos> = self.reservoir_ns.into_iter().map(Nanos).collect();
        // The order of the reservoir carries no information, and sorted values compress better.
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

    fn precision(&self) -> Result<HdrPrecision, String> {
        self.digits.map_or(Ok(HdrPrecision::default()), |digits| {
            HdrPrecision::from_digits(digits).ok_or_else(|| {
                format!(
                    "has a histogram with {digits} significant digits, but only 1 to 5 are allowed"
                )
            })
        })
    }

    /// Checks the counters and returns the number of operations in them.
    fn check_counts(&self, precision: HdrPrecision) -> Result<u64, String> {
        let mut pairs = self.counts.windows(2);
        if let Some(pair) = pairs.find(|pair| pair[0].index >= pair[1].index) {
            return Err(format!(
                "lists counter {} after counter {}, so they do not ascend",
                pair[1].index, pair[0].index
            ));
        }
        let last = precision.last_index();
        if let Some(beyond) = self.counts.iter().find(|counter| counter.index > last) {
            return Err(format!(
                "lists counter {}, but the last possible one is {last}",
                beyond.index
            ));
        }
        if let Some(empty) = self.counts.iter().find(|counter| counter.count == 0) {
            return Err(format!("lists counter {}, although it is 0", empty.index));
        }
        let in_last = match self.counts.last() {
            Some(counter) if counter.index == last => counter.count,
            _ => 0,
        };
        if self.clamped > in_last {
            return Err(format!(
                "says that {} operations took too long, but its last counter has only {in_last}",
                self.clamped
            ));
        }
        let counters = self.counts.iter();
        counters
            .map(|counter| counter.count)
            .try_fold(0_u64, u64::checked_add)
            .filter(|total| *total < limits::BEYOND_NUMBERS)
            .ok_or_else(|| "has counters that add up to 2^63 or more".to_owned())
    }

    /// Returns a latency of the reservoir that no counter of the histogram includes, if there is one.
    fn find_uncounted_time(&self, precision: HdrPrecision) -> Option<u64> {
        let has_counter = |time: u64| {
            let index = precision.index_of(time);
            self.counts
                .binary_search_by_key(&index, |counter| counter.index)
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
        let percentiles = [self.p50_ns, self.p95_ns, self.p99_ns];
        let percentiles = match (self.operations, percentiles) {
            (0, [None, None, None]) => [0; 3],
            (1.., [Some(p50), Some(p95), Some(p99)])
                if p50 <= p95 && p95 <= p99 && p99 < limits::BEYOND_NUMBERS =>
            {
                [p50, p95, p99]
            }
            (operations, _) => {
                return Err(format!(
                    "has a window of {operations} operations with invalid percentiles: {percentiles:?}"
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
        Some(value) => Err(format!(
            "has {value} in `{name}`, but values must be below 2^63"
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_with_line_ends_stays_on_one_line_and_can_be_told_apart() {
        assert_eq!(ChildRequest::Start("a b").to_string(), "start a b");
        assert_eq!(ChildRequest::Start("a\nb\r").to_string(), "start a\\nb\\r");
        assert_eq!(ChildRequest::Start("a\\nb").to_string(), "start a\\\\nb");
    }

    #[test]
    fn a_schedule_is_written_in_its_short_form() {
        let ramp = (1..=3).map(|step| SampleSpec {
            iterations: 10 * step,
            count: 1,
        });
        let flat = SampleSpec {
            iterations: 30,
            count: 400,
        };
        let schedule: Vec<SampleSpec> = ramp.chain([flat]).collect();
        assert_eq!(
            ChildRequest::Sample(&schedule).to_string(),
            "sample 10 20 30 30*400"
        );
    }

    #[test]
    fn what_lies_beside_the_samples_is_asked_for_with_a_number() {
        assert_eq!(ChildRequest::Count(16).to_string(), "count 16");
        assert_eq!(ChildRequest::Latencies(0).to_string(), "latencies 0");
    }

    #[test]
    fn a_benchmark_measures_times_unless_it_names_a_unit() {
        let metric = |member: &str| {
            let line = format!(r#"{{"type":"benchmark","id":"a"{member}}}"#);
            match Frame::parse(line.as_bytes()) {
                Ok(Frame::Benchmark(announcement)) => announcement.metric,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(metric(""), Metric::Time);
        assert_eq!(metric(r#","metric":null"#), Metric::Time);
        let steps = Metric::Amount {
            unit: "steps".to_owned(),
        };
        assert_eq!(
            metric(r#","metric":{"kind":"amount","unit":"steps"}"#),
            steps
        );
    }

    #[test]
    fn a_hello_that_lacks_a_member_is_told_from_bench_output() {
        for line in [r#"{"type":"hello"}"#, r#"{"type":"hello","protocol":"1"}"#] {
            assert!(Frame::parse(line.as_bytes()).is_err());
            assert!(Frame::resembles_hello(line.as_bytes()));
        }
        for line in ["hello", "[1]", r#"{"type":"bye"}"#, r#"{"hello":1}"#, ""] {
            assert!(!Frame::resembles_hello(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn members_that_are_not_known_are_ignored_and_nulls_are_defaults() {
        let line = br#"{"type":"benchmark","id":"x","version":null,"throughput":null,"settings":{"samples":5,"new":1},"more":[]}"#;
        let Ok(Frame::Benchmark(announcement)) = Frame::parse(line) else {
            panic!("a benchmark frame");
        };
        assert_eq!(announcement.settings.samples, Some(5));
        assert_eq!(announcement.throughput, Throughput::default());
    }

    #[test]
    fn times_that_are_negative_or_no_numbers_are_no_frames() {
        for elapsed in ["-1", "NaN", "1.5", "1e400", "\"7\""] {
            let line = format!(r#"{{"type":"samples","iterations":[1],"elapsed_ns":[{elapsed}]}}"#);
            assert!(Frame::parse(line.as_bytes()).is_err(), "{line}");
        }
    }

    #[test]
    fn a_damaged_frame_is_read_or_refused() {
        let frames = [
            r#"{"type":"hello","protocol":1,"harness":"perfcheck 0.1.0","clock_step_ns":20,"quantum_ns":20,"features":["a"],"capabilities":["addressable","allocations"]}"#,
            r#"{"type":"benchmark","id":"sort/10","version":"2","throughput":{"bytes":10,"elements":null},"metric":{"kind":"amount","unit":"B"},"settings":{"processes":3,"noise_threshold":0.02}}"#,
            r#"{"type":"listed","count":3}"#,
            r#"{"type":"started","id":"sort/10","throughput":{"bytes":10},"kind":"iter"}"#,
            r#"{"type":"warmed-up","iterations":1023,"elapsed_ns":3000000,"total_ns":3100000}"#,
            r#"{"type":"samples","iterations":[10,20,30],"elapsed_ns":[1000,2000,3000]}"#,
            r#"{"type":"counted","allocations":[2,3],"bytes":[512,600],"peak_bytes":[64,64],"other_allocations":[0,1],"other_bytes":[0,8]}"#,
            r#"{"type":"error","id":"sort/10","message":"panicked\nat x","fatal":true}"#,
        ];
        let frames = frames.map(|frame| frame.as_bytes().to_vec());
        for frame in &frames[1..6] {
            assert!(
                Frame::parse(frame).is_ok(),
                "{}",
                String::from_utf8_lossy(frame)
            );
        }
        perfcheck_mutations::attack("frames", &frames, |line| match Frame::parse(line) {
            Ok(Frame::Counted(answer)) => drop(answer.to_allocations(16)),
            Ok(Frame::Latencies(answer)) => drop(answer.into_latencies(16, 100)),
            Ok(frame) => drop(frame.find_excess()),
            Err(_) => drop(Frame::resembles_hello(line)),
        });
    }

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
        for (good, bad, message) in [
            (
                "\"bytes\":[64,0]",
                "\"bytes\":[64]",
                "2 entries in `allocations` but 1 in `bytes`",
            ),
            (
                "[64,0],\"other",
                "[65,0],\"other",
                "a peak of 65 bytes, but only 64",
            ),
            (
                "\"allocations\":[1,0]",
                "\"allocations\":[0,0]",
                "64 bytes in 0 allocations",
            ),
            (
                "\"other_bytes\":[0,9]",
                "\"other_bytes\":[1,9]",
                "1 bytes in 0 allocations of other",
            ),
            ("[0,9]", "[0,9223372036854775808]", "must be below 2^63"),
        ] {
            let line = COUNTED.replacen(good, bad, 1);
            assert_ne!(line, COUNTED);
            let what = counted(&line).expect_err(bad);
            assert!(what.contains(message), "{what}");
        }
        let empty = r#"{"type":"counted","allocations":[],"bytes":[],"peak_bytes":[],"other_allocations":[],"other_bytes":[]}"#;
        assert!(
            counted(empty)
                .expect_err("empty")
                .contains("counts 0 iterations")
        );
        let three = empty.replace("[]", "[0,0,0]");
        assert!(counted(&three).expect_err("three").contains("but 1 to 2"));
    }

    const LATENCIES: &str = r#"{"type":"latencies","counts":[[100,3],[2048,1]],"clamped":0,"errors":1,"messages":["refused"],"reservoir_ns":[2049,100],"windows":[{"operations":3,"errors":0,"p50_ns":100,"p95_ns":100,"p99_ns":100},{"operations":0,"errors":1,"p50_ns":null,"p95_ns":null,"p99_ns":null},{"operations":1,"errors":0,"p50_ns":2048,"p95_ns":2048,"p99_ns":2048}]}"#;

    fn latencies(line: &str) -> Result<Latencies, String> {
        match Frame::parse(line.as_bytes()) {
            Ok(Frame::Latencies(answer)) => answer.into_latencies(2, 5),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_answer_to_latencies_has_counters_single_times_and_windows() {
        let found = latencies(LATENCIES).expect("a good one");
        let counts = [(100, 3), (2048, 1)].map(HdrCounter::from);
        assert_eq!(found.counts, counts);
        assert_eq!(found.reservoir, [Nanos(100), Nanos(2049)]);
        assert_eq!((found.windows.len(), found.windows[1].p50), (3, Nanos(0)));
        let none = r#"{"type":"latencies","counts":[],"clamped":0,"errors":5,"messages":[],"reservoir_ns":[],"windows":[{"operations":0,"errors":5}]}"#;
        assert_eq!(latencies(none).expect("all failed").errors, 5);
    }

    #[test]
    fn latencies_that_contradict_each_other_are_refused_with_what_is_wrong() {
        for (good, bad, message) in [
            (
                "[[100,3],[2048,1]]",
                "[[2048,1],[100,3]]",
                "counter 100 after counter 2048",
            ),
            (
                "[[100,3],[2048,1]]",
                "[[100,3],[100,1]]",
                "counter 100 after counter 100",
            ),
            (
                "[2048,1]]",
                "[33421,1]]",
                "counter 33421, but the last possible one is 33420",
            ),
            (
                "[2048,1]]",
                "[2048,1],[2050,0]]",
                "lists counter 2050, although it is 0",
            ),
            ("[100,3]", "[100,9223372036854775807]", "2^63 or more"),
            (
                "[100,3]",
                "[100,4]",
                "5 operations and 1 errors, but the samples had 5",
            ),
            (
                "\"clamped\":0",
                "\"clamped\":1",
                "1 operations took too long",
            ),
            (
                "[\"refused\"]",
                "[\"refused\",\"again\"]",
                "2 messages for 1 errors",
            ),
            (
                "[2049,100]",
                "[2049,100,100]",
                "3 single-operation times for 4 operations",
            ),
            (
                "[2049,100]",
                "[2050,100]",
                "single-operation time of 2050 ns",
            ),
            (
                "\"operations\":1",
                "\"operations\":2",
                "do not add up to its 4 operations and 1",
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
            assert!(what.contains(message), "{what}");
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
