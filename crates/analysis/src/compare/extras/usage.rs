//! CPU time and peak memory of the runs of a program: those of one measurement, and their changes. Each process, which is a round of runs, has one value
//! of each.

use serde::{Deserialize, Serialize};

use super::description::OverProcesses;
use super::latencies::mean_statistic;
use super::rules::{ExtrasPolicy, ProcessPairing};
use crate::compare::estimate::{ChangeBounds, Estimate, Uncertainty, estimate_drift};
use crate::compare::question::{Question, TestPolicy};
use crate::model::{Measurement, Nanos, RunUsage, Statistic, Verdict};
use perfcheck_stats::{PairedRatio, Smoothness, mean};

/// The resources that a run of a program used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsageSummary {
    /// How many processes (rounds of runs) have these numbers.
    pub processes: usize,
    /// The CPU time of a run in user and system mode, in nanoseconds, summarized over the processes.
    pub cpu_ns: OverProcesses,
    /// The most memory that a run had at any time, in bytes, summarized over the processes that measured it. Null if none did.
    pub peak_bytes: Option<OverProcesses>,
    /// The time of a program that does nothing, in nanoseconds. Null if it was not measured.
    pub start_up_ns: Option<f64>,
}

impl UsageSummary {
    /// Summarizes the resources that the runs of `measurement` used, with intervals at `confidence_level`. Returns `None` if the benchmark is not a
    /// program, or if the system does not report resources.
    pub fn from_measurement(measurement: &Measurement, confidence_level: f64) -> Option<Self> {
        let cpu = values(measurement, Statistic::Cpu);
        let peak = values(measurement, Statistic::Memory);
        Some(Self {
            processes: cpu.len(),
            cpu_ns: OverProcesses::summarize(&cpu, confidence_level)?,
            peak_bytes: OverProcesses::summarize(&peak, confidence_level),
            start_up_ns: start_up_ns(measurement),
        })
    }
}

/// Returns the shortest time of a program that does nothing, in nanoseconds, among those that the processes of `measurement` measured.
pub fn start_up_ns(measurement: &Measurement) -> Option<f64> {
    let usages = measurement.processes.iter().filter_map(usage_of_process);
    let times = usages.filter_map(|(_, usage)| usage.start_up);
    times.min().map(Nanos::as_f64)
}

/// Returns the number of a process and the resources that a run in it used.
fn usage_of_process(process: &crate::model::ProcessSeries) -> Option<(u32, RunUsage)> {
    Some((process.process, process.conduct?.run?))
}

/// Returns `statistic` of a run, if it is the CPU time or the peak memory.
fn number(usage: &RunUsage, statistic: Statistic) -> Option<f64> {
    match statistic {
        Statistic::Cpu => Some(usage.cpu.as_f64()),
        Statistic::Memory => usage.peak_memory.map(|bytes| bytes as f64),
        _ => None,
    }
}

/// Returns the CPU time or the peak memory of a run in each process that has it, with the number of the process.
fn numbered_values(measurement: &Measurement, statistic: Statistic) -> Vec<(u32, f64)> {
    let usages = measurement.processes.iter().filter_map(usage_of_process);
    let numbers = usages.filter_map(|(process, usage)| Some((process, number(&usage, statistic)?)));
    numbers.collect()
}

/// Returns the CPU time or the peak memory of a run in each process that has it.
pub(in crate::compare) fn values(measurement: &Measurement, statistic: Statistic) -> Vec<f64> {
    let numbers = numbered_values(measurement, statistic).into_iter();
    numbers.map(|(_, value)| value).collect()
}

/// How the resources that a run of a program uses differ between the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct UsageComparison {
    /// The CPU time of a run in user and system mode, in nanoseconds.
    pub cpu: UsageChange,
    /// The most memory that a run has at any time, in bytes. `None` if a side did not measure it.
    pub peak_memory: Option<UsageChange>,
}

/// A resource on both sides, and its change. The value of a side is the mean over its processes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct UsageChange {
    /// The value of the reference.
    pub base: f64,
    /// The value of the run that is compared.
    pub candidate: f64,
    /// The relative change from the reference to the run, candidate / base - 1, with Student's interval over processes or rounds.
    pub change: Estimate,
    /// The standard errors of the change, from which an interval at any other level can be computed.
    pub uncertainty: Uncertainty,
    /// The verdict that follows from the interval and the noise threshold. It does not affect the verdict about the time.
    pub verdict: Verdict,
}

