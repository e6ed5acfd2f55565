//! Launches of Criterion benches: the executable goes through its benchmarks by itself, in its own order, at our leave.
//!
//! Its settings hold for a whole process, so benchmarks that need different numbers of samples have processes of their own. How
//! long an iteration takes is found out by a short launch of which nothing is kept.

#![expect(
    clippy::disallowed_methods,
    reason = "how long a visit took, for the time left"
)]

use std::time::{Duration, Instant};

use super::campaign::{Campaign, Launch};
use super::discover::{ConductWatch, criterion_harness, launch_spec};
use super::launcher::Launcher;
use super::places::{ids, place_of};
use crate::cargo::BenchTarget;
use crate::child::{
    ChildError, Config, CriterionRequest, CriterionSession, CriterionVersion, Measured, Reported,
};
use perfcheck_analysis::model::{
    AuthorSettings, Benchmark, Event, LaunchOutcome, SamplingSettings, Throughput,
};

/// A sample should take about this long, and the longest of a ramp no longer.
const SAMPLE_NS: f64 = 1e6;
/// Numbers of samples among which one is chosen: the fewer there are, the fewer processes it takes.
const SAMPLES: [u32; 7] = [10, 25, 50, 100, 200, 400, 800];
/// Where a benchmark has not told how long an iteration takes.
const DEFAULT_SAMPLES: u32 = 100;
/// The launch that finds out how long iterations take.
const GLANCE: Config = Config {
    warm_up: Duration::from_millis(20),
    measurement: Duration::from_millis(20),
    samples: 10,
};

/// A pinned number of samples is kept while they take up to this many measurement times.
const PIN_TIME_FACTOR: f64 = 2.5;

/// How many samples a benchmark has that takes `iteration_ns`, in `measurement`: samples near `sample_ns`, or single iterations
/// where they are longer. Criterion takes a ramp where that fits the time, else samples of the same length. A `pinned` number, that
/// of the run to be compared with, is kept while it fits.
pub(super) fn samples(
    measurement: Duration,
    iteration_ns: Option<f64>,
    sample_ns: f64,
    pinned: Option<u32>,
) -> u32 {
    let time_ns = measurement.as_nanos() as f64;
    let Some(iteration_ns) = iteration_ns else {
        return pinned.unwrap_or(DEFAULT_SAMPLES);
    };
    let iterations = time_ns / iteration_ns.max(1e-3);
    if let Some(pinned) = pinned
        && f64::from(pinned) <= iterations * PIN_TIME_FACTOR
    {
        return pinned;
    }
    // The longest sample of a ramp of N in a time T takes 2 T / (N + 1).
    let most = iterations.min(2.0 * time_ns / sample_ns);
    let fitting = SAMPLES
        .into_iter()
        .rfind(|samples| f64::from(*samples) <= most);
    fitting.unwrap_or(SAMPLES[0])
}

/// Takes from the `wanted` places those that one process can measure: all of the first one's configuration, in the order of the program, in
/// which they come. `None` where nothing is wanted.
pub(super) fn sampled_alike(
    wanted: &mut Vec<usize>,
    config_of: impl Fn(usize) -> Config,
) -> Option<(Config, Vec<usize>)> {
    let config = config_of(wanted.iter().min().copied()?);
    let (mut chosen, others): (Vec<usize>, Vec<usize>) = wanted
        .iter()
        .partition(|place| config_of(**place) == config);
    *wanted = others;
    chosen.sort_unstable();
    Some((config, chosen))
}

/// Nanoseconds that an iteration took, from what was reported.
pub(super) fn iteration_ns(reported: &Reported) -> Option<f64> {
    let measured = reported.measured.as_ref()?;
    let samples = measured.series.deciding();
    let iterations: u64 = samples.iter().map(|sample| sample.iterations).sum();
    let elapsed: u64 = samples.iter().map(|sample| sample.elapsed.0).sum();
    measured
        .metric
        .is_time()
        .then(|| elapsed as f64 / iterations as f64)
}

/// What a first glance at a benchmark showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pace {
    /// An iteration, in nanoseconds; unknown where it measures no time.
    pub(super) iteration_ns: Option<f64>,
    /// What the bench does before it, from our leave to go on until its warm-up.
    pub(super) set_up: Duration,
}

/// `sampling` as it was in force.
pub(super) fn in_force(sampling: SamplingSettings, measured: &Measured) -> SamplingSettings {
    SamplingSettings {
        samples: Some(measured.in_force.samples),
        warm_up: measured.in_force.warm_up.into(),
        measurement: measured.in_force.measurement.into(),
        mode: measured.mode,
        ..sampling
    }
}

