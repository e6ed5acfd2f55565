//! Intervals, and estimates with one.

/// A two-sided interval, in the unit of what it is of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower bound.
    pub lower: f64,
    /// The upper bound.
    pub upper: f64,
}

impl Interval {
    /// The interval that excludes nothing.
    pub const UNBOUNDED: Self = Self {
        lower: f64::NEG_INFINITY,
        upper: f64::INFINITY,
    };

    /// The interval of `centre` -+ `margin`.
    pub fn around(centre: f64, margin: f64) -> Self {
        Self {
            lower: centre - margin,
            upper: centre + margin,
        }
    }

    /// The interval between the images of both bounds under the rising function `f`: `f64::exp` takes one of logarithms back to their own scale.
    #[must_use]
    pub fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self {
            lower: f(self.lower),
            upper: f(self.upper),
        }
    }

    /// The part of the interval that is not below 0, for what cannot be: it covers as often as the whole.
    #[must_use]
    pub fn not_below_zero(self) -> Self {
        self.map(|bound| bound.max(0.0))
    }
}

/// An estimate with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntervalEstimate {
    /// The estimate.
    pub value: f64,
    /// Its interval.
    pub interval: Interval,
}

impl IntervalEstimate {
    /// The estimate `value` with the interval `value` -+ `margin`.
    pub fn with_margin(value: f64, margin: f64) -> Self {
        Self {
            value,
            interval: Interval::around(value, margin),
        }
    }
}
