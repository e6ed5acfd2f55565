//! Describes one measurement for people. No verdict depends on the description.

use serde::Serialize;

use super::estimate::{Estimate, choose_interval_method};
use crate::model::{
    DecisionSettings, FilterReport, Measurement, ProcessSeries, Sample, Thresholds,
};
use perfcheck_stats::{
    ClusterMad, ClusterMean, ClusterMedian, ClusterSd, ClusterSlope, ClusterStatistic, Description,
    Interval, IntervalMethod, IntervalScale, LinearFit, MAD_TO_SD, MedianInterval, OutlierCounts,
    Resampling, Stream, TInterval, TukeyFences, derived_seed, mean, median, mvalue,
    r_squared_through_origin, sample_variance, student_t, two_groups,
};

/// The fewest processes for which the median absolute deviation has an interval. With fewer, every 95 % interval would contain the true value less
/// than 93 % of the time.
const FEWEST_FOR_MAD: usize = 12;

/// The smallest share of the samples that a mode must have, so that a few disturbed samples are not a mode.
const LEAST_MODE_SHARE: f64 = 0.1;

/// Statistics of a benchmark's samples in one run, in nanoseconds per iteration. The samples are those of the flat phase, or of the linear phase if
/// there is no flat one. The independent observations behind the intervals are processes, or samples if there is only one process.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// How many samples are described.
    pub samples: usize,
    /// How many processes the samples come from.
    pub processes: usize,
    /// How the intervals of the mean and the slope were computed: `t` (Student's) for fewer than 300 processes (or samples of a single process),
    /// because with so few, intervals of the bootstrap contain the true value less often. Otherwise `bootstrap`. The threshold
    /// `bootstrap-min-processes` can change this number.
    pub intervals: IntervalMethod,
    /// The mean of the samples.
    #[serde(rename = "mean_ns")]
    pub mean: Estimate,
    /// The median of the samples. Its interval is based on the ranks of the processes' medians, or of the samples of a single process. If these are
    /// too few for the confidence level (fewer than six at 95 %), the interval is Student's. From 300 processes on, it comes from the bootstrap.
    #[serde(rename = "median_ns")]
    pub median: Estimate,
    /// The smallest probability, whatever the distribution, that the interval of the median contains the true median, as a fraction. `None` if the
    /// interval is not based on ranks.
    #[serde(skip)]
    pub median_coverage: Option<f64>,
    /// The time per iteration as the slope of a straight line through the samples of the linear phases; null if there is no linear phase.
    #[serde(rename = "slope_ns")]
    pub slope: Option<Estimate>,
    /// The standard deviation of the samples; null if there is only one. Its bounds are null if `intervals` is `t`, because Student's bounds would
    /// contain the true value too rarely.
    #[serde(rename = "std_dev_ns")]
    pub sd: Option<Estimate>,
    /// The median absolute deviation of the samples, multiplied by 1.4826 so that it estimates the standard deviation of normally distributed
    /// samples. Its bounds are null for fewer than twelve processes (or samples of a single process).
    #[serde(rename = "median_abs_dev_ns")]
    pub mad: Estimate,
    /// The fastest sample.
    #[serde(rename = "min_ns")]
    pub min: f64,
    /// The slowest sample.
    #[serde(rename = "max_ns")]
    pub max: f64,
    /// How well the straight line with this slope fits the samples of the linear phases: R^2, which is at most 1. Null if there is no linear phase.
    pub r_squared: Option<f64>,
    /// The constant time that a sample takes besides its iterations, in nanoseconds. Null if the linear phases do not show that there is such a time.
    pub overhead_ns: Option<f64>,
    /// How many samples are outliers, by kind. An outlier is a sample beyond Tukey's fences of its own process.
    pub outliers: OutlierCounts,
    /// The filter that leaves samples out, with the number of samples left out. All statistics ignore these samples, except `outliers` and the
    /// statistics of the linear phases. Null if no filter is in force.
    pub left_out: Option<FilterReport>,
    /// Tukey's fences of each process that has samples, in the order of the processes. Samples beyond the fences count as outliers.
    #[serde(skip)]
    pub fences: Vec<TukeyFences>,
    /// The two main modes of the samples, in nanoseconds per iteration, the faster mode first. `None` unless the samples have several modes and the
    /// interval of the median contains both main modes.
    #[serde(skip)]
    pub modes: Option<[f64; 2]>,
}

