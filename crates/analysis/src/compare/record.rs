//! Computes the full record of one measurement: all usual statistics of its samples, in addition to the [`Summary`].
//!
//! No verdict depends on the record. Statistics that describe the spread between processes are absent if there is only one process.

use super::diagnostics::{Diagnostic, diagnose};
use super::disturbance::Disturbance;
use super::estimate::Estimate;
use super::summary::{Summary, described_times};
use crate::compare::SampleDescription;
#[cfg(feature = "schema")]
use crate::compare::samples::Percentiles;
use crate::compare::samples::serialize_by_name;
use crate::model::{DecisionSettings, Measurement, Quantile};
use perfcheck_stats::{
    ClusterMean, ClusterStatistic, FullDescription, FullDescriptionRules, MedianInterval,
    OutlierPolicy, Resampling, Stream, TInterval, TailSource, TrimmedError, Variability,
    bca_interval, derived_seed, describe_cluster_means, mean, median,
};
use serde::Serialize;

/// All statistics of a benchmark's samples in one run. Times are in nanoseconds per iteration. If a filter leaves samples out, the statistics ignore
/// them unless a member says otherwise.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchmarkRecord {
    /// The summary of the samples: mean, median, slope, spread, extremes and outliers, with intervals. Its members are members of this object.
    #[serde(flatten)]
    pub summary: Summary,
    /// The standard error of the mean over processes: the mean of each process counts as one observation, because processes are independent of each
    /// other. Null for fewer than two processes.
    pub std_err_ns: Option<f64>,
    /// Student's t times `std_err_ns`; null for fewer than two processes.
    pub margin_ns: Option<f64>,
    /// The mean of the processes' means. Its interval follows from `margin_ns`, but is computed on a logarithmic scale, so that it never reaches
    /// below 0. Null for fewer than two processes.
    #[serde(rename = "mean_over_processes_ns")]
    pub mean_of_processes: Option<Estimate>,
    /// A description of the samples of all processes together, in which each sample is an observation of its own.
    pub of_samples: SampleDescription,
    /// For each process, a description of its own samples alone. Processes without samples are left out.
    pub within_processes: Vec<SampleDescription>,
    /// The median of the processes' means. Its bounds assume nothing about the distribution. Null if there are too few processes for such bounds at
    /// the confidence level.
    #[serde(rename = "median_of_processes_ns")]
    pub median_of_processes: Option<Estimate>,
    /// The smallest probability, whatever the distribution, that the bounds of `median_of_processes_ns` contain the true median, as a fraction. Null
    /// if `median_of_processes_ns` is null.
    pub median_coverage: Option<f64>,
    /// The mean of the samples, with its interval by the bias-corrected and accelerated bootstrap (`BCa`) over processes. Null for fewer than 50
    /// processes, because the interval would contain the true mean too rarely.
    #[serde(rename = "mean_bca_ns")]
    pub mean_bca: Option<Estimate>,
    /// The coefficient of variation of the samples (their standard deviation divided by their mean), as a fraction; null if there is only one sample
    /// or the mean is 0.
    pub cv: Option<f64>,
    /// The class of `cv` by the thresholds `cv-stable` and `cv-high`: `stable`, `ordinary` or `high`. Null if `cv` is null.
    pub variability: Option<Variability>,
    /// The percentiles 5, 25, 75, 95 and 99 of the samples, by nearest rank, so that each is the time of a measured sample. In JSON they are an
    /// object with the members `p5`, `p25`, `p75`, `p95` and `p99`.
    #[serde(rename = "percentiles_ns", serialize_with = "serialize_by_name")]
    #[cfg_attr(feature = "schema", schemars(with = "Percentiles"))]
    pub percentiles: [f64; 5],
    /// Conspicuous properties of the samples, such as several modes. A property is listed only if it exceeds its threshold.
    pub diagnostics: Vec<Diagnostic>,
    /// How the host and the clock disturbed the measurement. The members of this description are members of this object.
    #[serde(flatten)]
    pub disturbance: Disturbance,
}