/// A short launch that tells how long the benchmarks `ids` take and what their authors fixed in code. What goes wrong in it goes wrong
/// again where it counts.
pub(super) fn glance(
    target: &BenchTarget,
    ids: &[String],
    version: CriterionVersion,
    launcher: Launcher<'_>,
) -> Vec<(String, Pace, AuthorSettings)> {
    let mut left: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut paces = Vec::new();
    while !left.is_empty() {
        let request = CriterionRequest {
            version: Some(version),
            config: Some(GLANCE),
            ids: Some(&left),
        };
        let spec = launch_spec(target, 0, 0);
        let nobody = |_: &[u8]| ();
        let session = CriterionSession::start(&spec, &request, &launcher.means(&nobody));
        let Ok(mut session) = session else {
            break;
        };
        let ended = loop {
            match session.next_report() {
                Ok(Some(reported)) => {
                    let pace = Pace {
                        iteration_ns: iteration_ns(&reported),
                        set_up: reported.set_up,
                    };
                    if let Some(measured) = reported.measured {
                        left.retain(|id| *id != reported.id);
                        paces.push((reported.id, pace, measured.settings));
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        // Those after one that panics are to be seen too. Nobody waits for a deadline more often than must be.
        let culprit = session.under_way().map(str::to_owned);
        match (ended, culprit) {
            (Err(ChildError::Exited { .. }), Some(culprit)) if left.contains(&&*culprit) => {
                left.retain(|id| *id != culprit);
            }
            _ => break,
        }
    }
    paces
}

/// The benchmark as it was announced, with what the launch told of it.
pub(super) fn told(benchmark: &Benchmark, reported: &Reported) -> Benchmark {
    let mut told = benchmark.clone();
    if reported.throughput != Throughput::default() {
        told.throughput = reported.throughput;
    }
    if reported.throughput_words.is_some() {
        told.other_throughput.clone_from(&reported.throughput_words);
    }
    if let Some(measured) = &reported.measured {
        told.metric = measured.metric.clone();
    }
    told
}

impl Campaign<'_> {
    /// One process, for as many of the wanted benchmarks as want to be sampled alike.
    pub(super) fn launch_criterion(
        &mut self,
        index: usize,
        round: u32,
        attempt: u32,
        wanted: Vec<usize>,
        version: CriterionVersion,
    ) -> Launch {
        let (target, mut launch) = self.begin(index, round, attempt, wanted);
        if round == 0 && attempt == 0 {
            let ids = ids(&self.targets[index].subjects, &launch.wanted);
            let paces = glance(&target, &ids, version, self.launcher);
            for (id, pace, settings) in paces {
                let subjects = &mut self.targets[index].subjects;
                if let Some(place) = place_of(subjects, &id) {
                    let subject = &mut subjects[place];
                    subject.iteration_ns = pace.iteration_ns;
                    subject.benchmark.settings = settings;
                    let resolved = (self.resolve)(&subject.benchmark);
                    let iteration = pace.iteration_ns.map(|ns| Duration::from_nanos(ns as u64));
                    subject.glanced(resolved, iteration, SAMPLES[0]);
                }
            }
            if self.launcher.interrupt.requested() {
                launch.interrupted = true;
                return launch;
            }
        }
        let config_of = |place| self.config_of(index, place);
        let Some((config, mut chosen)) = sampled_alike(&mut launch.wanted, config_of) else {
            return launch;
        };
        launch.record.head.harness = Some(criterion_harness(version));
        let control = self.control.as_ref().and_then(|probe| probe.take(round));
        let watch = ConductWatch::start().with_control(control);
        let ended = self.go_through(index, &config, &mut chosen, version, &mut launch, &watch);
        let Err((error, culprit)) = ended else {
            for place in chosen {
                self.targets[index].subjects[place].visited += 1;
                let message = "the bench did not report it in this launch";
                self.failed(index, place, &mut launch.record, message);
            }
            return launch;
        };
        if matches!(error, ChildError::Interrupted) {
            launch.interrupted = true;
            return launch;
        }
        let message = error.to_string();
        launch.record.head.failure = Some(message.clone());
        if chosen.is_empty() {
            // Everything was measured by then.
            let message = format!("{}/{}: {message}", target.package, target.target);
            self.launcher.observer.observe(&Event::Warning(&message));
        }
        // The one that was under way has failed, and the others have another launch; without one, all would go the same way again.
        let mut failed: Vec<usize> = chosen
            .extract_if(.., |place| Some(*place) == culprit)
            .collect();
        if failed.is_empty() {
            failed = std::mem::take(&mut chosen);
        }
        for place in failed {
            self.targets[index].subjects[place].visited += 1;
            self.failed(index, place, &mut launch.record, &message);
        }
        launch.wanted.extend(chosen);
        launch
    }

    /// Takes what the bench reports until it ends; what has been reported is taken out of `chosen`. An error comes with the
    /// benchmark that was under way.
    fn go_through(
        &mut self,
        index: usize,
        config: &Config,
        chosen: &mut Vec<usize>,
        version: CriterionVersion,
        launch: &mut Launch,
        watch: &ConductWatch,
    ) -> Result<(), (ChildError, Option<usize>)> {
        let observer = self.launcher.observer;
        let pass_on = |output: &[u8]| observer.observe(&Event::Output(output));
        let head = &launch.record.head;
        let target = &self.targets[index].target;
        let spec = launch_spec(target, head.ordinal, head.padding_bytes);
        let ids = ids(&self.targets[index].subjects, chosen);
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let request = CriterionRequest {
            version: Some(version),
            config: Some(*config),
            ids: Some(&ids),
        };
        let means = self.launcher.means(&pass_on);
        let mut session =
            CriterionSession::start(&spec, &request, &means).map_err(|error| (error, None))?;
        while let Some(next) = chosen.first().copied() {
            self.observe_visit(index, next, launch);
            let began = Instant::now();
            let reported = match session.next_report() {
                Ok(Some(reported)) => reported,
                Ok(None) => return Ok(()),
                Err(error) => {
                    let under_way = session.under_way().map(str::to_owned);
                    let subjects = &self.targets[index].subjects;
                    let culprit = under_way.and_then(|id| place_of(subjects, &id));
                    // Code between two benchmarks belongs to the one that it comes before.
                    let progress = !launch.record.benchmarks.is_empty();
                    return Err((error, culprit.or(progress.then_some(next))));
                }
            };
            if let Some(usage) = session.usage() {
                let conduct = watch.conduct_of(&usage, session.asked());
                launch.record.head.conduct = Some(self.told(conduct));
            }
            let place = place_of(&self.targets[index].subjects, &reported.id);
            let Some(position) = chosen.iter().position(|chosen| Some(*chosen) == place) else {
                continue;
            };
            let ns = iteration_ns(&reported);
            let place = chosen[position];
            let subject = &mut self.targets[index].subjects[place];
            let mut launched = subject.launched(LaunchOutcome::Failed(String::new()));
            launched.benchmark = told(&subject.benchmark, &reported);
            let Some(measured) = reported.measured else {
                continue;
            };
            launched.sampling = in_force(launched.sampling, &measured);
            chosen.remove(position);
            subject.visited += 1;
            subject.took(began.elapsed());
            // Once and for all: launches of a run are laid out alike.
            subject.iteration_ns = subject.iteration_ns.or(ns);
            launched.outcome = LaunchOutcome::Measured(measured.series);
            launch.record.benchmarks.push(launched);
            self.done += 1;
        }
        // Whatever it still does changes nothing that was measured.
        while session
            .next_report()
            .map_err(|error| (error, None))?
            .is_some()
        {}
        Ok(())
    }

    fn config_of(&self, index: usize, place: usize) -> Config {
        let subject = &self.targets[index].subjects[place];
        let sampling = &subject.resolved.sampling;
        let measurement = sampling.measurement.into();
        let pinned = subject.resolved.pinned_samples;
        let fitting = || samples(measurement, subject.iteration_ns, SAMPLE_NS, pinned);
        Config {
            warm_up: sampling.warm_up.into(),
            measurement,
            samples: sampling.samples.unwrap_or_else(fitting),
        }
    }

    pub(super) fn observe_visit(&self, index: usize, place: usize, launch: &Launch) {
        self.launcher.observer.observe(&Event::Visiting {
            benchmark: &self.targets[index].subjects[place].benchmark.key,
            launch: launch.record.head.ordinal,
            done: self.done,
            visits: self.done + self.visits_left(),
            left: self.time_left(),
            bound: self.bound(),
            settled: self.settled(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_come_near_a_millisecond_and_fit_the_time() {
        let time = Duration::from_millis(400);
        let of = |iteration_ns| samples(time, Some(iteration_ns), SAMPLE_NS, None);
        assert_eq!(of(10.0), 800);
        assert_eq!(of(400_000.0), 800);
        assert_eq!(of(1_000_000.0), 400);
        assert_eq!(of(3_000_000.0), 100);
        assert_eq!(of(1e9), 10);
        assert_eq!(samples(time, None, SAMPLE_NS, None), DEFAULT_SAMPLES);
    }

    #[test]
    fn the_number_of_samples_of_the_reference_is_kept_while_it_fits() {
        let time = Duration::from_millis(400);
        let of = |iteration_ns| samples(time, Some(iteration_ns), SAMPLE_NS, Some(400));
        assert_eq!(of(10.0), 400);
        assert_eq!(
            of(2_000_000.0),
            400,
            "800 ms are within two and a half times"
        );
        assert_eq!(of(3_000_000.0), 100, "1.2 s are not");
        assert_eq!(samples(time, None, SAMPLE_NS, Some(400)), 400);
    }
}
