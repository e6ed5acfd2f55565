//! Computes the data for drawing one measurement, in a picture of its own or on a page with many: density curves, quantiles, processes and samples.
//!
//! This module only computes numbers. The output layers draw them. Each side of a comparison has a range of times of its own, because the sides may
//! be far apart. No verdict depends on these numbers.

use super::summary::{described_times, resampling_units, sample_times};
use crate::model::{Measurement, Sample};
use perfcheck_stats::{
    ClusterMean, Interval, Quantile, Resampling, Stream, density_curve, derived_seed, mean,
    relative_change_resamples, sample_variance, silverman_bandwidth,
};

/// Number of points of the density of resampled changes. The density is smooth, so few points are enough.
const CHANGE_POINTS: usize = 48;
/// The number of resamples of the change. Only their density is drawn, so fewer are enough than for bounds.
const RESAMPLES: usize = 4_000;
/// The share of the samples of a linear phase that are assumed to be undisturbed. The slowest of these shows how high the picture of a ramp must be.
const MOSTLY_UNDISTURBED: f64 = 0.7;
/// The share of the resamples at each end that the picture of a change may leave out.
const TAIL: f64 = 0.001;

/// The probabilities at which [`Shape::quantiles`] are computed: steps of 2.5 %, with further ones in the tails.
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

/// How much detail a drawing has. A single picture has room for everything. On a page of hundreds, each byte counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShapeDetail {
    /// The approximate largest number of samples to draw. If there are more, only every n-th sample is drawn.
    pub samples: usize,
    /// The number of points of the density curve of all samples.
    pub places: usize,
    /// The number of points of the density curve of one process.
    pub process_places: usize,
    /// The largest number of processes with a density curve each. If there are more, no process has one, and only quartiles are drawn.
    pub most_curves: usize,
}

impl ShapeDetail {
    /// The detail of a single picture: every sample, and smooth curves.
    pub const FULL: Self = Self {
        samples: usize::MAX,
        places: 160,
        process_places: 80,
        most_curves: usize::MAX,
    };

    /// Returns the detail that a small chart on a page of many can show, with about `samples` samples.
    pub const fn reduced(samples: usize) -> Self {
        Self {
            samples,
            places: 80,
            process_places: 18,
            most_curves: 16,
        }
    }
}

/// The drawing data of one measurement. Times are nanoseconds per iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// The density of the samples over the drawn range of times.
    pub density: Curve,
    /// The processes that have samples.
    pub processes: Vec<ProcessShape>,
    /// Quantiles by nearest rank at [`PROBABILITIES`]: each is a measured sample.
    pub quantiles: Vec<f64>,
    /// The linear phases, if there are any.
    pub ramp: Option<Ramp>,
    /// Number of deciding samples.
    pub samples: usize,
    /// The number of samples outside of the drawn range. They are counted, but not drawn.
    pub outside: usize,
}

/// The drawing data of one process.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessShape {
    /// The samples of the process in the order taken, thinned to about [`ShapeDetail::samples`] for all processes together.
    pub times: Vec<f64>,
    /// The lower quartile, the median and the upper quartile of the samples.
    pub quartiles: [f64; 3],
    /// The density of the samples over their main range, within the range drawn for all processes. It has no heights if there are too many processes.
    pub density: Curve,
}

impl Shape {
    /// Computes the drawing data of a measurement; `None` if it has no samples.
    pub fn from_measurement(measurement: &Measurement, detail: &ShapeDetail) -> Option<Self> {
        let processes = described_times(measurement);
        let mut all: Vec<f64> = processes.iter().flatten().copied().collect();
        all.sort_by(f64::total_cmp);
        let range = drawn_range(&all)?;
        let quantiles = PROBABILITIES
            .iter()
            .map(|p| Quantile::InvertedCdf.select_sorted(&all, *p))
            .collect::<Option<Vec<f64>>>()?;
        let every = all.len().div_ceil(detail.samples.max(1)).max(1);
        let places = if processes.len() <= detail.most_curves {
            detail.process_places
        } else {
            0
        };
        Some(Self {
            density: Curve::estimate(&all, range, detail.places),
            outside: all.len() - slice_within(&all, range).len(),
            samples: all.len(),
            processes: processes
                .iter()
                .map(|times| process_shape(times, range, every, places))
                .collect::<Option<Vec<ProcessShape>>>()?,
            quantiles,
            ramp: Ramp::from_measurement(measurement, range.upper, detail.samples / 4),
        })
    }