impl BenchmarkRecord {
    /// The smallest number of processes for which a `BCa` interval is given. With fewer, a 95 % interval contains the true value less than 93 % of
    /// the time.
    pub const FEWEST_FOR_BCA: usize = 50;

    /// Computes the record of `measurement`. `summary` must be the summary of the same measurement. Returns `None` if there are no samples.
    pub fn from_measurement(
        measurement: &Measurement,
        summary: &Summary,
        decision: &DecisionSettings,
        seed: u64,
    ) -> Option<Self> {
        let confidence_level = decision.confidence_level;
        let thresholds = &decision.thresholds;
        let processes = described_times(measurement);
        let pooled: Vec<f64> = processes.iter().flatten().copied().collect();
        let rules = FullDescriptionRules {
            outliers: OutlierPolicy::Keep,
            quantile: Quantile::InvertedCdf,
            trimmed_error: TrimmedError::Winsorized,
            tail: TailSource::Raw,
            level: confidence_level,
        };
        let record = FullDescription::compute(&pooled, rules)?;
        let means: Vec<f64> = processes.iter().filter_map(|x| mean(x)).collect();
        let over = interval_over_processes(&processes, confidence_level);
        let free = MedianInterval::compute(&means, confidence_level);
        Some(Self {
            summary: summary.clone(),
            cv: record.cv,
            percentiles: record.percentiles,
            std_err_ns: over.map(|over| over.standard_error),
            margin_ns: over.map(|over| over.margin),
            mean_of_processes: over.map(logarithmic_interval),
            of_samples: SampleDescription::from_measurement(measurement, decision)?,
            within_processes: SampleDescription::per_process(measurement, decision),
            median_of_processes: free.and_then(|free| {
                let estimate = median(&means)?;
                Some(Estimate::from_interval(estimate, free.interval))
            }),
            median_coverage: free.map(|free| free.coverage),
            mean_bca: mean_bca(measurement, &processes, decision, seed),
            variability: (record.cv)
                .map(|cv| Variability::classify(cv, thresholds.cv_stable, thresholds.cv_high)),
            diagnostics: diagnose(measurement, thresholds),
            disturbance: Disturbance::from_measurement(measurement, summary),
        })
    }
}

/// Returns the mean with an interval that is computed on a logarithmic scale, so that it never reaches below 0.
fn logarithmic_interval(over: TInterval) -> Estimate {
    let factor = (over.margin / over.mean).exp();
    if factor.is_finite() {
        Estimate {
            estimate: over.mean,
            lower: over.mean / factor,
            upper: over.mean * factor,
        }
    } else {
        Estimate::from_interval(over.mean, over.interval().clamp_at_zero())
    }
}

/// Computes Student's interval of the mean over processes. It uses unrounded means of the processes, because for values far from zero rounding errors
/// could exceed the differences between processes.
fn interval_over_processes(processes: &[Vec<f64>], level: f64) -> Option<TInterval> {
    let clusters: Vec<&[f64]> = processes.iter().map(Vec::as_slice).collect();
    let means = describe_cluster_means(&clusters)?;
    let df = (means.count - 1) as f64;
    TInterval::from_standard_error(means.mean, means.standard_error()?, df, level)
}

