//! Describes samples as if each were an independent observation, after an outlier policy. `NBenchmark` and the serializer methodology describe one
//! process in this way.
//!
//! No verdict depends on these descriptions. Their intervals assume independent samples. But the samples of one process may depend on each other, and
//! samples of several processes are not independent if the processes differ.

use super::estimate::Estimate;
use super::filter::to_outlier_policy;
use super::summary::{described_processes, is_first_apart, times_with_first};
use crate::model::{DecisionSettings, Measurement, Outliers, Quantile};
use perfcheck_stats::{
    CleanedSample, FirstSampleTreatment, FullDescription, FullDescriptionRules, OutlierPolicy,
    TailSource, TrimmedError,
};
use serde::{Serialize, Serializer};

/// Statistics of the samples of one process or of all processes, in which each sample is an observation of its own. An outlier policy is applied
/// first, and the statistics describe only the samples that are used after it. The intervals assume that samples are independent. Times are in
/// nanoseconds per iteration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampleDescription {
    /// The number of the process that the samples come from, counted from 0; null for the samples of all processes together.
    pub process: Option<u32>,
    /// The outlier policy that was applied.
    pub outliers: Outliers,
    /// How the standard error treats outliers: `winsorized` accounts for the samples that were removed, and `plain` ignores them.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub trimmed_error: TrimmedError,
    /// How many samples there were before any were left out: `raw` = `skipped` + `removed` + `used`.
    pub raw: usize,
    /// How many samples were left out because they were the first of their process.
    pub skipped: usize,
    /// How many outliers were removed.
    pub removed: usize,
    /// How many outliers were replaced by the bound that they exceed. They are among the used samples.
    pub replaced: usize,
    /// How many samples are used, including those whose value was replaced.
    pub used: usize,
    /// The mean of the used samples. Its interval is Student's, or Yuen's if outliers were removed or replaced and `trimmed_error` is not `plain`.
    /// Its bounds are null if there is no standard error.
    pub mean_ns: Estimate,
    /// The standard error of the mean; null if the outlier policy left fewer than two samples as they were.
    pub std_err_ns: Option<f64>,
    /// Half the width of the interval of the mean: Student's t times the standard error. Null if there is no standard error.
    pub margin_ns: Option<f64>,
    /// The degrees of freedom of Student's t in `margin_ns`; null if there is no standard error.
    pub degrees_of_freedom: Option<f64>,
    /// The median of the used samples.
    pub median_ns: f64,
    /// The standard deviation of the used samples; null if there is only one.
    pub std_dev_ns: Option<f64>,
    /// The coefficient of variation (the standard deviation divided by the mean), as a fraction; null if there is only one sample or the mean is 0.
    pub cv: Option<f64>,
    /// The median absolute deviation of the used samples from their median. It is not scaled to resemble a standard deviation.
    pub mad_ns: f64,
    /// The percentiles 5, 25, 75, 95 and 99 of the used samples. In JSON they are an object with the members `p5`, `p25`, `p75`, `p95` and `p99`.
    #[serde(serialize_with = "serialize_by_name")]
    #[cfg_attr(feature = "schema", schemars(with = "Percentiles"))]
    pub percentiles_ns: [f64; 5],
    /// The smallest of the used samples.
    pub min_ns: f64,
    /// The largest of the used samples.
    pub max_ns: f64,
}

/// Five percentiles of samples, in nanoseconds per iteration. For example, `p5` is the 5th percentile.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Percentiles {
    p5: f64,
    p25: f64,
    p75: f64,
    p95: f64,
    p99: f64,
}

pub(super) fn serialize_by_name<S: Serializer>(
    &[p5, p25, p75, p95, p99]: &[f64; 5],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let percentiles = Percentiles {
        p5,
        p25,
        p75,
        p95,
        p99,
    };
    percentiles.serialize(serializer)
}