    /// Returns the median, by nearest rank like all of [`Self::quantiles`].
    pub fn median(&self) -> f64 {
        let at = PROBABILITIES.iter().position(|p| *p >= 0.5).unwrap_or(0);
        self.quantiles[at]
    }

    /// Returns the drawn range of times.
    pub fn range(&self) -> Interval {
        self.density.range
    }
}

/// The linear phases of a measurement: the time of each sample by its number of iterations.
#[derive(Debug, Clone, PartialEq)]
pub struct Ramp {
    /// The samples, thinned to about a quarter of [`ShapeDetail::samples`].
    pub points: Vec<Sample>,
    /// The number of samples before they were thinned.
    pub samples: usize,
    /// The largest number of iterations of a sample.
    pub iterations: f64,
    /// The time of the longest sample, in nanoseconds.
    pub elapsed: f64,
    /// The longest time that a sample with the most iterations is expected to take if nothing interrupts it, in nanoseconds.
    undisturbed: f64,
}

impl Ramp {
    /// Computes the ramp of all processes, with at most `most` samples. `longest` is the largest time per iteration that the picture of the deciding
    /// samples shows.
    fn from_measurement(measurement: &Measurement, longest: f64, most: usize) -> Option<Self> {
        let processes = measurement.processes.iter();
        let all = processes.flat_map(|process| &process.series.linear);
        let all: Vec<Sample> = all.copied().collect();
        let mut each: Vec<f64> = (all.iter().filter(|sample| sample.iterations > 0))
            .map(|sample| sample.elapsed.as_f64() / sample.iterations as f64)
            .collect();
        each.sort_by(f64::total_cmp);
        let usual = Quantile::InvertedCdf.select_sorted(&each, MOSTLY_UNDISTURBED)?;
        let largest = |pick: fn(&Sample) -> f64| all.iter().map(pick).fold(0.0, f64::max);
        let iterations = largest(|sample| sample.iterations as f64);
        Some(Self {
            points: thin_samples(&all, most),
            samples: all.len(),
            iterations,
            elapsed: largest(|sample| sample.elapsed.as_f64()),
            undisturbed: longest.max(usual * 1.25) * iterations,
        })
    }

    /// Adds the line through the samples, given by its slope in nanoseconds per iteration.
    pub fn with_slope(&self, slope: f64) -> SlopedRamp<'_> {
        SlopedRamp { ramp: self, slope }
    }
}

/// A ramp with the line through its samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlopedRamp<'r> {
    ramp: &'r Ramp,
    slope: f64,
}

impl SlopedRamp<'_> {
    /// Returns the time, in nanoseconds, up to which one picture draws the ramps of all sides. Interrupted samples may take ten times as long as all
    /// others, and they raise the slope, too. If the picture reached up to the interrupted samples, it would show nothing else.
    pub fn drawn_height(sides: &[Self]) -> f64 {
        let most = |of: fn(&Self) -> f64| sides.iter().map(of).fold(0.0, f64::max);
        let undisturbed = most(|side| side.ramp.undisturbed);
        let tallest = most(|side| side.ramp.elapsed.max(side.slope * side.ramp.iterations));
        tallest.min(undisturbed * 1.2) * 1.05
    }
}

/// How the change of the mean varies over bootstrap resamples.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeShape {
    /// The density of the changes (fractions) over the drawn range.
    pub density: Curve,
    /// The number of resamples whose density is drawn.
    pub resamples: usize,
}

