//! Description of one measurement, for people: nothing here decides.

use serde::Serialize;

use super::estimate::{Estimate, interval_method};
use crate::model::{
    DecisionSettings, LaunchSeries, LeftOutSamples, Measurement, Sample, Thresholds,
};
use perfcheck_stats::{
    ClusterMad, ClusterMean, ClusterMedian, ClusterSd, ClusterSlope, ClusterStatistic, Description,
    Interval, IntervalMethod, IntervalScale, LinearFit, MAD_TO_SD, MedianInterval, OutlierCounts,
    Resampling, Stream, TukeyFences, derived_seed, mean, mvalue, r_squared_through_origin,
    sample_variance, student_t, two_groups,
};

/// A mode has at least this share of the samples: a few that were disturbed are none.
const LEAST_MODE_SHARE: f64 = 0.1;

/// The samples that decide, those of the flat phase or else of the linear one, in nanoseconds per iteration. The intervals are over launches, of a single
/// launch over samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// How many samples there are, of those that are described.
    pub samples: usize,
    /// How many launches they come from.
    pub launches: usize,
    /// Where the intervals come from: `t` (fewer than eight launches, of which the bootstrap covers too seldom; of one launch, samples) or `bootstrap`.
    pub intervals: IntervalMethod,
    /// The mean.
    #[serde(rename = "mean_ns")]
    pub mean: Estimate,
    /// The median; of one launch with the interval of ranks, if it has enough samples for one.
    #[serde(rename = "median_ns")]
    pub median: Estimate,
    /// How often the interval of the median covers, of any distribution, where it is that of ranks: of one launch with enough samples.
    #[serde(skip)]
    pub median_coverage: Option<f64>,
    /// The slope of the linear phases; null without one.
    #[serde(rename = "slope_ns")]
    pub slope: Option<Estimate>,
    /// The standard deviation; null for one sample.
    #[serde(rename = "std_dev_ns")]
    pub sd: Option<Estimate>,
    /// The median absolute deviation, scaled by 1.4826 so that it estimates the standard deviation of normal data.
    #[serde(rename = "median_abs_dev_ns")]
    pub mad: Estimate,
    /// The fastest sample.
    #[serde(rename = "min_ns")]
    pub min: f64,
    /// The slowest sample.
    #[serde(rename = "max_ns")]
    pub max: f64,
    /// How well the slope fits (R^2); null without one.
    pub r_squared: Option<f64>,
    /// The constant time of a sample beside its iterations; null where the linear phase shows none.
    pub overhead_ns: Option<f64>,
    /// How many samples are outliers, by Tukey's fences within launches.
    pub outliers: OutlierCounts,
    /// What a filter leaves out of all numbers but `outliers` and the slope's; null where all samples are described.
    pub left_out: Option<LeftOutSamples>,
    /// The fences of each launch that has samples, in their order: what is beyond them counts as an outlier.
    #[serde(skip)]
    pub fences: Vec<TukeyFences>,
    /// Two modes near which the samples lie, the faster first, where they have several and the interval of the median reaches over both.
    #[serde(skip)]
    pub modes: Option<[f64; 2]>,
}

impl Summary {
    /// How many samples have a label of Tukey's: those that a filter leaves out as outliers, too; repetitions of a warm-up have none.
    pub fn labelled(&self) -> usize {
        self.left_out.map_or(self.samples, |left_out| {
            (left_out.counts.runs + left_out.counts.outliers_removed) as usize
        })
    }
}

/// Describes `measurement` with the usual thresholds; `None` where it has no samples.
pub fn summarize(
    measurement: &Measurement,
    confidence_level: f64,
    resamples: u32,
    seed: u64,
) -> Option<Summary> {
    let decision = DecisionSettings {
        confidence_level,
        resamples,
        ..DecisionSettings::default()
    };
    summarize_by(measurement, &decision, seed)
}

