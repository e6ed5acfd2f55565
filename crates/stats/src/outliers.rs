//! Tukey's fences: outliers are labeled and counted, not removed.

use serde::Serialize;

use super::quantile::Quantile;

/// The position of a value relative to [`TukeyFences`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutlierLabel {
    /// Below Q1 - 3 IQR.
    LowSevere,
    /// Below Q1 - 1.5 IQR.
    LowMild,
    /// Within the fences or on one of them.
    Inside,
    /// Above Q3 + 1.5 IQR.
    HighMild,
    /// Above Q3 + 3 IQR.
    HighSevere,
}

/// The four fences of a sample (Tukey 1977), from quartiles by [`Quantile::Linear`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TukeyFences {
    /// Q1 - 3 IQR
    pub low_severe: f64,
    /// Q1 - 1.5 IQR
    pub low_mild: f64,
    /// Q3 + 1.5 IQR
    pub high_mild: f64,
    /// Q3 + 3 IQR
    pub high_severe: f64,
}

/// Numbers of outliers of a sample, by kind
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub struct OutlierCounts {
    /// Values below Q1 - 3 IQR
    pub low_severe: usize,
    /// Values below Q1 - 1.5 IQR that are not severe
    pub low_mild: usize,
    /// Values above Q3 + 1.5 IQR that are not severe
    pub high_mild: usize,
    /// Values above Q3 + 3 IQR
    pub high_severe: usize,
}

impl TukeyFences {
    /// Computes the fences of `values`, given in any order, in their unit, at 1.5 and 3 IQR, in linear time. `None` without values; NaN counts as
    /// the largest value.
    pub fn from_samples(values: &[f64]) -> Option<Self> {
        Self::from_samples_at(values, 1.5, 3.0)
    }

    /// Like [`Self::from_samples`], with fences at `mild` and `severe` IQR.
    pub fn from_samples_at(values: &[f64], mild: f64, severe: f64) -> Option<Self> {
        let mut values = values.to_vec();
        let q1 = Quantile::Linear.select(&mut values, 0.25)?;
        let q3 = Quantile::Linear.select(&mut values, 0.75)?;
        let iqr = q3 - q1;
        Some(Self {
            low_severe: q1 - severe * iqr,
            low_mild: q1 - mild * iqr,
            high_mild: q3 + mild * iqr,
            high_severe: q3 + severe * iqr,
        })
    }

    /// Returns the fences from the lowest to the highest: severe, mild, mild, severe. `None` without spread, because nothing is an outlier then.
    pub fn ascending(&self) -> Option<[f64; 4]> {
        let all = [
            self.low_severe,
            self.low_mild,
            self.high_mild,
            self.high_severe,
        ];
        (self.low_severe != self.high_severe).then_some(all)
    }

    /// Returns the label of `value`; a value on a fence is inside. Without spread nothing is an outlier.
    pub fn label(&self, value: f64) -> OutlierLabel {
        if self.low_severe == self.high_severe {
            OutlierLabel::Inside
        } else if value < self.low_severe {
            OutlierLabel::LowSevere
        } else if value < self.low_mild {
            OutlierLabel::LowMild
        } else if value > self.high_severe {
            OutlierLabel::HighSevere
        } else if value > self.high_mild {
            OutlierLabel::HighMild
        } else {
            OutlierLabel::Inside
        }
    }
}

impl OutlierCounts {
    /// Counts the outliers of `values`, given in any order, by their own fences at 1.5 and 3 IQR. All counts are 0 without values.
    pub fn from_samples(values: &[f64]) -> Self {
        Self::from_samples_at(values, 1.5, 3.0)
    }

    /// Counts the outliers of `values` by their own fences at `mild` and `severe` IQR. All counts are 0 without values.
    pub fn from_samples_at(values: &[f64], mild: f64, severe: f64) -> Self {
        TukeyFences::from_samples_at(values, mild, severe)
            .map_or_else(Self::default, |fences| Self::count_beyond(&fences, values))
    }

    /// Counts the values beyond `fences`.
    pub fn count_beyond(fences: &TukeyFences, values: &[f64]) -> Self {
        let mut counts = Self::default();
        for value in values {
            match fences.label(*value) {
                OutlierLabel::LowSevere => counts.low_severe += 1,
                OutlierLabel::LowMild => counts.low_mild += 1,
                OutlierLabel::HighMild => counts.high_mild += 1,
                OutlierLabel::HighSevere => counts.high_severe += 1,
                OutlierLabel::Inside => {}
            }
        }
        counts
    }

    /// Returns the number of all outliers.
    pub fn total(&self) -> usize {
        self.low_severe + self.low_mild + self.high_mild + self.high_severe
    }
}

impl std::ops::Add for OutlierCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            low_severe: self.low_severe + other.low_severe,
            low_mild: self.low_mild + other.low_mild,
            high_mild: self.high_mild + other.high_mild,
            high_severe: self.high_severe + other.high_severe,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_to_twenty_and(more: &[f64]) -> Vec<f64> {
        (1..=20)
            .map(f64::from)
            .chain(more.iter().copied())
            .collect()
    }

    #[test]
    fn sixty_is_a_severe_outlier_of_one_to_twenty_and_thirty_two_is_none() {
        let x = one_to_twenty_and(&[32.0, 60.0]);
        let fences = TukeyFences::from_samples(&x).unwrap();
        let expected = TukeyFences {
            low_severe: -25.25,
            low_mild: -9.5,
            high_mild: 32.5,
            high_severe: 48.25,
        };
        assert_eq!(fences, expected);
        assert_eq!(
            OutlierCounts::from_samples(&x),
            OutlierCounts {
                high_severe: 1,
                ..OutlierCounts::default()
            }
        );
    }

    #[test]
    fn a_value_on_a_fence_is_inside_it() {
        let fences = TukeyFences {
            low_severe: -25.25,
            low_mild: -9.5,
            high_mild: 32.5,
            high_severe: 48.25,
        };
        assert_eq!(fences.label(32.5), OutlierLabel::Inside);
        assert_eq!(fences.label(32.500_01), OutlierLabel::HighMild);
        assert_eq!(fences.label(48.25), OutlierLabel::HighMild);
        assert_eq!(fences.label(48.250_01), OutlierLabel::HighSevere);
        assert_eq!(fences.label(-9.5), OutlierLabel::Inside);
        assert_eq!(fences.label(-9.6), OutlierLabel::LowMild);
        assert_eq!(fences.label(-25.3), OutlierLabel::LowSevere);
    }

    #[test]
    fn without_an_interquartile_range_nothing_is_an_outlier() {
        let mut x = vec![5.0; 9];
        x.push(1000.0);
        assert_eq!(OutlierCounts::from_samples(&x).total(), 0);
        assert_eq!(OutlierCounts::from_samples(&[]).total(), 0);
    }

    #[test]
    fn the_order_of_the_values_does_not_matter() {
        let mut x = one_to_twenty_and(&[40.0, 60.0, -40.0]);
        let counts = OutlierCounts::from_samples(&x);
        x.reverse();
        assert_eq!(OutlierCounts::from_samples(&x), counts);
        assert_eq!(counts.total(), 3);
    }
}
