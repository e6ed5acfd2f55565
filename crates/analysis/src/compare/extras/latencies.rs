//! Latencies of two sides, compared by percentile over the percentiles of the single processes.
//!
//! Statistics over the processes of a run as `BenchForge` defines them: mean, deviation and a percentile bootstrap interval, by its rule of indices.
//!
//! Operations of different processes are never pooled: the numbers of the processes are resampled. Describes and decides nothing. Few processes have
//! few distinct resamples, so these intervals cover too rarely.

use serde::{Deserialize, Serialize};

use super::description::OverProcesses;
use super::family::{ExtrasPolicy, ProcessPairing};
use crate::compare::comparison::{Question, TestPolicy};
use crate::compare::estimate::{ChangeInterval, Estimate, Uncertainty, estimate_drift};
use crate::compare::summary::described_times;
use crate::model::{Measurement, Metric, ProcessSeries, Thresholds, Verdict};
use perfcheck_stats::{
    ClusterMean, FEWEST_FOR_BOOTSTRAP, HdrHistogram, IntervalMethod, PairedRatio, PercentileRule,
    Quantile, Resampling, Smoothness, Stream, derived_seed, mean, mean_ratio, paired_mean_ratio,
    percentile_interval_with,
};

/// How the latencies of single operations differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyComparison {
    /// The median, the 95th, 99th and 99.9th percentile and the longest operation, in this order.
    pub percentiles: Vec<PercentileChange>,
}

/// One percentile on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PercentileChange {
    /// The percentile as a fraction: 0.99, and 1 for the longest operation.
    pub quantile: f64,
    /// The mean over the processes of the reference, in nanoseconds.
    pub base_ns: f64,
    /// The mean over the processes of the run, in nanoseconds.
    pub candidate_ns: f64,
    /// new / base - 1, with its interval.
    pub change: Estimate,
    /// The uncertainty of the change, for bounds at any level.
    pub uncertainty: Uncertainty,
    /// The step of the clock over the time of the reference.
    pub clock_step: f64,
    /// Relative error by which the percentile of a side may be too low, because its histogram rounds down.
    pub rounding: f64,
    /// The verdict from the interval: beyond the noise threshold, and beyond differences that the histogram and the clock cannot distinguish.
    pub verdict: Verdict,
}

impl LatencyComparison {
    /// The percentiles that are compared, as fractions.
    pub const QUANTILES: [f64; 5] = [0.5, 0.95, 0.99, 0.999, 1.0];

    /// Returns the relative rounding error of the histograms.
    pub fn rounding(&self) -> f64 {
        let each = self.percentiles.iter().map(|found| found.rounding);
        each.fold(0.0, f64::max)
    }

    /// Compares the processes of `candidate` with those of all runs in `base`; `None` if a side has no operations.
    pub(super) fn compare(
        base: &[&Measurement],
        candidate: &Measurement,
        pairing: ProcessPairing,
        rules: &ExtrasPolicy,
    ) -> Option<Self> {
        let mut base: Vec<&ProcessSeries> = base.iter().flat_map(|run| &run.launches).collect();
        let mut candidate_launches: Vec<&ProcessSeries> = candidate.launches.iter().collect();
        base.retain(|launch| histogram(launch).is_some());
        candidate_launches.retain(|launch| histogram(launch).is_some());
        if pairing == ProcessPairing::ByRound {
            let rounds = |launches: &[&ProcessSeries]| -> Vec<u32> {
                launches.iter().map(|launch| launch.launch).collect()
            };
            let (of_base, of_candidate) = (rounds(&base), rounds(&candidate_launches));
            base.retain(|launch| of_candidate.contains(&launch.launch));
            candidate_launches.retain(|launch| of_base.contains(&launch.launch));
        }
        if base.is_empty() || candidate_launches.is_empty() {
            return None;
        }
        let both = base.iter().chain(&candidate_launches);
        let quantum_ns = (both.clone())
            .map(|launch| launch.quantum.as_f64())
            .fold(0.0, f64::max);
        let rounding = both
            .filter_map(|launch| Some(histogram(launch)?.precision().error()))
            .fold(0.0, f64::max);
        let name = candidate.benchmark.key.to_string();
        let percentiles = Self::QUANTILES.into_iter().filter_map(|quantile| {
            let sides = ProcessPercentiles {
                rounding,
                base: percentiles_of(&base, quantile),
                candidate: percentiles_of(&candidate_launches, quantile),
                pairing,
            };
            let seed = derived_seed(derived_seed(rules.seed, &name), "latency");
            sides.change(quantile, quantum_ns, seed, rules)
        });
        Some(Self {
            percentiles: percentiles.collect(),
        })
    }

