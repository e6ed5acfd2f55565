//! Outliers: Tukey's fences, which label and count them, and policies that remove or replace them before a summary.
//!
//! The result keeps the raw sample, so that percentiles, extremes and tests can use it. Invariants: a policy never removes all values, and every
//! value that is left out is counted.

use serde::Serialize;

use super::description::{Description, MAD_TO_SD};
use super::interval::Interval;
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
    /// Q1 - 3 IQR.
    pub low_severe: f64,
    /// Q1 - 1.5 IQR.
    pub low_mild: f64,
    /// Q3 + 1.5 IQR.
    pub high_mild: f64,
    /// Q3 + 3 IQR.
    pub high_severe: f64,
}

/// How many values of a sample are outliers of each kind, by Tukey's fences. Q1 and Q3 are the quartiles, and IQR is their distance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub struct OutlierCounts {
    /// Number of values below Q1 - 3 IQR.
    pub low_severe: usize,
    /// Number of values below Q1 - 1.5 IQR, without those below Q1 - 3 IQR.
    pub low_mild: usize,
    /// Number of values above Q3 + 1.5 IQR, without those above Q3 + 3 IQR.
    pub high_mild: usize,
    /// Number of values above Q3 + 3 IQR.
    pub high_severe: usize,
}

impl TukeyFences {
    /// Computes the fences of `values` at 1.5 and 3 IQR, in linear time. NaN counts as the largest value. Returns `None` if there are no values.
    pub fn from_samples(values: &[f64]) -> Option<Self> {
        Self::from_samples_at(values, 1.5, 3.0)
    }

    /// Like [`Self::from_samples`], but with the mild fences at `mild` IQR and the severe fences at `severe` IQR from the quartiles.
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

    /// Returns the fences from the lowest to the highest: severe, mild, mild, severe. Returns `None` if the values have no spread, because nothing is
    /// an outlier then.
    pub fn ascending(&self) -> Option<[f64; 4]> {
        let all = [
            self.low_severe,
            self.low_mild,
            self.high_mild,
            self.high_severe,
        ];
        (self.low_severe != self.high_severe).then_some(all)
    }

    /// Returns the label of `value`. A value on a fence is inside. If the sample has no spread, nothing is an outlier.
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
    /// Counts the outliers of `values` by the fences of these values at 1.5 and 3 IQR. All counts are 0 if there are no values.
    pub fn from_samples(values: &[f64]) -> Self {
        Self::from_samples_at(values, 1.5, 3.0)
    }

    /// Counts the outliers of `values` by the fences of these values at `mild` and `severe` IQR. All counts are 0 if there are no values.
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

/// A treatment of outliers before a summary. Tests should use the raw values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OutlierPolicy {
    /// Keep all values.
    Keep,
    /// Remove the largest ceil(n / 20) values.
    TopFivePercent,
    /// Remove the smallest and the largest floor(n / 20) values.
    BothFivePercent,
    /// Remove values beyond fences at a multiple of the IQR from the quartiles (Tukey 1977).
    IqrFence(IqrFence),
    /// Remove values whose distance from the median is more than `multiple` times 1.4826 MAD (`NBenchmark`). Of fewer than three values, remove none.
    Mad {
        /// Largest allowed distance from the median, in scaled MAD. A common value is 3.
        multiple: f64,
    },
    /// Replace values beyond the `Linear` 5 and 95 % quantiles by these quantiles.
    Winsorise5To95,
}

/// Fences at a distance from the quartiles that is given in interquartile ranges. A value on a fence is inside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IqrFence {
    /// Definition of the quartiles.
    pub quartiles: Quantile,
    /// Distance of a fence from its quartile, in IQR.
    pub multiple: f64,
    /// Smallest number of values to which the fences are applied. A smaller sample remains unchanged.
    pub fewest: usize,
    /// Treatment of a sample whose quartiles are equal.
    pub without_spread: ZeroSpreadTreatment,
}

/// The treatment of a sample whose quartiles are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZeroSpreadTreatment {
    /// Keep all values (the serializer benchmarks).
    KeepAll,
    /// Remove all values that differ from the quartiles (`NBenchmark`).
    Apply,
}