/// Describes `measurement` by the levels and thresholds of `decision`; `None` where it has no samples.
pub fn summarize_by(
    measurement: &Measurement,
    decision: &DecisionSettings,
    seed: u64,
) -> Option<Summary> {
    let &DecisionSettings {
        confidence_level,
        resamples,
        ref thresholds,
        ..
    } = decision;
    let launches = described_times(measurement);
    let pooled: Vec<f64> = launches.iter().flatten().copied().collect();
    let described = Description::of(&pooled)?;
    let clusters = clusters(&launches);
    let intervals = Intervals {
        seed: derived_seed(seed, &measurement.benchmark.key.to_string()),
        resamples: resamples as usize,
        confidence_level,
        thresholds,
    };
    // Labels are of all samples, whatever a filter leaves.
    let all = sample_times(measurement);
    let fences: Vec<TukeyFences> = (all.iter())
        .filter_map(|x| TukeyFences::at(x, thresholds.outlier_mild, thresholds.outlier_severe))
        .collect();
    let outliers =
        (fences.iter().zip(&all)).map(|(fences, times)| OutlierCounts::beyond(fences, times));
    let ramps: Vec<Vec<(f64, f64)>> = measurement
        .launches
        .iter()
        .map(ramp)
        .filter(|x| !x.is_empty())
        .collect();
    // Resampling does not move a median of whole nanoseconds. One launch therefore gets the interval of ranks, which holds for any distribution.
    let free = MedianInterval::of(&pooled, confidence_level).filter(|_| launches.len() == 1);
    let median = free.as_ref().map_or_else(
        || intervals.of("median", &ClusterMedian::new(&clusters)),
        |free| Estimate::with(described.median, free.interval),
    );
    Some(Summary {
        mean: intervals.of("mean", &ClusterMean::new(&clusters)),
        median,
        median_coverage: free.map(|free| free.coverage),
        slope: intervals.slope(&ramps),
        r_squared: r_squared(&ramps),
        sd: described
            .sd
            .map(|_| intervals.of("sd", &ClusterSd::new(&clusters))),
        mad: scaled(intervals.of("mad", &ClusterMad::new(&clusters)), MAD_TO_SD),
        min: described.min,
        max: described.max,
        samples: described.count,
        launches: launches.len(),
        outliers: outliers.fold(OutlierCounts::default(), std::ops::Add::add),
        fences,
        intervals: interval_method(clusters.len(), thresholds),
        left_out: (measurement.described.as_ref()).map(|described| described.left_out),
        modes: modes(&pooled, &median, thresholds),
        overhead_ns: overhead(&ramps, confidence_level),
    })
}

/// Gregg's modal value of `values` where it says that they have several modes; of few values it says nothing.
pub(super) fn several_modes(values: &[f64], thresholds: &Thresholds) -> Option<f64> {
    let modal = mvalue(values).filter(|_| values.len() >= thresholds.series_min_samples as usize);
    modal.filter(|value| *value >= thresholds.several_modes)
}

/// What says why the interval of a median tells so little: it reaches over two modes.
fn modes(pooled: &[f64], median: &Estimate, thresholds: &Thresholds) -> Option<[f64; 2]> {
    several_modes(pooled, thresholds)?;
    let [fast, slow] = two_groups(pooled, LEAST_MODE_SHARE)?;
    (median.lower <= fast && slow <= median.upper).then_some([fast, slow])
}

/// The deciding samples of each launch that has any, in nanoseconds per iteration.
pub(super) fn sample_times(measurement: &Measurement) -> Vec<Vec<f64>> {
    let launches = measurement.launches.iter().map(times);
    launches.filter(|x| !x.is_empty()).collect()
}

/// The samples of each launch that are described, in nanoseconds per iteration, for launches that have any.
pub fn described_launches(measurement: &Measurement) -> Vec<(&LaunchSeries, Vec<f64>)> {
    let launches = measurement.launches.iter();
    let described: Vec<(&LaunchSeries, Vec<f64>)> = match &measurement.described {
        Some(described) => launches.zip(described.launches.iter().cloned()).collect(),
        None => launches.map(|launch| (launch, times(launch))).collect(),
    };
    let described = described.into_iter();
    described.filter(|(_, times)| !times.is_empty()).collect()
}

/// The same without the launches.
pub(super) fn described_times(measurement: &Measurement) -> Vec<Vec<f64>> {
    let launches = described_launches(measurement).into_iter();
    launches.map(|(_, times)| times).collect()
}

pub(super) fn times(launch: &LaunchSeries) -> Vec<f64> {
    let samples = launch
        .series
        .deciding()
        .iter()
        .filter(|sample| sample.iterations > 0);
    samples
        .map(|sample| Sample::per_iteration(*sample))
        .collect()
}

/// Those of a launch with its warm-up at the front where that is a first sample that an import stored `apart`.
pub(super) fn times_with_first(launch: &LaunchSeries, apart: bool) -> Vec<f64> {
    let first = Some(launch.series.warm_up).filter(|first| apart && first.iterations > 0);
    let first = first.map(Sample::per_iteration);
    first.into_iter().chain(times(launch)).collect()
}

/// Whether an import stored the first sample of each launch apart.
pub(super) fn is_first_apart(measurement: &Measurement) -> bool {
    let described = measurement.described.as_ref();
    described.is_some_and(|described| described.first_apart)
}

pub(super) fn ramp(launch: &LaunchSeries) -> Vec<(f64, f64)> {
    let samples = launch.series.linear.iter();
    samples
        .map(|sample| (sample.iterations as f64, sample.elapsed.as_f64()))
        .collect()
}

