//! Converts the values of a custom measurement to the whole numbers that are stored.

use perfcheck_analysis::model::{Metric, Nanos, Sample};

/// A float represents all smaller whole numbers exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;
/// If values are not whole, both values and iterations are multiplied by this number.
const PARTS: f64 = 1000.0;
/// Smallest stored fraction of a unit, as a negative power of ten.
const SMALLEST_PART: u32 = 18;

/// The factor from measured to stored units.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::child) struct UnitScale {
    /// Stored units per measured unit.
    factor: f64,
    /// Meaning of the stored values.
    pub(in crate::child) metric: Metric,
}

impl UnitScale {
    /// Creates the scale for a measured unit that is `size` of `unit`. Times are stored in nanoseconds. Other values
    /// are stored in their unit, or in a decimal fraction of it that is small enough to make a measured unit at least
    /// 1.
    pub(in crate::child) fn from_unit(size: f64, unit: &str) -> Option<Self> {
        if !(size.is_finite() && size > 0.0) {
            return None;
        }
        let unit = unit.trim();
        let ns = match unit {
            "ns" => Some(1.0),
            "us" | "µs" | "μs" => Some(1e3),
            "ms" => Some(1e6),
            "s" => Some(1e9),
            _ => None,
        };
        if let Some(ns) = ns {
            return Some(Self {
                factor: size * ns,
                metric: Metric::Time,
            });
        }
        let (mut factor, mut parts) = (size, 0);
        while factor < 0.999_999 && parts < SMALLEST_PART {
            factor *= 1e3;
            parts += 3;
        }
        let unit = match parts {
            0 => unit.to_owned(),
            _ => format!("10^-{parts} {unit}"),
        };
        Some(Self {
            factor,
            metric: Metric::Amount { unit },
        })
    }

    /// Returns the scale for Criterion's default measurement, wall time in nanoseconds.
    pub(in crate::child) fn nanoseconds() -> Self {
        Self {
            factor: 1.0,
            metric: Metric::Time,
        }
    }

    /// Creates samples from iteration counts and measured values; `None` if a number is negative or infinite, or an
    /// iteration count is zero.
    pub(in crate::child) fn samples(&self, iters: &[f64], values: &[f64]) -> Option<Vec<Sample>> {
        let values: Vec<f64> = values.iter().map(|value| value * self.factor).collect();
        let whole_enough =
            |value: &f64| (value - value.round()).abs() <= 1e-9 * value.abs().max(1.0);
        let parts = if self.metric.is_time() || values.iter().all(whole_enough) {
            1.0
        } else {
            PARTS
        };
        let sample = |(iterations, value): (&f64, &f64)| {
            Some(Sample {
                iterations: to_whole(iterations * parts).filter(|count| *count > 0)?,
                elapsed: Nanos(to_whole((value * parts).round())?),
            })
        };
        iters.iter().zip(&values).map(sample).collect()
    }
}

/// Returns the number if it is whole and fits.
pub(super) fn to_whole(number: f64) -> Option<u64> {
    (number.fract() == 0.0 && (0.0..EXACT).contains(&number)).then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(scale: &UnitScale, iterations: f64, value: f64) -> Option<(u64, u64)> {
        let samples = scale.samples(&[iterations], &[value])?;
        Some((samples[0].iterations, samples[0].elapsed.0))
    }

    #[test]
    fn times_of_any_unit_are_nanoseconds() {
        let seconds = UnitScale::from_unit(1.0, "s").expect("a size");
        assert_eq!(seconds.metric, Metric::Time);
        assert_eq!(taken(&seconds, 2.0, 0.5), Some((2, 500_000_000)));
        let wall = UnitScale::from_unit(1.0, "ns").expect("a size");
        assert_eq!(taken(&wall, 3.0, 7.0), Some((3, 7)));
    }

    #[test]
    fn amounts_keep_their_unit_or_a_part_of_it_that_loses_nothing() {
        let amount = |unit: &str| Metric::Amount { unit: unit.into() };
        let cycles = UnitScale::from_unit(1.0, "cycles").expect("a size");
        assert_eq!(cycles.metric, amount("cycles"));
        assert_eq!(taken(&cycles, 3.0, 7.0), Some((3, 7)));
        assert_eq!(taken(&cycles, 3.0, 7.25), Some((3_000, 7_250)));
        let joules = UnitScale::from_unit(1e-9, "J").expect("a size");
        assert_eq!(joules.metric, amount("10^-9 J"));
        assert_eq!(taken(&joules, 1.0, 7.0), Some((1, 7)));
        assert_eq!(UnitScale::from_unit(0.0, "J"), None);
        assert_eq!(UnitScale::from_unit(f64::NAN, "J"), None);
    }

    #[test]
    fn numbers_that_no_measurement_has_are_refused() {
        let wall = UnitScale::from_unit(1.0, "ns").expect("a size");
        for (iterations, value) in [
            (1.0, -1.0),
            (1.0, f64::NAN),
            (1.0, f64::INFINITY),
            (0.0, 1.0),
            (1.5, 1.0),
            (-1.0, 1.0),
            (1.0, 1e16),
        ] {
            assert_eq!(
                taken(&wall, iterations, value),
                None,
                "{iterations} {value}"
            );
        }
    }
}
