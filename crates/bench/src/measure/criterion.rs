//! The driver of Criterion benches, which measure or only rehearse. The executable goes through its benchmarks in its own order, and waits for our
//! permission before each. Two sides are alive at the same time, but each waits while the other measures. They alternate after each benchmark, so
//! that both sides measure a benchmark right after each other.
//!
//! Criterion's settings apply to a whole process, so benchmarks that need different numbers of samples have processes of their own. A short process,
//! whose samples are discarded, shows how long an iteration takes.

#![expect(
    clippy::disallowed_methods,
    reason = "how long benchmarks and set-ups take, for the time left"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use super::benchmark::{BenchmarkIndex, CampaignBenchmark, PerBenchmark, TimePrecision};
use super::criterion_config::{
    CriterionPace, IterationPace, SampledAlike, all_benchmarks_warning, shortest_sampling,
};
use super::driver::{BenchDriver, SuccessfulVisit, TargetRound};
use super::process::{CpuPinning, Interrupted, PinnableChild, process_spec};
use super::schedule;
use super::sides::{CampaignSides, SideChild, SideError, SideResult};
use super::target::PairedTarget;
use crate::child::{
    ChildError, CriterionReport, CriterionRequest, CriterionSession, CriterionSettings,
    CriterionVersion, ExcessiveDuration, FEWEST_SAMPLES, ProcessContext, Rehearsal, RehearsalMode,
    USUAL_WARM_UP,
};
use perfcheck_analysis::model::{
    AuthorSettings, BenchmarkInProcess, BenchmarkKey, Harness, Interleaving, Nanos, ProcessOutcome,
    Sample, SamplingSettings, Series, Side, SkipSupport, Throughput,
};
use perfcheck_build::cargo::BenchTarget;

/// The time that is passed to a version of Criterion that accepts only whole seconds, unless the author's time is shorter.
const WHOLE: Duration = Duration::from_secs(1);
/// [`WHOLE`] with a margin, because samples take a little more or less than their time.
const ABOUT_WHOLE: Duration = Duration::from_millis(1_100);
/// If the samples of a benchmark would take a time in this range, its measurement time is assumed to be Criterion's default of 5 seconds, which
/// neither the command line nor the author has changed.
const ABOUT_UNSET: RangeInclusive<Duration> =
    Duration::from_millis(4_500)..=Duration::from_millis(5_500);

/// If less than this share of an iteration's time in the warm-up is measured, the rest of the time is taken for setup, which Criterion does not
/// measure. The limit is low because iterations of a warm-up may take twice as long even without setup.
const MOSTLY_SET_UP: f64 = 0.5;
/// A warm-up with fewer iterations does not show the share of setup, because the first iterations are slow.
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

/// The result of a short process for one benchmark.
struct ObservedPace {
    id: String,
    pace: IterationPace,
    /// The settings of the benchmark that its author fixed in code.
    settings: AuthorSettings,
}

/// A benchmark whose pace is not known yet, and the settings to try next.
#[derive(Debug, Clone, PartialEq)]
struct PaceRequest<'i> {
    id: &'i str,
    settings: CriterionSettings,
}

