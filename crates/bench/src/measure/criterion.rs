//! Processes of Criterion benches, which measure or only rehearse. The executable goes through its benchmarks in its own order, and waits for our
//! permission before each. Two sides are alive at the same time, but each waits while the other measures. They alternate benchmark by benchmark, so
//! that results that are compared were measured right after each other.
//!
//! Criterion's settings apply to a whole process, so benchmarks that need different numbers of samples have processes of their own. A short process,
//! whose samples are discarded, shows how long an iteration takes.

#![expect(
    clippy::disallowed_methods,
    reason = "how long benchmarks and set-ups take, for the time left"
)]

use crate::measure::criterion_config::all_benchmarks_warning;
use crate::measure::criterion_config::{shortest_sampling, take_sampled_alike};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use super::campaign::Campaign;
use super::process::{ActiveProcesses, CpuPinning, PinnableChild, ProcessObserver, launch_spec};
use super::schedule;
use super::subject::{CampaignBenchmark, IterationPace};
use super::target::PairedTarget;
use crate::child::{
    ChildError, CriterionReport, CriterionRequest, CriterionSession, CriterionSettings,
    CriterionVersion, ExcessiveDuration, FEWEST_SAMPLES, ProcessContext, Rehearsal, RehearsalMode,
    USUAL_WARM_UP,
};
use perfcheck_analysis::model::{
    AuthorSettings, BenchmarkInProcess, BenchmarkKey, Event, Interleaving, Nanos, ProcessOutcome,
    Sample, SamplingSettings, Series, Side, SkipSupport, Throughput,
};
use perfcheck_build::cargo::BenchTarget;

/// Time passed to a version that takes whole seconds, unless its author's time is shorter. Samples take a little more or less than their time.
const WHOLE: Duration = Duration::from_secs(1);
const ABOUT_WHOLE: Duration = Duration::from_millis(1_100);
/// Time that samples of such a version take if its author has set none.
const ABOUT_UNSET: RangeInclusive<Duration> =
    Duration::from_millis(4_500)..=Duration::from_millis(5_500);

/// If less than this share of an iteration is measured, the rest is setup. Iterations of a warm-up may take twice as long even without setup.
const MOSTLY_SET_UP: f64 = 0.5;
/// Minimum number of iterations of a warm-up that shows this: the first iterations are slow.
const WARM: u64 = 8;

impl IterationPace {
    fn from_report(reported: &CriterionReport) -> Self {
        let found = reported.measured.as_ref();
        let timed = found.filter(|measured| measured.metric.is_time());
        let iteration = timed.map(|measured| estimate_iteration(&measured.series));
        Self {
            iteration_ns: iteration.map(|(ns, _)| ns),
            measured: iteration.map_or(1.0, |(_, share)| share),
            set_up: reported.set_up,
        }
    }
}

/// Returns the time of an iteration including its setup, in nanoseconds, and the share of it that is measured.
fn estimate_iteration(series: &Series) -> (f64, f64) {
    let samples = series.deciding_samples();
    let whole = Sample {
        iterations: samples.iter().map(|sample| sample.iterations).sum(),
        elapsed: Nanos(samples.iter().map(|sample| sample.elapsed.0).sum()),
    };
    let ns = whole.per_iteration();
    // Criterion's warm-up is timed by the wall clock and includes the setup of iterations.
    let with_set_up = series.warm_up.per_iteration();
    let share = ns / with_set_up;
    if series.warm_up.iterations >= WARM && share > 0.0 && share < MOSTLY_SET_UP {
        (with_set_up, share)
    } else {
        (ns, 1.0)
    }
}