impl UsageComparison {
    /// Compares the resources of `candidate` with those of all runs in `base`. If `pairing` is `ByRound`, only rounds that both sides have are used.
    /// Returns `None` if a side has none.
    pub(super) fn compare(
        base: &[&Measurement],
        candidate: &Measurement,
        pairing: ProcessPairing,
        rules: &ExtrasPolicy,
    ) -> Option<Self> {
        let change = |statistic| UsageChange::compare(base, candidate, statistic, pairing, rules);
        Some(Self {
            cpu: change(Statistic::Cpu)?,
            peak_memory: change(Statistic::Memory),
        })
    }

    /// Adds the drift between stored runs to the uncertainty of each change.
    #[must_use]
    pub(super) fn with_drift(
        self,
        question: &Question<'_>,
        policy: &TestPolicy,
        rules: &ExtrasPolicy,
    ) -> Self {
        let drifted = |found: UsageChange, statistic| {
            let drift = estimate_drift(question, policy, |run| values(run, statistic));
            found.with_uncertainty(found.uncertainty.with_drift(drift), rules)
        };
        Self {
            cpu: drifted(self.cpu, Statistic::Cpu),
            peak_memory: (self.peak_memory).map(|found| drifted(found, Statistic::Memory)),
        }
    }

    /// Returns the change of the CPU time or of the peak memory.
    pub fn change(&self, statistic: Statistic) -> Option<&UsageChange> {
        match statistic {
            Statistic::Cpu => Some(&self.cpu),
            Statistic::Memory => self.peak_memory.as_ref(),
            _ => None,
        }
    }
}

impl UsageChange {
    fn compare(
        base: &[&Measurement],
        candidate: &Measurement,
        statistic: Statistic,
        pairing: ProcessPairing,
        rules: &ExtrasPolicy,
    ) -> Option<Self> {
        let mut base: Vec<(u32, f64)> = (base.iter())
            .flat_map(|run| numbered_values(run, statistic))
            .collect();
        let mut candidate = numbered_values(candidate, statistic);
        if pairing == ProcessPairing::ByRound {
            let rounds = |side: &[(u32, f64)]| -> Vec<u32> {
                side.iter().map(|(process, _)| *process).collect()
            };
            let (base_rounds, candidate_rounds) = (rounds(&base), rounds(&candidate));
            base.retain(|(round, _)| candidate_rounds.contains(round));
            candidate.retain(|(round, _)| base_rounds.contains(round));
        }
        let [base, candidate]: [Vec<f64>; 2] =
            [base, candidate].map(|side| side.into_iter().map(|(_, value)| value).collect());
        let base_mean = mean(&base).filter(|mean| *mean > 0.0)?;
        let candidate_mean = mean(&candidate)?;
        let (new, old) = (mean_statistic(&candidate), mean_statistic(&base));
        let uncertainty = match pairing {
            ProcessPairing::Independent => {
                Uncertainty::from_independent(&new, &old, Smoothness::Smooth)
            }
            ProcessPairing::ByRound => PairedRatio::new(new, old)
                .and_then(|ratio| Uncertainty::from_pairs(&ratio, Smoothness::Smooth)),
        };
        let ratio = candidate_mean / base_mean;
        let uncertainty = uncertainty.unwrap_or(Uncertainty::unknown(ratio - 1.0));
        let found = Self {
            base: base_mean,
            candidate: candidate_mean,
            change: Estimate::unbounded(ratio - 1.0),
            uncertainty,
            verdict: Verdict::Inconclusive,
        };
        Some(found.with_uncertainty(uncertainty, rules))
    }

    fn with_uncertainty(self, uncertainty: Uncertainty, rules: &ExtrasPolicy) -> Self {
        let change = uncertainty.interval_at(rules.confidence_level);
        Self {
            change,
            uncertainty,
            verdict: ChangeBounds::from(&change).judge(rules.noise_threshold),
            ..self
        }
    }

