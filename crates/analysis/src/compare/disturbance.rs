//! Describes how the host disturbed a measurement: how steady it was, whether its speed changed or drifted, whether it gave the processor to other
//! work, and what its clock can resolve.
//!
//! No verdict depends on this description. Facts that the system does not report are absent. The bounds are constants, not settings of a workspace,
//! so that the same host gets the same words everywhere.

use serde::Serialize;

use super::comparison::Comparison;
use super::estimate::Estimate;
use super::note::{HostNote, Note};
use super::question::Question;
use super::summary::{Summary, sample_times};
use crate::model::{Control, Measurement, Nanos, ProcessSeries, Side, Thresholds, Verdict};
use perfcheck_stats::{SplitHalves, mean, median, words};

/// The smallest change of the host's speed, as a fraction, that a note reports.
const SMALLEST_MOVE: f64 = 0.01;

/// If a pass of the control workload takes longer than another by more than this factor, the two were different programs, so their times cannot be
/// compared.
const OTHER_WORKLOAD: f64 = 2.0;

/// The share of interrupted samples from which a note is added.
const MANY_INTERRUPTED: f64 = 0.2;

/// If there are fewer interruptions than this, they are ignored, because they may be accidental.
const FEWEST_INTERRUPTIONS: u64 = 20;

words! {
    /// How steady a host was, judged by its jitter: how much the time of the control workload, a fixed amount of work, varied. The bounds of `quiet`
    /// and `shared` are those of `NBenchmark`.
    Steadiness {
        Quiet = "quiet": "Below 5 %.",
        Moderate = "moderate": "Below 10 %.",
        Shared = "shared": "Up to 30 %: typical of shared machines.",
        Unsteady = "unsteady": "Above 30 %.",
    }
}

impl Steadiness {
    /// Classifies a host by the jitter of its control workload, which is given as a fraction.
    pub fn from_jitter(jitter: f64) -> Self {
        match jitter {
            x if x < 0.05 => Self::Quiet,
            x if x < 0.10 => Self::Moderate,
            x if x <= 0.30 => Self::Shared,
            _ => Self::Unsteady,
        }
    }
}

/// The speed and steadiness of a run's host, judged by the control workload: a fixed amount of work that is timed between processes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HostControls {
    /// The largest clock step of all processes.
    pub clock_step: Option<Nanos>,
    /// The time of a pass of the control workload, in nanoseconds: the mean over processes.
    pub control_ns: Option<f64>,
    /// How much longer a pass of the control workload took before the slowest process than before the fastest, as a fraction.
    pub control_range: Option<f64>,
    /// The largest jitter that the control workload showed before a process. The jitter is the spread of its times divided by their median, as a
    /// fraction.
    pub jitter: Option<f64>,
}

impl HostControls {
    /// Computes the speed and steadiness of the host from all measurements of a run.
    pub fn from_measurements<'m>(measurements: impl Iterator<Item = &'m Measurement>) -> Self {
        let processes: Vec<&ProcessSeries> =
            measurements.flat_map(|found| &found.processes).collect();
        let controls = || {
            processes
                .iter()
                .filter_map(|process| process.conduct?.control)
        };
        let passes = || controls().map(|control| control.pass);
        let range = |(least, most): (Nanos, Nanos)| most.as_f64() / least.as_f64() - 1.0;
        Self {
            clock_step: processes
                .iter()
                .map(|process| process.quantum)
                .filter(|step| *step > Nanos(0))
                .max(),
            control_ns: control_ns(processes.iter().copied()),
            control_range: passes()
                .min()
                .zip(passes().max())
                .map(range)
                .filter(|range| range.is_finite()),
            jitter: controls().map(Control::jitter).max_by(f64::total_cmp),
        }
    }

    /// Returns how steady the host was, judged by its jitter.
    pub fn steadiness(&self) -> Option<Steadiness> {
        self.jitter.map(Steadiness::from_jitter)
    }
}

/// How the host disturbed the measurement of a benchmark in one run, and what its clock can resolve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Disturbance {
    /// The smallest difference in the time of an iteration that a typical sample can show, in nanoseconds: the step of the clock divided by the
    /// iterations of the sample. Null if the clock is unknown or the benchmark does not measure time.
    pub clock_step_ns: Option<f64>,
    /// Whether the interval of the median is narrower than `clock_step_ns`. The interval then reflects how the clock rounds, not how the times vary.
    /// False if `clock_step_ns` is null.
    pub narrower_than_clock: bool,
    /// The largest number of threads that were alive in a process. If it is above 1, other threads may have run during the samples. Null if the
    /// system does not report it.
    pub threads: Option<u32>,
    /// The largest share of the samples that can have lost the processor to other work, as a fraction. Null if the system does not report it or the
    /// benchmark does not measure time.
    #[serde(rename = "interrupted_share")]
    pub interrupted: Option<f64>,
}

impl Disturbance {
    /// Computes the disturbance of a measurement from its data and its summary.
    pub fn from_measurement(measurement: &Measurement, summary: &Summary) -> Self {
        let clock_step_ns = clock_step_ns(measurement);
        let half_width = |of: &Estimate| (of.upper - of.lower) / 2.0;
        Self {
            clock_step_ns,
            narrower_than_clock: clock_step_ns
                .is_some_and(|step| half_width(&summary.median) < step / 2.0),
            threads: measurement
                .processes
                .iter()
                .filter_map(|process| Some(process.conduct?.threads))
                .max(),
            interrupted: interrupted_share(measurement),
        }
    }
}

