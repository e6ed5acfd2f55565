//! What the host did to a measurement: how steady it was, whether it moved, drifted or took the processor away, and what its clock can show.
//!
//! Describes and decides nothing: a verdict is the same with and without it. What the system did not tell is absent. Its bounds are no
//! thresholds of a workspace: they give the same words to the same host, whoever reads them, and a host becomes no steadier by a setting.

use serde::Serialize;

use super::comparison::Comparison;
use super::estimate::Estimate;
use super::host_note::HostNote;
use super::note::Note;
use super::question::Question;
use super::summary::{Summary, sample_times};
use crate::model::{Control, LaunchSeries, Measurement, Nanos, Side, Thresholds, Verdict};
use perfcheck_stats::{SplitHalves, mean, median, words};

/// The host is not said to have moved by less than this.
const SMALLEST_MOVE: f64 = 0.01;

/// A control workload that differs by more than this factor was not the same one.
const OTHER_WORKLOAD: f64 = 2.0;

/// A share of interrupted samples that is worth a word.
const MANY_INTERRUPTED: f64 = 0.2;

/// Fewer interruptions are an accident.
const FEWEST_INTERRUPTIONS: u64 = 20;

words! {
    /// How steady a host was, by the jitter of its control workload. The bounds of quiet and shared are `NBenchmark`'s.
    Steadiness {
        Quiet = "quiet": "Below 5 %.",
        Moderate = "moderate": "Below 10 %.",
        Shared = "shared": "Up to 30 %: typical of machines that others use too.",
        Unsteady = "unsteady": "Above.",
    }
}

impl Steadiness {
    /// Of this jitter.
    pub fn of(jitter: f64) -> Self {
        match jitter {
            x if x < 0.05 => Self::Quiet,
            x if x < 0.10 => Self::Moderate,
            x if x <= 0.30 => Self::Shared,
            _ => Self::Unsteady,
        }
    }
}

/// What a run knows of its host beyond its facts.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HostSigns {
    /// The largest step of the clocks of its launches.
    pub clock_step: Option<Nanos>,
    /// Mean over launches of the time of a pass of the control workload, nanoseconds.
    pub control_ns: Option<f64>,
    /// How much longer the slowest launch found it than the fastest, a fraction.
    pub control_range: Option<f64>,
    /// The largest jitter of the control workload before a launch, a fraction: within the few milliseconds of a look.
    pub jitter: Option<f64>,
}

impl HostSigns {
    /// From everything that a run measured.
    pub fn of<'m>(measurements: impl Iterator<Item = &'m Measurement>) -> Self {
        let launches: Vec<&LaunchSeries> = measurements.flat_map(|found| &found.launches).collect();
        let controls = || launches.iter().filter_map(|launch| launch.conduct?.control);
        let passes = || controls().map(|control| control.pass);
        let range = |(least, most): (Nanos, Nanos)| most.as_f64() / least.as_f64() - 1.0;
        Self {
            clock_step: launches
                .iter()
                .map(|launch| launch.quantum)
                .filter(|step| *step > Nanos(0))
                .max(),
            control_ns: control_ns(launches.iter().copied()),
            control_range: passes()
                .min()
                .zip(passes().max())
                .map(range)
                .filter(|range| range.is_finite()),
            jitter: controls().map(Control::jitter).max_by(f64::total_cmp),
        }
    }

    /// What that jitter means.
    pub fn steadiness(&self) -> Option<Steadiness> {
        self.jitter.map(Steadiness::of)
    }
}

/// What happened to one measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Disturbance {
    /// The step of the clock over the iterations of a typical sample; null where the clock is not known.
    pub clock_step_ns: Option<f64>,
    /// Whether the interval of the median reaches less than half of that step to either side: what it shows beyond is the clock's rounding.
    pub narrower_than_clock: bool,
    /// The most threads that were alive in a launch; above 1 others may have run beside the samples. Null where the system does not tell.
    pub threads: Option<u32>,
    /// At most this share of the samples lost the processor to other work, a fraction; null where the system does not tell.
    #[serde(rename = "interrupted_share")]
    pub interrupted: Option<f64>,
}

