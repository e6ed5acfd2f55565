//! Encodes a series as bytes: exact, about three bytes a sample, and with a checksum.
//!
//! Layout: one byte of format (1), four bytes of CRC-32 (little endian) over the rest, then the CBOR form of
//! [`StoredSeries`]. Each phase is two columns: iteration counts as run lengths of their differences (a linear ramp
//! is one run, a flat phase two), and elapsed times as differences. CBOR takes one, two, three, five or nine bytes
//! for an integer. Differences wrap, so every `u64` survives.
//!
//! SQLite's file format has no checksums. Without the CRC, a flipped bit in a sample would cause a wrong verdict
//! instead of an error.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use perfcheck_analysis::model::{Nanos, Sample, Series};

/// The number of the format, the only one so far.
const FORMAT: u8 = 1;
/// Length of the format byte and the checksum.
pub(super) const PREFIX_BYTES: usize = 5;

/// Iterations and nanoseconds of the warm-up, the linear phase, the flat phase. Tuples keep field names out of the
/// CBOR.
type StoredSeries = ((u64, u64), StoredPhase, StoredPhase);

#[derive(Serialize, Deserialize)]
struct StoredPhase(
    /// Pairs of the difference to the previous iteration count, and the number of successive samples with this
    /// difference. The first difference is to 0.
    Vec<(i64, u64)>,
    /// Difference to the previous elapsed time. The first one is to 0.
    Vec<i64>,
);

/// Encodes a series.
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

/// Decodes sealed bytes, or describes what is wrong with them; `what` names the value in messages.
pub(super) fn unseal<T: DeserializeOwned>(bytes: &[u8], what: &str) -> Result<T, String> {
    let mut body = unseal_bytes(bytes, what)?;
    let value = ciborium::from_reader(&mut body)
        .map_err(|error| format!("{what} cannot be read: {}", describe_error(error)))?;
    if !body.is_empty() {
        return Err(format!("{what} has bytes left over"));
    }
    Ok(value)
}

/// Describes why bytes cannot be decoded.
fn describe_error(error: ciborium::de::Error<std::io::Error>) -> String {
    match error {
        ciborium::de::Error::Semantic(_, why) => why,
        ciborium::de::Error::Io(_) => "it ends too early".to_owned(),
        ciborium::de::Error::Syntax(at) => format!("byte {at} is no CBOR"),
        ciborium::de::Error::RecursionLimitExceeded => "it is nested too deeply".to_owned(),
    }
}

/// Prepends format byte and checksum to the bytes.
pub(super) fn seal_bytes(body: &[u8]) -> Vec<u8> {
    let sum = crc(body).to_le_bytes();
    [&[FORMAT], &sum[..], body].concat()
}

/// Returns the bytes without the prefix, or describes what is wrong with it; `what` names the value in messages.
pub(super) fn unseal_bytes<'b>(bytes: &'b [u8], what: &str) -> Result<&'b [u8], String> {
    let (prefix, body) = bytes
        .split_at_checked(PREFIX_BYTES)
        .ok_or_else(|| format!("{what} is cut short"))?;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{PREFIX_BYTES, crc, decode, encode, seal_bytes};
    use crate::mutations::attack;
    use perfcheck_analysis::model::{Nanos, Sample, Series};

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
    fn a_default_launch_takes_about_three_bytes_a_sample() {
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

    /// Recomputes the checksum, so that the decoder behind it meets arbitrary bytes.
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
}
