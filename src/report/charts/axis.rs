//! Axes: positions of values, and ticks at round values with labels in one unit.

use crate::report::scale::Scale;

/// Approximate maximum number of ticks on an axis.
const TICKS: f64 = 8.0;

/// The kind of values on an axis, which determines its units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Times, in nanoseconds.
    Time,
    /// Counts.
    Count,
}

/// A linear axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    scale: Scale,
    places: (f64, f64),
    quantity: Quantity,
}

impl Axis {
    /// Creates an axis whose smallest and largest values are drawn at `places`; the first place may be right of or below the second.
    pub(super) fn new(quantity: Quantity, values: (f64, f64), places: (f64, f64)) -> Self {
        Self {
            scale: Scale::new(values),
            places,
            quantity,
        }
    }

    /// Returns the place of a value. A value beyond the axis is drawn at its end.
    pub(super) fn place(&self, value: f64) -> f64 {
        let share = self.scale.position(value).clamp(0.0, 1.0);
        self.places.0 + share * (self.places.1 - self.places.0)
    }

    /// Returns the smallest and the largest value.
    pub(super) fn values(&self) -> (f64, f64) {
        self.scale.ends()
    }

    /// Returns places and labels of the ticks, without the unit.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let (lower, upper) = self.scale.ends();
        let step = round_step((upper - lower) / TICKS);
        if !step.is_normal() {
            return Vec::new();
        }
        let (scale, _) = self.unit();
        let decimals = (-(step / scale).log10().floor()).clamp(0.0, 9.0) as usize;
        let first = (lower / step).ceil() as i64;
        let last = (upper / step).floor() as i64;
        (first..=last)
            .map(|index| index as f64 * step)
            .map(|value| (self.place(value), format!("{:.decimals$}", value / scale)))
            .collect()
    }

    /// Returns the size and the name of the labels' unit.
    pub(super) fn unit(&self) -> (f64, &'static str) {
        let (lower, upper) = self.scale.ends();
        let largest = lower.abs().max(upper.abs());
        let units: &[(f64, &str)] = match self.quantity {
            Quantity::Time => &[
                (1e9, "s"),
                (1e6, "ms"),
                (1e3, "µs"),
                (1.0, "ns"),
                (1e-3, "ps"),
            ],
            Quantity::Count => &[
                (1e9, "billions"),
                (1e6, "millions"),
                (1e3, "thousands"),
                (1.0, ""),
            ],
        };
        let fitting = units.iter().find(|(scale, _)| largest >= *scale);
        fitting.or(units.last()).copied().unwrap_or((1.0, ""))
    }
}

/// Returns the smallest of 1, 2 or 5 times a power of ten that is not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= least * (1.0 - 1e-9))
        .unwrap_or(power * 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: (f64, f64)) -> (Vec<String>, &'static str) {
        let axis = Axis::new(Quantity::Time, values, (0.0, 100.0));
        let labels = axis.ticks().into_iter().map(|(_, label)| label).collect();
        (labels, axis.unit().1)
    }

    #[test]
    fn ticks_stand_at_round_values_in_a_unit_that_fits() {
        let text = |of: &[&str]| of.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (found, unit) = labels((99.7, 101.2));
        assert_eq!(
            (found, unit),
            (
                text(&[
                    "99.8", "100.0", "100.2", "100.4", "100.6", "100.8", "101.0", "101.2"
                ]),
                "ns"
            )
        );
        let (found, unit) = labels((0.0, 1_050_000.0));
        assert_eq!(
            (found, unit),
            (text(&["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]), "ms")
        );
        let (found, unit) = labels((0.3812, 0.4288));
        assert_eq!((found, unit), (text(&["390", "400", "410", "420"]), "ps"));
    }

    #[test]
    fn what_lies_beyond_stays_at_the_end_and_an_axis_may_run_upwards() {
        let axis = Axis::new(Quantity::Time, (10.0, 20.0), (200.0, 100.0));
        let places = [5.0, 10.0, 15.0, 99.0].map(|value| axis.place(value));
        assert_eq!(places, [200.0, 200.0, 150.0, 100.0]);
    }

    #[test]
    fn an_axis_without_length_has_no_ticks() {
        assert_eq!(labels((1.0, 1.0)).0, [""; 0]);
    }
}