impl SampleDescription {
    /// Describes all deciding samples of `measurement` together. `decision` holds the outlier policy and the confidence level. If it has no outlier
    /// policy, only the samples that the filter of an import keeps are described. Returns `None` if there are no samples.
    pub fn from_measurement(
        measurement: &Measurement,
        decision: &DecisionSettings,
    ) -> Option<Self> {
        let processes = processes(measurement, decision);
        let processes: Vec<&[f64]> = processes.iter().map(|(_, times)| &times[..]).collect();
        Self::from_processes(
            &processes,
            first_sample_policy(measurement, decision),
            decision,
        )
    }

    /// Describes the samples of each process separately. Processes without samples are left out.
    pub fn per_process(measurement: &Measurement, decision: &DecisionSettings) -> Vec<Self> {
        let first = first_sample_policy(measurement, decision);
        let processes = processes(measurement, decision).into_iter();
        let described = processes.map(|(process, times)| {
            let found = Self::from_processes(&[&times], first, decision)?;
            Some(Self {
                process: Some(process),
                ..found
            })
        });
        described.flatten().collect()
    }

    fn from_processes(
        processes: &[&[f64]],
        first: FirstSampleTreatment,
        decision: &DecisionSettings,
    ) -> Option<Self> {
        let analysis = &decision.analysis;
        let middle = analysis.quantile_in_force();
        let policy = policy_in_force(decision);
        let cleaned = CleanedSample::clean(processes, first, policy)?;
        let rules = FullDescriptionRules {
            outliers: policy,
            // By default a percentile is one of the measured samples. The settings may choose another definition.
            quantile: analysis.quantile.unwrap_or(Quantile::InvertedCdf),
            trimmed_error: analysis.trimmed_error,
            tail: TailSource::TreatedSample,
            level: decision.confidence_level,
        };
        let found = FullDescription::compute(&cleaned.warm, rules)?;
        Some(Self {
            process: None,
            outliers: analysis.outliers,
            trimmed_error: analysis.trimmed_error,
            raw: cleaned.counts.raw,
            skipped: cleaned.counts.warm_up_skipped,
            removed: cleaned.counts.outliers_removed,
            replaced: cleaned.replaced,
            used: cleaned.counts.used,
            // A single sample has no standard error.
            mean_ns: (found.interval).map_or(Estimate::unbounded(found.mean), |interval| {
                Estimate::from_interval(found.mean, interval.interval())
            }),
            std_err_ns: found.standard_error,
            margin_ns: found.interval.map(|interval| interval.margin),
            degrees_of_freedom: found.interval.map(|interval| interval.df),
            median_ns: middle.select(&mut cleaned.used.clone(), 0.5)?,
            std_dev_ns: found.sd,
            cv: found.cv,
            mad_ns: found.mad,
            percentiles_ns: found.percentiles,
            min_ns: found.min,
            max_ns: found.max,
        })
    }
}

fn policy_in_force(decision: &DecisionSettings) -> OutlierPolicy {
    let analysis = &decision.analysis;
    to_outlier_policy(
        analysis.outliers,
        analysis.quantile_in_force(),
        &decision.thresholds,
    )
}

/// Returns the samples of each process that the outlier policy of `decision` keeps, in nanoseconds per iteration. If there is no policy, returns the
/// samples that the filter of an import keeps. Processes without samples are left out.
pub(super) fn used_processes(
    measurement: &Measurement,
    decision: &DecisionSettings,
) -> Vec<Vec<f64>> {
    let processes = processes(measurement, decision);
    let times: Vec<&[f64]> = processes.iter().map(|(_, times)| &times[..]).collect();
    let first = first_sample_policy(measurement, decision);
    let cleaned = CleanedSample::clean(&times, first, policy_in_force(decision));
    let used = cleaned.map_or_else(Vec::new, |cleaned| cleaned.used_by_cluster());
    used.into_iter().filter(|times| !times.is_empty()).collect()
}

