//! Describes how both sides differ, independently of the test that decides: means, medians, effect sizes, and the summary that `--center` asks for.

use crate::compare::estimate::{ChangeInterval, estimate_drift};
use crate::compare::{Estimate, Uncertainty};
use serde::{Deserialize, Serialize};

use super::alternative::{Centers, Effects};
use super::question::{Question, TestPolicy};
use super::samples::used_processes;
use super::summary::{described_times, resampling_units};
use crate::model::{DecisionSettings, Measurement, Observations, Thresholds};
use perfcheck_stats::{
    ClusterMean, ClusterMedian, ClusterStatistic, PairedRatio, Resampling, Smoothness, Stream,
    derived_seed, mean, median,
};

/// Differences between the two sides that are only shown to the reader. A field is `None` if it has no finite value or was not requested.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChangeDescription {
    /// The change of the mean of all samples.
    pub mean: Option<DescribedChange>,
    /// The change of the median of all samples.
    pub median: Option<DescribedChange>,
    /// The effect sizes. `None` for side-by-side measurements, and if a side has no samples.
    pub effects: Option<Effects>,
    /// The change of the summary that the user requested, such as another kind of mean.
    pub centers: Option<Centers>,
}

/// A change that only describes both sides: the verdict about the time does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DescribedChange {
    /// The change with its interval at the confidence level.
    pub estimate: Estimate,
    /// The standard errors of the change, from which an interval at any other level can be computed.
    pub uncertainty: Uncertainty,
}

impl ChangeDescription {
    /// Describes how the mean and the median changed between stored runs. It uses the samples that a summary describes. If the test uses filtered
    /// samples, the description uses them, too.
    pub(super) fn from_stored_runs(question: &Question<'_>, rules: &TestPolicy) -> Self {
        let times = |runs: &[&Measurement]| -> Vec<Vec<f64>> {
            let processes = runs
                .iter()
                .flat_map(|run| described_samples(run, &rules.decision));
            processes.collect()
        };
        let candidate = times(&[question.candidate]);
        let base = times(&question.reference.averaged);
        let (candidate, base) = (
            &resampling_units(&candidate)[..],
            &resampling_units(&base)[..],
        );
        let drift = |of_process: fn(&[f64]) -> Option<f64>| {
            estimate_drift(question, rules, |run| {
                let processes = described_samples(run, &rules.decision);
                let values = processes.iter().filter_map(|times| of_process(times));
                values.collect()
            })
        };
        let resampling = |name| Resampling {
            resamples: rules.decision.resamples as usize,
            stream: Stream {
                seed: derived_seed(rules.seed, &question.candidate.benchmark.key.to_string()),
                name,
            },
        };
        let rule = |name, smoothness| ChangeInterval {
            level: rules.decision.confidence_level,
            resampling: resampling(name),
            smoothness,
            thresholds: &rules.decision.thresholds,
        };
        let means = (ClusterMean::new(candidate), ClusterMean::new(base));
        let medians = (ClusterMedian::new(candidate), ClusterMedian::new(base));
        Self {
            mean: DescribedChange::from_parts(
                Estimate::relative_change(
                    &means.0,
                    &means.1,
                    rule(OF_THE_MEAN, Smoothness::Smooth),
                ),
                Uncertainty::from_independent(&means.0, &means.1, Smoothness::Smooth)
                    .map(|found| found.with_drift(drift(mean))),
            ),
            median: DescribedChange::from_parts(
                Estimate::relative_change(
                    &medians.0,
                    &medians.1,
                    rule(OF_THE_MEDIAN, Smoothness::Median),
                ),
                Uncertainty::from_independent(&medians.0, &medians.1, Smoothness::Median)
                    .map(|found| found.with_drift(drift(median))),
            ),
            ..Self::default()
        }
    }

    /// Describes how the mean and the median changed in rounds that were measured side by side. The two sides of a round are resampled together.
    pub(super) fn from_rounds(
        candidate: &[&[f64]],
        base: &[&[f64]],
        level: f64,
        resamples: usize,
        seed: u64,
    ) -> Self {
        let thresholds = Thresholds::default();
        let rule = |name, smoothness| ChangeInterval {
            level,
            resampling: Resampling {
                resamples,
                stream: Stream { seed, name },
            },
            smoothness,
            thresholds: &thresholds,
        };
        let means = PairedRatio::new(ClusterMean::new(candidate), ClusterMean::new(base));
        let medians = PairedRatio::new(ClusterMedian::new(candidate), ClusterMedian::new(base));
        Self {
            mean: means.and_then(|ratio| {
                DescribedChange::from_pairs(&ratio, rule(OF_THE_MEAN, Smoothness::Smooth))
            }),
            median: medians.and_then(|ratio| {
                DescribedChange::from_pairs(&ratio, rule(OF_THE_MEDIAN, Smoothness::Median))
            }),
            ..Self::default()
        }
    }
}

fn described_samples(run: &Measurement, decision: &DecisionSettings) -> Vec<Vec<f64>> {
    match decision.analysis.observations {
        Observations::Filtered => used_processes(run, decision),
        Observations::Processes | Observations::Samples => described_times(run),
    }
}

impl DescribedChange {
    /// Combines a change with its uncertainty. Either both exist, or the change has no finite value and neither does.
    fn from_parts(estimate: Option<Estimate>, uncertainty: Option<Uncertainty>) -> Option<Self> {
        let (estimate, uncertainty) = estimate.zip(uncertainty)?;
        Some(Self {
            estimate,
            uncertainty,
        })
    }

    fn from_pairs(
        ratio: &PairedRatio<impl ClusterStatistic>,
        rule: ChangeInterval<'_>,
    ) -> Option<Self> {
        Self::from_parts(
            Estimate::relative_change_of_pairs(ratio, rule),
            Uncertainty::from_pairs(ratio, rule.smoothness),
        )
    }
}

/// The names of the random number streams, so that mean and median are resampled independently.
const OF_THE_MEAN: &str = "change of the mean";
const OF_THE_MEDIAN: &str = "change of the median";