    /// Adds the drift between stored runs.
    #[must_use]
    pub(super) fn with_drift(mut self, question: &Question<'_>, rules: &TestPolicy) -> Self {
        for found in &mut self.percentiles {
            let of_run = |run: &Measurement| {
                let launches: Vec<&ProcessSeries> = run.launches.iter().collect();
                percentiles_of(&launches, found.quantile)
            };
            found.uncertainty = found
                .uncertainty
                .with_drift(estimate_drift(question, rules, of_run));
        }
        self
    }

    /// Returns the change of one percentile.
    pub fn percentile(&self, quantile: f64) -> Option<&PercentileChange> {
        self.percentiles
            .iter()
            .find(|found| found.quantile == quantile)
    }
}

impl PercentileChange {
    /// Turns an interval of the change into a verdict. The histogram and the clock cannot distinguish values that are closer than their steps.
    pub(super) fn judge(&self, change: &Estimate, noise_threshold: f64) -> Verdict {
        let threshold = noise_threshold.max(self.rounding);
        let callable = threshold.max(self.clock_step);
        if change.lower > callable {
            Verdict::Regressed
        } else if change.upper < -callable {
            Verdict::Improved
        } else if change.lower >= -threshold && change.upper <= threshold {
            Verdict::Unchanged
        } else {
            Verdict::Inconclusive
        }
    }
}

/// Returns the histogram of a process that has operations.
fn histogram(launch: &ProcessSeries) -> Option<HdrHistogram> {
    let latencies = launch.extras.latencies.as_ref()?;
    latencies.histogram().filter(|found| found.total() > 0)
}

fn percentiles_of(launches: &[&ProcessSeries], quantile: f64) -> Vec<f64> {
    launches
        .iter()
        .filter_map(|launch| histogram(launch)?.percentile(quantile))
        .map(|ns| ns as f64)
        .collect()
}

/// One percentile of every process of both sides.
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

    /// Returns the uncertainty of the change of the mean of the processes' percentiles.
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

    /// Returns the change of the mean of the processes' percentiles.
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
            // BenchForge, too, resamples so few processes.
            thresholds: &Thresholds {
                bootstrap_min_launches: FEWEST_FOR_BOOTSTRAP as f64,
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

/// Returns the mean of the processes' percentiles as a cluster statistic.
fn mean_statistic(values: &[f64]) -> ClusterMean {
    ClusterMean::new(&values.chunks(1).collect::<Vec<_>>())
}

/// Statistics of processes over all processes, with percentile bootstrap intervals: of the sorted resamples those with the indices int(a / 2 B) and
/// int((1 - a / 2) B) - 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessStatistics {
    /// The measurements that the statistics of a process summarize.
    pub observations: ObservationKind,
    /// How many processes are resampled.
    pub launches: usize,
    /// How many resamples there are, B.
    pub resamples: usize,
    /// Whether there is one process: all intervals are points then.
    pub ci_degenerate: bool,
    /// The number of observations of a process.
    pub count: OverProcesses,
    /// The operations or iterations per second of a process; null for amounts.
    pub per_second: Option<OverProcesses>,
    /// The mean of a process, in nanoseconds.
    pub mean_ns: OverProcesses,
    /// The percentiles 0.5, 0.95, 0.99, 0.999 and 1 (the longest time).
    pub percentiles: Vec<ProcessPercentile>,
}

/// The times whose percentiles are computed for each process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ObservationKind {
    /// Operations that the bench timed one by one.
    Operations,
    /// Samples, if operations were not timed one by one. An imported value is usually one operation.
    Samples,
}