pub(super) fn scaled(estimate: Estimate, factor: f64) -> Estimate {
    Estimate {
        estimate: estimate.estimate * factor,
        lower: estimate.lower * factor,
        upper: estimate.upper * factor,
    }
}

/// How intervals are drawn for one benchmark.
struct Intervals<'a> {
    seed: u64,
    resamples: usize,
    confidence_level: f64,
    thresholds: &'a Thresholds,
}

impl Intervals<'_> {
    fn of(&self, name: &str, statistic: &impl ClusterStatistic) -> Estimate {
        let estimate = statistic.observed();
        let stream = Stream {
            seed: self.seed,
            name,
        };
        let resampling = Resampling {
            resamples: self.resamples,
            stream,
        };
        // One sample says nothing of how far off it is.
        let interval: Option<Interval> = (statistic.clusters() > 1)
            .then(|| {
                interval_method(statistic.clusters(), self.thresholds).interval(
                    statistic,
                    IntervalScale::Logarithmic,
                    self.confidence_level,
                    resampling,
                )
            })
            .flatten();
        interval.map_or(Estimate::unbounded(estimate), |interval| {
            Estimate::with(estimate, interval)
        })
    }

    fn slope(&self, ramps: &[Vec<(f64, f64)>]) -> Option<Estimate> {
        let slope = self.of("slope", &ClusterSlope::new(&clusters(ramps)));
        slope.estimate.is_finite().then_some(slope)
    }
}

/// What is resampled: launches, or with a single launch its samples.
pub(super) fn clusters<T>(launches: &[Vec<T>]) -> Vec<&[T]> {
    match launches {
        [only] => only.chunks(1).collect(),
        several => several.iter().map(Vec::as_slice).collect(),
    }
}

fn r_squared(ramps: &[Vec<(f64, f64)>]) -> Option<f64> {
    let (x, y): (Vec<f64>, Vec<f64>) = ramps.iter().flatten().copied().unzip();
    r_squared_through_origin(&x, &y)
}

