//! The full description of one sample, as `NBenchmark` gives it: centre and spread of what an outlier policy left, and the tail of all that was
//! measured.

use super::description::Description;
use super::outlier_policy::{OutlierPolicy, TreatedSample};
use super::quantile::Quantile;
use super::t_interval::TInterval;
use super::trimmed_mean::{TrimmedError, TrimmedMean};

/// Which values the percentiles and extremes of a [`FullDescription`] are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TailBasis {
    /// They are of all values: a policy hides no tail.
    Raw,
    /// They are of the values that the policy left.
    TreatedSample,
}

/// How [`FullDescription::of`] describes a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FullDescriptionRules {
    /// What is done about outliers before mean, deviation and median.
    pub outliers: OutlierPolicy,
    /// The definition of median and percentiles; the median of `Linear` is the mean of the middle two.
    pub quantile: Quantile,
    /// The standard error of the mean.
    pub trimmed_error: TrimmedError,
    /// Which values percentiles and extremes are of.
    pub tail: TailBasis,
    /// The level of the interval of the mean, between 0 and 1.
    pub level: f64,
}

/// Location, spread, tail and the mean's interval of one sample, in its unit. What the values do not give is `None`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FullDescription {
    /// How many values were measured.
    pub measured: usize,
    /// How many of them the policy left.
    pub used: usize,
    /// The mean of the values left.
    pub mean: f64,
    /// The median of the values left.
    pub median: f64,
    /// The standard deviation of the values left.
    pub sd: Option<f64>,
    /// The standard error of the mean ([`TrimmedMean`]).
    pub standard_error: Option<f64>,
    /// Student's interval of the mean.
    pub interval: Option<TInterval>,
    /// The coefficient of variation of the values left, a fraction.
    pub cv: Option<f64>,
    /// The median absolute deviation of the values left, unscaled.
    pub mad: f64,
    /// The 5, 25, 75, 95 and 99 % quantiles.
    pub percentiles: [f64; 5],
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

impl FullDescription {
    /// The fractions of [`Self::percentiles`].
    pub const FRACTIONS: [f64; 5] = [0.05, 0.25, 0.75, 0.95, 0.99];

    /// Describes the sample `raw` in any order; n log n steps. `None` without values or with one that is not finite. One value has a location and no
    /// spread.
    pub fn of(raw: &[f64], rules: FullDescriptionRules) -> Option<Self> {
        let treated = rules.outliers.apply(raw)?;
        let described = Description::of(&treated.values)?;
        let trimmed = match rules.trimmed_error {
            TrimmedError::Winsorized => TrimmedMean::of(&treated),
            TrimmedError::Plain => TrimmedMean::of_values_left(&treated),
        };
        let (percentiles, min, max) = tail(&treated, rules)?;
        let mut centre = treated.values.clone();
        Some(Self {
            measured: raw.len(),
            used: treated.values.len(),
            mean: described.mean,
            median: rules.quantile.select(&mut centre, 0.5)?,
            sd: described.sd,
            standard_error: trimmed.map(|trimmed| trimmed.standard_error),
            interval: trimmed.and_then(|trimmed| trimmed.t_interval(rules.level)),
            cv: described.cv(),
            mad: described.mad,
            percentiles,
            min,
            max,
        })
    }
}

fn tail(treated: &TreatedSample<'_>, rules: FullDescriptionRules) -> Option<([f64; 5], f64, f64)> {
    let mut sorted = match rules.tail {
        TailBasis::Raw => treated.raw.to_vec(),
        TailBasis::TreatedSample => treated.values.clone(),
    };
    sorted.sort_unstable_by(f64::total_cmp);
    let mut percentiles = [0.0; 5];
    for (value, p) in percentiles.iter_mut().zip(FullDescription::FRACTIONS) {
        *value = rules.quantile.of_sorted(&sorted, p)?;
    }
    Some((percentiles, *sorted.first()?, *sorted.last()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: FullDescriptionRules = FullDescriptionRules {
        outliers: OutlierPolicy::Keep,
        quantile: Quantile::Linear,
        trimmed_error: TrimmedError::Winsorized,
        tail: TailBasis::Raw,
        level: 0.95,
    };

    #[test]
    fn one_value_has_a_location_and_no_spread() {
        let one = FullDescription::of(&[3.0], RULES).unwrap();
        assert_eq!(
            (one.mean, one.median, one.min, one.max),
            (3.0, 3.0, 3.0, 3.0)
        );
        assert_eq!(
            (one.sd, one.standard_error, one.interval, one.cv),
            (None, None, None, None)
        );
        assert_eq!(one.percentiles, [3.0; 5]);
        assert_eq!(FullDescription::of(&[], RULES), None);
        assert_eq!(FullDescription::of(&[f64::NAN], RULES), None);
    }
}
