//! What a page draws of one side of a comparison, reduced to what an eye can see: curves on a grid, quantiles, launches, thinned samples.
//!
//! Pure numbers, each side over a range of its own: sides may lie far apart, and each has its details. Nothing here decides.

use super::portrait::drawn_range;
use super::summary::{clusters, sample_times};
use crate::model::{LaunchSeries, Measurement};
use perfcheck_stats::{
    ClusterMean, Quantile, Resampling, Stream, density_curve, derived_seed, mean, ratio_resamples,
    sample_variance, silverman_bandwidth,
};

/// Places of the density of all samples.
pub const DENSITY_POINTS: usize = 80;
/// Places of the density of one launch.
pub const LAUNCH_POINTS: usize = 18;
/// Launches whose density is drawn; of more there are quartiles.
pub const MOST_VIOLINS: usize = 16;
/// Places of the density of resampled changes, which is smooth.
const CHANGE_POINTS: usize = 48;
/// Resamples of the change: their density is drawn, no bound is read off it.
const RESAMPLES: usize = 4_000;
/// Of the resamples this share at either end may lie outside of the picture.
const TAIL: f64 = 0.001;

/// The probabilities of [`Shape::quantiles`]: every fortieth, and the tails.
pub const PROBABILITIES: [f64; 48] = {
    let mut p = [0.0; 48];
    p[1] = 0.01;
    let mut i = 1;
    while i < 40 {
        p[i + 1] = i as f64 * 0.025;
        i += 1;
    }
    p[41] = 0.98;
    p[42] = 0.99;
    p[43] = 0.995;
    p[44] = 0.998;
    p[45] = 0.999;
    p[46] = 0.9999;
    p[47] = 1.0;
    p
};

/// One side.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// The times that are drawn, from and to.
    pub range: (f64, f64),
    /// Density of the samples within the range at [`DENSITY_POINTS`] places over it; empty where they do not spread.
    pub density: Vec<f64>,
    /// The launches with samples.
    pub launches: Vec<LaunchShape>,
    /// Quantiles by nearest rank at [`PROBABILITIES`]: each is a sample that was measured.
    pub quantiles: Vec<f64>,
    /// Iterations and nanoseconds of the samples of the linear phases, thinned.
    pub ramp: Vec<(f64, f64)>,
    /// How many there were.
    pub ramp_samples: usize,
    /// Deciding samples.
    pub samples: usize,
    /// Samples outside of the range.
    pub outside: usize,
}

/// One launch.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchShape {
    /// Its samples in the order taken, thinned to every so many.
    pub times: Vec<f64>,
    /// Lower quartile, median, upper quartile.
    pub quartiles: [f64; 3],
    /// Where most of its samples lie, within the range of all.
    pub range: (f64, f64),
    /// Density of its samples at [`LAUNCH_POINTS`] places over its range; empty where they do not spread or the launches are many.
    pub density: Vec<f64>,
}

impl Shape {
    /// Of a measurement with samples, with about `points` of them at most.
    pub fn of(measurement: &Measurement, points: usize) -> Option<Self> {
        let launches = sample_times(measurement);
        let mut all: Vec<f64> = launches.iter().flatten().copied().collect();
        all.sort_by(f64::total_cmp);
        let range = drawn_range(&all)?;
        let inside = within(&all, range);
        let quantiles = PROBABILITIES
            .iter()
            .map(|p| Quantile::InvertedCdf.of_sorted(&all, *p))
            .collect::<Option<Vec<f64>>>()?;
        let ramp: Vec<(f64, f64)> = measurement.launches.iter().flat_map(ramp).collect();
        let every = all.len().div_ceil(points.max(1)).max(1);
        let violins = launches.len() <= MOST_VIOLINS;
        Some(Self {
            range,
            density: density(&inside, range, DENSITY_POINTS),
            outside: all.len() - inside.len(),
            samples: all.len(),
            launches: launches
                .iter()
                .map(|times| launch(times, range, every, violins))
                .collect::<Option<Vec<LaunchShape>>>()?,
            quantiles,
            ramp_samples: ramp.len(),
            ramp: thinned(&ramp, points / 4),
        })
    }
}