impl Summary {
    /// Returns how many samples were compared with Tukey's fences to find outliers. The number includes outliers that a filter left out, but not the
    /// repetitions that a filter left out as warm-up.
    pub fn labeled_samples(&self) -> usize {
        self.left_out.map_or(self.samples, |left_out| {
            (left_out.counts.runs + left_out.counts.outliers_removed) as usize
        })
    }
}

/// Describes `measurement` with the default thresholds. Returns `None` if it has no samples.
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
    summarize_with(measurement, &decision, seed)
}

/// Describes `measurement` by the levels and thresholds of `decision`. Returns `None` if it has no samples.
pub fn summarize_with(
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
    let processes = described_times(measurement);
    let pooled: Vec<f64> = processes.iter().flatten().copied().collect();
    let described = Description::compute(&pooled)?;
    let clusters = resampling_units(&processes);
    let intervals = Intervals {
        seed: derived_seed(seed, &measurement.benchmark.key.to_string()),
        resamples: resamples as usize,
        confidence_level,
        thresholds,
    };
    // Look for outliers among all samples, including the samples that a filter leaves out.
    let all = sample_times(measurement);
    let fences: Vec<TukeyFences> = (all.iter())
        .filter_map(|x| {
            TukeyFences::from_samples_at(x, thresholds.outlier_mild, thresholds.outlier_severe)
        })
        .collect();
    let outliers =
        (fences.iter().zip(&all)).map(|(fences, times)| OutlierCounts::count_beyond(fences, times));
    let ramps: Vec<Vec<(f64, f64)>> = measurement
        .processes
        .iter()
        .map(ramp)
        .filter(|x| !x.is_empty())
        .collect();
    let (median, median_coverage) = intervals.median(&processes, described.median);
    Some(Summary {
        mean: intervals.estimate("mean", &ClusterMean::new(&clusters)),
        median,
        median_coverage,
        slope: intervals.slope(&ramps),
        r_squared: r_squared(&ramps),
        sd: described.sd.map(|sd| intervals.sd(&clusters, sd)),
        mad: scale_estimate(intervals.mad(&clusters), MAD_TO_SD),
        min: described.min,
        max: described.max,
        samples: described.count,
        processes: processes.len(),
        outliers: outliers.fold(OutlierCounts::default(), std::ops::Add::add),
        fences,
        intervals: choose_interval_method(clusters.len(), thresholds),
        left_out: (measurement.described.as_ref()).map(|described| described.left_out),
        modes: modes_within_interval(&pooled, &median, thresholds),
        overhead_ns: estimate_overhead(&ramps, confidence_level),
    })
}

/// Returns Gregg's modal value of `values` if it indicates several modes. Returns `None` if it does not, or if there are too few values.
pub(super) fn modal_value_if_several(values: &[f64], thresholds: &Thresholds) -> Option<f64> {
    let modal = mvalue(values).filter(|_| values.len() >= thresholds.series_min_samples as usize);
    modal.filter(|value| *value >= thresholds.several_modes)
}

/// Returns the two main modes of the samples if the interval of the median covers both. In that case the modes are the reason why the interval is
/// wide.
fn modes_within_interval(
    pooled: &[f64],
    median: &Estimate,
    thresholds: &Thresholds,
) -> Option<[f64; 2]> {
    modal_value_if_several(pooled, thresholds)?;
    let [fast, slow] = two_groups(pooled, LEAST_MODE_SHARE)?;
    (median.lower <= fast && slow <= median.upper).then_some([fast, slow])
}