/// Runs short processes that show how long the benchmarks `ids` take and what their authors fixed in code. Errors are ignored here, because they
/// recur in the processes that count.
fn measure_paces(
    target: &BenchTarget,
    ids: &[String],
    version: CriterionVersion,
    launcher: ProcessContext<'_>,
) -> Vec<(String, IterationPace, AuthorSettings)> {
    let is_whole = version.takes_whole_seconds();
    let said = shortest_sampling(version);
    let mut left: Vec<(&str, CriterionSettings)> =
        ids.iter().map(|id| (id.as_str(), said)).collect();
    let mut paces = Vec::new();
    while let Some((_, said)) = left.first().copied() {
        let alike = left.iter().filter(|(_, other)| *other == said);
        let asked: Vec<&str> = alike.map(|(id, _)| *id).collect();
        let request = CriterionRequest {
            version: Some(version),
            said: Some(said),
            longest: is_whole.then_some(ABOUT_WHOLE),
            ids: Some(&asked),
        };
        let spec = launch_spec(target, 0, 0);
        let session = CriterionSession::start(&spec, &request, &launcher.without_observer());
        let Ok(mut session) = session else {
            break;
        };
        let before = left.len();
        let ended = loop {
            match session.next_report() {
                Ok(Some(reported)) => {
                    let pace = IterationPace::from_report(&reported);
                    if let Some(measured) = reported.measured {
                        left.retain(|(id, _)| *id != reported.id);
                        paces.push((reported.id, pace, measured.settings));
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        // The benchmarks after one that panics must be seen, too. Waiting for a deadline is not repeated without need.
        let culprit = session.current_benchmark().map(str::to_owned);
        if let (Some(too_long), Some(culprit)) = (session.too_long(), &culprit) {
            let before = left.clone();
            request_whole_seconds(&mut left, culprit, too_long);
            if left == before {
                break;
            }
            continue;
        }
        match (ended, culprit) {
            (Err(ChildError::Exited { .. }), Some(culprit)) if asked.contains(&&*culprit) => {
                left.retain(|(id, _)| *id != culprit);
            }
            (Ok(()), _) if left.len() < before => {}
            _ => break,
        }
    }
    paces
}

/// Requests whole seconds for `culprit`, whose author lets its warm-up or its samples take no less than a second. If its time is Criterion's default,
/// does the same for all benchmarks of its group that are `left`: a group has settings of its own, and the next group may have others.
fn request_whole_seconds(
    left: &mut [(&str, CriterionSettings)],
    culprit: &str,
    too_long: ExcessiveDuration,
) {
    let is_nobodys = match too_long.samples {
        None => too_long.warm_up == USUAL_WARM_UP,
        Some(time) => ABOUT_UNSET.contains(&time),
    };
    let group_of = |id: &str| id.split_once('/').map(|(group, _)| group.to_owned());
    let group = group_of(culprit);
    for (id, said) in left {
        if *id == culprit || is_nobodys && group_of(id) == group {
            match too_long.samples {
                None => said.warm_up = Some(WHOLE),
                Some(_) => said.measurement = Some(WHOLE),
            }
        }
    }
}

impl CampaignBenchmark {
    /// Returns the record of what a process reported: the settings in force and the meaning of its samples. Returns `None` without samples.
    pub(super) fn record_report(&self, reported: CriterionReport) -> Option<BenchmarkInProcess> {
        let measured = reported.measured?;
        let mut launched = self.record(ProcessOutcome::Measured(measured.series));
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
}

/// The child process of a side.
type CriterionChild<'s> = (Side, CriterionSession<'s>);

/// An error of one side, with the benchmark that was running there.
struct StepError {
    side: Side,
    error: ChildError,
    under_way: Option<usize>,
}

impl StepError {
    /// Creates an error that is not caused by a benchmark.
    fn new(side: Side, error: ChildError) -> Self {
        Self {
            side,
            error,
            under_way: None,
        }
    }
}

impl<'c> Campaign<'c> {
    /// Runs one process of each side, for the wanted benchmarks that are sampled alike.
    pub(super) fn launch_criterion(&mut self, launch: &mut ActiveProcesses) {
        if launch.is_first() {
            self.glance_at_wanted(launch);
            if self.launcher.interrupt.is_requested() {
                launch.interrupted = true;
                return;
            }
        }
        let subjects = &self.targets[launch.index].subjects;
        let config_of = |place: usize| match &self.in_turn {
            None => subjects[place].process_settings(),
            Some(plan) => subjects[place].round_settings(&plan.round),
        };
        let Some((said, mut chosen)) = take_sampled_alike(&mut launch.wanted, config_of) else {
            return;
        };
        let began = chosen.len();
        match self.step_through(launch, &said, &mut chosen) {
            Ok(()) => {
                for place in chosen {
                    let message = "the bench did not report it in this process";
                    self.record_failure(launch, place, Side::Candidate, message);
                }
            }
            Err(StepError {
                error: ChildError::Interrupted,
                ..
            }) => launch.interrupted = true,
            Err(StepError { side, error, .. }) if chosen.is_empty() => {
                self.warn_of_late_failure(launch, side, &error.to_string());
            }
            Err(failure) if self.may_need_all(launch.index, began, &failure) => {
                self.run_all_benchmarks(launch.index, &failure.error);
                launch.wanted.extend(chosen);
            }
            Err(failure) => {
                let progress = chosen.len() < began;
                self.record_step_failure(launch, chosen, progress, &failure);
            }
        }
    }

    /// Reports whether a process that ran only `run` benchmarks may have died for that reason: it died between two benchmarks, and running all has
    /// not been tried.
    fn may_need_all(&self, index: usize, run: usize, failure: &StepError) -> bool {
        let target = &self.targets[index];
        failure.under_way.is_none()
            && matches!(failure.error, ChildError::Exited { .. })
            && run < target.subjects.len()
            && target.executables.candidate.skipping == SkipSupport::Works
    }

    /// Makes each further process of a target run all of its benchmarks.
    fn run_all_benchmarks(&mut self, index: usize, error: &ChildError) {
        let target = &mut self.targets[index];
        for side in Side::BOTH {
            target.executables.get_mut(side).skipping = SkipSupport::Breaks;
            target.built.get_mut(side).skipping = SkipSupport::Breaks;
        }
        let message = all_benchmarks_warning(&target.executables.candidate, error);
        self.launcher.observer.observe(&Event::Warning(&message));
    }

    /// Records the failure of the running benchmark. The others that were `chosen` get another process.
    fn record_step_failure(
        &mut self,
        launch: &mut ActiveProcesses,
        mut chosen: Vec<usize>,
        progress: bool,
        failure: &StepError,
    ) {
        let message = failure.error.to_string();
        launch.head(failure.side).failure = Some(message.clone());
        // Code between two benchmarks belongs to the second one.
        let next = chosen.first().copied().filter(|_| progress);
        let culprit = failure.under_way.or(next);
        let mut failed: Vec<usize> = chosen
            .extract_if(.., |place| Some(*place) == culprit)
            .collect();
        if failed.is_empty() {
            // Without a culprit, all of them would fail in the same way again.
            failed = std::mem::take(&mut chosen);
        }
        for place in failed {
            self.record_failure(launch, place, failure.side, &message);
        }
        launch.wanted.extend(chosen);
    }

    /// Collects the reports of the benches, side by side, until everything `chosen` is measured or they end. Removes each measured benchmark from
    /// `chosen`.
    fn step_through(
        &mut self,
        launch: &mut ActiveProcesses,
        said: &CriterionSettings,
        chosen: &mut Vec<usize>,
    ) -> Result<(), StepError> {
        let bench = &self.targets[launch.index].executables.candidate;
        let mut coin = schedule::stream(self.seed, "sides", bench, launch.block);
        let began = Instant::now();
        let mut watch = ProcessObserver::after_control(self.control.as_ref(), launch.round());
        let first = schedule::draw_order(&mut coin);
        let mut children = self.start_all(launch, first, said, chosen)?;
        let share = began.elapsed() / u32::try_from(chosen.len()).unwrap_or(u32::MAX).max(1);
        let mut ended: Vec<Side> = Vec::new();
        // Results that one side has reported and the other not yet: their programs may have different orders.
        let mut waiting = BTreeMap::<usize, Vec<(Side, BenchmarkInProcess)>>::new();
        while let Some(place) = chosen.first().copied() {
            if ended.len() == children.len() {
                return Ok(());
            }
            self.report_visit(launch, place);
            let began = Instant::now();
            let seat = CpuPinning::bind(&mut children, self.processor_choice(launch, place));
            watch.note_processor(seat.processor());
            for side in schedule::draw_order(&mut coin) {
                let child = children.iter_mut().find(|(of, _)| *of == side);
                let Some((_, session)) = child.filter(|_| !ended.contains(&side)) else {
                    continue;
                };
                match self.next_result(launch, side, session, chosen)? {
                    Some((place, launched)) => {
                        waiting.entry(place).or_default().push((side, launched));
                    }
                    None => ended.push(side),
                }
                if let Some(usage) = session.usage() {
                    let conduct = watch.conduct(&usage, session.working_time());
                    launch.head(side).conduct = Some(conduct);
                }
            }
            let is_solitary = seat.release(&mut children);
            for (place, sides) in waiting.extract_if(.., |_, sides| sides.len() == children.len()) {
                chosen.retain(|chosen| *chosen != place);
                self.subject_mut(launch, place)
                    .note_processor_use(&[is_solitary]);
                let took = began.elapsed() + share;
                self.record_success(launch, place, sides, Interleaving::Launches, took);
            }
        }
        match (&self.in_turn, &mut children[..]) {
            (None, [(side, session)]) => run_to_end(*side, session),
            // Another round follows soon, so there is no need to wait for the code after the last benchmark.
            _ => Ok(()),
        }
    }

    /// Starts all sides, in this order. Each then waits before its first benchmark.
    fn start_all(
        &self,
        launch: &mut ActiveProcesses,
        first: [Side; 2],
        said: &CriterionSettings,
        chosen: &[usize],
    ) -> Result<Vec<CriterionChild<'c>>, StepError> {
        let target = &self.targets[launch.index];
        let ids = target.ids(chosen);
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let start = |side| {
            let driver = target.drivers.get(side);
            launch.head(side).harness = driver.harness();
            let request = CriterionRequest {
                version: driver.criterion_version(),
                said: Some(*said),
                longest: None,
                ids: Some(&ids),
            };
            let spec = launch.spec(target.executables.get(side));
            let session = CriterionSession::start(&spec, &request, &self.launcher);
            let session = session.map_err(|error| StepError::new(side, error))?;
            Ok((side, session))
        };
        target.executables.sides_in(first).map(start).collect()
    }

    /// Lets one side run its next benchmark. Returns `None` once the process has ended.
    fn next_result(
        &mut self,
        launch: &ActiveProcesses,
        side: Side,
        session: &mut CriterionSession<'_>,
        chosen: &[usize],
    ) -> Result<Option<(usize, BenchmarkInProcess)>, StepError> {
        let target = &mut self.targets[launch.index];
        loop {
            let next = session.next_report().map_err(|error| StepError {
                side,
                error,
                under_way: session
                    .current_benchmark()
                    .and_then(|id| target.index_of(id)),
            });
            let Some(reported) = next? else {
                return Ok(None);
            };
            let place = target.index_of(&reported.id);
            let Some(place) = place.filter(|place| chosen.contains(place)) else {
                continue;
            };
            let pace = IterationPace::from_report(&reported);
            let subject = &mut target.subjects[place];
            if let Some(launched) = subject.record_report(reported) {
                // After the first process of a run, all are laid out alike.
                let known = subject.pace.get_or_insert(pace);
                // Rounds give both sides the time that the side with the smaller measured share needs. The glance has seen only one of them.
                if self.in_turn.is_some() && launch.is_first() && pace.measured < known.measured {
                    *known = pace;
                }
                return Ok(Some((place, launched)));
            }
        }
    }

    /// Finds out how long the wanted benchmarks take, on the side of the candidate.
    fn glance_at_wanted(&mut self, launch: &ActiveProcesses) {
        let target = &mut self.targets[launch.index];
        let Some(version) = target.drivers.candidate.criterion_version() else {
            return;
        };
        let ids = target.ids(&launch.wanted);
        let seen = measure_paces(&target.executables.candidate, &ids, version, self.launcher);
        for (id, pace, settings) in seen {
            if let Some(place) = target.index_of(&id) {
                let subject = &mut target.subjects[place];
                subject.benchmark.settings = settings;
                let resolved = (self.resolve)(&subject.benchmark);
                subject.apply_glance(resolved, pace, FEWEST_SAMPLES);
            }
        }
        self.report_rounding(launch);
    }
}

/// Lets a bench run to its end after its last benchmark. This cannot change anything that was measured.
fn run_to_end(side: Side, session: &mut CriterionSession<'_>) -> Result<(), StepError> {
    loop {
        match session.next_report() {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(()),
            Err(error) => return Err(StepError::new(side, error)),
        }
    }
}

/// Returns the benchmarks whose processes complete one iteration, and then many, on both sides. Stops after a benchmark that takes too long.
pub fn rehearse(
    pair: &PairedTarget,
    launcher: ProcessContext<'_>,
) -> Result<BTreeSet<BenchmarkKey>, ChildError> {
    let mut well = BTreeSet::new();
    for benchmark in &pair.benchmarks {
        match completes(pair, &benchmark.key.id, launcher) {
            Ok(true) => {
                well.insert(benchmark.key.clone());
            }
            Ok(false) => {}
            Err(ChildError::Interrupted) => return Err(ChildError::Interrupted),
            Err(_) => break,
        }
    }
    Ok(well)
}

fn completes(
    pair: &PairedTarget,
    id: &str,
    launcher: ProcessContext<'_>,
) -> Result<bool, ChildError> {
    let began = Instant::now();
    if !both_complete(pair, id, RehearsalMode::Once, launcher)? {
        return Ok(false);
    }
    let set_up = began.elapsed();
    both_complete(pair, id, RehearsalMode::ForAWhile { set_up }, launcher)
}

/// Reports whether both sides complete this at the same time.
fn both_complete(
    pair: &PairedTarget,
    id: &str,
    what: RehearsalMode,
    launcher: ProcessContext<'_>,
) -> Result<bool, ChildError> {
    let launcher = launcher.without_observer();
    let mut under_way = Vec::new();
    for side in Side::BOTH {
        let spec = launch_spec(pair.targets.get(side), 0, 0);
        match Rehearsal::start(&spec, id, what, &launcher)? {
            Some(rehearsal) => under_way.push(rehearsal),
            None => return Ok(false),
        }
    }
    for mut rehearsal in under_way {
        if !rehearsal.wait_for_success()? {
            return Ok(false);
        }
    }
    Ok(true)
}