impl IqrFence {
    /// The fence of `NBenchmark`: nearest-rank quartiles, 1.5 IQR, any number of values and any spread.
    pub const NEAREST_RANK: Self = Self {
        quartiles: Quantile::InvertedCdf,
        multiple: 1.5,
        fewest: 1,
        without_spread: ZeroSpreadTreatment::Apply,
    };
    /// The fence of the serializer benchmarks: interpolated quartiles, 1.5 IQR, at least 10 values.
    pub const INTERPOLATED: Self = Self {
        quartiles: Quantile::Linear,
        multiple: 1.5,
        fewest: 10,
        without_spread: ZeroSpreadTreatment::KeepAll,
    };
    /// The wider fence of the serializer benchmarks, at 3 IQR.
    pub const INTERPOLATED_WIDE: Self = Self {
        multiple: 3.0,
        ..Self::INTERPOLATED
    };
}

/// The reason why an outlier policy changed nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreatmentSkipped {
    /// There are fewer values than the policy needs.
    TooFew,
    /// The interquartile range or the MAD is 0.
    NoSpread,
    /// The policy would leave no value.
    WouldRemoveAll,
}

/// A sample after an [`OutlierPolicy`] was applied.
#[derive(Debug, Clone, PartialEq)]
pub struct TreatedSample<'a> {
    /// All values as measured.
    pub raw: &'a [f64],
    /// Values after the treatment, in the order measured. Replaced values are among them.
    pub values: Vec<f64>,
    /// For each raw value, whether it was removed. A replaced value was not removed.
    pub gone: Vec<bool>,
    /// Number of low values that were removed or replaced.
    pub low: usize,
    /// Number of high values that were removed or replaced.
    pub high: usize,
    /// Bounds beyond which values were removed or replaced. `None` if the policy has no bounds.
    pub bounds: Option<Interval>,
    /// Reason why the policy was not applied. `None` if it was applied.
    pub untouched: Option<TreatmentSkipped>,
}

impl TreatedSample<'_> {
    /// Returns the number of removed values.
    pub fn removed(&self) -> usize {
        self.raw.len() - self.values.len()
    }

    /// Returns the number of replaced values.
    pub fn replaced(&self) -> usize {
        self.low + self.high - self.removed()
    }
}

impl OutlierPolicy {
    /// Applies the policy to the sample `raw` in n log n steps. The order of the values is kept. Returns `None` if there are no values or if one of
    /// them is not finite.
    ///
    /// ```
    /// use perfcheck_stats::{IqrFence, OutlierPolicy};
    /// let mut values: Vec<f64> = (1..=20).map(f64::from).collect();
    /// values.push(100.0);
    /// let policy = OutlierPolicy::IqrFence(IqrFence::NEAREST_RANK);
    /// let treated = policy.apply(&values).expect("finite values");
    /// assert_eq!(treated.values, values[..20]);
    /// ```
    pub fn apply(self, raw: &[f64]) -> Option<TreatedSample<'_>> {
        if raw.is_empty() || !raw.iter().all(|value| value.is_finite()) {
            return None;
        }
        match self {
            Self::Keep => Some(unchanged(raw, None)),
            Self::TopFivePercent => Some(remove_ends(raw, 0, raw.len().div_ceil(20))),
            Self::BothFivePercent => Some(remove_ends(raw, raw.len() / 20, raw.len() / 20)),
            Self::IqrFence(fence) => fence.apply(raw),
            Self::Mad { multiple } => {
                if raw.len() < 3 {
                    return Some(unchanged(raw, Some(TreatmentSkipped::TooFew)));
                }
                let described = Description::compute(raw)?;
                let reach = multiple * MAD_TO_SD * described.mad;
                if reach == 0.0 {
                    return Some(unchanged(raw, Some(TreatmentSkipped::NoSpread)));
                }
                Some(keep_within(
                    raw,
                    described.median - reach,
                    described.median + reach,
                ))
            }
            Self::Winsorise5To95 => {
                let mut values = raw.to_vec();
                let low = Quantile::Linear.select(&mut values, 0.05)?;
                let high = Quantile::Linear.select(&mut values, 0.95)?;
                Some(TreatedSample {
                    raw,
                    values: raw.iter().map(|value| value.clamp(low, high)).collect(),
                    gone: vec![false; raw.len()],
                    low: raw.iter().filter(|value| **value < low).count(),
                    high: raw.iter().filter(|value| **value > high).count(),
                    bounds: Some(Interval {
                        lower: low,
                        upper: high,
                    }),
                    untouched: None,
                })
            }
        }
    }
}