/// How resampled changes of the mean lie.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeShape {
    /// The changes that are drawn, fractions, from and to.
    pub range: (f64, f64),
    /// Their density at places from one end to the other.
    pub density: Vec<f64>,
    /// Resamples.
    pub resamples: usize,
}

impl ChangeShape {
    /// The bootstrap distribution of the change of the mean: launches of both sides are resampled, of a side with one launch its samples. `None`
    /// without samples on a side, and where the resamples do not spread.
    pub fn of(candidate: &Measurement, base: &Measurement, seed: u64) -> Option<Self> {
        let (candidate_launches, base_launches) = (sample_times(candidate), sample_times(base));
        let (candidate_clusters, base_clusters) =
            (clusters(&candidate_launches), clusters(&base_launches));
        if candidate_clusters.is_empty() || base_clusters.is_empty() {
            return None;
        }
        let mut changes = ratio_resamples(
            &ClusterMean::new(&candidate_clusters),
            &ClusterMean::new(&base_clusters),
            Resampling {
                resamples: RESAMPLES,
                stream: Stream {
                    seed: derived_seed(seed, &candidate.benchmark.key.to_string()),
                    name: "picture of the change of the mean",
                },
            },
        );
        changes.retain(|change| change.is_finite());
        changes.sort_by(f64::total_cmp);
        let end = |p| Quantile::Linear.of_sorted(&changes, p);
        let (lower, upper) = (end(TAIL)?, end(1.0 - TAIL)?);
        let bandwidth = bandwidth(&changes)?;
        let range = (lower - 3.0 * bandwidth, upper + 3.0 * bandwidth);
        Some(Self {
            density: heights(density_curve(&changes, bandwidth, range, CHANGE_POINTS)),
            range,
            resamples: changes.len(),
        })
    }
}

/// Resamples of few launches take few values: a curve through these alone would be a comb.
fn bandwidth(changes: &[f64]) -> Option<f64> {
    let centre = mean(changes)?;
    let sd = sample_variance(changes)?.sqrt();
    let smooth = silverman_bandwidth(changes)?.max(sd * 0.2);
    (smooth > centre.abs() * 1e-12).then_some(smooth)
}

fn within(sorted: &[f64], (from, to): (f64, f64)) -> Vec<f64> {
    let inside = sorted.iter().filter(|time| (from..=to).contains(*time));
    inside.copied().collect()
}

fn density(values: &[f64], range: (f64, f64), points: usize) -> Vec<f64> {
    silverman_bandwidth(values).map_or_else(Vec::new, |bandwidth| {
        heights(density_curve(values, bandwidth, range, points))
    })
}

fn heights(curve: Vec<(f64, f64)>) -> Vec<f64> {
    curve.into_iter().map(|(_, height)| height).collect()
}

fn launch(
    times: &[f64],
    range: (f64, f64),
    every: usize,
    with_density: bool,
) -> Option<LaunchShape> {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let quartile = |p| Quantile::Linear.of_sorted(&sorted, p);
    let (low, high) = drawn_range(&sorted)?;
    // A launch may lie outside of what is drawn of all.
    let own = (low.clamp(range.0, range.1), high.clamp(range.0, range.1));
    Some(LaunchShape {
        quartiles: [quartile(0.25)?, quartile(0.5)?, quartile(0.75)?],
        density: if with_density {
            density(&within(&sorted, own), own, LAUNCH_POINTS)
        } else {
            Vec::new()
        },
        range: own,
        times: times.iter().step_by(every).copied().collect(),
    })
}

fn ramp(launch: &LaunchSeries) -> Vec<(f64, f64)> {
    let samples = launch.series.linear.iter();
    samples
        .map(|sample| (sample.iterations as f64, sample.elapsed.as_f64()))
        .collect()
}

