//! A center by subsampling, the "subselection" of mmtests: the median of the means of many random parts of a cluster, averaged over clusters.
//!
//! The parts dampen single outliers without a definition of an outlier (Kalibera, Bulej and Tuma 2005).

use super::description::{deviations, mean, mean_distance};
use super::interval::Interval;
use super::normal;
use super::quantile::median;
use super::random::{Draws, Stream};
use super::sums::sum;

/// Whether a part may contain a sample more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replacement {
    /// A part contains each sample at most once, as mmtests documents it.
    Without,
    /// A part may contain a sample several times, as in the script of mmtests: a bootstrap of a smaller size.
    With,
}

/// The rule by which the parts of a [`SubsampledCentre`] are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Subsampling {
    /// Number of parts drawn from a cluster
    pub parts: usize,
    /// Size of a part as a share of the cluster's n samples: max(1, floor(share n)) of them
    pub share: f64,
    /// Whether a part may contain a sample more than once
    pub replacement: Replacement,
}

impl Subsampling {
    /// The documented rule of mmtests: 100 parts of 80 %, without replacement.
    pub const DOCUMENTED: Self = Self {
        parts: 100,
        share: 0.8,
        replacement: Replacement::Without,
    };
    /// The rule in the script of mmtests: 1000 parts of 80 %, with replacement.
    pub const SCRIPTED: Self = Self {
        parts: 1_000,
        share: 0.8,
        replacement: Replacement::With,
    };

    /// Returns the number of samples in a part of a cluster of `count`.
    pub fn size(&self, count: usize) -> usize {
        // The addition compensates for rounding that would push an integer just below itself.
        ((self.share * count as f64 + 1e-9) as usize).clamp(1, count.max(1))
    }
}

/// A center by subsampling, in the unit of the samples.
#[derive(Debug, Clone, PartialEq)]
pub struct SubsampledCentre {
    /// Mean of the clusters' medians
    pub centre: f64,
    /// For each cluster, the median of the means of its parts
    pub medians: Vec<f64>,
    /// Unrounded medians minus a common center
    distances: Vec<f64>,
    /// For each cluster, the median of the population variances of its parts
    variances: Vec<f64>,
    /// For each cluster, its number of samples
    counts: Vec<usize>,
}

impl SubsampledCentre {
    /// Draws the parts of all `clusters` from `stream`, with one block per cluster. The order of samples only affects which ones are drawn. `None`
    /// without clusters, with an empty one, with a value that is not finite, or for a rule without parts or with a share outside 0..=1.
    pub fn compute(clusters: &[&[f64]], rule: Subsampling, stream: Stream<'_>) -> Option<Self> {
        let valid = rule.parts > 0 && rule.share > 0.0 && rule.share <= 1.0;
        let usable =
            |cluster: &&[f64]| !cluster.is_empty() && cluster.iter().all(|x| x.is_finite());
        if clusters.is_empty() || !valid || !clusters.iter().all(usable) {
            return None;
        }
        let all = mean(&clusters.concat())?;
        let (distances, variances): (Vec<f64>, Vec<f64>) = clusters
            .iter()
            .zip(0..)
            .map(|(cluster, block)| {
                subsample_cluster(cluster, all, rule, &mut Draws::new(stream, block))
            })
            .collect::<Option<Vec<_>>>()?
            .into_iter()
            .unzip();
        Some(Self {
            centre: all + mean(&distances)?,
            medians: distances.iter().map(|distance| all + distance).collect(),
            distances,
            variances,
            counts: clusters.iter().map(|cluster| cluster.len()).collect(),
        })
    }

