//! Compares the latencies of two sides. A percentile is computed for each process, and the values of the processes are compared.

use serde::{Deserialize, Serialize};

use super::rules::{ExtrasPolicy, ProcessPairing};
use crate::compare::estimate::{
    ChangeBounds, ChangeInterval, Estimate, Uncertainty, estimate_drift,
};
use crate::compare::question::{Question, TestPolicy};
use crate::model::{Measurement, ProcessSeries, Thresholds, Verdict};
use perfcheck_stats::{
    ClusterMean, FEWEST_FOR_BOOTSTRAP, HdrHistogram, IntervalMethod, PairedRatio, Resampling,
    Smoothness, Stream, derived_seed, mean, mean_ratio, paired_mean_ratio,
};

/// How the latencies of single operations differ between the two sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyComparison {
    /// The median, the 95th, 99th and 99.9th percentile and the longest operation, in this order.
    pub percentiles: Vec<PercentileChange>,
}

/// One percentile on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PercentileChange {
    /// The percentile as a fraction, such as 0.99. The value 1 stands for the longest operation.
    pub quantile: f64,
    /// The percentile of the reference, in nanoseconds: the mean of the percentiles of its processes.
    pub base_ns: f64,
    /// The percentile of the run, in nanoseconds: the mean of the percentiles of its processes.
    pub candidate_ns: f64,
    /// The relative change from the reference to the run, candidate / base - 1, with its interval.
    pub change: Estimate,
    /// The standard errors of the change, from which an interval at any other level can be computed.
    pub uncertainty: Uncertainty,
    /// The step of the clock as a fraction of `base_ns`.
    pub clock_step: f64,
    /// The relative error by which the percentile of a side may be too low, because its histogram rounds values down.
    pub rounding: f64,
    /// The verdict, which follows from the interval. A change is reported if the whole interval lies beyond the noise threshold, and beyond what the
    /// histogram and the clock can resolve.
    pub verdict: Verdict,
}

impl LatencyComparison {
    /// The percentiles that are compared, as fractions.
    pub const QUANTILES: [f64; 5] = [0.5, 0.95, 0.99, 0.999, 1.0];

    /// Returns by how much the histograms round values, as a fraction: the largest relative error of all percentiles.
    pub fn rounding(&self) -> f64 {
        let each = self.percentiles.iter().map(|found| found.rounding);
        each.fold(0.0, f64::max)
    }

    /// Compares the latencies of `candidate` with those of all runs in `base`. If `pairing` is `ByRound`, only rounds that both sides have are used.
    /// Returns `None` if a side has no operations.
    pub(super) fn compare(
        base: &[&Measurement],
        candidate: &Measurement,
        pairing: ProcessPairing,
        rules: &ExtrasPolicy,
    ) -> Option<Self> {
        let mut base: Vec<&ProcessSeries> = base.iter().flat_map(|run| &run.processes).collect();
        let mut candidate_processes: Vec<&ProcessSeries> = candidate.processes.iter().collect();
        base.retain(|process| histogram(process).is_some());
        candidate_processes.retain(|process| histogram(process).is_some());
        if pairing == ProcessPairing::ByRound {
            let rounds = |processes: &[&ProcessSeries]| -> Vec<u32> {
                processes.iter().map(|process| process.process).collect()
            };
            let (of_base, of_candidate) = (rounds(&base), rounds(&candidate_processes));
            base.retain(|process| of_candidate.contains(&process.process));
            candidate_processes.retain(|process| of_base.contains(&process.process));
        }
        if base.is_empty() || candidate_processes.is_empty() {
            return None;
        }
        let both = base.iter().chain(&candidate_processes);
        let quantum_ns = (both.clone())
            .map(|process| process.quantum.as_f64())
            .fold(0.0, f64::max);
        let rounding = both
            .filter_map(|process| Some(histogram(process)?.precision().error()))
            .fold(0.0, f64::max);
        let name = candidate.benchmark.key.to_string();
        let percentiles = Self::QUANTILES.into_iter().filter_map(|quantile| {
            let sides = ProcessPercentiles {
                rounding,
                base: percentiles_of(&base, quantile),
                candidate: percentiles_of(&candidate_processes, quantile),
                pairing,
            };
            let seed = derived_seed(derived_seed(rules.seed, &name), "latency");
            sides.change(quantile, quantum_ns, seed, rules)
        });
        Some(Self {
            percentiles: percentiles.collect(),
        })
    }

    /// Adds the drift between stored runs to the uncertainty of each change.
    #[must_use]
    pub(super) fn with_drift(mut self, question: &Question<'_>, rules: &TestPolicy) -> Self {
        for found in &mut self.percentiles {
            let of_run = |run: &Measurement| {
                let processes: Vec<&ProcessSeries> = run.processes.iter().collect();
                percentiles_of(&processes, found.quantile)
            };
            found.uncertainty = found
                .uncertainty
                .with_drift(estimate_drift(question, rules, of_run));
        }
        self
    }

