//! A time as a harness printed it, without loss of digits. When it becomes a sample, the number of iterations is chosen so that the nanoseconds are a
//! whole number.

use perfcheck_analysis::model::{Nanos, Sample};

/// Smallest duration of the sample that represents a printed time. The true duration is unknown, but longer. A shorter sample could look as if a
/// coarse clock had measured it.
const TIMED_NS: u64 = 1_000_000;

/// A printed time per iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PrintedTime {
    /// The printed digits as a whole number, without the decimal point.
    steps: u64,
    /// The number of decimals that were printed.
    decimals: u32,
    /// The nanoseconds in the unit of the printed number.
    unit_ns: u64,
}

impl PrintedTime {
    /// Parses a number such as `1,234.56`, in a unit of `unit_ns` nanoseconds.
    pub(super) fn parse(number: &str, unit_ns: u64) -> Option<Self> {
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let mut steps: u64 = 0;
        let mut digits = 0;
        for character in whole.chars().chain(fraction.chars()) {
            if character == ',' {
                continue;
            }
            let digit = u64::from(character.to_digit(10)?);
            steps = steps.checked_mul(10)?.checked_add(digit)?;
            digits += 1;
        }
        (digits > 0 && !fraction.contains(',')).then_some(Self {
            steps,
            decimals: u32::try_from(fraction.len()).ok()?,
            unit_ns,
        })
    }

    /// Returns the same time as a sample, without loss. Returns `None` if the time is zero or the sample would overflow.
    pub(super) fn to_sample(self) -> Option<Sample> {
        let mut iterations = 10_u64.checked_pow(self.decimals)?;
        let mut elapsed = self.steps.checked_mul(self.unit_ns)?;
        while iterations > 1 && elapsed > 0 && elapsed.is_multiple_of(10) {
            iterations /= 10;
            elapsed /= 10;
        }
        while 0 < elapsed && elapsed < TIMED_NS {
            iterations = iterations.checked_mul(10)?;
            elapsed *= 10;
        }
        (0 < elapsed && elapsed < 1 << 63).then_some(Sample {
            iterations,
            elapsed: Nanos(elapsed),
        })
    }

    /// Returns the time in units of the last of `decimals` decimals. With two decimals, these are hundredths of the printed unit.
    pub(super) fn steps_at(self, decimals: u32) -> f64 {
        self.steps as f64 * 10_f64.powf(f64::from(decimals) - f64::from(self.decimals))
    }

    /// Returns the unit of the printed number, in nanoseconds.
    pub(super) fn unit_ns(self) -> u64 {
        self.unit_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(number: &str, unit_ns: u64) -> Option<(u64, u64)> {
        let sample = PrintedTime::parse(number, unit_ns)?.to_sample()?;
        Some((sample.iterations, sample.elapsed.0))
    }

    #[test]
    fn a_time_keeps_every_digit_that_was_printed() {
        assert_eq!(sample("1,234.56", 1), Some((1000, 1_234_560)));
        assert_eq!(sample("12,345,678", 1), Some((1, 12_345_678)));
        assert_eq!(sample("1,234,567.8", 1), Some((10, 12_345_678)));
        assert_eq!(sample("0.31", 1), Some((10_000_000, 3_100_000)));
        assert_eq!(sample("1.323", 1000), Some((1000, 1_323_000)));
        assert_eq!(sample("10.50", 1), Some((100_000, 1_050_000)));
        assert_eq!(
            sample("59.98", 60_000_000_000),
            Some((1, 3_598_800_000_000))
        );
    }

    #[test]
    fn what_is_no_time_is_none() {
        for number in [
            "",
            ".",
            "-1",
            "1e3",
            "1.2.3",
            "NaN",
            "1.2,3",
            "99999999999999999999",
        ] {
            assert_eq!(PrintedTime::parse(number, 1), None, "{number}");
        }
        assert_eq!(sample("0.00", 1), None);
        assert_eq!(sample("18446744073709551615", 1), None);
    }
}
