//! Column types for values of the model: words for enums, JSON for facts, two's complement for `u64`, and sealed bytes for samples and conclusions.
//!
//! Sealed bytes consist of a format byte, a CRC-32 checksum and the content. The content is CBOR for series, allocations and latencies, and it is
//! compressed with zstd for conclusions. The checksum is needed because SQLite's file format has none. Without it, a flipped bit in a sample would
//! cause a wrong verdict instead of an error. Invariant: a value is read back exactly or as an error.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, Null, ToSqlOutput, ValueRef};
use rusqlite::{ToSql, params};
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Serialize};
use std::io::Read;

use super::error::{Attempt, Fault};
use super::{Store, StoreError};
use perfcheck_analysis::model::{
    Allocations, HdrCounter, Latencies, LatencyWindow, Nanos, RunId, Sample, Series, limits,
};

/// A text column of flags, each of which is one digit. The column is NULL if there are no flags.
pub(super) struct FlagColumn<'a>(pub(super) &'a [bool]);

impl ToSql for FlagColumn<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        if self.0.is_empty() {
            return Ok(rusqlite::types::Null.into());
        }
        let digits = self.0.iter().map(|flag| if *flag { '1' } else { '0' });
        Ok(digits.collect::<String>().into())
    }
}

/// The flags read from a [`FlagColumn`].
pub(super) struct FlagValues(pub(super) Vec<bool>);

impl FromSql for FlagValues {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let digits = match value {
            ValueRef::Null => "",
            text => text.as_str()?,
        };
        let flags = digits.chars().map(|digit| match digit {
            '0' => Ok(false),
            '1' => Ok(true),
            other => Err(FromSqlError::Other(
                format!("`{other}` is neither 0 nor 1").into(),
            )),
        });
        Ok(Self(flags.collect::<Result<_, _>>()?))
    }
}

/// A column with the word of an enum variant, as in JSON.
pub(super) struct WordColumn<T>(pub(super) T);

/// Returns the word of an enum variant without values.
pub(super) fn word<T: Serialize>(value: T) -> String {
    let word = serde_json::to_value(value).ok();
    let word = word.as_ref().and_then(serde_json::Value::as_str);
    word.expect("a variant without values is a word").to_owned()
}

impl<T: Serialize> ToSql for WordColumn<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(word(&self.0).into())
    }
}

impl<T: DeserializeOwned> FromSql for WordColumn<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let word: StrDeserializer<'_, ValueError> = value.as_str()?.into_deserializer();
        T::deserialize(word)
            .map(Self)
            .map_err(|error| FromSqlError::Other(error.into()))
    }
}

/// A column with JSON text.
pub(super) struct Json<T>(pub(super) T);

impl<T: Serialize> ToSql for Json<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        serde_json::to_string(&self.0)
            .map(ToSqlOutput::from)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
    }
}

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?)
            .map(Self)
            .map_err(|error| FromSqlError::Other(error.into()))
    }
}

/// A column with any `u64`, stored as the signed integer of the same bits.
pub(super) struct Unsigned(pub(super) u64);

impl ToSql for Unsigned {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.cast_signed().into())
    }
}

impl FromSql for Unsigned {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(|bits| Self(bits.cast_unsigned()))
    }
}

/// A column that counts rows, read as `usize`.
pub(super) struct RowCount(pub(super) usize);

impl FromSql for RowCount {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let count = value.as_i64()?;
        usize::try_from(count)
            .map(Self)
            .map_err(|_| FromSqlError::OutOfRange(count))
    }
}

impl From<Nanos> for Unsigned {
    fn from(nanos: Nanos) -> Self {
        Self(nanos.0)
    }
}

/// The first byte of sealed bytes, which is the version of their format. There is only one version so far.
const FORMAT: u8 = 1;
/// Length in bytes of the format byte and the checksum together.
pub(super) const PREFIX_BYTES: usize = 5;

