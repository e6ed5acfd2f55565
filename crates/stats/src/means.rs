//! Means other than the arithmetic one: geometric (of ratios), harmonic (of rates over equal amounts of work), trimmed or winsorized (Yuen 1974), and
//! a center by subsampling. All but the geometric mean have a measure of their uncertainty.

use super::description::sum;
use super::description::{
    Description, deviations, mean, mean_distance, sample_variance, squared_deviations,
};
use super::interval::{Interval, TInterval};
use super::normal;
use super::outliers::TreatedSample;
use super::quantile::median;
use super::random::{Draws, Stream};

/// A geometric mean of ratios, with the number of ratios used.
///
/// It summarizes the changes of many benchmarks in one number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeometricMean {
    /// Geometric mean of the ratios used, exp(mean of ln ratio).
    pub mean: f64,
    /// Number of ratios used.
    pub used: usize,
    /// Number of ratios left out because they are zero, negative or not finite.
    pub excluded: usize,
}

impl GeometricMean {
    /// Computes the mean of `ratios`. Ratios that are zero, negative or not finite are left out and counted. Returns `None` if no ratio is left.
    pub fn compute(ratios: &[f64]) -> Option<Self> {
        let logs: Vec<f64> = ratios
            .iter()
            .filter(|ratio| **ratio > 0.0 && ratio.is_finite())
            .map(|ratio| ratio.ln())
            .collect();
        let mean = super::description::mean(&logs)?;
        Some(Self {
            mean: mean.exp(),
            used: logs.len(),
            excluded: ratios.len() - logs.len(),
        })
    }
}

/// The harmonic mean of rates and its deviation, both in the unit of the rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HarmonicMean {
    /// Harmonic mean, H = n / sum(1 / x).
    pub mean: f64,
    /// Deviation, sqrt(sum (1 / x - 1 / H)^2 H^4 / n). As in mmtests, it is computed by the delta method from the population deviation of 1 / x.
    pub deviation: f64,
}

impl HarmonicMean {
    /// Computes the mean of `rates`. The deviation of a single rate is 0. Returns `None` if there are no rates, or if one of them is not positive and
    /// finite.
    pub fn compute(rates: &[f64]) -> Option<Self> {
        if rates.is_empty() || !rates.iter().all(|rate| *rate > 0.0 && rate.is_finite()) {
            return None;
        }
        let n = rates.len() as f64;
        // Scale to the largest rate: reciprocals of tiny rates would overflow.
        let largest = rates.iter().copied().fold(0.0, f64::max);
        let reciprocals: Vec<f64> = rates.iter().map(|rate| largest / rate).collect();
        let centre = mean(&reciprocals)?;
        let squares = squared_deviations(&reciprocals);
        let harmonic = largest / centre;
        // The deviation is H^2 times that of the reciprocals before they were scaled. The scale cancels out in this formula.
        let deviation = harmonic * (squares / n).sqrt() / centre;
        (harmonic.is_finite() && deviation.is_finite()).then_some(Self {
            mean: harmonic,
            deviation,
        })
    }
}

/// Operations per second, computed from times of single operations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OperationRates {
    /// Rate at the mean time, 1e9 / ns.
    pub mean: f64,
    /// Rate at the longest time.
    pub least: f64,
    /// Rate at the shortest time.
    pub most: f64,
}

impl OperationRates {
    /// Converts times of operations in nanoseconds into rates. A time of 0 is below the clock's resolution and gets the rate 0. Returns `None` if
    /// there are no values, or if one of them is negative or not finite.
    pub fn from_times(times_ns: &[f64]) -> Option<Self> {
        let times = Description::compute(times_ns).filter(|times| times.min >= 0.0)?;
        Some(Self {
            mean: per_second(times.mean),
            least: per_second(times.max),
            most: per_second(times.min),
        })
    }
}

fn per_second(time_ns: f64) -> f64 {
    if time_ns > 0.0 { 1e9 / time_ns } else { 0.0 }
}