impl ChangeShape {
    /// Computes the bootstrap distribution of the change of the mean. Whole processes of both sides are resampled, or the samples of a side that has
    /// only one process. Returns `None` if a side has no samples, or if all resamples are equal.
    pub fn from_measurements(
        candidate: &Measurement,
        base: &Measurement,
        seed: u64,
    ) -> Option<Self> {
        let (candidate_processes, base_processes) = (sample_times(candidate), sample_times(base));
        let (candidate_clusters, base_clusters) = (
            resampling_units(&candidate_processes),
            resampling_units(&base_processes),
        );
        if candidate_clusters.is_empty() || base_clusters.is_empty() {
            return None;
        }
        let mut changes = relative_change_resamples(
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
        let end = |p| Quantile::Linear.select_sorted(&changes, p);
        let (lower, upper) = (end(TAIL)?, end(1.0 - TAIL)?);
        let bandwidth = bandwidth(&changes)?;
        let range = Interval {
            lower: lower - 3.0 * bandwidth,
            upper: upper + 3.0 * bandwidth,
        };
        Some(Self {
            density: Curve::estimate_with_bandwidth(&changes, bandwidth, range, CHANGE_POINTS),
            resamples: changes.len(),
        })
    }
}

/// Returns the bandwidth for the density of resampled changes, or `None` if all changes are equal. Resamples of few processes take few distinct
/// values, so a small bandwidth would make the curve look like a comb.
fn bandwidth(changes: &[f64]) -> Option<f64> {
    let centre = mean(changes)?;
    let sd = sample_variance(changes)?.sqrt();
    let smooth = silverman_bandwidth(changes)?.max(sd * 0.2);
    (smooth > centre.abs() * 1e-12).then_some(smooth)
}

fn process_shape(
    times: &[f64],
    range: Interval,
    every: usize,
    places: usize,
) -> Option<ProcessShape> {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let quartile = |p| Quantile::Linear.select_sorted(&sorted, p);
    // The main range of one process may extend beyond the range drawn for all processes.
    let own = drawn_range(&sorted)?.map(|end| end.clamp(range.lower, range.upper));
    Some(ProcessShape {
        quartiles: [quartile(0.25)?, quartile(0.5)?, quartile(0.75)?],
        density: Curve::estimate(&sorted, own, places),
        times: times.iter().step_by(every).copied().collect(),
    })
}

/// Keeps every n-th sample, so that at most `most` are left.
fn thin_samples(samples: &[Sample], most: usize) -> Vec<Sample> {
    let every = samples.len().div_ceil(most.max(1)).max(1);
    samples.iter().step_by(every).copied().collect()
}

/// The drawn range is computed from the shortest interval that contains this share of the samples. The share is not larger, because up to a quarter
/// of the samples may be interruptions.
const CLOSE: f64 = 0.75;
/// A sample is drawn if its distance from the shortest interval with [`CLOSE`] of the samples is at most this many widths of the interval. Samples
/// farther away are only counted. Samples of a normal distribution practically never are so far away.
const REACH: f64 = 2.0;

/// The density of values over a range.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The range of values that the curve covers.
    pub range: Interval,
    /// The density at equally spaced points from one end of the range to the other. Empty if all values are equal.
    pub heights: Vec<f64>,
}

impl Curve {
    /// Computes the density of the values of `sorted` within `range`, at `places` points.
    pub(super) fn estimate(sorted: &[f64], range: Interval, places: usize) -> Self {
        let inside = slice_within(sorted, range);
        match silverman_bandwidth(inside) {
            Some(bandwidth) => Self::estimate_with_bandwidth(inside, bandwidth, range, places),
            None => Self {
                range,
                heights: Vec::new(),
            },
        }
    }

    /// Computes the density of all `values` with the caller's bandwidth.
    pub(super) fn estimate_with_bandwidth(
        values: &[f64],
        bandwidth: f64,
        range: Interval,
        places: usize,
    ) -> Self {
        let curve = density_curve(values, bandwidth, (range.lower, range.upper), places);
        Self {
            range,
            heights: curve.into_iter().map(|(_, height)| height).collect(),
        }
    }

    /// Returns the largest density, or 0 if the curve has no points.
    pub fn peak(&self) -> f64 {
        self.heights.iter().copied().fold(0.0, f64::max)
    }

    /// Yields each point of the curve: the value and its density.
    pub fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        let Interval { lower, upper } = self.range;
        let step = (upper - lower) / (self.heights.len().max(2) - 1) as f64;
        let heights = self.heights.iter().enumerate();
        heights.map(move |(i, height)| (lower + i as f64 * step, *height))
    }
}

/// Returns the range to draw: from the smallest to the largest value near the shortest interval that contains three quarters of the values, with some
/// room on both sides. Quartiles would not do. On a busy host, nearly a quarter of the samples may lie far above the rest, and the upper quartile
/// could lie among them.
pub(super) fn drawn_range(sorted: &[f64]) -> Option<Interval> {
    let Interval { lower, upper } = shortest_interval(sorted)?;
    let reach = REACH * (upper - lower);
    let is_near = |time: &&f64| reach == 0.0 || (lower - reach..=upper + reach).contains(*time);
    let inner = Interval {
        lower: *sorted.iter().find(is_near)?,
        upper: *sorted.iter().rfind(is_near)?,
    };
    let near = slice_within(sorted, inner);
    // The density is near zero at this distance, so the curve ends within the picture.
    let tail = silverman_bandwidth(near).map_or(0.0, |bandwidth| 2.5 * bandwidth);
    let room = match tail.max((inner.upper - inner.lower) * 0.06) {
        0.0 => inner.lower.abs().max(1e-3) * 0.01,
        room => room,
    };
    Some(Interval {
        lower: (inner.lower - room).max(0.0),
        upper: inner.upper + room,
    })
}