/// The encoded form of a series: the warm-up (iterations and nanoseconds), the linear phase and the flat phase. It consists of tuples, because CBOR
/// would also store the field names of a struct.
type StoredSeries = ((u64, u64), StoredPhase, StoredPhase);

#[derive(Serialize, Deserialize)]
struct StoredPhase(
    /// The iteration counts of the samples. Each pair is the difference from the previous count, and the number of successive samples with this
    /// difference. The first difference is from 0.
    Vec<(i64, u64)>,
    /// The elapsed times of the samples in nanoseconds, as differences from the previous time. The first difference is from 0.
    Vec<i64>,
);

/// Encodes a series.
///
/// Layout: one byte of format (1), four bytes of CRC-32 (little endian) over the rest, then the CBOR form of [`StoredSeries`]. Each phase is two
/// columns: iteration counts as run lengths of their differences (a linear ramp is one run, a flat phase two), and elapsed times as differences. CBOR
/// takes one, two, three, five or nine bytes for an integer, about three bytes a sample. Differences wrap around, so every `u64` is read back
/// exactly.
pub(super) fn encode(series: &Series) -> Vec<u8> {
    let stored: StoredSeries = (
        (series.warm_up.iterations, series.warm_up.elapsed.0),
        StoredPhase::from_samples(&series.linear),
        StoredPhase::from_samples(&series.flat),
    );
    seal(&stored)
}

/// Decodes a series, or describes what is wrong with the bytes.
pub(super) fn decode(bytes: &[u8]) -> Result<Series, String> {
    let ((iterations, elapsed), linear, flat): StoredSeries = unseal(bytes, "a series")?;
    Ok(Series {
        warm_up: Sample {
            iterations,
            elapsed: Nanos(elapsed),
        },
        linear: linear.to_samples()?,
        flat: flat.to_samples()?,
    })
}

/// Encodes a value as CBOR, with format byte and checksum.
pub(super) fn seal(value: &impl Serialize) -> Vec<u8> {
    let mut body = Vec::new();
    ciborium::into_writer(value, &mut body).expect("a vector takes everything");
    seal_bytes(&body)
}

/// Decodes sealed bytes, or describes what is wrong with them. `what` is the name of the value in error messages, such as `a series`.
pub(super) fn unseal<T: DeserializeOwned>(bytes: &[u8], what: &str) -> Result<T, String> {
    let mut body = unseal_bytes(bytes, what)?;
    let value = ciborium::from_reader(&mut body)
        .map_err(|error| format!("{what} cannot be read: {}", describe_error(error)))?;
    if !body.is_empty() {
        return Err(format!("{what} has extra bytes at the end"));
    }
    Ok(value)
}

/// Describes why a value cannot be decoded from CBOR.
fn describe_error(error: ciborium::de::Error<std::io::Error>) -> String {
    match error {
        ciborium::de::Error::Semantic(_, why) => why,
        ciborium::de::Error::Io(_) => "it ends too early".to_owned(),
        ciborium::de::Error::Syntax(at) => format!("the byte at offset {at} is not CBOR"),
        ciborium::de::Error::RecursionLimitExceeded => "it is nested too deeply".to_owned(),
    }
}

/// Prepends format byte and checksum to the bytes.
pub(super) fn seal_bytes(body: &[u8]) -> Vec<u8> {
    let sum = crc(body).to_le_bytes();
    [&[FORMAT], &sum[..], body].concat()
}

/// Returns the bytes without the prefix that [`seal_bytes`] prepends, or describes what is wrong with them. `what` is the name of the value in error
/// messages.
pub(super) fn unseal_bytes<'b>(bytes: &'b [u8], what: &str) -> Result<&'b [u8], String> {
    let (prefix, body) = bytes
        .split_at_checked(PREFIX_BYTES)
        .ok_or_else(|| format!("{what} is truncated"))?;
    if prefix[0] != FORMAT {
        return Err(format!("{what} has the unknown format {}", prefix[0]));
    }
    if prefix[1..] != crc(body).to_le_bytes() {
        return Err(format!("the checksum of {what} is wrong"));
    }
    Ok(body)
}

