//! From clusters to one cleaned sample, with a count of everything that is not in it.

use super::outlier_policy::{OutlierPolicy, TreatmentSkipped};

/// What becomes of the first value of each cluster, which may hold a warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstSample {
    /// The first value counts like the others.
    Used,
    /// The first value is left out, before any other treatment.
    Dropped,
}

/// Where the values of a [`CleanedSample`] went: raw = skipped + removed + used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CleaningCounts {
    /// How many values were measured.
    pub raw: usize,
    /// How many first values were left out.
    pub warm_up_skipped: usize,
    /// How many outliers were removed.
    pub outliers_removed: usize,
    /// How many values are used, replaced ones included.
    pub used: usize,
}

/// The pooled values of several clusters, without warm-up values and treated by an [`OutlierPolicy`].
#[derive(Debug, Clone, PartialEq)]
pub struct CleanedSample {
    /// All values, cluster after cluster.
    pub raw: Vec<f64>,
    /// The values without the first ones left out, before any other treatment.
    pub warm: Vec<f64>,
    /// The values used, in the same order.
    pub used: Vec<f64>,
    /// How many values went where.
    pub counts: CleaningCounts,
    /// How many values the policy replaced; they are used.
    pub replaced: usize,
    /// The bounds beyond which values were removed or replaced, where the policy has such.
    pub bounds: Option<(f64, f64)>,
    /// Why the policy did nothing, where a guard kept it from it.
    pub untouched: Option<TreatmentSkipped>,
    /// Which of `warm` are not used.
    outlier: Vec<bool>,
    /// How many of `warm` are of each cluster.
    clusters: Vec<usize>,
}

impl FirstSample {
    /// The first value is left out if `is_dropped`, and counts otherwise.
    pub fn dropped_if(is_dropped: bool) -> Self {
        if is_dropped {
            Self::Dropped
        } else {
            Self::Used
        }
    }

    /// How many values a cluster of `count` loses at its beginning: 0 or 1. A cluster of one value keeps it.
    pub fn skipped(self, count: usize) -> usize {
        usize::from(self == Self::Dropped && count > 1)
    }
}

impl CleanedSample {
    /// Pools `clusters`, without their first values if so wished, and applies `policy` to the pool: fences belong to the whole, not to a cluster.
    ///
    /// The order within a cluster matters only for the first value. `None` without values or with one that is not finite.
    pub fn of(clusters: &[&[f64]], first: FirstSample, policy: OutlierPolicy) -> Option<Self> {
        let raw: Vec<f64> = clusters.concat();
        let warm = clusters
            .iter()
            .flat_map(|cluster| &cluster[first.skipped(cluster.len())..]);
        let warm: Vec<f64> = warm.copied().collect();
        let left = |cluster: &&[f64]| cluster.len() - first.skipped(cluster.len());
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

    /// Makes a row that is an outlier in one of `columns`, of which all have the same number of rows, an outlier in all of them; where nothing
    /// would be left, no row is one.
    pub fn pair(columns: &mut [Self]) {
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

    /// The values used of each cluster; of some that may be none.
    pub fn used_by_cluster(&self) -> Vec<Vec<f64>> {
        let mut used = self.used.iter().copied();
        let mut outlier = self.outlier.iter();
        let of_cluster = |count: &usize| {
            let left = outlier.by_ref().take(*count).filter(|out| !**out).count();
            used.by_ref().take(left).collect()
        };
        self.clusters.iter().map(of_cluster).collect()
    }

    /// Uses those of `warm` that are no `outlier`.
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
        let cleaned = CleanedSample::of(
            &[&[3.0], &[9.0, 1.0]],
            FirstSample::Dropped,
            OutlierPolicy::Keep,
        );
        assert_eq!(cleaned.unwrap().used, [3.0, 1.0]);
        let of = |x: &[f64]| CleanedSample::of(&[x], FirstSample::Dropped, OutlierPolicy::Keep);
        assert_eq!(of(&[]), None);
        // Not even where it would have been dropped.
        assert_eq!(of(&[f64::NAN, 1.0]), None);
        assert_eq!(
            CleanedSample::of(&[], FirstSample::Used, OutlierPolicy::Keep),
            None
        );
    }
}
