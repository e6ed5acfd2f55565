//! Launches of Criterion benches: the executable goes through its benchmarks by itself, in its own order, at our leave. Two sides are alive
//! at once, and each stands still while the other one measures: they go from benchmark to benchmark in turn, so that what is compared was
//! measured one right after the other.
//!
//! Its settings hold for a whole process, so benchmarks that need different numbers of samples have processes of their own. How
//! long an iteration takes is found out by a short launch of which nothing is kept.

#![expect(
    clippy::disallowed_methods,
    reason = "how long benchmarks take, for the time left"
)]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::campaign::Campaign;
use super::chance;
use super::launch::{ConductWatch, OpenLaunch, launch_spec};
use super::launcher::Launcher;
use super::plan::RoundSettings;
use super::seat::Seat;
use super::subject::{Pace, Resolved, Subject};
use crate::cargo::BenchTarget;
use crate::child::{
    ChildError, Config, CriterionRequest, CriterionSession, CriterionVersion, Means, Reported,
};
use perfcheck_analysis::model::{
    AuthorSettings, Event, LaunchOutcome, LaunchedBenchmark, SamplingSettings, Side, Throughput,
    Turns,
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
/// A process is fresh in every round: its first iterations are slower than the rest.
const ROUND_WARM_UP: Duration = Duration::from_millis(10);
/// A side samples in a round at least this share of the time that its set-up takes.
const SHARE_OF_SET_UP: f64 = 0.25;
/// Times of a side in a round are this long or a power of two longer: what is sampled alike has one process.
const SHORTEST_ROUND: Duration = Duration::from_millis(20);
/// A pinned number of samples is kept while they take up to this many measurement times.
const PIN_TIME_FACTOR: f64 = 2.5;

/// How many samples a benchmark has that takes `iteration_ns`, in `measurement`: samples near `sample_ns`, or single iterations
/// where they are longer. Criterion takes a ramp where that fits the time, else samples of the same length. A `pinned` number, that
/// of the run to be compared with, is kept while it fits.
fn samples(
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
fn sampled_alike(
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
fn iteration_ns(reported: &Reported) -> Option<f64> {
    let measured = reported.measured.as_ref()?;
    let samples = measured.series.deciding();
    let iterations: u64 = samples.iter().map(|sample| sample.iterations).sum();
    let elapsed: u64 = samples.iter().map(|sample| sample.elapsed.0).sum();
    measured
        .metric
        .is_time()
        .then(|| elapsed as f64 / iterations as f64)
}

impl Pace {
    fn of(reported: &Reported) -> Self {
        Self {
            iteration_ns: iteration_ns(reported),
            set_up: reported.set_up,
        }
    }
}

/// A short launch that tells how long the benchmarks `ids` take and what their authors fixed in code. What goes wrong in it goes wrong
/// again where it counts.
fn glance(
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
                    let pace = Pace::of(&reported);
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

impl Subject {
    /// What a launch told of it, as it is recorded: the settings that were in force, what its samples mean. `None` without samples.
    pub(super) fn reported(&self, reported: Reported) -> Option<LaunchedBenchmark> {
        let measured = reported.measured?;
        let mut launched = self.launched(LaunchOutcome::Measured(measured.series));
        launched.sampling = SamplingSettings {
            samples: Some(measured.in_force.samples),
            warm_up: measured.in_force.warm_up.into(),
            measurement: measured.in_force.measurement.into(),
            mode: measured.mode,
            ..launched.sampling
        };
        let benchmark = &mut launched.benchmark;
        benchmark.metric = measured.metric;
        if reported.throughput != Throughput::default() {
            benchmark.throughput = reported.throughput;
        }
        if reported.throughput_words.is_some() {
            benchmark.other_throughput = reported.throughput_words;
        }
        Some(launched)
    }

    /// How it is sampled in a launch of one side: as its settings say.
    fn launch_config(&self) -> Config {
        let Resolved {
            sampling,
            pinned_samples,
            ..
        } = &self.resolved;
        let measurement = sampling.measurement.into();
        let iteration_ns = self.pace.and_then(|pace| pace.iteration_ns);
        let fitting = || samples(measurement, iteration_ns, SAMPLE_NS, *pinned_samples);
        Config {
            warm_up: sampling.warm_up.into(),
            measurement,
            samples: sampling.samples.unwrap_or_else(fitting),
        }
    }

    /// How it is sampled on one side of a round, which is short: what set-up takes is a part of its price.
    fn round_config(&self, round: &RoundSettings) -> Config {
        let set_up = self.pace.map_or(Duration::ZERO, |pace| pace.set_up);
        let wanted = (Duration::from(round.time) / 2).max(set_up.mul_f64(SHARE_OF_SET_UP));
        let mut measurement = SHORTEST_ROUND;
        while measurement < wanted {
            measurement *= 2;
        }
        let iteration_ns = self.pace.and_then(|pace| pace.iteration_ns);
        Config {
            warm_up: ROUND_WARM_UP.max(round.warm_up.into()),
            measurement,
            samples: samples(measurement, iteration_ns, round.sample.as_f64(), None),
        }
    }
}

/// The child of a side.
type CriterionChild<'s> = (Side, CriterionSession<'s>);

/// What went wrong on which side, and the benchmark that was under way there.
struct StepError {
    side: Side,
    error: ChildError,
    under_way: Option<usize>,
}

impl StepError {
    /// An error that no benchmark has to answer for.
    fn of(side: Side, error: ChildError) -> Self {
        Self {
            side,
            error,
            under_way: None,
        }
    }
}

impl Campaign<'_> {
    /// One process of each side, for as many of the wanted benchmarks as are sampled alike.
    pub(super) fn launch_criterion(&mut self, launch: &mut OpenLaunch) {
        if launch.is_first() {
            self.look_at_wanted(launch);
            if self.launcher.interrupt.requested() {
                launch.interrupted = true;
                return;
            }
        }
        let subjects = &self.targets[launch.index].subjects;
        let config_of = |place: usize| match &self.in_turn {
            None => subjects[place].launch_config(),
            Some(plan) => subjects[place].round_config(&plan.round),
        };
        let Some((config, mut chosen)) = sampled_alike(&mut launch.wanted, config_of) else {
            return;
        };
        let began = chosen.len();
        match self.step_through(launch, &config, &mut chosen) {
            Ok(()) => {
                for place in chosen {
                    let message = "the bench did not report it in this launch";
                    self.failed(launch, place, Side::Candidate, message);
                }
            }
            Err(StepError {
                error: ChildError::Interrupted,
                ..
            }) => launch.interrupted = true,
            Err(StepError { side, error, .. }) if chosen.is_empty() => {
                self.warn_of_end(launch, side, &error.to_string());
            }
            Err(failure) => {
                let progress = chosen.len() < began;
                self.step_failed(launch, chosen, progress, failure);
            }
        }
    }

    /// The benchmark that was under way has failed, and the others that were `chosen` have another launch.
    fn step_failed(
        &mut self,
        launch: &mut OpenLaunch,
        mut chosen: Vec<usize>,
        progress: bool,
        failure: StepError,
    ) {
        let message = failure.error.to_string();
        launch.head(failure.side).failure = Some(message.clone());
        // Code between two benchmarks belongs to the one that it comes before.
        let next = chosen.first().copied().filter(|_| progress);
        let culprit = failure.under_way.or(next);
        let mut failed: Vec<usize> = chosen
            .extract_if(.., |place| Some(*place) == culprit)
            .collect();
        if failed.is_empty() {
            // Without a culprit all would go the same way again.
            failed = std::mem::take(&mut chosen);
        }
        for place in failed {
            self.failed(launch, place, failure.side, &message);
        }
        launch.wanted.extend(chosen);
    }

    /// Takes what the benches report, side by side, until all that was `chosen` is measured or they end; what has been measured is taken out
    /// of `chosen`.
    fn step_through(
        &mut self,
        launch: &mut OpenLaunch,
        config: &Config,
        chosen: &mut Vec<usize>,
    ) -> Result<(), StepError> {
        let observer = self.launcher.observer;
        let pass_on = |output: &[u8]| observer.observe(&Event::Output(output));
        let bench = &self.targets[launch.index].executables.candidate;
        let mut coin = chance::draws(self.seed, "sides", bench, launch.block);
        let began = Instant::now();
        let mut watch = ConductWatch::after_control(self.control.as_ref(), launch.round());
        let means = self.launcher.means(&pass_on);
        let first = chance::order(&mut coin);
        let mut children = self.start_all(launch, first, config, chosen, &means)?;
        let share = began.elapsed() / u32::try_from(chosen.len()).unwrap_or(u32::MAX).max(1);
        let mut ended: Vec<Side> = Vec::new();
        // What one side has reported and the other one not yet: their programs may have different orders.
        let mut waiting = BTreeMap::<usize, Vec<(Side, LaunchedBenchmark)>>::new();
        while let Some(place) = chosen.first().copied() {
            if ended.len() == children.len() {
                return Ok(());
            }
            self.announce(launch, place);
            let began = Instant::now();
            let seat = Seat::take(&mut children, self.processor(launch, place));
            watch.bound(seat.processor());
            for side in chance::order(&mut coin) {
                let child = children.iter_mut().find(|(of, _)| *of == side);
                let Some((_, session)) = child.filter(|_| !ended.contains(&side)) else {
                    continue;
                };
                match self.step(launch, side, session, chosen)? {
                    Some((place, launched)) => {
                        waiting.entry(place).or_default().push((side, launched));
                    }
                    None => ended.push(side),
                }
                if let Some(usage) = session.usage() {
                    let conduct = watch.conduct(&usage, session.asked());
                    launch.head(side).conduct = Some(conduct);
                }
            }
            let is_solitary = seat.leave(&mut children);
            for (place, sides) in waiting.extract_if(.., |_, sides| sides.len() == children.len()) {
                chosen.retain(|chosen| *chosen != place);
                self.subject_mut(launch, place).learn(&[is_solitary]);
                let took = began.elapsed() + share;
                self.measured(launch, place, sides, Turns::Launches, took);
            }
        }
        match (&self.in_turn, &mut children[..]) {
            (None, [(side, session)]) => run_out(*side, session),
            // There is another round soon: nobody waits for what comes after the last benchmark.
            _ => Ok(()),
        }
    }

    /// Starts all sides, in this order; each then stands still before its first benchmark.
    fn start_all<'o>(
        &self,
        launch: &OpenLaunch,
        first: [Side; 2],
        config: &Config,
        chosen: &[usize],
        means: &Means<'o>,
    ) -> Result<Vec<CriterionChild<'o>>, StepError> {
        let target = &self.targets[launch.index];
        let ids = target.ids(chosen);
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let start = |side| {
            let request = CriterionRequest {
                version: target.drivers.of(side).criterion(),
                config: Some(*config),
                ids: Some(&ids),
            };
            let spec = launch.spec(target.executables.of(side));
            let session = CriterionSession::start(&spec, &request, means);
            let session = session.map_err(|error| StepError::of(side, error))?;
            Ok((side, session))
        };
        target.executables.present(first).map(start).collect()
    }

    /// Lets one side go on to its next benchmark; `None` once it has ended.
    fn step(
        &mut self,
        launch: &OpenLaunch,
        side: Side,
        session: &mut CriterionSession<'_>,
        chosen: &[usize],
    ) -> Result<Option<(usize, LaunchedBenchmark)>, StepError> {
        let target = &mut self.targets[launch.index];
        loop {
            let next = session.next_report().map_err(|error| StepError {
                side,
                error,
                under_way: session.under_way().and_then(|id| target.place_of(id)),
            });
            let Some(reported) = next? else {
                return Ok(None);
            };
            let place = target.place_of(&reported.id);
            let Some(place) = place.filter(|place| chosen.contains(place)) else {
                continue;
            };
            let pace = Pace::of(&reported);
            let subject = &mut target.subjects[place];
            if let Some(launched) = subject.reported(reported) {
                if self.in_turn.is_none() {
                    // Once and for all: launches of a run are laid out alike.
                    subject.pace.get_or_insert(pace);
                }
                return Ok(Some((place, launched)));
            }
        }
    }

    /// Finds out how long the wanted benchmarks take, on the side of the candidate.
    fn look_at_wanted(&mut self, launch: &OpenLaunch) {
        let target = &mut self.targets[launch.index];
        let Some(version) = target.drivers.candidate.criterion() else {
            return;
        };
        let ids = target.ids(&launch.wanted);
        let seen = glance(&target.executables.candidate, &ids, version, self.launcher);
        for (id, pace, settings) in seen {
            if let Some(place) = target.place_of(&id) {
                let subject = &mut target.subjects[place];
                subject.benchmark.settings = settings;
                let resolved = (self.resolve)(&subject.benchmark);
                subject.glanced(resolved, pace, SAMPLES[0]);
            }
        }
    }
}

/// Lets a bench come to its end after its last benchmark. Whatever it still does changes nothing that was measured.
fn run_out(side: Side, session: &mut CriterionSession<'_>) -> Result<(), StepError> {
    loop {
        match session.next_report() {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(()),
            Err(error) => return Err(StepError::of(side, error)),
        }
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