/// Returns the deciding samples of each process that has any, in nanoseconds per iteration. They include samples that a filter leaves out.
pub(super) fn sample_times(measurement: &Measurement) -> Vec<Vec<f64>> {
    let processes = measurement.processes.iter().map(times);
    processes.filter(|x| !x.is_empty()).collect()
}

/// Returns the samples of each process that are described, in nanoseconds per iteration: the samples that a filter keeps, or all if there is no
/// filter. Processes without samples are skipped.
pub fn described_processes(measurement: &Measurement) -> Vec<(&ProcessSeries, Vec<f64>)> {
    let processes = measurement.processes.iter();
    let described: Vec<(&ProcessSeries, Vec<f64>)> = match &measurement.described {
        Some(described) => processes.zip(described.processes.iter().cloned()).collect(),
        None => processes.map(|process| (process, times(process))).collect(),
    };
    let described = described.into_iter();
    described.filter(|(_, times)| !times.is_empty()).collect()
}

/// Like [`described_processes`], but returns only the samples.
pub(super) fn described_times(measurement: &Measurement) -> Vec<Vec<f64>> {
    let processes = described_processes(measurement).into_iter();
    processes.map(|(_, times)| times).collect()
}

pub(super) fn times(process: &ProcessSeries) -> Vec<f64> {
    let samples = process
        .series
        .deciding_samples()
        .iter()
        .filter(|sample| sample.iterations > 0);
    samples
        .map(|sample| Sample::per_iteration(*sample))
        .collect()
}

/// Returns the samples of a process. `apart` says that an import stored the first sample as the warm-up. That sample then comes first.
pub(super) fn times_with_first(process: &ProcessSeries, apart: bool) -> Vec<f64> {
    let first = Some(process.series.warm_up).filter(|first| apart && first.iterations > 0);
    let first = first.map(Sample::per_iteration);
    first.into_iter().chain(times(process)).collect()
}

/// Returns true if an import stored the first sample of each process as its warm-up.
pub(super) fn is_first_apart(measurement: &Measurement) -> bool {
    let described = measurement.described.as_ref();
    described.is_some_and(|described| described.first_apart)
}

pub(super) fn ramp(process: &ProcessSeries) -> Vec<(f64, f64)> {
    let samples = process.series.linear.iter();
    samples
        .map(|sample| (sample.iterations as f64, sample.elapsed.as_f64()))
        .collect()
}

pub(super) fn scale_estimate(estimate: Estimate, factor: f64) -> Estimate {
    Estimate {
        estimate: estimate.estimate * factor,
        lower: estimate.lower * factor,
        upper: estimate.upper * factor,
    }
}

/// Computes the intervals of one benchmark.
struct Intervals<'a> {
    seed: u64,
    resamples: usize,
    confidence_level: f64,
    thresholds: &'a Thresholds,
}

