//! The full description of one sample, as `NBenchmark` gives it: center and spread of the values that an outlier policy kept, and the tail of all
//! measured values.

use crate::Description;

use super::interval::TInterval;
use super::means::{TrimmedError, TrimmedMean};
use super::outliers::{OutlierPolicy, TreatedSample};
use super::quantile::Quantile;

/// The values from which the percentiles and extremes of a [`FullDescription`] are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TailSource {
    /// All measured values, so that an outlier policy cannot hide the tail.
    Raw,
    /// The values that the policy kept.
    TreatedSample,
}

/// The parameters of [`FullDescription::compute`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FullDescriptionRules {
    /// Treatment of outliers before mean, deviation and median are computed.
    pub outliers: OutlierPolicy,
    /// Definition of the quantiles by which the median and the percentiles are computed. With `Linear`, the median is the mean of the two middle
    /// values.
    pub quantile: Quantile,
    /// Formula of the standard error of the mean.
    pub trimmed_error: TrimmedError,
    /// Values from which percentiles and extremes are computed.
    pub tail: TailSource,
    /// Level of the interval of the mean, between 0 and 1.
    pub level: f64,
}

/// Location, spread and tail of one sample, and the interval of its mean, in its unit. Quantities that the values do not determine are `None`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FullDescription {
    /// Number of measured values.
    pub measured: usize,
    /// Number of values that the policy kept.
    pub used: usize,
    /// Mean of the kept values.
    pub mean: f64,
    /// Median of the kept values.
    pub median: f64,
    /// Standard deviation of the kept values. `None` if there is only one.
    pub sd: Option<f64>,
    /// Standard error of the mean ([`TrimmedMean`]).
    pub standard_error: Option<f64>,
    /// Student's interval of the mean.
    pub interval: Option<TInterval>,
    /// Coefficient of variation of the kept values, as a fraction.
    pub cv: Option<f64>,
    /// Median absolute deviation of the kept values, without a scale factor.
    pub mad: f64,
    /// 5, 25, 75, 95 and 99 % quantiles of the values that [`FullDescriptionRules::tail`] selects.
    pub percentiles: [f64; 5],
    /// Smallest of the values that [`FullDescriptionRules::tail`] selects.
    pub min: f64,
    /// Largest of the values that [`FullDescriptionRules::tail`] selects.
    pub max: f64,
}

impl FullDescription {
    /// The fractions that the quantiles in [`Self::percentiles`] belong to.
    pub const FRACTIONS: [f64; 5] = [0.05, 0.25, 0.75, 0.95, 0.99];

    /// Describes the sample `raw` in n log n steps. Returns `None` if there are no values or if one of them is not finite. A single value has a
    /// location but no spread.
    pub fn compute(raw: &[f64], rules: FullDescriptionRules) -> Option<Self> {
        let treated = rules.outliers.apply(raw)?;
        let described = Description::compute(&treated.values)?;
        let trimmed = match rules.trimmed_error {
            TrimmedError::Winsorized => TrimmedMean::compute(&treated),
            TrimmedError::Plain => TrimmedMean::compute_plain(&treated),
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
        TailSource::Raw => treated.raw.to_vec(),
        TailSource::TreatedSample => treated.values.clone(),
    };
    sorted.sort_unstable_by(f64::total_cmp);
    let mut percentiles = [0.0; 5];
    for (value, p) in percentiles.iter_mut().zip(FullDescription::FRACTIONS) {
        *value = rules.quantile.select_sorted(&sorted, p)?;
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
        tail: TailSource::Raw,
        level: 0.95,
    };

    #[test]
    fn one_value_has_a_location_and_no_spread() {
        let one = FullDescription::compute(&[3.0], RULES).unwrap();
        assert_eq!(
            (one.mean, one.median, one.min, one.max),
            (3.0, 3.0, 3.0, 3.0)
        );
        assert_eq!(
            (one.sd, one.standard_error, one.interval, one.cv),
            (None, None, None, None)
        );
        assert_eq!(one.percentiles, [3.0; 5]);
        assert_eq!(FullDescription::compute(&[], RULES), None);
        assert_eq!(FullDescription::compute(&[f64::NAN], RULES), None);
    }
}