    /// Returns the interval of the center at `level` as in mmtests, `centre -+ z sqrt((s + v) / N)`, with s the sum of `n_j (median_j - centre)^2`
    /// over k - 1, v the mean of the variances, and N the number of all samples. `None` below two clusters or for a level outside 0..1.
    pub fn interval(&self, level: f64) -> Option<Interval> {
        let z = normal::two_sided(level)?;
        if self.medians.len() < 2 {
            return None;
        }
        let squares = deviations(&self.distances)
            .zip(&self.counts)
            .map(|(deviation, count)| deviation.powi(2) * *count as f64);
        let between = sum(squares) / (self.medians.len() - 1) as f64;
        let samples = self.counts.iter().sum::<usize>() as f64;
        let margin = z * ((between + mean(&self.variances)?) / samples).sqrt();
        Some(Interval::around(self.centre, margin))
    }
}

/// Returns the median of the means of a cluster's parts, minus `centre`, and the median of their variances.
fn subsample_cluster(
    cluster: &[f64],
    centre: f64,
    rule: Subsampling,
    draws: &mut Draws,
) -> Option<(f64, f64)> {
    let size = rule.size(cluster.len());
    // Use deviations from the cluster's mean, so that the sums of a part keep their digits in a single pass.
    let distance = mean_distance(cluster, centre)?;
    let mut pool: Vec<f64> = deviations(cluster).collect();
    let (mut means, mut variances) = (Vec::new(), Vec::new());
    for _ in 0..rule.parts {
        let (mut sum, mut squares) = (0.0, 0.0);
        for at in 0..size {
            let drawn = match rule.replacement {
                Replacement::With => pool[draws.index(pool.len() as u32)],
                // Fisher and Yates: drawn samples move to the front; the order of the rest does not matter.
                Replacement::Without => {
                    let drawn = at + draws.index((pool.len() - at) as u32);
                    pool.swap(at, drawn);
                    pool[at]
                }
            };
            sum += drawn;
            squares += drawn * drawn;
        }
        let n = size as f64;
        means.push(sum / n);
        variances.push((squares - sum * sum / n).max(0.0) / n);
    }
    Some((distance + median(&means)?, median(&variances)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STREAM: Stream<'static> = Stream {
        seed: 9,
        name: "parts",
    };

    #[test]
    fn a_part_has_eighty_percent_of_the_samples_rounded_down_and_never_none() {
        // max(1, math.floor(fractions.Fraction(8, 10) * n)) in Python
        let counts = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 99, 100, 1_001];
        let sizes = counts.map(|count| Subsampling::DOCUMENTED.size(count));
        assert_eq!(sizes, [1, 1, 2, 3, 4, 4, 5, 6, 7, 8, 79, 80, 800]);
    }

    #[test]
    fn nothing_and_nonsense_have_no_centre() {
        let of = |clusters: &[&[f64]], rule| SubsampledCentre::compute(clusters, rule, STREAM);
        assert_eq!(of(&[], Subsampling::DOCUMENTED), None);
        assert_eq!(of(&[&[1.0], &[]], Subsampling::DOCUMENTED), None);
        assert_eq!(of(&[&[f64::NAN]], Subsampling::DOCUMENTED), None);
        for (parts, share) in [(0, 0.8), (10, 0.0), (10, 1.1), (10, f64::NAN)] {
            let rule = Subsampling {
                parts,
                share,
                replacement: Replacement::With,
            };
            assert_eq!(of(&[&[1.0]], rule), None);
        }
        let one = of(&[&[1.0, 2.0]], Subsampling::DOCUMENTED).unwrap();
        assert_eq!(one.interval(0.95), None);
    }

    proptest! {
        #[test]
        fn the_centre_lies_within_the_values_and_is_drawn_alike_again(x in prop::collection::vec(-9.0..9.0_f64, 1..40)) {
            for rule in [Subsampling::DOCUMENTED, Subsampling::SCRIPTED] {
                let found = SubsampledCentre::compute(&[&x], rule, STREAM).unwrap();
                let low = x.iter().copied().fold(f64::INFINITY, f64::min);
                let high = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                prop_assert!(low - 1e-12 <= found.centre && found.centre <= high + 1e-12);
                prop_assert_eq!(found, SubsampledCentre::compute(&[&x], rule, STREAM).unwrap());
            }
        }
    }
}