impl IqrFence {
    fn apply(self, raw: &[f64]) -> Option<TreatedSample<'_>> {
        if raw.len() < self.fewest {
            return Some(unchanged(raw, Some(TreatmentSkipped::TooFew)));
        }
        let mut values = raw.to_vec();
        let q1 = self.quartiles.select(&mut values, 0.25)?;
        let q3 = self.quartiles.select(&mut values, 0.75)?;
        let reach = self.multiple * (q3 - q1);
        if reach == 0.0 && self.without_spread == ZeroSpreadTreatment::KeepAll {
            return Some(unchanged(raw, Some(TreatmentSkipped::NoSpread)));
        }
        Some(keep_within(raw, q1 - reach, q3 + reach))
    }
}

fn unchanged(raw: &[f64], untouched: Option<TreatmentSkipped>) -> TreatedSample<'_> {
    TreatedSample {
        raw,
        values: raw.to_vec(),
        gone: vec![false; raw.len()],
        low: 0,
        high: 0,
        bounds: None,
        untouched,
    }
}

/// Keeps the values from `low` to `high`, both included.
fn keep_within(raw: &[f64], low: f64, high: f64) -> TreatedSample<'_> {
    let inside = |value: &f64| low <= *value && *value <= high;
    let values: Vec<f64> = raw.iter().copied().filter(inside).collect();
    if values.is_empty() {
        return unchanged(raw, Some(TreatmentSkipped::WouldRemoveAll));
    }
    TreatedSample {
        raw,
        values,
        gone: raw.iter().map(|value| !inside(value)).collect(),
        low: raw.iter().filter(|value| **value < low).count(),
        high: raw.iter().filter(|value| **value > high).count(),
        bounds: Some(Interval {
            lower: low,
            upper: high,
        }),
        untouched: None,
    }
}

/// Removes the `low` smallest and the `high` largest values. Of equal values, the earlier ones are removed at the low end and the later ones at the
/// high end.
fn remove_ends(raw: &[f64], low: usize, high: usize) -> TreatedSample<'_> {
    if low + high >= raw.len() {
        return unchanged(raw, Some(TreatmentSkipped::WouldRemoveAll));
    }
    let mut order: Vec<usize> = (0..raw.len()).collect();
    order.sort_by(|a, b| raw[*a].total_cmp(&raw[*b]));
    let mut gone = vec![true; raw.len()];
    for at in &order[low..raw.len() - high] {
        gone[*at] = false;
    }
    let kept = raw.iter().zip(&gone).filter(|(_, gone)| !**gone);
    TreatedSample {
        raw,
        values: kept.map(|(value, _)| *value).collect(),
        gone,
        low,
        high,
        bounds: None,
        untouched: None,
    }
}

/// How the first value of each cluster is treated. It may include a warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstSampleTreatment {
    /// The first value is used like the others.
    Used,
    /// The first value is left out before any other treatment.
    Dropped,
}

/// How many values a [`CleanedSample`] kept and left out: raw = skipped + removed + used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CleaningCounts {
    /// Number of values measured.
    pub raw: usize,
    /// Number of first values that were left out as warm-up.
    pub warm_up_skipped: usize,
    /// Number of outliers removed.
    pub outliers_removed: usize,
    /// Number of values used. Replaced values are among them.
    pub used: usize,
}

