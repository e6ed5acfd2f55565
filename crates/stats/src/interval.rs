//! Intervals, and estimates with an interval.

/// A two-sided interval, in the unit of the estimated quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower bound
    pub lower: f64,
    /// Upper bound
    pub upper: f64,
}

impl Interval {
    /// The interval that excludes nothing.
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

    /// Returns the part of the interval that is not below 0, for quantities that cannot be negative. It covers as often as the whole interval.
    #[must_use]
    pub fn clamp_at_zero(self) -> Self {
        self.map(|bound| bound.max(0.0))
    }
}

/// An estimate with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntervalEstimate {
    /// Estimate
    pub value: f64,
    /// Interval of the estimate
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