/// Runs short processes that show how long the benchmarks `ids` take and what their authors fixed in code. Errors are ignored here, because they
/// recur in the processes that measure the benchmarks.
fn measure_paces(
    target: &BenchTarget,
    ids: &[String],
    version: CriterionVersion,
    context: ProcessContext<'_>,
) -> Vec<ObservedPace> {
    let is_whole = version.takes_whole_seconds();
    let shortest = ids.iter().map(|id| PaceRequest {
        id,
        settings: shortest_sampling(version),
    });
    let mut left: Vec<PaceRequest<'_>> = shortest.collect();
    let mut paces = Vec::new();
    while let Some(settings) = left.first().map(|first| first.settings) {
        let alike = left.iter().filter(|other| other.settings == settings);
        let requested: Vec<&str> = alike.map(|one| one.id).collect();
        let request = CriterionRequest {
            version: Some(version),
            settings: Some(settings),
            longest: is_whole.then_some(ABOUT_WHOLE),
            ids: Some(&requested),
        };
        let spec = process_spec(target, 0, 0);
        let session = CriterionSession::start(&spec, &request, &context.without_observer());
        let Ok(mut session) = session else {
            break;
        };
        let before = left.len();
        let ended = loop {
            match session.next_report() {
                Ok(Some(reported)) => {
                    let pace = IterationPace::from_report(&reported);
                    if let Some(measured) = reported.measured {
                        left.retain(|one| one.id != reported.id);
                        paces.push(ObservedPace {
                            id: reported.id,
                            pace,
                            settings: measured.settings,
                        });
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        // After a panic, another process shows how long the following benchmarks take. After a timeout no other process starts, because it might wait
        // just as long.
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
            (Err(ChildError::Exited { .. }), Some(culprit)) if requested.contains(&&*culprit) => {
                left.retain(|one| one.id != culprit);
            }
            (Ok(()), _) if left.len() < before => {}
            _ => break,
        }
    }
    paces
}

/// Requests whole seconds for `culprit`, whose warm-up or samples would take too long with the author's time. If that time is Criterion's default,
/// does the same for all benchmarks of its group that are `left`: a group has its own settings, and the next group may have others.
fn request_whole_seconds(left: &mut [PaceRequest<'_>], culprit: &str, too_long: ExcessiveDuration) {
    let is_nobodys = match too_long.samples {
        None => too_long.warm_up == USUAL_WARM_UP,
        Some(time) => ABOUT_UNSET.contains(&time),
    };
    let group_of = |id: &str| id.split_once('/').map(|(group, _)| group.to_owned());
    let group = group_of(culprit);
    for PaceRequest { id, settings } in left {
        if *id == culprit || is_nobodys && group_of(id) == group {
            match too_long.samples {
                None => settings.warm_up = Some(WHOLE),
                Some(_) => settings.measurement = Some(WHOLE),
            }
        }
    }
}

impl CampaignBenchmark {
    /// Returns the record of a benchmark that a process has reported, with the settings and the metric of its samples. Returns `None` if the report
    /// has no samples.
    pub(super) fn record_report(&self, reported: CriterionReport) -> Option<BenchmarkInProcess> {
        let measured = reported.measured?;
        let mut record = self.record(ProcessOutcome::Measured(measured.series));
        record.sampling = SamplingSettings {
            samples: Some(measured.in_force.samples),
            warm_up: measured.in_force.warm_up.into(),
            measurement: measured.in_force.measurement.into(),
            mode: measured.mode,
            ..record.sampling
        };
        let benchmark = &mut record.benchmark;
        benchmark.metric = measured.metric;
        if reported.throughput != Throughput::default() {
            benchmark.throughput = reported.throughput;
        }
        if reported.throughput_words.is_some() {
            benchmark.other_throughput = reported.throughput_words;
        }
        Some(record)
    }
}

/// Drives a target with Criterion.
pub(super) struct CriterionDriver {
    versions: CampaignSides<CriterionVersion>,
    paces: PerBenchmark<CriterionPace>,
}

/// An error of one side, with the benchmark that was running there.
struct StepError {
    side: Side,
    error: ChildError,
    under_way: Option<BenchmarkIndex>,
}

impl From<SideError> for StepError {
    /// Creates an error that is not caused by a benchmark.
    fn from(SideError { side, error }: SideError) -> Self {
        Self {
            side,
            error,
            under_way: None,
        }
    }
}

/// The result of one side for one benchmark.
struct BenchmarkResult {
    index: BenchmarkIndex,
    result: BenchmarkInProcess,
}

impl BenchDriver for CriterionDriver {
    fn time_precision(&self) -> TimePrecision {
        if self.versions.candidate.takes_whole_seconds() {
            TimePrecision::InWholeSeconds
        } else {
            TimePrecision::Exactly
        }
    }

    fn explain_rounding(&self) -> Option<String> {
        let version = self.versions.candidate;
        (version.takes_whole_seconds())
            .then(|| format!("Criterion {version} accepts only times in whole seconds"))
    }

    /// Finds out how long the benchmarks take, on the side of the candidate.
    fn prepare(&mut self, round: &mut TargetRound<'_, '_>) {
        let target = &mut *round.target;
        let ids = target.ids(&round.unvisited);
        let context = round.settings.context;
        let version = self.versions.candidate;
        for seen in measure_paces(&target.executables.candidate, &ids, version, context) {
            if let Some(index) = target.find_benchmark(&seen.id) {
                let benchmark = &mut target.benchmarks[index];
                benchmark.subject.settings = seen.settings;
                let resolved = (round.settings.resolve)(&benchmark.subject);
                benchmark.apply_glance(resolved, seen.pace.iteration_ns, FEWEST_SAMPLES);
                self.paces[index].pace = Some(seen.pace);
            }
        }
    }

    /// Runs one process of each side, for the unvisited benchmarks that are sampled alike.
    fn run_processes(&mut self, round: &mut TargetRound<'_, '_>) -> Result<(), Interrupted> {
        if round.processes.is_first() {
            round.check_interrupt()?;
        }
        let benchmarks = &round.target.benchmarks;
        let settings_of = |index| match &round.settings.plan {
            None => self.paces[index].process_settings(&benchmarks[index]),
            Some(plan) => self.paces[index].round_settings(&benchmarks[index], &plan.round),
        };
        let Some(chosen) = SampledAlike::take(&mut round.unvisited, settings_of) else {
            return Ok(());
        };
        let settings = chosen.settings;
        let mut chosen = chosen.benchmarks;
        let began = chosen.len();
        match self.step_through(round, settings, &mut chosen) {
            Ok(()) => {
                for index in chosen {
                    let message = "the bench did not report this benchmark";
                    round.record_failure(index, Side::Candidate, message);
                }
            }
            Err(StepError {
                error: ChildError::Interrupted,
                ..
            }) => return Err(Interrupted),
            Err(StepError { side, error, .. }) if chosen.is_empty() => {
                round.warn_of_late_failure(side, &error.to_string());
            }
            Err(failure) if may_need_all(round, began, &failure) => {
                run_all_benchmarks(round, &failure.error);
                round.unvisited.extend(chosen);
            }
            Err(failure) => {
                let progress = chosen.len() < began;
                record_step_failure(round, chosen, progress, &failure);
            }
        }
        Ok(())
    }
}

impl CriterionDriver {
    pub(super) fn new(versions: CampaignSides<CriterionVersion>, benchmarks: usize) -> Self {
        Self {
            versions,
            paces: PerBenchmark::repeat(CriterionPace::default(), benchmarks),
        }
    }

    /// Returns the facts known about the harness of a side. Criterion uses the system's clock, whose resolution is not reported.
    fn harness(&self, side: Side) -> Harness {
        Harness {
            name: "criterion".to_owned(),
            version: self.versions.get(side).to_string(),
            quantum: Nanos(1),
        }
    }

    /// Collects the reports of the benches, side by side, until all `chosen` benchmarks are measured or the processes end. Removes each measured
    /// benchmark from `chosen`.
    fn step_through(
        &mut self,
        round: &mut TargetRound<'_, '_>,
        settings: CriterionSettings,
        chosen: &mut Vec<BenchmarkIndex>,
    ) -> Result<(), StepError> {
        let mut coin = round.draws("sides");
        let began = Instant::now();
        let mut watch = round.observe_after_control();
        let first = schedule::draw_order(&mut coin);
        let mut children = self.start_all(round, first, settings, chosen)?;
        let share = began.elapsed() / u32::try_from(chosen.len()).unwrap_or(u32::MAX).max(1);
        let mut ended: Vec<Side> = Vec::new();
        // Results that only one side has reported so far: the sides may run their benchmarks in different orders.
        let mut waiting = BTreeMap::<BenchmarkIndex, Vec<SideResult<BenchmarkInProcess>>>::new();
        while let Some(next) = chosen.first().copied() {
            if ended.len() == children.len() {
                return Ok(());
            }
            round.report_visit(next);
            let began = Instant::now();
            let pinning = CpuPinning::bind(&mut children, round.choose_processor(next));
            watch.note_processor(pinning.processor());
            for side in schedule::draw_order(&mut coin) {
                let child = children.iter_mut().find(|child| child.side == side);
                let Some(child) = child.filter(|_| !ended.contains(&side)) else {
                    continue;
                };
                match self.next_result(round, child, chosen)? {
                    Some(BenchmarkResult { index, result }) => {
                        let sides = waiting.entry(index).or_default();
                        sides.push(SideResult { side, result });
                    }
                    None => ended.push(side),
                }
                let session = &mut child.session;
                if let Some(usage) = session.usage() {
                    let usage = watch.process_usage(&usage, session.working_time());
                    round.processes.head(side).conduct = Some(usage);
                }
            }
            let is_solitary = pinning.release(&mut children);
            let (complete, rest): (BTreeMap<_, _>, BTreeMap<_, _>) =
                (waiting.into_iter()).partition(|(_, sides)| sides.len() == children.len());
            waiting = rest;
            for (index, sides) in complete {
                chosen.retain(|chosen| *chosen != index);
                let benchmark = round.benchmark_mut(index);
                benchmark.note_processor_use(&[is_solitary]);
                benchmark.note_lengths(&sides);
                let stretch = &mut self.paces[index].stretch;
                *stretch = benchmark.stretch_after(*stretch);
                let visit = SuccessfulVisit {
                    sides,
                    interleaving: Interleaving::Processes,
                    time: began.elapsed() + share,
                };
                round.record_success(index, visit);
            }
        }
        match (&round.settings.plan, &mut children[..]) {
            (None, [child]) => run_to_end(child),
            // Another round follows soon, so there is no need to wait for the code after the last benchmark.
            _ => Ok(()),
        }
    }

    /// Starts all sides, in the given order. Each then waits before its first benchmark.
    fn start_all<'c>(
        &self,
        round: &mut TargetRound<'_, 'c>,
        order: [Side; 2],
        settings: CriterionSettings,
        chosen: &[BenchmarkIndex],
    ) -> Result<Vec<SideChild<CriterionSession<'c>>>, StepError> {
        let target = &*round.target;
        let ids = target.ids(chosen);
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let processes = &mut round.processes;
        let start = |side| {
            processes.head(side).harness = Some(self.harness(side));
            let request = CriterionRequest {
                version: Some(*self.versions.get(side)),
                settings: Some(settings),
                longest: None,
                ids: Some(&ids),
            };
            let spec = processes.spec(target.executables.get(side));
            let session = CriterionSession::start(&spec, &request, &round.settings.context);
            let session = session.map_err(SideError::on(side))?;
            Ok(SideChild { side, session })
        };
        target.executables.sides_in(order).map(start).collect()
    }

    /// Lets one side run until it has measured one of the `chosen` benchmarks. Returns `None` once the process has ended.
    fn next_result(
        &mut self,
        round: &mut TargetRound<'_, '_>,
        child: &mut SideChild<CriterionSession<'_>>,
        chosen: &[BenchmarkIndex],
    ) -> Result<Option<BenchmarkResult>, StepError> {
        let target = &*round.target;
        let SideChild { side, session } = child;
        loop {
            let next = session.next_report().map_err(|error| StepError {
                side: *side,
                error,
                under_way: session
                    .current_benchmark()
                    .and_then(|id| target.find_benchmark(id)),
            });
            let Some(reported) = next? else {
                return Ok(None);
            };
            let index = target.find_benchmark(&reported.id);
            let Some(index) = index.filter(|index| chosen.contains(index)) else {
                continue;
            };
            let pace = IterationPace::from_report(&reported);
            if let Some(result) = target.benchmarks[index].record_report(reported) {
                // The pace comes from the first process that shows it, so that all processes have the same layout.
                let known = self.paces[index].pace.get_or_insert(pace);
                // In rounds, both sides get the time that is needed by the side that measures a smaller share of an iteration. So far only the share
                // of the candidate was known.
                if round.settings.plan.is_some()
                    && round.processes.is_first()
                    && pace.measured < known.measured
                {
                    *known = pace;
                }
                return Ok(Some(BenchmarkResult { index, result }));
            }
        }
    }
}

/// Reports whether a process may have died because it ran only `run` benchmarks of its target. This is possible if the process died between two
/// benchmarks, and no process has been made to run all benchmarks yet.
fn may_need_all(round: &TargetRound<'_, '_>, run: usize, failure: &StepError) -> bool {
    failure.under_way.is_none()
        && matches!(failure.error, ChildError::Exited { .. })
        && run < round.target.benchmarks.len()
        && round.target.executables.candidate.skipping == SkipSupport::Works
}

/// Makes each further process of a target run all of its benchmarks.
fn run_all_benchmarks(round: &mut TargetRound<'_, '_>, error: &ChildError) {
    let target = &mut *round.target;
    for side in Side::BOTH {
        target.executables.get_mut(side).skipping = SkipSupport::Breaks;
        target.built.get_mut(side).skipping = SkipSupport::Breaks;
    }
    let message = all_benchmarks_warning(&target.executables.candidate, error);
    round.warn(&message);
}

/// Records the failure of the running benchmark. The remaining `chosen` benchmarks get another process.
fn record_step_failure(
    round: &mut TargetRound<'_, '_>,
    mut chosen: Vec<BenchmarkIndex>,
    progress: bool,
    failure: &StepError,
) {
    let message = failure.error.to_string();
    round.processes.head(failure.side).failure = Some(message.clone());
    // Code between two benchmarks belongs to the second one.
    let next = chosen.first().copied().filter(|_| progress);
    let culprit = failure.under_way.or(next);
    let mut failed: Vec<BenchmarkIndex> = chosen
        .extract_if(.., |index| Some(*index) == culprit)
        .collect();
    if failed.is_empty() {
        // No single benchmark is to blame, so all of them would fail in the same way again.
        failed = std::mem::take(&mut chosen);
    }
    for index in failed {
        round.record_failure(index, failure.side, &message);
    }
    round.unvisited.extend(chosen);
}

/// Lets a bench run to its end after its last benchmark. This cannot change anything that was measured.
fn run_to_end(child: &mut SideChild<CriterionSession<'_>>) -> Result<(), StepError> {
    loop {
        match child.session.next_report() {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(()),
            Err(error) => return Err(SideError::on(child.side)(error).into()),
        }
    }
}

/// Rehearses the benchmarks on both sides: first a single iteration, then many. Returns the benchmarks whose processes complete both. Stops after a
/// benchmark that takes too long.
pub fn rehearse(
    pair: &PairedTarget,
    context: ProcessContext<'_>,
) -> Result<BTreeSet<BenchmarkKey>, ChildError> {
    let mut well = BTreeSet::new();
    for benchmark in &pair.benchmarks {
        match completes(pair, &benchmark.key.id, context) {
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
    context: ProcessContext<'_>,
) -> Result<bool, ChildError> {
    let began = Instant::now();
    if !both_complete(pair, id, RehearsalMode::Once, context)? {
        return Ok(false);
    }
    let set_up = began.elapsed();
    both_complete(pair, id, RehearsalMode::ForAWhile { set_up }, context)
}

/// Reports whether both sides complete the benchmark in this mode, in two processes that run at the same time.
fn both_complete(
    pair: &PairedTarget,
    id: &str,
    mode: RehearsalMode,
    context: ProcessContext<'_>,
) -> Result<bool, ChildError> {
    let context = context.without_observer();
    let mut under_way = Vec::new();
    for side in Side::BOTH {
        let spec = process_spec(pair.targets.get(side), 0, 0);
        match Rehearsal::start(&spec, id, mode, &context)? {
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
