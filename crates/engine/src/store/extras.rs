//! Encodes allocations and latencies as bytes, in the layout of `codec`: format, checksum, CBOR.
//!
//! Both use run lengths of differences: successive iterations with the same allocations share an entry, and the
//! sorted reservoir has one entry per distinct time. Differences wrap, so every number survives. Missing data is
//! NULL, not an empty blob.

use rusqlite::ToSql;
use rusqlite::types::{Null, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};

use super::codec::{seal, unseal};
use perfcheck_analysis::model::{Allocations, Latencies, LatencyWindow, Nanos, limits};

/// Count, bytes and peak of an iteration, then count and bytes of other threads. An array keeps field names out of
/// the CBOR.
type StoredAllocations = [u64; 5];

#[derive(Serialize, Deserialize)]
struct StoredLatencies {
    digits: u8,
    /// Pairs of the difference to the previous index, and the number of operations.
    counts: Vec<(u32, u64)>,
    clamped: u64,
    errors: u64,
    messages: Vec<String>,
    /// Pairs of the difference to the previous time, and the number of times with this value.
    reservoir: Vec<(i64, u64)>,
    /// Operations, errors, and the 50th, 95th and 99th percentile in nanoseconds.
    windows: Vec<[u64; 5]>,
}

/// The column `series.allocations`.
pub(super) struct AllocationsColumn<'a>(pub(super) &'a [Allocations]);

impl ToSql for AllocationsColumn<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        if self.0.is_empty() {
            return Ok(Null.into());
        }
        Ok(encode_allocations(self.0).into())
    }
}

/// The column `series.latencies`.
pub(super) struct LatenciesColumn<'a>(pub(super) Option<&'a Latencies>);

impl ToSql for LatenciesColumn<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self
            .0
            .map_or_else(|| Null.into(), |found| encode_latencies(found).into()))
    }
}

/// Decodes the column `series.allocations`, or describes what is wrong with it.
pub(super) fn read_allocations(value: ValueRef<'_>) -> Result<Vec<Allocations>, String> {
    match blob(value)? {
        Some(bytes) => decode_allocations(bytes),
        None => Ok(Vec::new()),
    }
}

/// Decodes the column `series.latencies`, or describes what is wrong with it.
pub(super) fn read_latencies(value: ValueRef<'_>) -> Result<Option<Latencies>, String> {
    blob(value)?.map(decode_latencies).transpose()
}

fn blob(value: ValueRef<'_>) -> Result<Option<&[u8]>, String> {
    value.as_blob_or_null().map_err(|error| error.to_string())
}

fn encode_allocations(allocations: &[Allocations]) -> Vec<u8> {
    let runs = allocations.chunk_by(|a, b| a == b).map(|same| {
        let one = same[0];
        let numbers = [
            one.count,
            one.bytes,
            one.peak_bytes,
            one.other_count,
            one.other_bytes,
        ];
        (numbers, same.len() as u64)
    });
    seal(&runs.collect::<Vec<(StoredAllocations, u64)>>())
}

fn decode_allocations(bytes: &[u8]) -> Result<Vec<Allocations>, String> {
    let runs: Vec<(StoredAllocations, u64)> = unseal(bytes, "a count of allocations")?;
    if !is_plausible(runs.iter().map(|(_, count)| *count)) {
        return Err("a count of allocations has too many entries".into());
    }
    let repeated = runs.into_iter().flat_map(|(numbers, times)| {
        let [count, bytes, peak_bytes, other_count, other_bytes] = numbers;
        let found = Allocations {
            count,
            bytes,
            peak_bytes,
            other_count,
            other_bytes,
        };
        std::iter::repeat_n(found, times as usize)
    });
    Ok(repeated.collect())
}