/// The mean intercept of the launches' ramps, if its t interval over launches lies above 0.
fn overhead(ramps: &[Vec<(f64, f64)>], confidence_level: f64) -> Option<f64> {
    let intercepts: Vec<f64> = ramps
        .iter()
        .filter_map(|points| {
            let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
            LinearFit::fit(&x, &y).map(|line| line.intercept)
        })
        .collect();
    let count = intercepts.len() as f64;
    let centre = mean(&intercepts)?;
    let error = (sample_variance(&intercepts)? / count).sqrt();
    let t = student_t::critical((1.0 - confidence_level) / 2.0, count - 1.0)?;
    (centre - t * error > 0.0).then_some(centre)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{flat_launch, measurement, with_ramp};

    fn summary(launches: Vec<LaunchSeries>) -> Option<Summary> {
        summarize(&measurement(launches), 0.95, 2_000, 7)
    }

    #[test]
    fn location_and_spread_are_those_of_all_samples_and_the_intervals_come_from_launches() {
        let launches = (0..5)
            .map(|k| flat_launch(k, 1000, &[100.0 + f64::from(k), 102.0 + f64::from(k)]))
            .collect();
        let summary = summary(launches).unwrap();
        assert_eq!((summary.samples, summary.launches), (10, 5));
        assert!((summary.mean.estimate - 103.0).abs() < 1e-9);
        assert!((summary.median.estimate - 103.0).abs() < 1e-9);
        assert_eq!((summary.min, summary.max), (100.0, 106.0));
        // Launch means run from 101 to 105, so without one of them the mean is 103.5, 103.25, 103, 102.75 or 102.5. Their logarithms have a jackknife
        // error of sqrt(4/5 sum of squared deviations) = 0.006865167, t(.975, 4) = 2.7764451051977987 times which is 0.019060760.
        assert!(
            (summary.mean.lower - 103.0 / 0.019_060_760_f64.exp()).abs() < 1e-6,
            "{:?}",
            summary.mean
        );
        assert!((summary.mean.upper - 103.0 * 0.019_060_760_f64.exp()).abs() < 1e-6);
        assert_eq!(summary.intervals, IntervalMethod::StudentT);
        assert!(summary.slope.is_none() && summary.overhead_ns.is_none());
    }

    #[test]
    fn b14_intervals_of_eight_launches_are_bootstrapped_and_of_fewer_are_students() {
        let launches = |count: u32| {
            (0..count)
                .map(|k| flat_launch(k, 1000, &[100.0 + f64::from(k)]))
                .collect()
        };
        let few = summary(launches(7)).unwrap();
        assert_eq!(few.intervals, IntervalMethod::StudentT);
        assert!(few.mean.upper - few.mean.lower > 3.9);
        let enough = summary(launches(8)).unwrap();
        assert_eq!(enough.intervals, IntervalMethod::Bootstrap);
        assert!(enough.mean.lower >= 100.0 && enough.mean.upper <= 107.0);
        // One launch: its samples stand for launches.
        let single = summary(vec![flat_launch(0, 1000, &[5.0, 6.0, 7.0])]).unwrap();
        assert_eq!(single.intervals, IntervalMethod::StudentT);
    }

    #[test]
    fn a_ramp_gives_slope_linearity_and_overhead() {
        // 50 ns per iteration and 400 ns per sample, give or take a launch's own few.
        let launches = (0..5)
            .map(|k| {
                with_ramp(
                    flat_launch(k, 1000, &[50.0]),
                    10,
                    20,
                    50.0,
                    400.0 + f64::from(k),
                )
            })
            .collect();
        let summary = summary(launches).unwrap();
        let slope = summary.slope.unwrap();
        assert!((50.0..56.0).contains(&slope.estimate), "{slope:?}");
        assert!(summary.r_squared.unwrap() > 0.99);
        assert!((summary.overhead_ns.unwrap() - 402.0).abs() < 1e-6);
    }

    #[test]
    fn a_ramp_through_the_origin_shows_no_overhead() {
        let launches = (0..4)
            .map(|k| {
                with_ramp(
                    flat_launch(k, 1000, &[50.0]),
                    10,
                    20,
                    50.0,
                    if k % 2 == 0 { 3.0 } else { -3.0 },
                )
            })
            .collect();
        assert_eq!(summary(launches).unwrap().overhead_ns, None);
        // 10, 60 and 110: 60 give or take 4.303 times 50 over the root of 3. Half of the level would do, and so would 1.886 times.
        let launches = (0..3)
            .map(|k| {
                let intercept = 10.0 + 50.0 * f64::from(k);
                with_ramp(flat_launch(k, 1000, &[50.0]), 10, 20, 50.0, intercept)
            })
            .collect();
        assert_eq!(summary(launches).unwrap().overhead_ns, None);
    }

    #[test]
    fn no_time_is_below_zero_however_far_apart_the_launches_are() {
        // Launches at 5.4 and at 10 us.
        let at = [5_400.0, 10_000.0, 5_410.0, 10_020.0, 10_010.0];
        let launches = |spread: f64| {
            (at.iter().zip(0..))
                .map(|(at, k)| {
                    let times = (0..20).map(|i| at + spread * f64::from(i));
                    flat_launch(k, 1000, &times.collect::<Vec<f64>>())
                })
                .collect()
        };
        let found = summary(launches(1.0)).unwrap();
        // The median of all is 10,005 or so; without a slow launch it is that of two at 5.4 and two at 10 us, in the middle: 7,715.
        for estimate in [found.mean, found.median] {
            assert!(estimate.lower > 0.0, "{estimate:?}");
            let centre = (estimate.lower * estimate.upper).sqrt();
            assert!(
                (centre / estimate.estimate - 1.0).abs() < 1e-9,
                "{estimate:?}"
            );
        }
        // The values of the samples in the middle of each group: of 40 between 5,400 and 5,429, of 60 between 10,000 and 10,039.
        let [fast, slow] = found.modes.unwrap();
        assert!((5_414.0..5_416.0).contains(&fast) && (10_019.0..10_021.0).contains(&slow));
        // In one mode there is none to tell.
        let times: Vec<f64> = (0..20).map(|i| 5_400.0 + f64::from(i)).collect();
        let alike = (0..5).map(|k| flat_launch(k, 1000, &times)).collect();
        assert_eq!(summary(alike).unwrap().modes, None);
    }

    #[test]
    fn one_sample_has_a_value_but_no_interval() {
        let summary = summary(vec![flat_launch(0, 1000, &[5.0])]).unwrap();
        assert_eq!(summary.mean, Estimate::unbounded(5.0));
        assert_eq!(summary.sd, None);
    }

    #[test]
    fn without_samples_there_is_no_summary() {
        assert_eq!(summary(vec![]), None);
        assert_eq!(summary(vec![flat_launch(0, 1000, &[])]), None);
    }

    #[test]
    fn outliers_are_labelled_within_each_launch_and_dropped_from_nothing() {
        let mut times: Vec<f64> = (0..20).map(|i| 100.0 + f64::from(i)).collect();
        times.push(1000.0);
        let launches = (0..3).map(|k| flat_launch(k, 1000, &times)).collect();
        let summary = summary(launches).unwrap();
        assert_eq!(summary.outliers.high_severe, 3);
        assert_eq!((summary.samples, summary.max), (63, 1000.0));
    }
}