/// The trimmed or winsorized mean of a [`TreatedSample`] (Yuen 1974), in the unit of the values.
///
/// It is the mean of the values that an outlier policy kept, with a standard error that accounts for the removed ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrimmedMean {
    /// Mean of the treated values.
    pub mean: f64,
    /// Standard error, `s_w sqrt(n) / h`, which is s / sqrt(n) if no value was changed. `s_w` is the deviation of all n values, with each removed
    /// value replaced by the nearest kept one, and h is the number of unchanged values.
    pub standard_error: f64,
    /// Degrees of freedom, h - 1.
    pub df: f64,
}

crate::words! {
    /// Standard error of a mean after the removal of outliers.
    TrimmedError {
        Winsorized = "winsorized": "Accounts for the values that were removed (Yuen 1974)",
        Plain = "plain": "s / sqrt(n) of the remaining values, as if none had been removed (NBenchmark)",
    }
}

impl TrimmedMean {
    /// Computes the mean of `treated`. Returns `None` if fewer than two values are unchanged.
    pub fn compute(treated: &TreatedSample<'_>) -> Option<Self> {
        let untouched = treated.raw.len() - treated.low - treated.high;
        if untouched < 2 {
            return None;
        }
        let smallest = treated.values.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = treated
            .values
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        let winsorised: Vec<f64> = treated
            .raw
            .iter()
            .map(|value| value.clamp(smallest, largest))
            .collect();
        let (n, h) = (treated.raw.len() as f64, untouched as f64);
        Some(Self {
            mean: mean(&treated.values)?,
            standard_error: (sample_variance(&winsorised)? * n).sqrt() / h,
            df: h - 1.0,
        })
    }

    /// Computes the mean of the kept values as if they were the whole sample, with the standard error s / sqrt(n) and n - 1 degrees of freedom.
    /// Returns `None` for fewer than two kept values. This error is too small, because the whole sample varies more than the kept values.
    pub fn compute_plain(treated: &TreatedSample<'_>) -> Option<Self> {
        let n = treated.values.len() as f64;
        Some(Self {
            mean: mean(&treated.values)?,
            standard_error: (sample_variance(&treated.values)? / n).sqrt(),
            df: n - 1.0,
        })
    }

    /// Returns Student's interval of the mean at `level`. Returns `None` if `level` is outside 0..1.
    pub fn t_interval(&self, level: f64) -> Option<TInterval> {
        TInterval::from_standard_error(self.mean, self.standard_error, self.df, level)
    }
}

/// Whether a random part may contain the same sample more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replacement {
    /// A part contains each sample at most once, as mmtests documents it.
    Without,
    /// A part may contain a sample several times, as in a bootstrap of a smaller size. The script of mmtests draws its parts in this way.
    With,
}

/// The rule by which the parts of a [`SubsampledCentre`] are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Subsampling {
    /// Number of parts that are drawn from each cluster.
    pub parts: usize,
    /// Size of a part, as a share of the n samples of its cluster. A part has max(1, floor(share n)) samples.
    pub share: f64,
    /// Whether a part may contain a sample more than once.
    pub replacement: Replacement,
}

impl Subsampling {
    /// The rule that mmtests documents: 100 parts of 80 % without replacement.
    pub const DOCUMENTED: Self = Self {
        parts: 100,
        share: 0.8,
        replacement: Replacement::Without,
    };
    /// The rule in the script of mmtests: 1000 parts of 80 % with replacement.
    pub const SCRIPTED: Self = Self {
        parts: 1_000,
        share: 0.8,
        replacement: Replacement::With,
    };

    /// Returns the number of samples in a part of a cluster that has `count` samples.
    pub fn size(&self, count: usize) -> usize {
        // The addition corrects for rounding: a product that should be an integer may be slightly below it.
        ((self.share * count as f64 + 1e-9) as usize).clamp(1, count.max(1))
    }
}

