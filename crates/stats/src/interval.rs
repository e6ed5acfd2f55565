//! Intervals, and estimates with an interval. From one sample: Student's interval of a mean, and a distribution-free interval of a median.

use super::description::{mean, standard_error};
use super::special::beta_regularized;
use super::{normal, student_t};

/// An interval with two bounds, in the unit of the quantity that it bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower bound.
    pub lower: f64,
    /// Upper bound.
    pub upper: f64,
}

impl Interval {
    /// The interval without bounds, which excludes nothing.
    pub const UNBOUNDED: Self = Self {
        lower: f64::NEG_INFINITY,
        upper: f64::INFINITY,
    };

    /// Returns the interval `centre` -+ `margin`.
    pub fn around(centre: f64, margin: f64) -> Self {
        Self {
            lower: centre - margin,
            upper: centre + margin,
        }
    }

    /// Applies the increasing function `f` to both bounds. For example, `f64::exp` maps an interval of logarithms to the original scale.
    #[must_use]
    pub fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self {
            lower: f(self.lower),
            upper: f(self.upper),
        }
    }

    /// Returns the part of the interval that is not below 0, for quantities that cannot be negative. It contains the true value as often as the whole
    /// interval does.
    #[must_use]
    pub fn clamp_at_zero(self) -> Self {
        self.map(|bound| bound.max(0.0))
    }
}

/// An estimate with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntervalEstimate {
    /// Estimate.
    pub value: f64,
    /// Interval of the estimate.
    pub interval: Interval,
}

impl IntervalEstimate {
    /// Returns the estimate `value` with the interval `value` -+ `margin`.
    pub fn with_margin(value: f64, margin: f64) -> Self {
        Self {
            value,
            interval: Interval::around(value, margin),
        }
    }
}

/// The distance of two estimates in units of their intervals (mmtests).
///
/// By the rule of mmtests, two estimates differ if their intervals do not overlap. This rule is weaker than a test, but works for any estimate with
/// an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum IntervalDistance {
    /// The difference new - base, divided by the sum of the half-intervals that face each other. If it exceeds 1 in magnitude, the intervals do
    /// not overlap.
    Finite(f64),
    /// The estimates differ and both intervals are single points: the difference is exact.
    Exact,
}

impl IntervalDistance {
    /// Returns the distance of two estimates, which must have the same unit. It is 0 if they are equal. Returns `None` if an estimate or bound is not
    /// finite, or if an estimate is outside its interval.
    pub fn between(new: IntervalEstimate, base: IntervalEstimate) -> Option<Self> {
        for side in [new, base] {
            let Interval { lower, upper } = side.interval;
            let finite = lower.is_finite() && upper.is_finite();
            if !(finite && lower <= side.value && side.value <= upper) {
                return None;
            }
        }
        let difference = new.value - base.value;
        if difference == 0.0 {
            return Some(Self::Finite(0.0));
        }
        let facing = if difference > 0.0 {
            (base.interval.upper - base.value) + (new.value - new.interval.lower)
        } else {
            (base.value - base.interval.lower) + (new.interval.upper - new.value)
        };
        let distance = difference / facing;
        Some(if distance.is_finite() {
            Self::Finite(distance)
        } else {
            Self::Exact
        })
    }

    /// Reports whether the intervals do not overlap, which is the case if the magnitude of the distance is strictly above 1.
    pub fn is_significant(self) -> bool {
        match self {
            Self::Finite(distance) => distance.abs() > 1.0,
            Self::Exact => true,
        }
    }
}

/// A mean with Student's interval (Student 1908).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TInterval {
    /// Mean, in the unit of the values.
    pub mean: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// Margin of error, which is half the width of the interval: t(1 - (1 - level) / 2, df) times the standard error.
    pub margin: f64,
}

impl TInterval {
    /// Computes the interval of the mean of `values` at `level`, with the standard error s / sqrt(n) and n - 1 degrees of freedom.
    ///
    /// Returns `None` if there are fewer than two values, if one of them is not finite, or if `level` is outside 0..1. If all values are equal, the
    /// interval is a single point.
    ///
    /// ```
    /// use perfcheck_stats::TInterval;
    /// let found = TInterval::compute(&[9.0, 10.0, 11.0], 0.95).expect("several values");
    /// assert_eq!(found.mean, 10.0);
    /// assert!((found.interval().lower - 7.516).abs() < 0.001);
    /// ```
    pub fn compute(values: &[f64], level: f64) -> Option<Self> {
        Self::from_standard_error(
            mean(values)?,
            standard_error(values)?,
            (values.len() - 1) as f64,
            level,
        )
    }