/// The pooled values of several clusters, without warm-up values and treated by an [`OutlierPolicy`].
#[derive(Debug, Clone, PartialEq)]
pub struct CleanedSample {
    /// All values, cluster by cluster.
    pub raw: Vec<f64>,
    /// Values that remain after the first values of clusters were left out, before outliers are treated.
    pub warm: Vec<f64>,
    /// Values that are used, in the order of `raw`.
    pub used: Vec<f64>,
    /// Numbers of values kept and left out.
    pub counts: CleaningCounts,
    /// Number of values that the policy replaced. They are among the used values.
    pub replaced: usize,
    /// Bounds beyond which values were removed or replaced. `None` if the policy has no bounds.
    pub bounds: Option<Interval>,
    /// Reason why the policy was not applied. `None` if it was applied.
    pub untouched: Option<TreatmentSkipped>,
    /// For each value of `warm`, whether it is left out of `used`.
    outlier: Vec<bool>,
    /// For each cluster, the number of its values in `warm`.
    clusters: Vec<usize>,
}

impl FirstSampleTreatment {
    /// Returns `Dropped` if `is_dropped` is true, and otherwise `Used`.
    pub fn dropped_if(is_dropped: bool) -> Self {
        if is_dropped {
            Self::Dropped
        } else {
            Self::Used
        }
    }

    /// Returns how many values are left out at the beginning of a cluster that has `count` values: 0 or 1. The only value of a cluster is never left
    /// out.
    pub fn skip_count(self, count: usize) -> usize {
        usize::from(self == Self::Dropped && count > 1)
    }
}

impl CleanedSample {
    /// Pools the values of `clusters` and applies `policy` to the pool as a whole. If `first` says so, the first value of each cluster is left out
    /// before.
    ///
    /// The order within a cluster matters only for its first value. Returns `None` if there are no values or if one of them is not finite.
    pub fn clean(
        clusters: &[&[f64]],
        first: FirstSampleTreatment,
        policy: OutlierPolicy,
    ) -> Option<Self> {
        let raw: Vec<f64> = clusters.concat();
        let warm = clusters
            .iter()
            .flat_map(|cluster| &cluster[first.skip_count(cluster.len())..]);
        let warm: Vec<f64> = warm.copied().collect();
        let left = |cluster: &&[f64]| cluster.len() - first.skip_count(cluster.len());
        if !raw.iter().all(|value| value.is_finite()) {
            return None;
        }
        let treated = policy.apply(&warm)?;
        Some(Self {
            counts: CleaningCounts {
                raw: raw.len(),
                warm_up_skipped: raw.len() - warm.len(),
                outliers_removed: treated.removed(),
                used: treated.values.len(),
            },
            replaced: treated.replaced(),
            bounds: treated.bounds,
            untouched: treated.untouched,
            used: treated.values,
            outlier: treated.gone,
            clusters: clusters.iter().map(left).collect(),
            raw,
            warm,
        })
    }

    /// Removes rows that are an outlier in at least one of `columns` from all columns. All columns must have the same number of rows. If no row would
    /// be left, all rows are kept.
    pub fn remove_outlier_rows(columns: &mut [Self]) {
        let rows = columns.first().map_or(0, |column| column.outlier.len());
        let any = |row: usize| columns.iter().any(|column| column.outlier[row]);
        let any: Vec<bool> = (0..rows).map(any).collect();
        if any.iter().all(|outlier| *outlier) {
            for column in columns {
                column.remove(vec![false; rows]);
            }
        } else if any.contains(&true) {
            for column in columns {
                column.remove(any.clone());
            }
        }
    }

    /// Returns, for each cluster, those of its values that are used. A cluster may have none left.
    pub fn used_by_cluster(&self) -> Vec<Vec<f64>> {
        let mut used = self.used.iter().copied();
        let mut outlier = self.outlier.iter();
        let of_cluster = |count: &usize| {
            let left = outlier.by_ref().take(*count).filter(|out| !**out).count();
            used.by_ref().take(left).collect()
        };
        self.clusters.iter().map(of_cluster).collect()
    }