/// A percentile over processes, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessPercentile {
    /// The quantile, a fraction; 1 is the longest time.
    pub quantile: f64,
    /// The percentile of a process, by nearest rank, over the processes.
    #[serde(flatten)]
    pub ns: OverProcesses,
}

/// The observations of one process.
enum ObservedTimes {
    Histogram(HdrHistogram),
    Samples(Vec<f64>),
}

impl ObservedTimes {
    fn count(&self) -> f64 {
        match self {
            Self::Histogram(found) => found.total() as f64,
            Self::Samples(times) => times.len() as f64,
        }
    }

    fn mean(&self) -> Option<f64> {
        match self {
            Self::Histogram(found) => found.mean(),
            Self::Samples(times) => mean(times),
        }
    }

    fn percentile(&self, quantile: f64) -> Option<f64> {
        match self {
            Self::Histogram(found) => found.percentile(quantile).map(|ns| ns as f64),
            Self::Samples(times) => Quantile::InvertedCdf.select(&mut times.clone(), quantile),
        }
    }
}

impl ProcessStatistics {
    /// Number of resamples; those with the indices 250 and 9749 bound a 95 % interval.
    const RESAMPLES: usize = 10_000;

    /// Returns `None` if nothing was measured. The intervals have `confidence_level`; the same seed gives the same intervals.
    pub fn from_measurement(
        measurement: &Measurement,
        confidence_level: f64,
        seed: u64,
    ) -> Option<Self> {
        let (observations, launches) = observed_times(measurement);
        let seed = derived_seed(seed, &measurement.benchmark.key.to_string());
        let over = |name: &str, value: &dyn Fn(&ObservedTimes) -> Option<f64>| {
            let values: Vec<f64> = launches.iter().filter_map(value).collect();
            let mean = ClusterMean::new(&values.chunks(1).collect::<Vec<_>>());
            let resampling = Resampling {
                resamples: Self::RESAMPLES,
                stream: Stream { seed, name },
            };
            let rule = PercentileRule::WholeIndices;
            let interval = percentile_interval_with(&mean, confidence_level, rule, resampling)?;
            let mut found = OverProcesses::summarize(&values, confidence_level)?;
            found.interval = Some(Estimate::from_interval(found.mean, interval));
            Some(found)
        };
        let percentiles = LatencyComparison::QUANTILES.into_iter().map(|quantile| {
            let name = format!("latency-p{}", quantile * 100.0);
            let ns = over(&name, &|launch| launch.percentile(quantile))?;
            Some(ProcessPercentile { quantile, ns })
        });
        let per_second = |launch: &ObservedTimes| {
            let ns = launch.mean().filter(|ns| *ns > 0.0)?;
            Some(1e9 / ns)
        };
        let is_amount = matches!(measurement.benchmark.metric, Metric::Amount { .. });
        Some(Self {
            observations,
            launches: launches.len(),
            resamples: Self::RESAMPLES,
            ci_degenerate: launches.len() < 2,
            count: over("latency-operations", &|launch| Some(launch.count()))?,
            per_second: (!is_amount)
                .then(|| over("latency-rate", &per_second))
                .flatten(),
            mean_ns: over("latency-mean", &ObservedTimes::mean)?,
            percentiles: percentiles.collect::<Option<_>>()?,
        })
    }
}

/// Returns the observations of each process that has any: operations if the bench timed them one by one, else the described samples.
fn observed_times(measurement: &Measurement) -> (ObservationKind, Vec<ObservedTimes>) {
    let launches = measurement.launches.iter();
    let histograms: Vec<ObservedTimes> = launches
        .filter_map(|launch| launch.extras.latencies.as_ref()?.histogram())
        .filter(|histogram| histogram.total() > 0)
        .map(ObservedTimes::Histogram)
        .collect();
    if histograms.is_empty() {
        let samples = described_times(measurement).into_iter();
        let samples = samples.map(ObservedTimes::Samples).collect();
        (ObservationKind::Samples, samples)
    } else {
        (ObservationKind::Operations, histograms)
    }
}