    /// Computes the interval about `mean` at `level` from its `standard_error`, which has `df` degrees of freedom. Returns `None` if `level` is
    /// outside 0..1, if `df` is not positive, or if a value is not finite.
    pub fn from_standard_error(
        mean: f64,
        standard_error: f64,
        df: f64,
        level: f64,
    ) -> Option<Self> {
        if !(level > 0.0 && level < 1.0) {
            return None;
        }
        let margin = student_t::upper_quantile((1.0 - level) / 2.0, df)? * standard_error;
        (mean.is_finite() && margin.is_finite()).then_some(Self {
            mean,
            standard_error,
            df,
            margin,
        })
    }

    /// Returns the interval, mean -+ margin.
    pub fn interval(&self) -> Interval {
        Interval::around(self.mean, self.margin)
    }
}

/// From this number of values on, the ranks of the bounds are computed by the normal approximation.
const NORMAL_FROM: usize = 50;

/// The tolerance for the rounding of 1 - level, so that a rank whose probability is exactly 1 - level is accepted.
const ROUNDING: f64 = 1e-12;

/// A distribution-free interval of a median: two order statistics, and the probability that they enclose it (Thompson 1936; Conover 1999, section
/// 3.2).
///
/// A value is below the median with probability 1/2, so the order statistics of ranks l and n + 1 - l enclose the median with probability 1 - 2
/// P(Bin(n, 1/2) <= l - 1) or more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MedianInterval {
    /// The two order statistics, in the unit of the values.
    pub interval: Interval,
    /// Rank of the lower order statistic, from 1.
    pub lower_rank: usize,
    /// Rank of the upper order statistic.
    pub upper_rank: usize,
    /// Probability that the order statistics enclose the median. It is exact for a continuous distribution, otherwise a lower bound.
    pub coverage: f64,
}

impl MedianInterval {
    /// Computes the interval at `level` of a population's median from the sample `values`.
    ///
    /// For fewer than 50 values, the interval has the narrowest symmetric pair of ranks that covers `level`. From 50 values on, it has the ranks
    /// floor((n - z sqrt n) / 2) and ceil(1 + (n + z sqrt n) / 2). Returns `None` if even the interval from the smallest to the largest value does
    /// not cover the level (with fewer than 6 values at 95 %, or 8 at 99 %). Also returns `None` if a value is not a number, or if `level` is outside
    /// 0..1.
    ///
    /// ```
    /// use perfcheck_stats::MedianInterval;
    /// let found = MedianInterval::compute(&[5.0, 3.0, 4.0, 1.0, 6.0, 2.0], 0.95).expect("six values suffice");
    /// assert_eq!((found.interval.lower, found.interval.upper), (1.0, 6.0));
    /// assert!(found.coverage > 0.968);
    /// ```
    pub fn compute(values: &[f64], level: f64) -> Option<Self> {
        if !(level > 0.0 && level < 1.0) || values.iter().any(|value| value.is_nan()) {
            return None;
        }
        let n = values.len();
        let (lower, upper) = if n < NORMAL_FROM {
            let lower = exact_rank(n, (1.0 - level) / 2.0)?;
            (lower, n + 1 - lower)
        } else {
            let (count, z) = (n as f64, normal::two_sided(level)?);
            let reach = z * count.sqrt();
            let lower = ((count - reach) / 2.0).floor();
            let upper = (1.0 + f64::midpoint(count, reach)).ceil();
            if lower < 1.0 || upper > count {
                return None;
            }
            (lower as usize, upper as usize)
        };
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Some(Self {
            interval: Interval {
                lower: sorted[lower - 1],
                upper: sorted[upper - 1],
            },
            lower_rank: lower,
            upper_rank: upper,
            coverage: 1.0 - binomial_half_cdf(lower - 1, n) - binomial_half_cdf(n - upper, n),
        })
    }
}

/// Returns the largest rank l with P(Bin(n, 1/2) <= l - 1) <= `tail`. Returns `None` if there is no such rank.
fn exact_rank(n: usize, tail: f64) -> Option<usize> {
    (1..=n / 2)
        .take_while(|rank| binomial_half_cdf(rank - 1, n) <= tail + ROUNDING)
        .last()
}

