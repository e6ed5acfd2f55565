//! The full record of one series: `NBenchmark`'s, with the centre and spread of what an outlier policy left and the tail of all that was measured.

use super::description::Description;
use super::outlier_policy::{OutlierPolicy, TreatedSample};
use super::quantile::Quantile;
use super::t_interval::TInterval;
use super::trimmed_mean::TrimmedMean;

/// Which values percentiles and extremes are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TailBasis {
    /// All values: a policy hides no tail.
    Raw,
    /// Those that the policy left.
    TreatedSample,
}

/// How a series is described.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FullDescriptionRules {
    /// What is done about outliers before mean, deviation and median.
    pub outliers: OutlierPolicy,
    /// The definition of median and percentiles; the median of `Linear` is the mean of the middle two.
    pub quantile: Quantile,
    /// What percentiles and extremes are of.
    pub tail: TailBasis,
    /// Level of the interval of the mean.
    pub level: f64,
}

/// What a series says. `None` where the values do not give it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FullDescription {
    /// Values measured.
    pub measured: usize,
    /// Values left by the policy.
    pub used: usize,
    /// Mean of those.
    pub mean: f64,
    /// Their median.
    pub median: f64,
    /// Their standard deviation.
    pub sd: Option<f64>,
    /// Standard error of the mean, which knows of what was taken away.
    pub standard_error: Option<f64>,
    /// The interval of the mean, margin and bounds.
    pub interval: Option<TInterval>,
    /// Coefficient of variation.
    pub cv: Option<f64>,
    /// Median absolute deviation, unscaled.
    pub mad: f64,
    /// 5, 25, 75, 95 and 99 % quantiles.
    pub percentiles: [f64; 5],
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
}

impl FullDescription {
    /// Fractions of [`Self::percentiles`].
    pub const FRACTIONS: [f64; 5] = [0.05, 0.25, 0.75, 0.95, 0.99];

    /// Describes `raw`; `None` without values or with one that is not finite.
    pub fn of(raw: &[f64], rules: FullDescriptionRules) -> Option<Self> {
        let treated = rules.outliers.apply(raw)?;
        let described = Description::of(&treated.values)?;
        let trimmed = TrimmedMean::of(&treated);
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