    /// Returns the change of the percentile `quantile`, if it is one of [`Self::QUANTILES`].
    pub fn percentile(&self, quantile: f64) -> Option<&PercentileChange> {
        self.percentiles
            .iter()
            .find(|found| found.quantile == quantile)
    }
}

impl PercentileChange {
    /// Turns an interval of the change into a verdict. A change that is smaller than a step of the histogram or of the clock is not reported.
    pub(super) fn judge(&self, change: &Estimate, noise_threshold: f64) -> Verdict {
        let threshold = noise_threshold.max(self.rounding);
        let callable = threshold.max(self.clock_step);
        ChangeBounds::from(change).judge_with_resolution(threshold, callable)
    }
}

/// Returns the latencies of a process, or `None` if it has no operations.
fn histogram(process: &ProcessSeries) -> Option<HdrHistogram> {
    let latencies = process.extras.latencies.as_ref()?;
    latencies.histogram().filter(|found| found.total() > 0)
}

fn percentiles_of(processes: &[&ProcessSeries], quantile: f64) -> Vec<f64> {
    processes
        .iter()
        .filter_map(|process| histogram(process)?.percentile(quantile))
        .map(|ns| ns as f64)
        .collect()
}

/// One percentile, computed for every process of both sides.
struct ProcessPercentiles {
    rounding: f64,
    base: Vec<f64>,
    candidate: Vec<f64>,
    pairing: ProcessPairing,
}

impl ProcessPercentiles {
    fn change(
        &self,
        quantile: f64,
        quantum_ns: f64,
        seed: u64,
        rules: &ExtrasPolicy,
    ) -> Option<PercentileChange> {
        let (base_ns, candidate_ns) = (mean(&self.base)?, mean(&self.candidate)?);
        let ratio = if base_ns == candidate_ns {
            1.0
        } else {
            candidate_ns / base_ns
        };
        let change = self
            .interval(quantile, seed, rules)
            .unwrap_or_else(|| Estimate::unbounded(ratio - 1.0));
        let mut found = PercentileChange {
            quantile,
            base_ns,
            candidate_ns,
            change,
            uncertainty: self
                .uncertainty()
                .unwrap_or(Uncertainty::unknown(ratio - 1.0)),
            clock_step: quantum_ns / base_ns,
            rounding: self.rounding,
            verdict: Verdict::Inconclusive,
        };
        found.verdict = found.judge(&change, rules.noise_threshold);
        Some(found)
    }

    /// Returns the uncertainty of the change of one percentile. The value of a side is the mean of its processes' percentiles.
    fn uncertainty(&self) -> Option<Uncertainty> {
        let (candidate, base) = (mean_statistic(&self.candidate), mean_statistic(&self.base));
        match self.pairing {
            ProcessPairing::Independent => {
                Uncertainty::from_independent(&candidate, &base, Smoothness::Smooth)
            }
            ProcessPairing::ByRound => {
                Uncertainty::from_pairs(&PairedRatio::new(candidate, base)?, Smoothness::Smooth)
            }
        }
    }

    /// Returns the change of one percentile with its interval. The value of a side is the mean of its processes' percentiles. Returns `None` if the
    /// interval cannot be computed.
    fn interval(&self, quantile: f64, seed: u64, rules: &ExtrasPolicy) -> Option<Estimate> {
        let level = rules.confidence_level;
        let fewer = self.base.len().min(self.candidate.len());
        if IntervalMethod::for_clusters(fewer) == IntervalMethod::StudentT {
            let found = match self.pairing {
                ProcessPairing::Independent => mean_ratio(&self.candidate, &self.base, level),
                ProcessPairing::ByRound => paired_mean_ratio(&self.candidate, &self.base, level),
            }?;
            return Some(Estimate {
                estimate: found.value - 1.0,
                lower: found.interval.lower - 1.0,
                upper: found.interval.upper - 1.0,
            });
        }
        let name = format!("p{}", quantile * 100.0);
        let resampling = Resampling {
            resamples: rules.resamples as usize,
            stream: Stream { seed, name: &name },
        };
        let rule = ChangeInterval {
            level,
            resampling,
            smoothness: Smoothness::Smooth,
            // The bootstrap is used from this number of processes on, as in BenchForge. By default more processes would be needed.
            thresholds: &Thresholds {
                bootstrap_min_processes: FEWEST_FOR_BOOTSTRAP as f64,
                ..Thresholds::default()
            },
        };
        let (candidate, base) = (mean_statistic(&self.candidate), mean_statistic(&self.base));
        match self.pairing {
            ProcessPairing::Independent => Estimate::relative_change(&candidate, &base, rule),
            ProcessPairing::ByRound => {
                let ratio = PairedRatio::new(candidate, base)?;
                Estimate::relative_change_of_pairs(&ratio, rule)
            }
        }
    }
}

/// Returns the mean of the values of processes in the form that resampling needs. Each process is one cluster.
pub(super) fn mean_statistic(values: &[f64]) -> ClusterMean {
    ClusterMean::new(&values.chunks(1).collect::<Vec<_>>())
}
