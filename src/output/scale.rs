//! Linear scales, which convert a value into its position between the two ends of a range. Bars, curves, axes and sparklines use them.

use perfcheck_analysis::compare::{Estimate, Interval};

/// Minimum distance between the ends of a scale that [`Scale::covering`] creates, as a share of the largest absolute value. A shorter scale would
/// make noise look like large changes.
const LEAST_SPAN: f64 = 0.05;

/// Minimum share of the rows whose whole interval must fit on the scale. If all had to fit, one wide interval would make all other bars unreadable.
const SHARE: f64 = 0.6;

/// A linear scale between a low and a high value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    low: f64,
    middle: f64,
    high: f64,
}

impl Scale {
    /// Creates a scale from `low` to `high`.
    pub(super) fn new(low: f64, high: f64) -> Self {
        Self {
            low,
            middle: f64::midpoint(low, high),
            high,
        }
    }

    /// Creates a scale over `range`.
    pub(super) fn from_interval(range: Interval) -> Self {
        Self::new(range.lower, range.upper)
    }

    /// Creates a scale from the smallest to the largest of `values`. If they are closer together than [`LEAST_SPAN`] demands, the scale is wider than
    /// they are. Returns `None` if there are no values.
    pub(super) fn covering(values: impl Iterator<Item = f64>) -> Option<Self> {
        let (lowest, highest) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| {
                (low.min(y), high.max(y))
            });
        let missing = LEAST_SPAN * highest.abs().max(lowest.abs()) - (highest - lowest);
        let half = missing.max(0.0) / 2.0;
        lowest.is_finite().then(|| Self {
            low: lowest - half,
            middle: f64::midpoint(lowest, highest),
            high: highest + half,
        })
    }

    /// Creates a scale that is symmetric around zero, on which most of `changes` fit. Each change comes with its noise threshold.
    pub(super) fn around_zero(changes: &[(Estimate, f64)]) -> Self {
        let mut reaches: Vec<f64> = changes
            .iter()
            .map(|(change, noise)| {
                let bounds = [change.lower, change.upper, change.estimate];
                let finite = bounds.into_iter().filter(|bound| bound.is_finite());
                // The scale must show the whole noise band.
                finite.fold(2.0 * noise, |reach, bound| reach.max(bound.abs()))
            })
            .collect();
        reaches.sort_by(f64::total_cmp);
        let last = (SHARE * reaches.len() as f64).ceil() as usize;
        let reach = reaches.get(last.saturating_sub(1)).copied();
        let limit = round_up(reach.unwrap_or(0.1));
        Self::new(-limit, limit)
    }

    /// Widens the scale around its middle, so that its ends are at least `least` apart.
    pub(super) fn widened_to(self, least: f64) -> Self {
        let missing = (least - (self.high - self.low)).max(0.0) / 2.0;
        Self {
            low: self.low - missing,
            high: self.high + missing,
            ..self
        }
    }

    /// Returns the lowest and the highest value of the scale.
    pub(super) fn ends(self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Returns where a value lies between the ends of the scale: 0 at the lower end, 1 at the upper end, and below 0 or above 1 if the value is
    /// outside.
    pub(super) fn position(self, value: f64) -> f64 {
        let span = self.high - self.low;
        if span > 0.0 {
            (value - self.middle) / span + 0.5
        } else {
            0.0
        }
    }

    /// Returns the value at `part` of the way from the lower to the upper end. This is the inverse of [`Scale::position`].
    pub(super) fn value_at(self, part: f64) -> f64 {
        self.middle + (part - 0.5) * (self.high - self.low)
    }
}

/// Rounds a fraction up to the next of 1, 2, 5, 10, 20, ... %.
fn round_up(fraction: f64) -> f64 {
    let percent = fraction * 100.0;
    let steps = (0..12).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)));
    let mut found = steps.filter(|step| *step >= percent * (1.0 - 1e-9));
    found.next().unwrap_or(100.0) / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_and_its_share_of_the_way_lead_to_each_other() {
        let scale = Scale::new(10.0, 20.0);
        for (value, part) in [(5.0, -0.5), (10.0, 0.0), (15.0, 0.5), (20.0, 1.0)] {
            assert_eq!(scale.position(value), part);
            assert_eq!(scale.value_at(part), value);
        }
        assert_eq!(Scale::new(3.0, 3.0).position(3.0), 0.0);
    }

    #[test]
    fn a_scale_over_values_is_not_too_short_for_them() {
        let over = |values: &[f64]| Scale::covering(values.iter().copied()).map(Scale::ends);
        assert_eq!(over(&[]), None);
        assert_eq!(over(&[100.0]), Some((97.5, 102.5)));
        assert_eq!(over(&[1.0, 2.0]), Some((1.0, 2.0)));
        assert_eq!(over(&[0.0]), Some((0.0, 0.0)));
    }
}