/// A center by subsampling, in the unit of the samples.
///
/// This is the "subselection" of mmtests. For each cluster, many random parts of its samples are drawn, and the median of the parts' means is taken.
/// The center is the mean of these medians over all clusters. The parts dampen single outliers without a definition of an outlier (Kalibera, Bulej
/// and Tuma 2005).
#[derive(Debug, Clone, PartialEq)]
pub struct SubsampledCentre {
    /// Mean of the clusters' medians.
    pub centre: f64,
    /// For each cluster, the median of the means of its parts.
    pub medians: Vec<f64>,
    /// For each cluster, its unrounded median minus a center that all clusters share.
    distances: Vec<f64>,
    /// For each cluster, the median of the population variances of its parts.
    variances: Vec<f64>,
    /// The number of samples of each cluster.
    counts: Vec<usize>,
}

impl SubsampledCentre {
    /// Draws the parts of all `clusters` from `stream`, with one block per cluster. The order of the samples only affects which of them are drawn.
    /// Returns `None` if there are no clusters, if a cluster is empty, or if a value is not finite. Also returns `None` if `rule` has no parts, or if
    /// its share is not above 0 or is above 1.
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

    /// Returns the interval of the center at `level` as in mmtests: `centre -+ z sqrt((s + v) / N)`. Here s is the sum of `n_j (median_j - centre)^2`
    /// divided by k - 1, v is the mean of the variances, and N is the number of all samples. Returns `None` if there are fewer than two clusters, or
    /// if `level` is outside 0..1.
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

/// Draws parts of a cluster. Returns the median of their means minus `centre`, and the median of their variances.
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
                // This is the shuffle of Fisher and Yates: drawn samples move to the front, and the order of the rest does not matter.
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
    use proptest::prelude::*;

    use super::*;
    use crate::OutlierPolicy;

    #[test]
    fn doubled_and_halved_is_unchanged_and_zeros_are_counted() {
        let found =
            GeometricMean::compute(&[2.0, 0.5, 0.0, -1.0, f64::NAN, f64::INFINITY]).unwrap();
        assert!((found.mean - 1.0).abs() < 1e-15);
        assert_eq!((found.used, found.excluded), (2, 4));
        assert_eq!(GeometricMean::compute(&[0.0]), None);
        assert_eq!(GeometricMean::compute(&[]), None);
    }

    #[test]
    fn rates_that_are_no_rates_have_no_harmonic_mean() {
        for rates in [
            &[][..],
            &[1.0, 0.0],
            &[1.0, -2.0],
            &[f64::NAN],
            &[f64::INFINITY],
        ] {
            assert_eq!(HarmonicMean::compute(rates), None);
        }
    }

    #[test]
    fn one_rate_is_its_own_mean_without_deviation_at_any_scale() {
        for rate in [1e-300, 3.0, 1e300] {
            let one = HarmonicMean::compute(&[rate]).unwrap();
            assert_eq!((one.mean, one.deviation), (rate, 0.0));
        }
    }

    #[test]
    fn negative_times_have_no_rate() {
        assert_eq!(OperationRates::from_times(&[1.0, -1.0]), None);
        assert_eq!(OperationRates::from_times(&[]), None);
    }

    #[test]
    fn a_single_value_left_has_no_error() {
        let treated = OutlierPolicy::TopFivePercent.apply(&[1.0, 2.0]).unwrap();
        assert_eq!(treated.values, [1.0]);
        assert_eq!(TrimmedMean::compute(&treated), None);
    }

    #[test]
    fn the_error_is_that_of_the_winsorised_values() {
        // 1..20 without 1 and 20: replaced by 2 and 19, sum of squares 2 (.5^2 + ... + 8.5^2 + 8.5^2) = 629, h = 18.
        let raw: Vec<f64> = (1..=20).map(f64::from).collect();
        let treated = OutlierPolicy::BothFivePercent.apply(&raw).unwrap();
        let trimmed = TrimmedMean::compute(&treated).unwrap();
        assert_eq!((trimmed.mean, trimmed.df), (10.5, 17.0));
        let expected = (629.0_f64 / 19.0 * 20.0).sqrt() / 18.0;
        assert!((trimmed.standard_error - expected).abs() < 1e-12);
        assert!(trimmed.t_interval(0.95).unwrap().margin > 2.0 * expected);
    }

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