fn encode_latencies(latencies: &Latencies) -> Vec<u8> {
    let mut last_index = 0_u32;
    let counts = latencies.counts.iter().map(|(index, count)| {
        let step = index.wrapping_sub(last_index);
        last_index = *index;
        (step, *count)
    });
    let mut last_time = 0_u64;
    let reservoir = latencies.reservoir.chunk_by(|a, b| a == b).map(|same| {
        let step = same[0].0.wrapping_sub(last_time).cast_signed();
        last_time = same[0].0;
        (step, same.len() as u64)
    });
    let windows = latencies.windows.iter().map(|window| {
        let [p50, p95, p99] = [window.p50.0, window.p95.0, window.p99.0];
        [window.operations, window.errors, p50, p95, p99]
    });
    seal(&StoredLatencies {
        digits: latencies.digits,
        counts: counts.collect(),
        clamped: latencies.clamped,
        errors: latencies.errors,
        messages: latencies.messages.clone(),
        reservoir: reservoir.collect(),
        windows: windows.collect(),
    })
}

fn decode_latencies(bytes: &[u8]) -> Result<Latencies, String> {
    let stored: StoredLatencies = unseal(bytes, "a record of latencies")?;
    if !is_plausible(stored.reservoir.iter().map(|(_, count)| *count)) {
        return Err("a record of latencies has too many single times".into());
    }
    let mut index = 0_u32;
    let counts = stored.counts.into_iter().map(|(step, count)| {
        index = index.wrapping_add(step);
        (index, count)
    });
    let mut time = 0_u64;
    let reservoir = stored.reservoir.into_iter().flat_map(|(step, count)| {
        time = time.wrapping_add_signed(step);
        std::iter::repeat_n(Nanos(time), count as usize)
    });
    let windows = stored.windows.into_iter();
    let windows = windows.map(|[operations, errors, p50, p95, p99]| LatencyWindow {
        operations,
        errors,
        p50: Nanos(p50),
        p95: Nanos(p95),
        p99: Nanos(p99),
    });
    Ok(Latencies {
        digits: stored.digits,
        counts: counts.collect(),
        clamped: stored.clamped,
        errors: stored.errors,
        messages: stored.messages,
        reservoir: reservoir.collect(),
        windows: windows.collect(),
    })
}