/// Returns the mean with its `BCa` interval (the bias-corrected and accelerated bootstrap). Returns `None` if there are too few processes for the
/// interval to be reliable.
fn mean_bca(
    measurement: &Measurement,
    processes: &[Vec<f64>],
    decision: &DecisionSettings,
    seed: u64,
) -> Option<Estimate> {
    if processes.len() < BenchmarkRecord::FEWEST_FOR_BCA {
        return None;
    }
    let clusters: Vec<&[f64]> = processes.iter().map(Vec::as_slice).collect();
    let resampling = Resampling {
        resamples: decision.resamples as usize,
        stream: Stream {
            seed: derived_seed(seed, &measurement.benchmark.key.to_string()),
            name: "mean-bca",
        },
    };
    let mean = ClusterMean::new(&clusters);
    let interval = bca_interval(&mean, decision.confidence_level, resampling)?;
    Some(Estimate::from_interval(mean.observed(), interval))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{flat_process, measurement};
    use crate::compare::summarize;
    use crate::model::ProcessSeries;

    fn record(processes: Vec<ProcessSeries>) -> Option<BenchmarkRecord> {
        let measurement = measurement(processes);
        let summary = summarize(&measurement, 0.95, 1_000, 7)?;
        BenchmarkRecord::from_measurement(&measurement, &summary, &DecisionSettings::default(), 7)
    }

    #[test]
    fn percentiles_are_samples_by_nearest_rank() {
        // By nearest rank among twenty values, the 5th percentile is the first value and the 95th the nineteenth.
        let times: Vec<f64> = (1..=20).map(|i| f64::from(i) * 10.0).collect();
        let record = record(vec![flat_process(0, 1000, &times)]).unwrap();
        assert_eq!(record.percentiles, [10.0, 50.0, 150.0, 190.0, 200.0]);
    }

    #[test]
    fn the_interval_of_the_mean_is_students_over_processes() {
        let processes = [100.0, 102.0, 104.0, 106.0, 108.0]
            .iter()
            .zip(0..)
            .map(|(mean, k)| flat_process(k, 1000, &[mean - 20.0, mean + 20.0]))
            .collect();
        let record = record(processes).unwrap();
        // stats.sem([100, 102, 104, 106, 108]) is the root of 2; stats.t.ppf(.975, 4) = 2.7764451051977987
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} is not {b}");
        near(record.std_err_ns.unwrap(), std::f64::consts::SQRT_2);
        near(
            record.margin_ns.unwrap(),
            std::f64::consts::SQRT_2 * 2.776_445_105_197_798_7,
        );
        // On a logarithmic scale, the standard error is sqrt(2) / 104.
        let shown = record.mean_of_processes.unwrap();
        near(shown.estimate, 104.0);
        near(
            shown.upper / 104.0,
            (std::f64::consts::SQRT_2 * 2.776_445_105_197_798_7 / 104.0).exp(),
        );
        near(shown.lower * shown.upper, 104.0 * 104.0);
        // The samples lie 20 above and 20 below these means, so the expected value is np.std(x, ddof=1) / 104.
        near(record.cv.unwrap(), 0.204_727_172_085_529_65);
    }

    #[test]
    fn one_process_says_nothing_of_how_processes_differ() {
        let record = record(vec![flat_process(0, 1000, &[5.0, 6.0, 7.0])]).unwrap();
        assert_eq!(record.mean_of_processes, None);
        assert!(record.cv.is_some());
    }

    #[test]
    fn constant_samples_have_an_interval_without_width_and_one_sample_has_no_variation() {
        let constant = (0..3).map(|k| flat_process(k, 1000, &[5.0; 4])).collect();
        let constant = record(constant).unwrap();
        assert_eq!(constant.margin_ns, Some(0.0));
        assert_eq!(constant.cv, Some(0.0));
        let one = record(vec![flat_process(0, 1000, &[5.0])]).unwrap();
        assert_eq!((one.cv, one.percentiles), (None, [5.0; 5]));
        assert_eq!(record(vec![]), None);
    }

    #[test]
    fn the_mean_has_a_bca_interval_from_fifty_processes_on() {
        let of_processes = |count: u32| {
            let process = |k: u32| flat_process(k, 1000, &[100.0 + f64::from(k * 7 % 11)]);
            let run = measurement((0..count).map(process).collect());
            let times: Vec<Vec<f64>> = (0..count)
                .map(|k| vec![100.0 + f64::from(k * 7 % 11)])
                .collect();
            let decision = DecisionSettings {
                resamples: 1_000,
                ..DecisionSettings::default()
            };
            mean_bca(&run, &times, &decision, 7)
        };
        assert_eq!(of_processes(49), None);
        let found = of_processes(50).expect("processes enough");
        assert!(found.lower < found.estimate && found.estimate < found.upper);
    }
}