/// Returns notes on how the host disturbed both sides of a comparison of stored runs.
pub(super) fn disturbance_notes(
    question: &Question<'_>,
    found: &Comparison,
    thresholds: &Thresholds,
) -> Vec<Note> {
    let mut notes: Vec<Note> = host_moved(question, found).into_iter().collect();
    let base = &question.reference.averaged;
    for (side, runs) in [
        (Side::Candidate, &vec![question.candidate]),
        (Side::Base, base),
    ] {
        let processes: usize = runs.iter().map(|run| run.processes.len()).sum();
        let drifting: usize = runs.iter().map(|run| count_drifting(run, thresholds)).sum();
        // The fastest process gives the value of a run, so a drift of some processes does no harm as long as most are steady.
        if drifting > 0 && drifting * 2 >= processes {
            notes.push(Note::Host(HostNote::ProcessesDrift {
                side,
                drifting,
                processes,
            }));
        }
        let shares: Vec<f64> = runs
            .iter()
            .filter_map(|run| interrupted_share(run))
            .collect();
        if let Some(share) = mean(&shares).filter(|share| *share >= MANY_INTERRUPTED) {
            notes.push(Note::Host(HostNote::SamplesInterrupted { side, share }));
        }
    }
    notes
}

/// Returns a note if the host alone could explain the change: the time of the control workload changed in the same direction, and by more. There is
/// no note if the comparison shows no change, or if the host changed by less than `SMALLEST_MOVE`. There is no note either if the times of the
/// control workload differ so much that it must have been another program.
fn host_moved(question: &Question<'_>, found: &Comparison) -> Option<Note> {
    let change = found.change?.estimate;
    let called = match found.verdict {
        Verdict::Regressed | Verdict::Suspect | Verdict::Improved => true,
        Verdict::Inconclusive => change.abs() > found.noise_threshold,
        _ => false,
    };
    let candidate = control_ns(question.candidate.processes.iter())?;
    let base = question
        .reference
        .averaged
        .iter()
        .filter_map(|run| control_ns(run.processes.iter()))
        .map(f64::ln)
        .collect::<Vec<f64>>();
    let moved = (candidate.ln() - mean(&base)?).exp_m1();
    let comparable = (1.0 / OTHER_WORKLOAD..=OTHER_WORKLOAD).contains(&(1.0 + moved));
    let bites = moved.abs() >= SMALLEST_MOVE && moved.abs() > change.abs() && moved * change > 0.0;
    (called && comparable && bites).then_some(Note::Host(HostNote::HostMoved { change: moved }))
}

/// Returns the mean time of the control workload over processes. The fastest time would not represent the run, because each measurement of the
/// control workload takes only 3 ms.
fn control_ns<'l>(processes: impl Iterator<Item = &'l ProcessSeries>) -> Option<f64> {
    let passes: Vec<f64> = processes
        .filter_map(|process| Some(process.conduct?.control?.pass.as_f64()))
        .collect();
    mean(&passes).filter(|pass| *pass > 0.0)
}

fn clock_step_ns(measurement: &Measurement) -> Option<f64> {
    let steps: Vec<f64> = measurement
        .processes
        .iter()
        // Amounts are not timed, so they have no clock step.
        .filter(|process| process.quantum > Nanos(0) && measurement.benchmark.metric.is_timed())
        .filter_map(|process| {
            let samples = process.series.deciding_samples().iter();
            let iterations: Vec<f64> = samples.map(|sample| sample.iterations as f64).collect();
            Some(process.quantum.as_f64() / median(&iterations)?)
        })
        .collect();
    median(&steps).filter(|step| step.is_finite())
}

/// Counts the processes whose times drift. In such a process, the mean of the first half of the samples differs from that of the second half by more
/// than two thresholds: a fraction of the mean, and a number of standard errors.
fn count_drifting(measurement: &Measurement, thresholds: &Thresholds) -> usize {
    let (change, errors) = (thresholds.drift_change, thresholds.drift_standard_errors);
    let processes = sample_times(measurement);
    processes
        .iter()
        .filter_map(|times| SplitHalves::compare(times))
        .filter(|halves| halves.has_drifted(change, errors))
        .count()
}

/// Estimates the largest share of the samples that can have been interrupted. Each involuntary context switch interrupts at most one sample. So the
/// share is at most the number of switches, times the typical length of a sample, divided by the CPU time.
fn interrupted_share(measurement: &Measurement) -> Option<f64> {
    if !measurement.benchmark.metric.is_timed() {
        return None;
    }
    let (mut switches, mut hit_ns, mut cpu_ns) = (0, 0.0, 0.0);
    for process in &measurement.processes {
        let conduct = process.conduct?;
        let samples = process.series.deciding_samples().iter();
        let lengths: Vec<f64> = samples.map(|sample| sample.elapsed.as_f64()).collect();
        switches += conduct.involuntary_switches;
        hit_ns += conduct.involuntary_switches as f64 * median(&lengths)?;
        cpu_ns += conduct.cpu.as_f64();
    }
    let share = if switches < FEWEST_INTERRUPTIONS {
        0.0
    } else {
        (hit_ns / cpu_ns).min(1.0)
    };
    (cpu_ns > 0.0).then_some(share)
}

#[cfg(test)]
#[path = "tests/disturbance.rs"]
mod disturbance_tests;