    /// Reports whether the resource changed beyond the noise threshold.
    pub fn has_changed(&self) -> bool {
        matches!(self.verdict, Verdict::Regressed | Verdict::Improved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{ITERATIONS, flat_process, measurement};
    use crate::model::ProcessUsage;

    const RULES: ExtrasPolicy = ExtrasPolicy {
        noise_threshold: 0.01,
        significance_level: 0.01,
        confidence_level: 0.95,
        resamples: 2_000,
        seed: 7,
    };

    /// Creates a measurement of a program whose runs used these times, in milliseconds, and this memory in each round.
    fn program(rounds: &[(u64, Option<u64>)]) -> Measurement {
        let process = |(number, (cpu, peak_memory)): (u32, &(u64, Option<u64>))| {
            let mut process = flat_process(number, ITERATIONS, &[100.0; 4]);
            process.conduct = Some(ProcessUsage {
                threads: 1,
                run: Some(RunUsage {
                    cpu: Nanos(cpu * 1_000_000),
                    peak_memory: *peak_memory,
                    start_up: (number == 0).then_some(Nanos(900_000)),
                }),
                ..ProcessUsage::default()
            });
            process
        };
        measurement((0..).zip(rounds).map(process).collect())
    }

    fn compared(base: &Measurement, candidate: &Measurement) -> Option<UsageComparison> {
        UsageComparison::compare(&[base], candidate, ProcessPairing::ByRound, &RULES)
    }

    #[test]
    fn a_round_that_is_slow_for_both_sides_does_not_hide_a_change() {
        let base = program(&[(10, None), (20, None), (30, None), (40, None)]);
        let candidate = program(&[(11, None), (22, None), (33, None), (44, None)]);
        let found = compared(&base, &candidate).expect("both sides");
        assert_eq!((found.cpu.base, found.cpu.candidate), (25e6, 27.5e6));
        assert!((found.cpu.change.lower - 0.1).abs() < 1e-9, "{found:?}");
        assert_eq!(found.cpu.verdict, Verdict::Regressed);
        assert_eq!(found.peak_memory, None);
        let independent = ProcessPairing::Independent;
        let apart = UsageComparison::compare(&[&base], &candidate, independent, &RULES);
        let apart = apart.expect("both sides");
        assert_eq!(apart.cpu.verdict, Verdict::Inconclusive);
        assert!(apart.cpu.change.lower < 0.0);
    }

    #[test]
    fn memory_that_never_varies_has_an_exact_change_and_one_round_shows_none() {
        let base = program(&[(10, Some(1_000)), (10, Some(1_000)), (10, None)]);
        let candidate = program(&[(10, Some(1_500)), (10, Some(1_500)), (10, Some(9))]);
        let found = compared(&base, &candidate).expect("both sides");
        let memory = found.peak_memory.expect("two rounds have it on both sides");
        let change = memory.change;
        assert_eq!(
            (change.lower, change.estimate, change.upper),
            (0.5, 0.5, 0.5)
        );
        assert_eq!(memory.verdict, Verdict::Regressed);
        assert_eq!(found.cpu.verdict, Verdict::Unchanged);
        let single = compared(&program(&[(10, Some(5))]), &program(&[(10, Some(9))]));
        let memory = single.expect("both sides").peak_memory.expect("a value");
        assert_eq!(memory.verdict, Verdict::Inconclusive);
        assert_eq!(memory.change, Estimate::unbounded(0.8));
    }

    #[test]
    fn other_benchmarks_have_no_resources_of_a_run() {
        let bench = measurement(vec![flat_process(0, ITERATIONS, &[100.0; 4])]);
        assert_eq!(UsageSummary::from_measurement(&bench, 0.95), None);
        assert_eq!(compared(&bench, &program(&[(10, None)])), None);
    }

    #[test]
    fn a_summary_has_means_over_rounds_and_the_start_of_an_empty_program() {
        let run = program(&[(10, Some(4_096)), (30, None)]);
        let found = UsageSummary::from_measurement(&run, 0.95).expect("a program");
        assert_eq!((found.processes, found.cpu_ns.mean), (2, 20e6));
        assert_eq!(found.peak_bytes.expect("one round").mean, 4_096.0);
        assert_eq!(found.start_up_ns, Some(900_000.0));
    }
}