impl Disturbance {
    /// Of a measurement and its summary.
    pub fn of(measurement: &Measurement, summary: &Summary) -> Self {
        let clock_step_ns = clock_step_ns(measurement);
        let half_width = |of: &Estimate| (of.upper - of.lower) / 2.0;
        Self {
            clock_step_ns,
            narrower_than_clock: clock_step_ns
                .is_some_and(|step| half_width(&summary.median) < step / 2.0),
            threads: measurement
                .launches
                .iter()
                .filter_map(|launch| Some(launch.conduct?.threads))
                .max(),
            interrupted: interrupted(measurement),
        }
    }
}

/// Notes on what the host did to both sides of a comparison of stored runs.
pub(super) fn notes(
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
        let launches: usize = runs.iter().map(|run| run.launches.len()).sum();
        let drifting: usize = runs.iter().map(|run| drifting(run, thresholds)).sum();
        // The fastest launches stand for a run: while most hold still, those that drift do no harm.
        if drifting > 0 && drifting * 2 >= launches {
            notes.push(Note::Host(HostNote::LaunchesDrift {
                side,
                drifting,
                launches,
            }));
        }
        let shares: Vec<f64> = runs.iter().filter_map(|run| interrupted(run)).collect();
        if let Some(share) = mean(&shares).filter(|share| *share >= MANY_INTERRUPTED) {
            notes.push(Note::Host(HostNote::SamplesInterrupted { side, share }));
        }
    }
    notes
}

/// The move of the host, where it was at least as large as what was called a change, in the same direction.
fn host_moved(question: &Question<'_>, found: &Comparison) -> Option<Note> {
    let change = found.change?.estimate;
    let called = match found.verdict {
        Verdict::Regressed | Verdict::Suspect | Verdict::Improved => true,
        Verdict::Inconclusive => change.abs() > found.noise_threshold,
        _ => false,
    };
    let candidate = control_ns(question.candidate.launches.iter())?;
    let base = question
        .reference
        .averaged
        .iter()
        .filter_map(|run| control_ns(run.launches.iter()))
        .map(f64::ln)
        .collect::<Vec<f64>>();
    let moved = (candidate.ln() - mean(&base)?).exp_m1();
    let comparable = (1.0 / OTHER_WORKLOAD..=OTHER_WORKLOAD).contains(&(1.0 + moved));
    let bites = moved.abs() >= SMALLEST_MOVE && moved.abs() > change.abs() && moved * change > 0.0;
    (called && comparable && bites).then_some(Note::Host(HostNote::HostMoved { change: moved }))
}

/// The mean over launches: a look takes 3 ms, so the fastest of them would tell of one quick moment and not of the run.
fn control_ns<'l>(launches: impl Iterator<Item = &'l LaunchSeries>) -> Option<f64> {
    let passes: Vec<f64> = launches
        .filter_map(|launch| Some(launch.conduct?.control?.pass.as_f64()))
        .collect();
    mean(&passes).filter(|pass| *pass > 0.0)
}

fn clock_step_ns(measurement: &Measurement) -> Option<f64> {
    let steps: Vec<f64> = measurement
        .launches
        .iter()
        // Amounts have no clock.
        .filter(|launch| launch.quantum > Nanos(0) && measurement.benchmark.metric.is_timed())
        .filter_map(|launch| {
            let samples = launch.series.deciding().iter();
            let iterations: Vec<f64> = samples.map(|sample| sample.iterations as f64).collect();
            Some(launch.quantum.as_f64() / median(&iterations)?)
        })
        .collect();
    median(&steps).filter(|step| step.is_finite())
}

/// Launches whose second half differs from the first by more than both bounds of a drift.
fn drifting(measurement: &Measurement, thresholds: &Thresholds) -> usize {
    let (change, errors) = (thresholds.drift_change, thresholds.drift_standard_errors);
    let launches = sample_times(measurement);
    launches
        .iter()
        .filter_map(|times| SplitHalves::of(times))
        .filter(|halves| halves.drift_beyond(change, errors))
        .count()
}

/// A switch interrupts one sample; of those of its length there were at most as many as fit into the time of the processor.
fn interrupted(measurement: &Measurement) -> Option<f64> {
    if !measurement.benchmark.metric.is_timed() {
        return None;
    }
    let (mut switches, mut hit_ns, mut cpu_ns) = (0, 0.0, 0.0);
    for launch in &measurement.launches {
        let conduct = launch.conduct?;
        let samples = launch.series.deciding().iter();
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
mod tests;