/// Returns the shortest interval between two samples that holds a share of [`CLOSE`] of them.
fn shortest_interval(sorted: &[f64]) -> Option<Interval> {
    let held = (sorted.len() as f64 * CLOSE).ceil().max(1.0) as usize;
    let intervals = sorted.windows(held).map(|held| Interval {
        lower: held[0],
        upper: held[held.len() - 1],
    });
    intervals.min_by(|a, b| (a.upper - a.lower).total_cmp(&(b.upper - b.lower)))
}

/// Returns the values of `sorted` within `range`, both ends included.
pub(super) fn slice_within(sorted: &[f64], range: Interval) -> &[f64] {
    let start = sorted.partition_point(|value| *value < range.lower);
    let end = sorted.partition_point(|value| *value <= range.upper);
    &sorted[start..end.max(start)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{flat_process, measurement, with_ramp};
    use crate::compare::{BenchmarkRecord, summarize};
    use crate::model::{DecisionSettings, Nanos};

    const REDUCED: ShapeDetail = ShapeDetail::reduced(200);

    fn processes(count: u32, offset: f64) -> Measurement {
        let of = |k: u32| {
            let times: Vec<f64> = (0..100)
                .map(|i| offset + f64::from(k) * 0.1 + f64::from((i * 7 + k) % 13) * 0.1)
                .collect();
            with_ramp(flat_process(k, 1000, &times), 10, 20, offset, 0.0)
        };
        measurement((0..count).map(of).collect())
    }

    #[test]
    fn the_median_of_the_picture_is_that_of_nearest_rank() {
        let measured = measurement(vec![
            flat_process(0, 1000, &[104.0, 101.0, 109.0]),
            flat_process(1, 1000, &[102.0, 130.0, 103.0]),
        ]);
        // The median by nearest rank is the third of six, not the mean of the third and the fourth.
        assert_eq!(
            Shape::from_measurement(&measured, &REDUCED)
                .unwrap()
                .median(),
            103.0
        );
    }

    #[test]
    fn quantiles_of_the_picture_are_those_of_the_record() {
        let measured = processes(4, 100.0);
        let summary = summarize(&measured, 0.95, 1000, 1).unwrap();
        let record =
            BenchmarkRecord::from_measurement(&measured, &summary, &DecisionSettings::default(), 1)
                .unwrap();
        let shape = Shape::from_measurement(&measured, &REDUCED).unwrap();
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
        let shape = Shape::from_measurement(&processes(10, 120.0), &REDUCED).unwrap();
        let drawn: usize = shape
            .processes
            .iter()
            .map(|process| process.times.len())
            .sum();
        assert_eq!((drawn, shape.samples, shape.outside), (200, 1000, 0));
        let ramp = shape.ramp.unwrap();
        assert_eq!((ramp.points.len(), ramp.samples), (50, 200));
        assert_eq!(shape.density.heights.len(), REDUCED.places);
        let curves = shape
            .processes
            .iter()
            .map(|process| &process.density.heights);
        assert!(curves.map(Vec::len).eq([REDUCED.process_places; 10]));
        assert_eq!(
            Shape::from_measurement(&measurement(vec![]), &REDUCED),
            None
        );
    }

    #[test]
    fn a_drawing_with_less_detail_has_the_same_numbers() {
        let measured = processes(17, 120.0);
        let full = Shape::from_measurement(&measured, &ShapeDetail::FULL).unwrap();
        let reduced = Shape::from_measurement(&measured, &REDUCED).unwrap();
        assert_eq!(full.range(), reduced.range());
        assert_eq!(full.quantiles, reduced.quantiles);
        assert_eq!(full.outside, reduced.outside);
        for (whole, part) in full.processes.iter().zip(&reduced.processes) {
            assert_eq!(whole.times.len(), 100);
            assert_eq!(whole.quartiles, part.quartiles);
            assert_eq!(whole.density.range, part.density.range);
            assert!(!whole.density.heights.is_empty());
        }
        let [full, reduced] = [full, reduced].map(|shape| shape.ramp.unwrap());
        assert_eq!((full.points.len(), full.samples), (340, 340));
        let second = Sample {
            iterations: 20,
            elapsed: Nanos(20 * 120),
        };
        assert_eq!(full.points[1], second);
        assert_eq!((full.iterations, full.elapsed), (200.0, 200.0 * 120.0));
        assert_eq!(
            SlopedRamp::drawn_height(&[full.with_slope(120.0)]),
            SlopedRamp::drawn_height(&[reduced.with_slope(120.0)])
        );
    }

    #[test]
    fn a_ramp_is_drawn_whole_unless_a_few_samples_were_interrupted() {
        let measured = measurement(vec![with_ramp(
            flat_process(0, 1000, &[100.0, 101.0, 102.0]),
            10,
            20,
            100.0,
            0.0,
        )]);
        let ramp = Ramp::from_measurement(&measured, 103.0, usize::MAX).unwrap();
        let top = SlopedRamp::drawn_height(&[ramp.with_slope(100.0)]);
        let interrupted = Ramp {
            elapsed: 10.0 * ramp.elapsed,
            ..ramp.clone()
        };
        let tallest = interrupted.with_slope(150.0);
        let reaches = SlopedRamp::drawn_height(&[tallest]) / ramp.elapsed;
        // The undisturbed side is drawn up to a twentieth above 200 iterations of 100 ns. The interrupted side is drawn up to a fifth and a twentieth
        // above 200 iterations of 125 ns.
        assert!((top - 21_000.0).abs() < 1e-6, "{top}");
        assert!((reaches - 31_500.0 / 20_000.0).abs() < 1e-9, "{reaches}");
        // A steep line is drawn whole, too, if it is no steeper than that: a twentieth above 200 iterations of 110 ns.
        let steep = SlopedRamp::drawn_height(&[ramp.with_slope(110.0)]);
        assert!((steep - 23_100.0).abs() < 1e-6, "{steep}");
        // With two sides, the taller side determines the top.
        assert_eq!(
            SlopedRamp::drawn_height(&[ramp.with_slope(100.0), tallest]) / ramp.elapsed,
            reaches
        );
    }

    fn drawn(times: &[f64]) -> Shape {
        let measured = measurement(vec![flat_process(0, 1000, times)]);
        Shape::from_measurement(&measured, &ShapeDetail::FULL).unwrap()
    }

    #[test]
    fn what_lies_far_out_is_counted_and_does_not_squeeze_the_rest() {
        let mut times: Vec<f64> = (0..40).map(|i| 100.0 + f64::from(i % 8)).collect();
        times.push(9_000.0);
        let found = drawn(&times);
        let range = found.range();
        assert_eq!(found.outside, 1);
        assert!(range.lower < 100.0 && range.upper > 107.0 && range.upper < 112.0);
        assert_eq!(found.processes[0].times.len(), 41);
        assert_eq!(found.density.heights.len(), ShapeDetail::FULL.places);
        assert!(found.density.heights.iter().all(|y| y.is_finite()));
    }

    #[test]
    fn up_to_a_quarter_of_the_samples_may_be_interruptions() {
        for every in [5, 8, 13] {
            let times: Vec<f64> = (0..390)
                .map(|i| match i % every {
                    0 => 250.0 + f64::from(i) * 15.0,
                    _ => 100.0 + f64::from(i * 7 % 80) * 0.1,
                })
                .collect();
            let found = drawn(&times);
            assert!(found.range().upper < 115.0, "{every}: {:?}", found.range());
            assert_eq!(found.outside, 390usize.div_ceil(every as usize));
        }
    }

    #[test]
    fn two_speeds_are_both_drawn_where_each_has_its_share() {
        let times: Vec<f64> = (0..100)
            .map(|i| if i % 3 == 0 { 180.0 } else { 100.0 } + f64::from(i % 7))
            .collect();
        let found = drawn(&times);
        assert_eq!(found.outside, 0);
        assert!(found.range().upper > 186.0);
    }

    #[test]
    fn samples_without_spread_have_a_range_and_no_curve() {
        let found = drawn(&[5.0; 9]);
        assert!(found.range().lower < 5.0 && found.range().upper > 5.0);
        assert!(found.density.heights.is_empty());
        let mostly = drawn(&[5.0, 5.0, 5.0, 5.0, 5.0, 9.0]);
        assert_eq!(mostly.outside, 0);
    }

    #[test]
    fn interruptions_make_neither_a_spike_nor_a_plain_of_a_curve() {
        let interrupted = |k: u32| {
            let times: Vec<f64> = (0..100)
                .map(|i| (100.0 + f64::from(i * 7 % 13)) * if i % 6 == 0 { 3.0 } else { 1.0 })
                .collect();
            flat_process(k, 1000, &times)
        };
        let measured = measurement((0..6).map(interrupted).collect());
        let shape = Shape::from_measurement(&measured, &ShapeDetail::reduced(100)).unwrap();
        assert_eq!(shape.outside, 6 * 17);
        assert!(shape.range().upper < 125.0, "{:?}", shape.range());
        let peak = shape.density.peak();
        let high = (shape.density.heights.iter()).filter(|height| **height > peak / 2.0);
        assert!(high.count() > REDUCED.places / 4);
        let reaches = |process: &ProcessShape| {
            let Interval { lower, upper } = process.density.range;
            upper - lower > 12.0
        };
        assert!(shape.processes.iter().all(reaches));
    }

    #[test]
    fn many_processes_have_quartiles_and_no_curves() {
        let measured = processes(17, 100.0);
        let shape = Shape::from_measurement(&measured, &REDUCED).unwrap();
        assert!(shape.processes.iter().all(|l| l.density.heights.is_empty()));
        let [low, middle, high] = shape.processes[0].quartiles;
        assert!(low < middle && middle < high);
    }

    #[test]
    fn resampled_changes_lie_around_the_change_of_the_mean() {
        let (candidate, base) = (processes(10, 110.0), processes(10, 100.0));
        let found = ChangeShape::from_measurements(&candidate, &base, 7).unwrap();
        assert!(
            (0.08..0.1).contains(&found.density.range.lower)
                && (0.1..0.12).contains(&found.density.range.upper),
            "{:?}",
            found.density.range
        );
        assert_eq!(
            found,
            ChangeShape::from_measurements(&candidate, &base, 7).unwrap()
        );
        let constant = |k| flat_process(k, 1000, &[5.0; 9]);
        let constant = measurement((0..5).map(constant).collect());
        assert_eq!(
            ChangeShape::from_measurements(&constant, &constant, 7),
            None
        );
        assert_eq!(
            ChangeShape::from_measurements(&measurement(vec![]), &base, 7),
            None
        );
    }

    #[test]
    fn the_curve_of_changes_is_smoothed_by_a_fifth_of_their_deviation_at_least() {
        let spread = [-3.0, -1.0, 1.0, 3.0];
        assert_eq!(bandwidth(&spread), silverman_bandwidth(&spread));
        // Half of the values are close together, so Silverman's width is small. The squares add up to 8.
        let comb = [-2.0, -1e-6, -1e-6, 0.0, 1e-6, 1e-6, 2.0];
        let width = bandwidth(&comb).unwrap();
        assert!((width - 0.2 * (8.0_f64 / 6.0).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn changes_that_rounding_alone_spreads_have_no_curve() {
        // These values lie around the center at which the bandwidth is just a trillionth of it.
        let around = |centre: f64, apart: f64| [centre - apart, centre, centre + apart];
        let find = |step: u32| {
            let apart = 128.0 * f64::from(step);
            let width = silverman_bandwidth(&around(0.0, apart))?;
            let values = around(width / 1e-12, apart);
            let is_exact = mean(&values)? * 1e-12 == width
                && silverman_bandwidth(&values)? == width
                && values[1] - values[0] == apart;
            is_exact.then_some((values, width))
        };
        let (values, width) = (8_192..9_192).find_map(find).unwrap();
        assert_eq!(bandwidth(&values), None);
        assert_eq!(bandwidth(&values.map(|value| -value)), None);
        let closer = values.map(|value| value - 0.001 * values[1]);
        let found = bandwidth(&closer).unwrap();
        assert!((found / width - 1.0).abs() < 1e-3, "{found}");
    }

    #[test]
    fn a_curve_has_its_highest_place_where_most_values_lie() {
        let values: Vec<f64> = (0..100).map(|i| 50.0 + f64::from(i * i) * 0.01).collect();
        let range = drawn_range(&values).unwrap();
        let curve = Curve::estimate(&values, range, 41);
        let points: Vec<(f64, f64)> = curve.points().collect();
        assert_eq!((points[0].0, points.len()), (range.lower, 41));
        assert!((points[40].0 - range.upper).abs() < 1e-9);
        let top = points.iter().find(|(_, height)| *height == curve.peak());
        assert!((45.0..65.0).contains(&top.unwrap().0));
    }

    #[test]
    fn values_without_spread_have_a_range_and_no_heights() {
        let range = drawn_range(&[5.0; 9]).unwrap();
        assert!(range.lower < 5.0 && range.upper > 5.0);
        let curve = Curve::estimate(&[5.0; 9], range, 41);
        assert_eq!((curve.peak(), curve.points().count()), (0.0, 0));
        assert_eq!(drawn_range(&[]), None);
        // The drawn range adds a hundredth of the value on each side. Around zero it adds a hundredth of a thousandth.
        let close = |values: &[f64], lower: f64, upper: f64| {
            let range = drawn_range(values).unwrap();
            let apart = (range.lower - lower).abs().max((range.upper - upper).abs());
            assert!(apart < 1e-12, "{range:?}");
        };
        close(&[5.0; 9], 4.95, 5.05);
        close(&[0.0; 9], 0.0, 1e-5);
    }

    #[test]
    fn the_room_beside_the_samples_is_six_percent_of_them_at_least() {
        // Most samples are close together, so the curve hardly reaches beyond them.
        let mut sorted: Vec<f64> = (0..60).map(|i| 100.0 + f64::from(i) * 1e-6).collect();
        sorted.extend([99.0; 20]);
        sorted.extend([101.0; 20]);
        sorted.sort_by(f64::total_cmp);
        let range = drawn_range(&sorted).unwrap();
        assert!((range.lower - (99.0 - 0.12)).abs() < 1e-9, "{range:?}");
        assert!((range.upper - (101.0 + 0.12)).abs() < 1e-9, "{range:?}");
    }

    #[test]
    fn both_ends_belong_to_a_range() {
        let sorted = [1.0, 2.0, 2.0, 3.0, 4.0];
        let within = |lower: f64, upper: f64| slice_within(&sorted, Interval { lower, upper });
        assert_eq!(within(2.0, 3.0), [2.0, 2.0, 3.0]);
        assert_eq!(within(9.0, 12.0), [0.0; 0]);
        assert_eq!(within(3.5, 3.2), [0.0; 0]);
    }

    #[test]
    fn a_value_is_drawn_up_to_two_widths_of_the_closest_three_quarters_away() {
        // The eight closest of ten values span 7, so values from 14 below them to 14 above them are drawn.
        let range = |least: f64, most: f64| {
            let mut values: Vec<f64> = (0..8).map(|i| 100.0 + f64::from(i)).collect();
            values.insert(0, least);
            values.push(most);
            drawn_range(&values).unwrap()
        };
        let Interval {
            lower: from,
            upper: to,
        } = range(86.0, 121.0);
        assert!(from < 86.0 && to > 121.0, "{from} {to}");
        let Interval {
            lower: from,
            upper: to,
        } = range(85.9, 121.0);
        assert!((90.0..100.0).contains(&from) && to > 121.0, "{from} {to}");
        let Interval {
            lower: from,
            upper: to,
        } = range(86.0, 121.1);
        assert!(from < 86.0 && (107.0..117.0).contains(&to), "{from} {to}");
    }

    #[test]
    fn samples_without_iterations_do_not_change_the_height_of_a_ramp() {
        let process = flat_process(0, 1000, &[100.0, 101.0, 102.0]);
        let mut measured = measurement(vec![with_ramp(process, 10, 20, 100.0, 0.0)]);
        let undisturbed = |measured: &Measurement| {
            let ramp = Ramp::from_measurement(measured, 103.0, usize::MAX);
            ramp.map(|ramp| ramp.undisturbed)
        };
        // The longest undisturbed time is a quarter above 200 iterations of 100 ns.
        assert_eq!(undisturbed(&measured), Some(25_000.0));
        let linear = &mut measured.processes[0].series.linear;
        linear.extend([Sample::from((0, Nanos(7))); 20]);
        assert_eq!(undisturbed(&measured), Some(25_000.0));
        measured.processes[0].series.linear.drain(..20);
        assert_eq!(undisturbed(&measured), None);
    }
}
