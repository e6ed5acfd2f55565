//! The rule of mmtests: two estimates differ if their intervals do not overlap. It is weaker than a test, but works for any estimate with an
//! interval.

use super::interval::{Interval, IntervalEstimate};

/// The distance of two estimates in units of their intervals (mmtests).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum IntervalDistance {
    /// The difference new - base, divided by the sum of the half-intervals that face each other. If it exceeds 1 in magnitude, the intervals do
    /// not overlap.
    Finite(f64),
    /// The estimates differ and both intervals are single points: the difference is exact.
    Exact,
}

impl IntervalDistance {
    /// Measures the distance of two estimates in one unit; 0 for equal ones. `None` if an estimate or bound is not finite, or an estimate is
    /// outside its interval.
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

    /// Reports whether the intervals do not overlap: the magnitude is strictly above 1.
    pub fn is_significant(self) -> bool {
        match self {
            Self::Finite(distance) => distance.abs() > 1.0,
            Self::Exact => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
}