/// Returns P(Bin(n, 1/2) <= k) for k < n.
fn binomial_half_cdf(k: usize, n: usize) -> f64 {
    beta_regularized((n - k) as f64, (k + 1) as f64, 0.5, 0.5)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn exact_values_differ_if_they_differ() {
        let exact = |value| IntervalEstimate::with_margin(value, 0.0);
        let between = |a, b| IntervalDistance::between(exact(a), exact(b));
        assert_eq!(between(2.0, 2.0), Some(IntervalDistance::Finite(0.0)));
        assert_eq!(between(2.0, 3.0), Some(IntervalDistance::Exact));
        assert!(between(2.0, 3.0).unwrap().is_significant());
        assert_eq!(between(f64::NAN, 3.0), None);
        let beside = IntervalEstimate {
            value: 9.0,
            ..exact(2.0)
        };
        assert_eq!(IntervalDistance::between(beside, exact(1.0)), None);
        assert_eq!(
            IntervalDistance::between(
                exact(1.0),
                IntervalEstimate::with_margin(1.0, f64::INFINITY)
            ),
            None
        );
    }

    proptest! {
        #[test]
        fn it_is_significant_exactly_where_the_intervals_do_not_overlap(a in 0.0..9.0_f64, b in 0.0..9.0_f64, u in 0.0..3.0_f64, v in 0.0..3.0_f64) {
            let (new, base) = (IntervalEstimate::with_margin(a, u), IntervalEstimate::with_margin(b, v));
            let gap = (a - b).abs() - (u + v);
            prop_assume!(gap.abs() > 1e-9);
            prop_assert_eq!(IntervalDistance::between(new, base).unwrap().is_significant(), gap > 0.0);
        }
    }

    #[test]
    fn one_value_values_without_spread_and_nonsense() {
        assert_eq!(TInterval::compute(&[1.0], 0.95), None);
        assert_eq!(TInterval::compute(&[], 0.95), None);
        assert_eq!(TInterval::compute(&[1.0, f64::INFINITY], 0.95), None);
        for level in [0.0, 1.0, -1.0, f64::NAN] {
            assert_eq!(TInterval::compute(&[1.0, 2.0], level), None);
        }
        let point = TInterval::compute(&[3.0; 4], 0.95).unwrap().interval();
        assert_eq!((point.lower, point.upper), (3.0, 3.0));
    }

    #[test]
    fn the_margin_is_t_times_the_standard_error() {
        // n = 2: t(.975, 1) = 12.706..., standard error of {1, 3} is 1.
        let interval = TInterval::compute(&[1.0, 3.0], 0.95).unwrap();
        assert!((interval.margin - 12.706_204_736_174_7).abs() < 1e-9);
        assert_eq!((interval.mean, interval.df), (2.0, 1.0));
    }

    fn up_to(n: u32) -> Vec<f64> {
        (1..=n).map(f64::from).collect()
    }

    #[test]
    fn too_few_values_and_nonsense_have_no_interval() {
        assert_eq!(MedianInterval::compute(&up_to(5), 0.95), None);
        assert_eq!(MedianInterval::compute(&up_to(7), 0.99), None);
        assert_eq!(MedianInterval::compute(&[], 0.95), None);
        assert_eq!(MedianInterval::compute(&[f64::NAN; 9], 0.95), None);
        for level in [0.0, 1.0, f64::NAN] {
            assert_eq!(MedianInterval::compute(&up_to(20), level), None);
        }
        // At this level the approximate ranks lie outside the sample.
        assert_eq!(MedianInterval::compute(&up_to(50), 1.0 - 1e-13), None);
    }

    #[test]
    fn both_rules_cover_what_they_are_asked_for() {
        for n in (8..49).chain([50, 51, 99, 400]) {
            for level in [0.9, 0.95, 0.99] {
                let found = MedianInterval::compute(&up_to(n), level).unwrap();
                assert!(found.coverage >= level - 1e-12, "{n} {level}: {found:?}");
                assert_eq!(found.lower_rank + found.upper_rank, n as usize + 1);
            }
        }
    }

    #[test]
    fn the_interval_follows_the_values_and_not_their_order() {
        let mut values = up_to(30);
        let straight = MedianInterval::compute(&values, 0.95);
        values.reverse();
        assert_eq!(MedianInterval::compute(&values, 0.95), straight);
    }
}