impl Intervals<'_> {
    fn method(&self, clusters: usize) -> IntervalMethod {
        choose_interval_method(clusters, self.thresholds)
    }

    fn estimate(&self, name: &str, statistic: &impl ClusterStatistic) -> Estimate {
        self.estimate_by(self.method(statistic.clusters()), name, statistic)
    }

    fn estimate_by(
        &self,
        method: IntervalMethod,
        name: &str,
        statistic: &impl ClusterStatistic,
    ) -> Estimate {
        let estimate = statistic.observed();
        let stream = Stream {
            seed: self.seed,
            name,
        };
        let resampling = Resampling {
            resamples: self.resamples,
            stream,
        };
        // A single cluster has no interval.
        let interval: Option<Interval> = (statistic.clusters() > 1)
            .then(|| {
                method.interval(
                    statistic,
                    IntervalScale::Logarithmic,
                    self.confidence_level,
                    resampling,
                )
            })
            .flatten();
        interval.map_or(Estimate::unbounded(estimate), |interval| {
            Estimate::from_interval(estimate, interval)
        })
    }

    /// Returns the median of all samples with its interval, and the coverage of the interval if it is based on ranks.
    ///
    /// With many processes the interval comes from the bootstrap. With fewer, it is based on the ranks of the processes' medians, or of the samples
    /// of a single process, and holds for any distribution. The alternatives fail there: resampling does not move a median of whole nanoseconds, and
    /// the jackknife of a median is not consistent.
    fn median(&self, processes: &[Vec<f64>], estimate: f64) -> (Estimate, Option<f64>) {
        let values = match processes {
            [only] => only.clone(),
            several if self.method(several.len()) == IntervalMethod::Bootstrap => {
                return (
                    self.estimate("median", &ClusterMedian::new(&resampling_units(several))),
                    None,
                );
            }
            several => several.iter().filter_map(|times| median(times)).collect(),
        };
        let by_ranks = MedianInterval::compute(&values, self.confidence_level);
        let interval = by_ranks
            .as_ref()
            .map(|found| found.interval)
            .or_else(|| student_of_logarithms(&values, self.confidence_level));
        let median = interval.map_or(Estimate::unbounded(estimate), |found| Estimate {
            estimate,
            lower: found.lower.min(estimate),
            upper: found.upper.max(estimate),
        });
        (median, by_ranks.map(|found| found.coverage))
    }

    /// Returns the standard deviation. With few processes it has no bounds, because Student's interval would contain the true value too rarely even
    /// for a hundred processes.
    fn sd(&self, clusters: &[&[f64]], estimate: f64) -> Estimate {
        match self.method(clusters.len()) {
            IntervalMethod::StudentT => Estimate::unbounded(estimate),
            IntervalMethod::Bootstrap => self.estimate("sd", &ClusterSd::new(clusters)),
        }
    }

    /// Returns the median absolute deviation. For single samples its interval comes from the bootstrap: the jackknife fails, because leaving out one
    /// sample hardly ever changes this statistic.
    fn mad(&self, clusters: &[&[f64]]) -> Estimate {
        let statistic = ClusterMad::new(clusters);
        let is_of_singles = clusters.iter().all(|samples| samples.len() == 1);
        match self.method(clusters.len()) {
            IntervalMethod::StudentT if clusters.len() < FEWEST_FOR_MAD => {
                Estimate::unbounded(statistic.observed())
            }
            IntervalMethod::StudentT if !is_of_singles => self.estimate("mad", &statistic),
            _ => self.estimate_by(IntervalMethod::Bootstrap, "mad", &statistic),
        }
    }

    fn slope(&self, ramps: &[Vec<(f64, f64)>]) -> Option<Estimate> {
        let slope = self.estimate("slope", &ClusterSlope::new(&resampling_units(ramps)));
        slope.estimate.is_finite().then_some(slope)
    }
}

/// Returns the units of resampling: the processes, or the samples if there is only one process.
pub(super) fn resampling_units<T>(processes: &[Vec<T>]) -> Vec<&[T]> {
    match processes {
        [only] => only.chunks(1).collect(),
        several => several.iter().map(Vec::as_slice).collect(),
    }
}

/// Returns Student's interval of the mean of the logarithms of `values`, which serves as the interval of their median. If a value is 0, the interval
/// is computed from the values themselves.
fn student_of_logarithms(values: &[f64], level: f64) -> Option<Interval> {
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let of_logarithms = TInterval::compute(&logarithms, level).map(|found| {
        if found.margin == 0.0 {
            // Return the value itself: converting to the logarithm and back may add a rounding error.
            return Interval::around(values[0], 0.0);
        }
        let Interval { lower, upper } = found.interval();
        Interval {
            lower: lower.exp(),
            upper: upper.exp(),
        }
    });
    of_logarithms.or_else(|| {
        Some(
            TInterval::compute(values, level)?
                .interval()
                .clamp_at_zero(),
        )
    })
}

fn r_squared(ramps: &[Vec<(f64, f64)>]) -> Option<f64> {
    let (x, y): (Vec<f64>, Vec<f64>) = ramps.iter().flatten().copied().unzip();
    r_squared_through_origin(&x, &y)
}