fn is_plausible(mut lengths: impl Iterator<Item = u64>) -> bool {
    lengths
        .try_fold(0_u64, u64::checked_add)
        .is_some_and(|all| all <= limits::MOST_REPEATED)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::store::codec::seal_bytes;

    fn number() -> impl Strategy<Value = u64> + Clone {
        prop_oneof![any::<u64>(), 0_u64..300, Just(0), Just(u64::MAX)]
    }

    prop_compose! {
        fn counted()(
            count in number(), bytes in number(), peak_bytes in number(), other_count in number(), other_bytes in number(),
        ) -> Allocations {
            Allocations { count, bytes, peak_bytes, other_count, other_bytes }
        }
    }

    prop_compose! {
        fn window()(operations in number(), errors in number(), p50 in number(), p95 in number(), p99 in number()) -> LatencyWindow {
            LatencyWindow { operations, errors, p50: Nanos(p50), p95: Nanos(p95), p99: Nanos(p99) }
        }
    }

    prop_compose! {
        fn latencies()(
            digits in any::<u8>(),
            counts in prop::collection::vec((any::<u32>(), number()), 0..30),
            clamped in number(), errors in number(),
            messages in prop::collection::vec(any::<String>(), 0..5),
            reservoir in prop::collection::vec(number().prop_map(Nanos), 0..40),
            windows in prop::collection::vec(window(), 0..5),
        ) -> Latencies {
            Latencies { digits, counts, clamped, errors, messages, reservoir, windows }
        }
    }

    #[test]
    fn a_few_bytes_do_not_ask_for_all_memory() {
        let latencies = |count| StoredLatencies {
            digits: 3,
            counts: Vec::new(),
            clamped: 0,
            errors: 0,
            messages: Vec::new(),
            reservoir: vec![(1, count)],
            windows: Vec::new(),
        };
        let most = limits::MOST_REPEATED;
        for (count, is_read) in [(most, true), (most + 1, false), (u64::MAX, false)] {
            let bytes = seal(&vec![([1, 1, 1, 0, 0], count)]);
            assert!(bytes.len() <= 30);
            assert_eq!(decode_allocations(&bytes).is_ok(), is_read, "{count}");
            let bytes = seal(&latencies(count));
            assert_eq!(decode_latencies(&bytes).is_ok(), is_read, "{count}");
        }
    }

    proptest! {
        #[test]
        fn allocations_come_back_as_they_were(found in prop::collection::vec(counted(), 1..20), repeats in 1_usize..5) {
            let found: Vec<Allocations> = found.into_iter().flat_map(|one| vec![one; repeats]).collect();
            prop_assert_eq!(decode_allocations(&encode_allocations(&found)), Ok(found));
        }

        #[test]
        fn latencies_come_back_as_they_were(found in latencies()) {
            prop_assert_eq!(decode_latencies(&encode_latencies(&found)), Ok(found));
        }

        #[test]
        fn a_changed_byte_is_an_error_and_never_another_record(
            found in latencies(), place in any::<prop::sample::Index>(), change in 1_u8..,
        ) {
            let mut bytes = encode_latencies(&found);
            let place = place.index(bytes.len());
            bytes[place] ^= change;
            prop_assert!(decode_latencies(&bytes).is_err());
        }

        #[test]
        fn arbitrary_bytes_with_a_right_checksum_neither_panic_nor_ask_for_all_memory(
            body in prop::collection::vec(any::<u8>(), 0..80),
        ) {
            let bytes = seal_bytes(&body);
            if let Ok(found) = decode_latencies(&bytes) {
                prop_assert_eq!(decode_latencies(&encode_latencies(&found)), Ok(found));
            }
            if let Ok(found) = decode_allocations(&bytes) {
                prop_assert_eq!(decode_allocations(&encode_allocations(&found)), Ok(found));
            }
        }
    }

    #[test]
    fn iterations_that_allocate_the_same_take_one_entry_and_an_ascending_reservoir_one_a_distinct_time()
     {
        let same = Allocations {
            count: 12,
            bytes: 4_096,
            peak_bytes: 1_024,
            ..Allocations::default()
        };
        assert!(encode_allocations(&[same; 16]).len() <= 20);
        let found = Latencies {
            reservoir: (0..10_000).map(|i| Nanos(5_000 + i / 20)).collect(),
            ..Latencies::default()
        };
        assert!(encode_latencies(&found).len() < 1_600);
    }

    #[test]
    fn a_claim_of_more_entries_than_a_launch_can_have_is_refused() {
        let claim = seal(&vec![([0; 5], u64::MAX)]);
        let what = decode_allocations(&claim).expect_err("too many");
        assert!(what.contains("too many"), "{what}");
    }

    /// Recomputes the checksum, so that the decoder behind it meets arbitrary bytes.
    #[test]
    fn a_damaged_record_beside_the_samples_is_read_or_refused() {
        use crate::mutations::attack;
        use crate::store::codec::PREFIX_BYTES;
        let counted = |count| Allocations {
            count,
            bytes: 512 * count,
            peak_bytes: 64,
            ..Allocations::default()
        };
        let latencies = Latencies {
            reservoir: [20, 25, 25, 90_000].map(Nanos).to_vec(),
            ..Latencies::default()
        };
        let corpus = [
            encode_allocations(&[counted(2), counted(2), counted(3)]),
            encode_latencies(&latencies),
        ];
        let bodies = corpus.map(|bytes| bytes[PREFIX_BYTES..].to_vec());
        attack("records beside the samples", &bodies, |body| {
            let bytes = seal_bytes(body);
            if let Ok(found) = decode_allocations(&bytes) {
                assert_eq!(decode_allocations(&encode_allocations(&found)), Ok(found));
            }
            if let Ok(found) = decode_latencies(&bytes) {
                assert_eq!(decode_latencies(&encode_latencies(&found)), Ok(found));
            }
        });
    }
}