fn first_sample_policy(
    measurement: &Measurement,
    decision: &DecisionSettings,
) -> FirstSampleTreatment {
    let analysis = &decision.analysis;
    let apart = analysis.leaves_out() && is_first_apart(measurement);
    FirstSampleTreatment::dropped_if(analysis.drop_first || apart)
}

/// Returns the samples of each process that has any, together with the number of the process.
fn processes(measurement: &Measurement, decision: &DecisionSettings) -> Vec<(u32, Vec<f64>)> {
    // An outlier policy of the analysis takes the place of the filter of an import, so all samples are needed here.
    let found = if decision.analysis.leaves_out() {
        let processes = measurement.processes.iter();
        let apart = is_first_apart(measurement);
        let all = processes.map(|process| (process, times_with_first(process, apart)));
        all.filter(|(_, times)| !times.is_empty()).collect()
    } else {
        described_processes(measurement)
    };
    let found = found.into_iter();
    found
        .map(|(process, times)| (process.process, times))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{ITERATIONS, flat_process, measurement};
    use crate::model::{Analysis, Outliers};

    #[test]
    fn each_process_that_has_samples_is_described_by_itself() {
        let process = |number, times: &[f64]| flat_process(number, ITERATIONS, times);
        let found = measurement(vec![
            process(0, &[100.0, 102.0, 104.0]),
            process(1, &[]),
            process(2, &[200.0, 210.0]),
        ]);
        let decision = DecisionSettings::default();
        let each = SampleDescription::per_process(&found, &decision);
        let each = each
            .into_iter()
            .map(|one| (one.process, one.used, one.mean_ns.estimate));
        let wanted = [(Some(0), 3, 102.0), (Some(2), 2, 205.0)];
        assert_eq!(each.collect::<Vec<_>>(), wanted);
        let all = SampleDescription::from_measurement(&found, &decision).unwrap();
        assert_eq!((all.used, all.mean_ns.estimate), (5, 716.0 / 5.0));
    }

    #[test]
    fn samples_are_described_without_those_that_the_analysis_calls_outliers() {
        let times = [100.0, 101.0, 102.0, 103.0, 104.0, 900.0];
        let run = measurement(vec![flat_process(0, ITERATIONS, &times)]);
        let mean = |outliers| {
            let analysis = Analysis {
                outliers,
                ..Analysis::default()
            };
            let decision = DecisionSettings {
                analysis,
                ..DecisionSettings::default()
            };
            let found = SampleDescription::from_measurement(&run, &decision).unwrap();
            (found.used, found.mean_ns.estimate)
        };
        assert_eq!(mean(Outliers::Keep), (6, 1410.0 / 6.0));
        assert_eq!(mean(Outliers::Mad), (5, 102.0));
    }

    #[test]
    fn the_samples_that_are_used_stay_with_their_processes() {
        let process = |number, times: &[f64]| flat_process(number, ITERATIONS, times);
        let run = measurement(vec![
            process(0, &[100.0, 101.0, 102.0, 103.0]),
            process(1, &[]),
            process(2, &[104.0, 105.0, 900.0]),
        ]);
        let used = |drop_first, outliers| {
            let analysis = Analysis {
                outliers,
                drop_first,
                ..Analysis::default()
            };
            let decision = DecisionSettings {
                analysis,
                ..DecisionSettings::default()
            };
            used_processes(&run, &decision)
        };
        assert_eq!(
            used(false, Outliers::Keep),
            [vec![100.0, 101.0, 102.0, 103.0], vec![104.0, 105.0, 900.0]]
        );
        assert_eq!(
            used(true, Outliers::Keep),
            [vec![101.0, 102.0, 103.0], vec![105.0, 900.0]]
        );
        assert_eq!(
            used(true, Outliers::Mad),
            [vec![101.0, 102.0, 103.0], vec![105.0]]
        );
        let nothing = measurement(vec![process(0, &[])]);
        let none = used_processes(&nothing, &DecisionSettings::default());
        assert_eq!(none, Vec::<Vec<f64>>::new());
    }
}