impl StoredPhase {
    fn from_samples(samples: &[Sample]) -> Self {
        let mut iterations: Vec<(i64, u64)> = Vec::new();
        let mut elapsed = Vec::with_capacity(samples.len());
        let (mut last_iterations, mut last_elapsed) = (0_u64, 0_u64);
        for sample in samples {
            let step = sample
                .iterations
                .wrapping_sub(last_iterations)
                .cast_signed();
            match iterations.last_mut() {
                Some((same, count)) if *same == step => *count += 1,
                _ => iterations.push((step, 1)),
            }
            let difference = sample.elapsed.0.wrapping_sub(last_elapsed).cast_signed();
            elapsed.push(difference);
            (last_iterations, last_elapsed) = (sample.iterations, sample.elapsed.0);
        }
        Self(iterations, elapsed)
    }

    fn to_samples(&self) -> Result<Vec<Sample>, String> {
        let Self(steps, differences) = self;
        let count = steps
            .iter()
            .try_fold(0_u64, |sum, (_, count)| sum.checked_add(*count));
        if count != Some(differences.len() as u64) {
            return Err("the columns of a series differ in length".into());
        }
        let steps = steps
            .iter()
            .flat_map(|(step, count)| std::iter::repeat_n(*step, *count as usize));
        let (mut iterations, mut elapsed) = (0_u64, 0_u64);
        let samples = steps.zip(differences).map(|(step, difference)| {
            iterations = iterations.wrapping_add_signed(step);
            elapsed = elapsed.wrapping_add_signed(*difference);
            Sample {
                iterations,
                elapsed: Nanos(elapsed),
            }
        });
        Ok(samples.collect())
    }
}