/// Every so many of them, so that no more than `most` are left.
fn thinned(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    let every = points.len().div_ceil(most.max(1)).max(1);
    points.iter().step_by(every).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{flat_launch, measurement, with_ramp};
    use crate::compare::{BenchmarkRecord, summarize};
    use crate::model::DecisionSettings;

    fn launches(count: u32, offset: f64) -> Measurement {
        let of = |k: u32| {
            let times: Vec<f64> = (0..100)
                .map(|i| offset + f64::from(k) * 0.1 + f64::from((i * 7 + k) % 13) * 0.1)
                .collect();
            with_ramp(flat_launch(k, 1000, &times), 10, 20, offset, 0.0)
        };
        measurement((0..count).map(of).collect())
    }

    #[test]
    fn quantiles_of_the_picture_are_those_of_the_record() {
        let measured = launches(4, 100.0);
        let summary = summarize(&measured, 0.95, 1000, 1).unwrap();
        let record =
            BenchmarkRecord::of(&measured, &summary, &DecisionSettings::default(), 1).unwrap();
        let shape = Shape::of(&measured, 1000).unwrap();
        let at = |p: f64| {
            let place = PROBABILITIES
                .iter()
                .position(|known| (known - p).abs() < 1e-9);
            shape.quantiles[place.unwrap()]
        };
        let found = [0.05, 0.25, 0.75, 0.95, 0.99].map(at);
        assert_eq!(found, record.percentiles);
        assert_eq!((at(0.0), at(1.0)), (summary.min, summary.max));
        assert!(PROBABILITIES.is_sorted());
    }

    #[test]
    fn no_side_has_more_points_than_wanted() {
        let shape = Shape::of(&launches(10, 120.0), 200).unwrap();
        let drawn: usize = shape.launches.iter().map(|launch| launch.times.len()).sum();
        assert_eq!((drawn, shape.samples, shape.outside), (200, 1000, 0));
        assert_eq!((shape.ramp.len(), shape.ramp_samples), (50, 200));
        assert_eq!(shape.density.len(), DENSITY_POINTS);
        let violins = shape.launches.iter().map(|launch| launch.density.len());
        assert!(violins.eq([LAUNCH_POINTS; 10]));
        assert_eq!(Shape::of(&measurement(vec![]), 200), None);
    }

    #[test]
    fn the_picture_is_that_of_a_portrait_and_holds_no_interruptions() {
        let interrupted = |k: u32| {
            let times: Vec<f64> = (0..100)
                .map(|i| (100.0 + f64::from(i * 7 % 13)) * if i % 6 == 0 { 3.0 } else { 1.0 })
                .collect();
            flat_launch(k, 1000, &times)
        };
        let measured = measurement((0..6).map(interrupted).collect());
        let shape = Shape::of(&measured, 100).unwrap();
        let summary = summarize(&measured, 0.95, 1000, 1).unwrap();
        let portrait = crate::compare::Portrait::of(&measured, &summary).unwrap();
        assert_eq!(
            (shape.range, shape.outside),
            (portrait.range, portrait.outside)
        );
        assert_eq!(shape.outside, 6 * 17);
        assert!(shape.range.1 < 125.0, "{:?}", shape.range);
        // A curve over the picture, neither a spike nor a plain.
        let peak = shape.density.iter().copied().fold(0.0, f64::max);
        let high = shape.density.iter().filter(|height| **height > peak / 2.0);
        assert!(high.count() > DENSITY_POINTS / 4);
        let reaches = |launch: &LaunchShape| launch.range.1 - launch.range.0 > 12.0;
        assert!(shape.launches.iter().all(reaches));
    }

    #[test]
    fn many_launches_have_quartiles_and_no_density() {
        let measured = launches(17, 100.0);
        let shape = Shape::of(&measured, 100).unwrap();
        assert!(shape.launches.iter().all(|l| l.density.is_empty()));
        let [low, middle, high] = shape.launches[0].quartiles;
        assert!(low < middle && middle < high);
    }

    #[test]
    fn resampled_changes_lie_around_the_change_of_the_mean() {
        let (candidate, base) = (launches(10, 110.0), launches(10, 100.0));
        let found = ChangeShape::of(&candidate, &base, 7).unwrap();
        assert!(
            found.range.0 > 0.08 && found.range.1 < 0.12,
            "{:?}",
            found.range
        );
        assert_eq!(found, ChangeShape::of(&candidate, &base, 7).unwrap());
        let constant = |k| flat_launch(k, 1000, &[5.0; 9]);
        let constant = measurement((0..5).map(constant).collect());
        assert_eq!(ChangeShape::of(&constant, &constant, 7), None);
        assert_eq!(ChangeShape::of(&measurement(vec![]), &base, 7), None);
    }
}