/// Returns the mean intercept of the processes' ramps: the time of a sample besides its iterations. Returns `None` unless the whole t interval over
/// processes is above 0.
fn estimate_overhead(ramps: &[Vec<(f64, f64)>], confidence_level: f64) -> Option<f64> {
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
    let t = student_t::upper_quantile((1.0 - confidence_level) / 2.0, count - 1.0)?;
    (centre - t * error > 0.0).then_some(centre)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{flat_process, measurement, with_ramp};
    use crate::compare::{apply_filter, summarize};
    use crate::model::{FilteredSamples, Outliers, SampleCounts, SampleFilter, System};

    fn summary(processes: Vec<ProcessSeries>) -> Option<Summary> {
        summarize(&measurement(processes), 0.95, 2_000, 7)
    }

    #[test]
    fn location_and_spread_are_those_of_all_samples_and_the_intervals_come_from_processes() {
        let processes = (0..5)
            .map(|k| flat_process(k, 1000, &[100.0 + f64::from(k), 102.0 + f64::from(k)]))
            .collect();
        let summary = summary(processes).unwrap();
        assert_eq!((summary.samples, summary.processes), (10, 5));
        assert_eq!(summary.labeled_samples(), 10, "no filter left any out");
        assert!((summary.mean.estimate - 103.0).abs() < 1e-9);
        assert!((summary.median.estimate - 103.0).abs() < 1e-9);
        assert_eq!((summary.min, summary.max), (100.0, 106.0));
        // The process means are 101 to 105, so without one of them the mean is 103.5, 103.25, 103, 102.75 or 102.5. The logarithms of these have a
        // jackknife error of sqrt(4/5 sum of squared deviations) = 0.006865167. Times t(.975, 4) = 2.7764451051977987, this is 0.019060760.
        assert!(
            (summary.mean.lower - 103.0 / 0.019_060_760_f64.exp()).abs() < 1e-6,
            "{:?}",
            summary.mean
        );
        assert!((summary.mean.upper - 103.0 * 0.019_060_760_f64.exp()).abs() < 1e-6);
        assert_eq!(summary.intervals, IntervalMethod::StudentT);
        assert!(summary.slope.is_none() && summary.overhead_ns.is_none());
    }

    fn one_sample_each(times: &[f64]) -> Vec<ProcessSeries> {
        let processes = (0..).zip(times);
        processes
            .map(|(k, time)| flat_process(k, 1000, &[*time]))
            .collect()
    }

    fn near(found: f64, expected: f64) {
        assert!(
            (found / expected - 1.0).abs() < 1e-9,
            "{found} is not {expected}"
        );
    }

    #[test]
    fn b14_the_interval_of_a_mean_is_students_wherever_the_bootstrap_covers_less() {
        let up_to = |count: u32| (0..count).map(|k| 100.0 + f64::from(k)).collect::<Vec<_>>();
        let eight = summary(one_sample_each(&up_to(8))).unwrap();
        assert_eq!(eight.intervals, IntervalMethod::StudentT);
        // x = np.arange(100., 108.); v = np.log([(x.sum() - y) / 7 for y in x]); se = np.sqrt(7 / 8 * ((v - v.mean())**2).sum());
        // x.mean() / np.exp(stats.t.ppf(.975, 7) * se) and times that
        near(eight.mean.lower, 101.472_287_536_590_64);
        near(eight.mean.upper, 105.568_232_076_538_05);
        let many = summary(one_sample_each(&up_to(300))).unwrap();
        assert_eq!(many.intervals, IntervalMethod::Bootstrap);
        // If there is only one process, its samples take the place of processes.
        let single = summary(vec![flat_process(0, 1000, &[5.0, 6.0, 7.0])]).unwrap();
        assert_eq!(single.intervals, IntervalMethod::StudentT);
        // Criterion computes bootstrap intervals for any number of clusters.
        let criterion = DecisionSettings {
            resamples: 1_000,
            ..System::Criterion.decision_settings()
        };
        let run = measurement(one_sample_each(&up_to(3)));
        let found = summarize_with(&run, &criterion, 7).unwrap();
        assert_eq!(found.intervals, IntervalMethod::Bootstrap);
        assert!(found.sd.unwrap().upper.is_finite() && found.mad.upper.is_finite());
    }

    #[test]
    fn a_deviation_has_no_interval_where_none_would_keep_its_level() {
        let of = |count: u32| {
            let times: Vec<f64> = (0..count).map(|k| 100.0 + f64::from(k * k % 17)).collect();
            let found = summary(one_sample_each(&times)).unwrap();
            [found.mad, found.sd.unwrap()].map(|deviation| deviation.upper.is_finite())
        };
        assert_eq!(of(11), [false, false]);
        assert_eq!(of(12), [true, false]);
        assert_eq!(of(299), [true, false]);
        assert_eq!(of(300), [true, true]);
    }

    #[test]
    fn the_interval_of_a_median_is_one_of_ranks_and_of_fewer_than_six_processes_students() {
        // The samples are whole nanoseconds. The coverage is 1 - 2 * stats.binom.cdf(0, 6, .5) = 0.96875.
        let six = summary(one_sample_each(&[5.0, 6.0, 7.0, 5.0, 6.0, 7.0])).unwrap();
        let Estimate {
            estimate,
            lower,
            upper,
        } = six.median;
        assert_eq!((estimate, lower, upper), (6.0, 5.0, 7.0));
        assert_eq!(six.median_coverage, Some(0.968_75));
        // x = np.log([100, 101, 102, 103, 110]); np.exp(stats.t.interval(.95, 4, x.mean(), stats.sem(x)))
        let five = summary(one_sample_each(&[100.0, 101.0, 102.0, 103.0, 110.0])).unwrap();
        assert_eq!((five.median.estimate, five.median_coverage), (102.0, None));
        near(five.median.lower, 98.431_153_598_057_85);
        near(five.median.upper, 108.075_687_569_263_41);
        // A time of 0 has no logarithm, so the values are used as they are. The lower bound is not below 0.
        let zeros = summary(one_sample_each(&[0.0, 1.0, 2.0])).unwrap();
        assert_eq!((zeros.median.estimate, zeros.median.lower), (1.0, 0.0));
    }

    #[test]
    fn a_ramp_gives_slope_linearity_and_overhead() {
        // Each iteration takes 50 ns. A sample takes 400 ns more, plus a few that differ by process.
        let processes = (0..5)
            .map(|k| {
                with_ramp(
                    flat_process(k, 1000, &[50.0]),
                    10,
                    20,
                    50.0,
                    400.0 + f64::from(k),
                )
            })
            .collect();
        let summary = summary(processes).unwrap();
        let slope = summary.slope.unwrap();
        assert!((50.0..56.0).contains(&slope.estimate), "{slope:?}");
        assert!(summary.r_squared.unwrap() > 0.99);
        assert!((summary.overhead_ns.unwrap() - 402.0).abs() < 1e-6);
    }

    #[test]
    fn a_ramp_through_the_origin_shows_no_overhead() {
        let processes = (0..4)
            .map(|k| {
                with_ramp(
                    flat_process(k, 1000, &[50.0]),
                    10,
                    20,
                    50.0,
                    if k % 2 == 0 { 3.0 } else { -3.0 },
                )
            })
            .collect();
        assert_eq!(summary(processes).unwrap().overhead_ns, None);
        // The intercepts are 10, 60 and 110, so the interval is 60 plus or minus 4.303 times 50 over the root of 3. With half the level, or with a
        // factor of 1.886, the interval would be above 0.
        let processes = (0..3)
            .map(|k| {
                let intercept = 10.0 + 50.0 * f64::from(k);
                with_ramp(flat_process(k, 1000, &[50.0]), 10, 20, 50.0, intercept)
            })
            .collect();
        assert_eq!(summary(processes).unwrap().overhead_ns, None);
    }

    #[test]
    fn no_time_is_below_zero_however_far_apart_the_processes_are() {
        // Some processes take 5.4 us, the others 10 us.
        let at = [5_400.0, 10_000.0, 5_410.0, 10_020.0, 10_010.0];
        let processes = |spread: f64| {
            (at.iter().zip(0..))
                .map(|(at, k)| {
                    let times = (0..20).map(|i| at + spread * f64::from(i));
                    flat_process(k, 1000, &times.collect::<Vec<f64>>())
                })
                .collect()
        };
        let found = summary(processes(1.0)).unwrap();
        assert!(
            found.mean.lower > 0.0 && found.median.lower > 0.0,
            "{found:?}"
        );
        near(
            (found.mean.lower * found.mean.upper).sqrt(),
            found.mean.estimate,
        );
        // Each mode is the middle sample of its group: 40 samples lie between 5,400 and 5,429, and 60 between 10,000 and 10,039.
        let [fast, slow] = found.modes.unwrap();
        assert!((5_414.0..5_416.0).contains(&fast) && (10_019.0..10_021.0).contains(&slow));
        // A single mode is not reported.
        let times: Vec<f64> = (0..20).map(|i| 5_400.0 + f64::from(i)).collect();
        let alike = (0..5).map(|k| flat_process(k, 1000, &times)).collect();
        assert_eq!(summary(alike).unwrap().modes, None);
    }

    #[test]
    fn one_sample_has_a_value_but_no_interval() {
        let summary = summary(vec![flat_process(0, 1000, &[5.0])]).unwrap();
        assert_eq!(summary.mean, Estimate::unbounded(5.0));
        assert_eq!(summary.sd, None);
    }

    #[test]
    fn without_samples_there_is_no_summary() {
        assert_eq!(summary(vec![]), None);
        assert_eq!(summary(vec![flat_process(0, 1000, &[])]), None);
    }

    #[test]
    fn outliers_are_labelled_within_each_process_and_dropped_from_nothing() {
        let mut times: Vec<f64> = (0..20).map(|i| 100.0 + f64::from(i)).collect();
        times.push(1000.0);
        let processes = (0..3).map(|k| flat_process(k, 1000, &times)).collect();
        let summary = summary(processes).unwrap();
        assert_eq!(summary.outliers.high_severe, 3);
        assert_eq!((summary.samples, summary.max), (63, 1000.0));
    }

    #[test]
    fn a_first_sample_that_was_stored_apart_comes_first_unless_it_has_no_iterations() {
        let mut process = flat_process(0, 1000, &[5.0, 6.0]);
        process.series.warm_up = Sample {
            iterations: 2,
            elapsed: crate::model::Nanos(18),
        };
        assert_eq!(times_with_first(&process, true), [9.0, 5.0, 6.0]);
        assert_eq!(times_with_first(&process, false), [5.0, 6.0]);
        process.series.warm_up.iterations = 0;
        assert_eq!(times_with_first(&process, true), [5.0, 6.0]);
    }

    #[test]
    fn an_overhead_is_shown_whose_t_interval_over_processes_lies_above_zero() {
        // The intercepts are 4 below their mean, at it, and 4 above it. Their standard error is 4 / sqrt(3), and stats.t.ppf(.975, 2) = 4.302653
        // times this error is 9.94.
        let overhead_of = |mean: f64| {
            let ramp = |intercept: f64| -> Vec<(f64, f64)> {
                (1..=4)
                    .map(|x| (f64::from(x), intercept + 3.0 * f64::from(x)))
                    .collect()
            };
            estimate_overhead(&[mean - 4.0, mean, mean + 4.0].map(ramp), 0.95)
        };
        assert_eq!(overhead_of(9.9), None);
        let found = overhead_of(10.0).expect("above 0");
        assert!((found - 10.0).abs() < 1e-9, "{found}");
    }

    #[test]
    fn intervals_are_bootstrapped_with_as_many_resamples_as_wanted() {
        let times: Vec<f64> = (0..40_u32)
            .map(|i| 100.0 + f64::from(i * 377 % 610) * 0.05)
            .collect();
        let run = measurement(vec![flat_process(0, 1000, &times)]);
        let decision = DecisionSettings {
            resamples: 1_000,
            ..DecisionSettings::default()
        };
        let by = summarize_with(&run, &decision, 7).expect("samples").mad;
        let with = |resamples| summarize(&run, 0.95, resamples, 7).expect("samples").mad;
        assert_eq!(with(1_000), by);
        assert_ne!(with(100_000), by);
    }

    #[test]
    fn only_an_import_stores_first_samples_apart() {
        let is_apart = |first_apart: Option<bool>| {
            let described = first_apart.map(|first_apart| FilteredSamples {
                left_out: FilterReport {
                    filter: SampleFilter::default(),
                    counts: SampleCounts::default(),
                },
                processes: Vec::new(),
                first_apart,
            });
            is_first_apart(&Measurement {
                described,
                ..measurement(Vec::new())
            })
        };
        assert_eq!(
            [None, Some(false), Some(true)].map(is_apart),
            [false, false, true]
        );
    }

    #[test]
    fn samples_that_a_filter_left_out_as_outliers_have_labels_and_first_ones_have_none() {
        let times = [500.0, 100.0, 101.0, 102.0, 103.0, 104.0, 900.0];
        let mut run = measurement(vec![flat_process(0, 1_000, &times)]);
        let labeled = |run: &Measurement| {
            let summary = summarize(run, 0.95, 100, 7).expect("samples");
            (summary.samples, summary.labeled_samples())
        };
        assert_eq!(labeled(&run), (7, 7));
        let filter = SampleFilter {
            drop_first: true,
            outliers: Outliers::Mad,
            ..SampleFilter::default()
        };
        apply_filter(std::slice::from_mut(&mut run), None, &filter);
        assert_eq!(labeled(&run), (5, 6));
    }

    #[test]
    fn the_bounds_of_a_scaled_value_are_scaled_with_it() {
        let value = Estimate {
            estimate: 2.0,
            lower: 1.0,
            upper: 5.0,
        };
        let tripled = Estimate {
            estimate: 6.0,
            lower: 3.0,
            upper: 15.0,
        };
        assert_eq!(scale_estimate(value, 3.0), tripled);
    }

    #[test]
    fn a_single_value_has_no_interval_by_any_method_and_two_have_one() {
        let intervals = Intervals {
            seed: 7,
            resamples: 1_000,
            confidence_level: 0.95,
            thresholds: &Thresholds::default(),
        };
        for method in [IntervalMethod::StudentT, IntervalMethod::Bootstrap] {
            let mean =
                |units: &[&[f64]]| intervals.estimate_by(method, "mean", &ClusterMean::new(units));
            assert_eq!(mean(&[&[5.0]]), Estimate::unbounded(5.0), "{method:?}");
            assert_eq!(
                mean(&[&[4.0, 6.0]]),
                Estimate::unbounded(5.0),
                "one process"
            );
            let two = mean(&[&[4.0], &[6.0]]);
            assert_eq!(two.estimate, 5.0, "{method:?}");
            assert!(two.lower <= 4.0 && two.upper >= 6.0, "{method:?} {two:?}");
            assert!(two.lower.is_finite() && two.upper.is_finite());
        }
    }

    #[test]
    fn samples_without_iterations_have_no_time() {
        let mut process = flat_process(0, 1_000, &[4.0, 6.0]);
        let mut nothing = process.series.flat[0];
        nothing.iterations = 0;
        process.series.flat.insert(1, nothing);
        assert_eq!(times(&process), [4.0, 6.0]);
        process.series.flat = vec![nothing];
        assert_eq!(sample_times(&measurement(vec![process])), [[0.0; 0]; 0]);
    }
}