    /// Makes `used` the values of `warm` that are not marked in `outlier`, and updates the counts.
    fn remove(&mut self, outlier: Vec<bool>) {
        let used = self.warm.iter().zip(&outlier);
        self.used = used
            .filter(|(_, outlier)| !**outlier)
            .map(|(value, _)| *value)
            .collect();
        self.counts.used = self.used.len();
        self.counts.outliers_removed = self.warm.len() - self.used.len();
        self.outlier = outlier;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    const ALL: [OutlierPolicy; 8] = [
        OutlierPolicy::Keep,
        OutlierPolicy::TopFivePercent,
        OutlierPolicy::BothFivePercent,
        OutlierPolicy::IqrFence(IqrFence::NEAREST_RANK),
        OutlierPolicy::IqrFence(IqrFence::INTERPOLATED),
        OutlierPolicy::IqrFence(IqrFence::INTERPOLATED_WIDE),
        OutlierPolicy::Mad { multiple: 3.0 },
        OutlierPolicy::Winsorise5To95,
    ];

    #[test]
    fn equal_quartiles_keep_all_or_nothing_else() {
        let raw = [5.0, 5.0, 5.0, 5.0, 9.0];
        let of = |fence: IqrFence| {
            OutlierPolicy::IqrFence(fence)
                .apply(&raw)
                .unwrap()
                .removed()
        };
        assert_eq!(of(IqrFence::NEAREST_RANK), 1);
        let guarded = IqrFence {
            without_spread: ZeroSpreadTreatment::KeepAll,
            ..IqrFence::NEAREST_RANK
        };
        assert_eq!(of(guarded), 0);
    }

    #[test]
    fn fences_that_nothing_lies_within_are_not_applied() {
        // A negative multiple makes no sense; the guard must hold even then.
        let fence = IqrFence {
            multiple: -2.0,
            ..IqrFence::NEAREST_RANK
        };
        let treated = OutlierPolicy::IqrFence(fence)
            .apply(&[1.0, 2.0, 3.0, 4.0])
            .unwrap();
        assert_eq!(treated.untouched, Some(TreatmentSkipped::WouldRemoveAll));
        assert_eq!(treated.values.len(), 4);
    }

    #[test]
    fn nothing_and_values_that_are_not_finite_are_not_treated() {
        for policy in ALL {
            assert_eq!(policy.apply(&[]), None);
            assert_eq!(policy.apply(&[1.0, f64::NAN]), None);
            let one = policy.apply(&[7.0]).unwrap();
            assert_eq!((one.values.as_slice(), one.removed()), (&[7.0][..], 0));
        }
    }

    proptest! {
        #[test]
        fn counts_add_up_and_the_order_of_the_values_does_not_matter(
            mut x in prop::collection::vec((0_u8..40).prop_map(|v| f64::from(v) * f64::from(v)), 1..70)
        ) {
            for policy in ALL {
                let straight = policy.apply(&x).unwrap();
                prop_assert!(!straight.values.is_empty());
                prop_assert_eq!(straight.removed() + straight.replaced(), straight.low + straight.high);
                let mut forward = straight.values.clone();
                let (low, high) = (straight.low, straight.high);
                x.reverse();
                let turned = policy.apply(&x).unwrap();
                let mut backward = turned.values.clone();
                forward.sort_by(f64::total_cmp);
                backward.sort_by(f64::total_cmp);
                prop_assert_eq!(forward, backward);
                prop_assert_eq!((low, high), (turned.low, turned.high));
            }
        }
    }

    #[test]
    fn a_process_of_one_sample_keeps_it_and_nothing_stays_nothing() {
        let cleaned = CleanedSample::clean(
            &[&[3.0], &[9.0, 1.0]],
            FirstSampleTreatment::Dropped,
            OutlierPolicy::Keep,
        );
        assert_eq!(cleaned.unwrap().used, [3.0, 1.0]);
        let of = |x: &[f64]| {
            CleanedSample::clean(&[x], FirstSampleTreatment::Dropped, OutlierPolicy::Keep)
        };
        assert_eq!(of(&[]), None);
        // A value that is not finite is refused even if it would be dropped.
        assert_eq!(of(&[f64::NAN, 1.0]), None);
        assert_eq!(
            CleanedSample::clean(&[], FirstSampleTreatment::Used, OutlierPolicy::Keep),
            None
        );
    }
}
