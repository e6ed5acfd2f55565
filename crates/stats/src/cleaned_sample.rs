//! Pools clusters into one cleaned sample and counts every value that is left out.

use super::outlier_policy::{OutlierPolicy, TreatmentSkipped};

/// The treatment of the first value of each cluster, which may include a warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstSampleTreatment {
    /// The first value is used like the others.
    Used,
    /// The first value is left out, before any other treatment.
    Dropped,
}

/// The numbers of values kept and left out by a [`CleanedSample`]: raw = skipped + removed + used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CleaningCounts {
    /// Number of values measured
    pub raw: usize,
    /// Number of first values left out
    pub warm_up_skipped: usize,
    /// Number of outliers removed
    pub outliers_removed: usize,
    /// Number of values used, including replaced ones
    pub used: usize,
}

/// The pooled values of several clusters, without warm-up values and treated by an [`OutlierPolicy`].
#[derive(Debug, Clone, PartialEq)]
pub struct CleanedSample {
    /// All values, cluster by cluster
    pub raw: Vec<f64>,
    /// Values after first values were left out, before any other treatment
    pub warm: Vec<f64>,
    /// Values used, in the same order
    pub used: Vec<f64>,
    /// Numbers of values kept and left out
    pub counts: CleaningCounts,
    /// Number of values that the policy replaced; they are among the used ones
    pub replaced: usize,
    /// Bounds beyond which values were removed or replaced, if the policy has bounds
    pub bounds: Option<(f64, f64)>,
    /// Reason why a guard kept the policy from changing anything, if one did
    pub untouched: Option<TreatmentSkipped>,
    /// For each value of `warm`, whether it is left out
    outlier: Vec<bool>,
    /// For each cluster, its number of values in `warm`
    clusters: Vec<usize>,
}

impl FirstSampleTreatment {
    /// Returns `Dropped` if `is_dropped`, else `Used`.
    pub fn dropped_if(is_dropped: bool) -> Self {
        if is_dropped {
            Self::Dropped
        } else {
            Self::Used
        }
    }

    /// Returns how many values a cluster of `count` loses at its beginning: 0 or 1. A cluster of one value keeps it.
    pub fn skip_count(self, count: usize) -> usize {
        usize::from(self == Self::Dropped && count > 1)
    }
}

impl CleanedSample {
    /// Pools `clusters`, with their first values left out if `first` says so, and applies `policy` to the pool as a whole.
    ///
    /// The order within a cluster matters only for its first value. `None` without values or with a value that is not finite.
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

    /// Treats a row that is an outlier in one of `columns` as an outlier in all of them. All columns must have the same number of rows. If no row
    /// would be left, all rows are kept.
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

    /// Returns the values used from each cluster; a cluster may have none left.
    pub fn used_by_cluster(&self) -> Vec<Vec<f64>> {
        let mut used = self.used.iter().copied();
        let mut outlier = self.outlier.iter();
        let of_cluster = |count: &usize| {
            let left = outlier.by_ref().take(*count).filter(|out| !**out).count();
            used.by_ref().take(left).collect()
        };
        self.clusters.iter().map(of_cluster).collect()
    }

    /// Uses the values of `warm` that are not marked in `outlier`.
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
    use super::*;

    #[test]
    fn a_launch_of_one_sample_keeps_it_and_nothing_stays_nothing() {
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