/// Returns the CRC-32/ISO-HDLC (ITU-T V.42).
fn crc(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// The encoded allocations of an iteration: count, bytes and peak bytes, then the count and bytes of other threads. It is an array, because CBOR
/// would also store the field names of a struct.
type StoredAllocations = [u64; 5];

#[derive(Serialize, Deserialize)]
struct StoredLatencies {
    digits: u8,
    /// The counters of the histogram. Each pair is the difference of an index from the previous index, and the number of operations counted under
    /// this index.
    counts: Vec<(u32, u64)>,
    clamped: u64,
    errors: u64,
    messages: Vec<String>,
    /// The times in the reservoir, in ascending order. Each pair is the difference from the previous distinct time, and the number of equal times.
    reservoir: Vec<(i64, u64)>,
    /// For each window: operations, errors, and the 50th, 95th and 99th percentile in nanoseconds.
    windows: Vec<[u64; 5]>,
}

/// The column `series.allocations`.
///
/// Allocations are stored as run lengths: successive iterations with the same allocations share an entry. Missing data are NULL, not an empty blob.
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
///
/// The reservoir is sorted, so equal times share an entry. Differences wrap around, so every number is read back exactly. Missing data are NULL.
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
    let runs: Vec<(StoredAllocations, u64)> = unseal(bytes, "a record of allocations")?;
    if !is_plausible(runs.iter().map(|(_, count)| *count)) {
        return Err("a record of allocations has too many entries".into());
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
    let counts = latencies.counts.iter().map(|counter| {
        let step = counter.index.wrapping_sub(last_index);
        last_index = counter.index;
        (step, counter.count)
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
        return Err("a record of latencies has too many single-operation times".into());
    }
    let mut index = 0_u32;
    let counts = stored.counts.into_iter().map(|(step, count)| {
        index = index.wrapping_add(step);
        HdrCounter { index, count }
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

/// The compression level, which is the default of zstd (see docs/internals/src/store.md).
const LEVEL: i32 = 3;
/// The largest size of a conclusion in bytes, after decompression. The conclusion on 100,000 benchmarks with all their details takes a fifth of it.
const MOST_BYTES: u64 = 1 << 30;

/// Compresses and seals a conclusion for its column.
pub(super) fn pack(bytes: &[u8]) -> Attempt<Vec<u8>> {
    let compressed =
        zstd::encode_all(bytes, LEVEL).map_err(|error| Fault::Content(error.to_string()))?;
    Ok(seal_bytes(&compressed))
}

/// Returns the conclusion in a column, or describes what is wrong with the column.
fn unpack(column: &[u8]) -> Result<Vec<u8>, String> {
    let compressed = unseal_bytes(column, "the data")?;
    let decoder = zstd::Decoder::new(compressed).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    let mut bounded = decoder.take(MOST_BYTES + 1);
    bounded
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err("the data is too large".to_owned());
    }
    Ok(bytes)
}

impl Store {
    /// Returns the conclusion of a run as it was recorded. Returns `None` if the run recorded no conclusion.
    pub fn conclusion(&self, run: RunId) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(|sql| {
            let found = sql.first(
                "SELECT conclusion FROM runs WHERE id = ?1",
                params![run.0],
                |row| row.get(0),
            )?;
            let column: Option<Vec<u8>> = found.ok_or(StoreError::NoSuchRun(run))?;
            let bytes = column.map(|column| unpack(&column)).transpose();
            bytes.map_err(|detail| Fault::Content(format!("the verdicts of run {run}: {detail}")))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{PREFIX_BYTES, crc, decode, encode, pack, seal_bytes, unpack, *};
    use perfcheck_analysis::model::{Nanos, Sample, Series};
    use perfcheck_mutations::attack;

    fn sample(iterations: u64, elapsed: u64) -> Sample {
        Sample {
            iterations,
            elapsed: Nanos(elapsed),
        }
    }

    fn samples() -> impl Strategy<Value = Vec<Sample>> {
        let number = prop_oneof![any::<u64>(), 0_u64..2000, Just(0), Just(u64::MAX)];
        prop::collection::vec(
            (number.clone(), number).prop_map(|(i, e)| sample(i, e)),
            0..60,
        )
    }

    proptest! {
        #[test]
        fn every_series_comes_back_bit_for_bit(
            warm_up in (any::<u64>(), any::<u64>()), linear in samples(), flat in samples(),
        ) {
            let series = Series { warm_up: sample(warm_up.0, warm_up.1), linear, flat };
            prop_assert_eq!(decode(&encode(&series)), Ok(series));
        }

        #[test]
        fn a_changed_byte_is_an_error_and_never_another_series(
            flat in samples(), place in any::<prop::sample::Index>(), change in 1_u8..,
        ) {
            let series = Series { warm_up: sample(1, 1), linear: vec![], flat };
            let mut bytes = encode(&series);
            let place = place.index(bytes.len());
            bytes[place] ^= change;
            prop_assert!(decode(&bytes).is_err());
        }

        #[test]
        fn arbitrary_bytes_with_a_right_checksum_do_not_panic(body in prop::collection::vec(any::<u8>(), 0..80)) {
            let bytes = seal_bytes(&body);
            // Random bytes may or may not be a series; a decoded one must survive encoding.
            if let Ok(series) = decode(&bytes) {
                prop_assert_eq!(decode(&encode(&series)), Ok(series));
            }
        }
    }

    #[test]
    fn the_checksum_is_the_common_crc_32() {
        // The check value of CRC-32/ISO-HDLC in the catalogue of parametrised CRC algorithms.
        assert_eq!(crc(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn a_default_process_takes_about_three_bytes_a_sample() {
        // 400 flat samples of 1 ms with a spread of +-2 %, and a ramp of 20, as from a process of 0.4 s.
        let mut state = 1_u64;
        let mut noise = |span: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % span
        };
        let linear: Vec<Sample> = (1..=20)
            .map(|i| sample(i * 50, i * 50_000 + noise(2000 * i)))
            .collect();
        let flat: Vec<Sample> = (0..380)
            .map(|_| sample(1000, 980_000 + noise(40_000)))
            .collect();
        let series = Series {
            warm_up: sample(131_071, 131_071_000),
            linear,
            flat,
        };
        let bytes = encode(&series).len();
        assert!(bytes * 10 <= 32 * 400, "{bytes} bytes");
    }

    #[test]
    fn a_format_of_a_later_version_is_named() {
        let mut bytes = encode(&Series {
            warm_up: sample(1, 1),
            linear: vec![],
            flat: vec![],
        });
        bytes[0] = 9;
        assert_eq!(
            decode(&bytes),
            Err("a series has the unknown format 9".into())
        );
        assert!(decode(&[]).is_err());
    }

    /// The checksum is recomputed for the damaged bytes, so that they reach the decoder.
    #[test]
    fn a_damaged_series_is_read_or_refused() {
        let flat = [7, 7, 8, u64::MAX].map(|ns| sample(1000, ns)).to_vec();
        let linear = (1..9).map(|step| sample(step * 10, step * 977)).collect();
        let whole = Series {
            warm_up: sample(3, 1_000_000),
            linear,
            flat,
        };
        let short = Series {
            linear: Vec::new(),
            flat: Vec::new(),
            ..whole.clone()
        };
        let bodies = [&whole, &short].map(|series| encode(series)[PREFIX_BYTES..].to_vec());
        attack("series", &bodies, |body| {
            let bytes = seal_bytes(body);
            if let Ok(found) = decode(&bytes) {
                assert_eq!(decode(&encode(&found)), Ok(found));
            }
        });
    }

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
            counts in prop::collection::vec((any::<u32>(), number()).prop_map(HdrCounter::from), 0..30),
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
    fn a_claim_of_more_entries_than_a_process_can_have_is_refused() {
        let claim = seal(&vec![([0; 5], u64::MAX)]);
        let what = decode_allocations(&claim).expect_err("too many");
        assert!(what.contains("too many"), "{what}");
    }

    /// The checksum is recomputed for the damaged bytes, so that they reach the decoder.
    #[test]
    fn a_damaged_record_beside_the_samples_is_read_or_refused() {
        use crate::encoding::PREFIX_BYTES;
        use perfcheck_mutations::attack;
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

    #[test]
    fn bytes_come_back_and_damaged_ones_are_refused() {
        let bytes: Vec<u8> = (0..10_000_u32).flat_map(u32::to_le_bytes).collect();
        let Ok(column) = pack(&bytes) else {
            panic!("packed")
        };
        assert!(column.len() < bytes.len());
        assert_eq!(unpack(&column), Ok(bytes));
        for at in [0, 1, column.len() / 2, column.len() - 1] {
            let mut damaged = column.clone();
            damaged[at] ^= 1;
            assert!(unpack(&damaged).is_err(), "byte {at}");
        }
        assert!(unpack(&column[..7]).is_err());
    }

    /// The checksum is recomputed for the damaged bytes, so that they reach the decoder.
    #[test]
    fn a_damaged_conclusion_is_read_or_refused() {
        use perfcheck_analysis::findings::Conclusion;
        let whole: &[u8] = include_bytes!("corpus/conclusion.cbor");
        let rows = |bytes: &[u8]| Conclusion::from_bytes(bytes).map(|found| found.rows.len());
        assert_eq!(rows(whole), Ok(2));
        perfcheck_mutations::attack("conclusions", &[whole.to_vec()], |bytes| {
            drop(rows(bytes));
        });
        let compressed = zstd::encode_all(whole, super::LEVEL).expect("compressed");
        perfcheck_mutations::attack("compressed conclusions", &[compressed], |bytes| {
            drop(unpack(&crate::encoding::seal_bytes(bytes)));
        });
    }
}
