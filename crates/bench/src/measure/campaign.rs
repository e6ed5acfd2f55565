//! The measuring loop: rounds of fresh processes over all targets, of one side or of two, until every benchmark has had its rounds or is settled.
//!
//! Each round of two sides has executables with another code layout, if they can be linked again.

#![expect(
    clippy::disallowed_methods,
    reason = "how long rounds and links take, for the time left and the time budget"
)]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::discover::DiscoveredTarget;
use super::driver::Driver;
use super::plan::PairedPlan;
use super::process::{ActiveProcesses, SharedCache, new_record};
use super::schedule;
use super::subject::{CampaignBenchmark, CampaignSides, ResolvedSettings};
use super::target::{PairedTarget, ProcessOverlap, Target};
use crate::child::ProcessContext;
use perfcheck_analysis::compare::LookStatus;
use perfcheck_analysis::model::{
    BASE_FAILED, Benchmark, BenchmarkInProcess, BenchmarkKey, Event, Interleaving, ProcessOutcome,
    ProcessRecord, Round, Sample, Side, VisitPlan,
};
use perfcheck_build::link::LinkError;
use perfcheck_host::ControlProbe;

/// How a campaign ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CampaignEnd {
    /// The measurement ran to its end.
    Complete,
    /// The user asked to stop.
    Interrupted,
}

/// The cost of measuring a benchmark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchmarkCost {
    /// The benchmark.
    pub key: BenchmarkKey,
    /// Time of its rounds, including its share of starting processes.
    pub time: Duration,
    /// Whether it ran out of time before it was settled or had used its rounds.
    pub ran_out_of_time: bool,
    /// Whether the sides took samples alternately; otherwise their processes ran alternately.
    pub in_turn: bool,
    /// The reason why it declined to be measured, if it did.
    pub skipped: Option<String>,
}

/// How often a target, by package and name, was started in the round. Two pairs may share a target, whose benchmarks may have different bases.
type Attempts = BTreeMap<(String, String), u32>;

/// Decides from a benchmark, its noise threshold and its rounds whether it needs more rounds.
type StandingFn<'s> = dyn FnMut(&Benchmark, f64, &[Round]) -> Option<LookStatus> + 's;

/// The receiver of a campaign's results, which also decides when a benchmark needs no more rounds.
pub struct CampaignSink<'s, E> {
    /// Takes the record of each process as soon as it has ended, even if it was cut short.
    pub record: &'s mut dyn FnMut(Side, &ProcessRecord) -> Result<(), E>,
    /// Decides whether a benchmark with these rounds needs more of them, given its noise threshold. Returns `None` if this number of rounds is not
    /// evaluated. A single side has no rounds to decide by.
    pub standing: &'s mut StandingFn<'s>,
}

/// Everything that one run measures, or a pair of runs.
///
/// In each round it starts every target as often as it takes to visit each open benchmark once, passes the records to its sink, and asks the sink
/// whether a benchmark needs more rounds. A plain run is a campaign of one side, a side-by-side measurement one of two. They differ in the requests
/// to a child: one side has the schedules of `schedule.rs`, and a round of two sides those of `plan.rs`, which are short and consist of quads (ABBA).
pub struct Campaign<'a> {
    pub(super) targets: Vec<Target>,
    pub(super) seed: u64,
    /// The plan of the rounds of two sides. With one side, each benchmark has its own number of processes.
    pub(super) in_turn: Option<PairedPlan>,
    pub(super) launcher: ProcessContext<'a>,
    /// Resolves the settings of a benchmark. Called again when a process reports its author's settings.
    pub(super) resolve: Box<dyn Fn(&Benchmark) -> ResolvedSettings + 'a>,
    pub(super) control: Option<ControlProbe>,
    pub(super) shared_cache: SharedCache,
    /// Number of visits that have ended.
    pub(super) done: usize,
    /// Time limit for all processes together.
    pub(super) time_budget: Option<Duration>,
    pub(super) began: Instant,
}

impl<'a> Campaign<'a> {
    /// Plans processes of one side. `resolve` returns the settings of each benchmark.
    pub fn single(
        targets: Vec<DiscoveredTarget>,
        resolve: impl Fn(&Benchmark) -> ResolvedSettings + 'a,
        seed: u64,
        launcher: ProcessContext<'a>,
    ) -> Self {
        let targets = targets
            .into_iter()
            // The filter may have left a target without benchmarks.
            .filter(|found| !found.benchmarks.is_empty())
            .map(|found| {
                let driver = CampaignSides::single(found.driver);
                let executable = CampaignSides::single(found.target);
                Target::new(executable, driver, found.benchmarks, &resolve)
            })
            .collect();
        Self {
            targets,
            seed,
            in_turn: None,
            launcher,
            resolve: Box::new(resolve),
            control: None,
            shared_cache: SharedCache::of_host(),
            done: 0,
            time_budget: None,
            began: Instant::now(),
        }
    }

    /// Plans rounds of two sides. `noise_threshold` returns that of each benchmark.
    pub fn paired(
        targets: Vec<PairedTarget>,
        noise_threshold: impl Fn(&Benchmark) -> f64 + 'a,
        plan: PairedPlan,
        launcher: ProcessContext<'a>,
    ) -> Self {
        let resolve = move |benchmark: &Benchmark| plan.resolve(noise_threshold(benchmark));
        let targets = targets.into_iter().map(|pair| {
            let (executables, drivers) = (pair.targets.into(), pair.drivers.into());
            Target {
                layouts: pair.layouts,
                ..Target::new(executables, drivers, pair.benchmarks, &resolve)
            }
        });
        Self {
            targets: targets.collect(),
            in_turn: Some(plan),
            time_budget: plan.time_budget,
            ..Self::single(Vec::new(), resolve, plan.seed, launcher)
        }
    }

    /// Sets a time budget: after the first process of each target, none starts that would end later than `budget` after the start.
    #[must_use]
    pub fn with_time_budget(self, budget: Option<Duration>) -> Self {
        Self {
            time_budget: budget,
            ..self
        }
    }

    /// Runs the control workload before each process, while no child is alive.
    #[must_use]
    pub fn with_control(self, probe: ControlProbe) -> Self {
        Self {
            control: Some(probe),
            ..self
        }
    }

    /// Measures until every benchmark is settled, or the rounds or the time are used up. Failures of benches are recorded like results: the only
    /// errors are those of the sink.
    pub fn run<E>(
        mut self,
        sink: &mut CampaignSink<'_, E>,
    ) -> Result<(CampaignEnd, Vec<BenchmarkCost>), E> {
        self.began = Instant::now();
        let plan = self.visit_plan();
        self.report_plan(plan);
        let (VisitPlan::Launches(rounds) | VisitPlan::Rounds(rounds)) = plan;
        let mut ended = CampaignEnd::Complete;
        'rounds: for round in 0.. {
            if self.is_over() {
                break;
            }
            let mut attempts = Attempts::new();
            for index in 0..self.targets.len() {
                let wanted = self.choose_benchmarks(index, round);
                if wanted.is_empty() {
                    continue;
                }
                let began = Instant::now();
                if self.run_round(index, round, &wanted, &mut attempts, sink)?
                    == CampaignEnd::Interrupted
                {
                    ended = CampaignEnd::Interrupted;
                    break 'rounds;
                }
                self.targets[index].round_time = began.elapsed();
            }
        }
        self.launcher.observer.observe(&Event::Measured);
        self.report_late_targets(rounds);
        let spent = self.targets.into_iter().flat_map(|target| {
            let in_turn = target.coexistence != ProcessOverlap::Apart;
            target
                .subjects
                .into_iter()
                .map(move |subject| BenchmarkCost {
                    ran_out_of_time: ended == CampaignEnd::Complete && subject.has_unused_rounds(),
                    key: subject.benchmark.key,
                    time: subject.time,
                    in_turn,
                    skipped: subject.skipped,
                })
        });
        Ok((ended, spent.collect()))
    }

    fn visit_plan(&self) -> VisitPlan {
        let launches = self.subjects().map(CampaignBenchmark::launches).max();
        match &self.in_turn {
            None => VisitPlan::Launches(launches.unwrap_or(0)),
            Some(plan) => VisitPlan::Rounds(plan.rounds),
        }
    }

    /// Runs one round of a target, with as many processes as it takes to visit each of its open benchmarks once.
    fn run_round<E>(
        &mut self,
        index: usize,
        round: u32,
        asked: &[usize],
        attempts: &mut Attempts,
        sink: &mut CampaignSink<'_, E>,
    ) -> Result<CampaignEnd, E> {
        let mut wanted = asked.to_vec();
        let bench = &self.targets[index].executables.candidate;
        let attempt = attempts
            .entry((bench.package.clone(), bench.target.clone()))
            .or_default();
        self.link_layout(index, round);
        while !wanted.is_empty() {
            let mut launch = self.prepare_processes(index, round, *attempt, wanted);
            match &self.targets[index].drivers.candidate {
                Driver::Own => self.launch_own(&mut launch),
                Driver::Criterion(_) => self.launch_criterion(&mut launch),
                Driver::Printed(_) => self.launch_printed(&mut launch),
            }
            for side in launch.records.sides_in(Side::BOTH) {
                let record = launch.records.get(side);
                if !record.benchmarks.is_empty() {
                    (sink.record)(side, record)?;
                }
            }
            if launch.interrupted {
                return Ok(CampaignEnd::Interrupted);
            }
            wanted = launch.wanted;
            *attempt += 1;
        }
        Ok(self.evaluate_rounds(index, round, asked, sink.standing))
    }

    /// Determines which of the benchmarks that this round has visited need no more rounds.
    fn evaluate_rounds(
        &mut self,
        index: usize,
        round: u32,
        asked: &[usize],
        standing: &mut StandingFn<'_>,
    ) -> CampaignEnd {
        let limit = self.time_per_benchmark();
        for place in asked.iter().copied() {
            // There may be thousands of benchmarks, and each needs a computation.
            if self.launcher.interrupt.is_requested() {
                return CampaignEnd::Interrupted;
            }
            let subject = &mut self.targets[index].subjects[place];
            if subject.is_open() {
                let threshold = subject.resolved.noise_threshold;
                let found = standing(&subject.benchmark, threshold, &subject.rounds);
                if let Some(found) = found {
                    subject.standing = found;
                }
                subject.done = matches!(found, Some(LookStatus::Settled(_)))
                    || subject.is_out_of_time(limit)
                    || subject.visits_left(round + 1, None) == 0;
            }
        }
        CampaignEnd::Complete
    }

    /// Returns the indices of the benchmarks that this round visits, shuffled; they are taken from the end. The round does not count for the other
    /// open benchmarks.
    fn choose_benchmarks(&mut self, index: usize, round: u32) -> Vec<usize> {
        let some_wait = self.must_waiters_wait();
        let target = &mut self.targets[index];
        let mut wanted = Vec::new();
        for (place, subject) in target.subjects.iter_mut().enumerate() {
            if !subject.is_open() {
                continue;
            }
            if some_wait && subject.can_wait() {
                subject.waited += 1;
            } else {
                wanted.push(place);
            }
        }
        let bench = &target.executables.candidate;
        let mut draws = schedule::stream(self.seed, "order", bench, u64::from(round));
        draws.shuffle(&mut wanted);
        // Every benchmark gets its first round, regardless of the time.
        if round > 0 {
            self.retain_in_time(index, round, &mut wanted);
        }
        wanted
    }

    /// Prepares the next process of each side. The padding is the same on both sides: shared randomness adds no noise to the comparison.
    fn prepare_processes(
        &self,
        index: usize,
        round: u32,
        attempt: u32,
        wanted: Vec<usize>,
    ) -> ActiveProcesses {
        let target = &self.targets[index];
        let block = u64::from(round) << 32 | u64::from(attempt);
        let padding = schedule::draw_padding(self.seed, &target.executables.candidate, block);
        let begun = |executable: &_| new_record(executable, target.layout, round, attempt, padding);
        ActiveProcesses {
            index,
            records: target.executables.map(begun),
            wanted,
            block,
            interrupted: false,
        }
    }

    /// Records a successful visit for each side. `turns` says how two sides alternated.
    pub(super) fn record_success(
        &mut self,
        launch: &mut ActiveProcesses,
        place: usize,
        sides: Vec<(Side, BenchmarkInProcess)>,
        turns: Interleaving,
        took: Duration,
    ) {
        let is_printed = matches!(
            self.targets[launch.index].drivers.candidate,
            Driver::Printed(_)
        );
        let subject = self.subject_mut(launch, place);
        subject.record_visit(took);
        if let Some((_, launched)) = sides.first() {
            subject.benchmark.metric = launched.benchmark.metric.clone();
        }
        if !is_printed {
            subject.note_lengths(&sides);
        }
        if launch.is_pair() {
            let of = |side| sides.iter().find(|(of, _)| *of == side);
            let samples = |side| {
                of(side)
                    .map(|(_, side)| comparable_samples(side))
                    .unwrap_or_default()
            };
            let led = of(Side::Candidate).map(|(_, candidate)| candidate.extras.led.clone());
            let layout = launch.records.candidate.head.layout;
            let subject = self.subject_mut(launch, place);
            subject.rounds.push(Round {
                base: samples(Side::Base),
                candidate: samples(Side::Candidate),
                led: led.unwrap_or_default(),
                layout,
            });
        }
        for (side, mut launched) in sides {
            if launch.is_pair() {
                launched.sampling.turns = turns;
            }
            launch.records.get_mut(side).benchmarks.push(launched);
        }
        self.done += 1;
    }

    /// Records that the benchmark declines to be measured.
    pub(super) fn record_skip(&mut self, launch: &ActiveProcesses, place: usize, reason: &str) {
        self.done += 1;
        let subject = self.subject_mut(launch, place);
        subject.done = true;
        subject.skipped = Some(reason.to_owned());
        self.launcher.observer.observe(&Event::Skipped {
            benchmark: &self.subject(launch, place).benchmark.key,
            reason,
        });
    }

    /// Records a failure on `side` for both sides, because there is nothing to compare with.
    pub(super) fn record_failure(
        &mut self,
        launch: &mut ActiveProcesses,
        place: usize,
        side: Side,
        message: &str,
    ) {
        self.done += 1;
        self.subject_mut(launch, place).failures += 1;
        let subject = self.subject(launch, place);
        let message = match side {
            Side::Candidate => message.to_owned(),
            Side::Base => format!("{BASE_FAILED}{message}"),
        };
        self.launcher.observer.observe(&Event::VisitFailed {
            benchmark: &subject.benchmark.key,
            launch: launch.round(),
            message: &message,
        });
        for side in launch.records.sides_in(Side::BOTH) {
            let launched = subject.record(ProcessOutcome::Failed(message.clone()));
            launch.records.get_mut(side).benchmarks.push(launched);
        }
    }

    /// Warns that a process failed on `side` after everything was measured.
    pub(super) fn warn_of_late_failure(
        &self,
        launch: &mut ActiveProcesses,
        side: Side,
        message: &str,
    ) {
        let head = launch.head(side);
        head.failure = Some(message.to_owned());
        let message = format!("{}/{}: {message}", head.package, head.target);
        self.launcher.observer.observe(&Event::Warning(&message));
    }

    /// Returns a function that chooses the processor to bind a benchmark to, if one is known to be enough for it. The choice is drawn anew for each
    /// pair of processes. A single side is never bound.
    pub(super) fn processor_choice(
        &self,
        launch: &ActiveProcesses,
        place: usize,
    ) -> Option<impl FnOnce(u32) -> usize + Clone + use<>> {
        let may_bind = self.in_turn.is_some_and(|plan| plan.bind);
        let bound = may_bind && self.subject(launch, place).is_solitary == Some(true);
        bound.then(|| {
            let bench = &self.targets[launch.index].executables.candidate;
            let mut draws = schedule::stream(self.seed, "processor", bench, launch.block);
            move |count| draws.index(count)
        })
    }

    /// Returns the benchmark at index `place` of the target.
    pub(super) fn subject(&self, launch: &ActiveProcesses, place: usize) -> &CampaignBenchmark {
        &self.targets[launch.index].subjects[place]
    }

    /// Returns the benchmark at index `place` of the target, for changes.
    pub(super) fn subject_mut(
        &mut self,
        launch: &ActiveProcesses,
        place: usize,
    ) -> &mut CampaignBenchmark {
        &mut self.targets[launch.index].subjects[place]
    }
}

/// Returns the samples of one side that can be compared with each other.
fn comparable_samples(launched: &BenchmarkInProcess) -> Vec<Sample> {
    match &launched.outcome {
        ProcessOutcome::Measured(series) => series.comparable_samples(),
        ProcessOutcome::Failed(_) => Vec::new(),
    }
}

impl Campaign<'_> {
    /// Links the executables of a target for this round. If that fails, they run as built from now on.
    pub(super) fn link_layout(&mut self, index: usize, round: u32) {
        let target = &mut self.targets[index];
        let Some(layouts) = target.layouts.take() else {
            return;
        };
        let began = Instant::now();
        if let Err(error) = layouts.link(round) {
            let bench = &target.executables.candidate;
            let message = format!(
                "{}/{}: from this round on it runs as it was built: {error}",
                bench.package, bench.target
            );
            // One of the two may already have the new layout.
            target.executables = target.built.clone();
            target.layout = None;
            target.link_time = Duration::ZERO;
            if !matches!(error, LinkError::Interrupted) {
                self.launcher.observer.observe(&Event::Warning(&message));
            }
            return;
        }
        target.link_time = began.elapsed();
        target.layout = Some(round);
        for side in target.executables.sides_in(Side::BOTH) {
            let place = layouts.executables().get(side).to_path_buf();
            let executable = target.executables.get_mut(side);
            *executable = executable.clone().with_executable(place);
        }
        target.layouts = Some(layouts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::plan::RoundSettings;
    use perfcheck_analysis::model::{
        AuthorSettings, Metric, NullObserver, SamplingSettings, SkipSupport, TargetFacts,
        Throughput, Verdict,
    };
    use perfcheck_build::cargo::BenchTarget;
    use perfcheck_host::process::{Interrupt, Supervisor};

    fn found(ids: &[&str]) -> DiscoveredTarget {
        let benchmark = |id: &&str| Benchmark {
            key: BenchmarkKey {
                package: "p".into(),
                target: "t".into(),
                id: (*id).into(),
            },
            version: None,
            throughput: Throughput::default(),
            other_throughput: None,
            settings: AuthorSettings::default(),
            metric: Metric::Time,
        };
        DiscoveredTarget {
            target: BenchTarget {
                package: "p".into(),
                target: "t".into(),
                program: "/nowhere".into(),
                first_arguments: Vec::new(),
                directory: "/".into(),
                variables: std::collections::BTreeMap::new(),
                facts: TargetFacts::default(),
                skipping: SkipSupport::Works,
            },
            benchmarks: ids.iter().map(benchmark).collect(),
            capabilities: Vec::new(),
            clock_step: None,
            driver: Driver::Own,
        }
    }

    fn campaign<'a>(
        ids: &[&str],
        supervisor: &'a Supervisor,
        interrupt: &'a Interrupt,
    ) -> Campaign<'a> {
        let launcher =
            ProcessContext::new(supervisor, interrupt, &NullObserver, Duration::from_secs(1));
        let resolve = |_: &Benchmark| ResolvedSettings {
            sampling: SamplingSettings::default(),
            noise_threshold: 0.01,
            pinned: None,
            pinned_samples: None,
            past_visit: None,
        };
        Campaign::single(vec![found(ids)], resolve, 1, launcher)
    }

    #[test]
    fn an_interrupt_between_two_rounds_stops_the_looks_and_not_after_them() {
        let (supervisor, interrupt) = (Supervisor::default(), Interrupt::never());
        let mut campaign = campaign(&["a", "b", "c", "d"], &supervisor, &interrupt);
        let mut looked_at = Vec::new();
        let ended = campaign.evaluate_rounds(0, 0, &[2, 0, 1, 3], &mut |benchmark, _, _| {
            looked_at.push(benchmark.key.id.clone());
            if looked_at.len() == 2 {
                interrupt.request();
            }
            Some(LookStatus::Settled(Verdict::Unchanged))
        });
        assert_eq!(ended, CampaignEnd::Interrupted);
        assert_eq!(looked_at, ["c", "a"], "the signal came in the second look");
        let done: Vec<bool> = campaign.subjects().map(|subject| subject.done).collect();
        assert_eq!(done, [true, false, true, false]);
    }

    #[test]
    fn what_no_longer_fits_into_the_time_is_given_up_and_the_rest_goes_on() {
        let (supervisor, interrupt) = (Supervisor::default(), Interrupt::never());
        let mut campaign = campaign(&["a", "b", "c"], &supervisor, &interrupt);
        campaign.in_turn = Some(PairedPlan {
            rounds: 100,
            round: RoundSettings::default(),
            time_budget: None,
            time_per_benchmark: None,
            bind: true,
            seed: 1,
        });
        for (subject, seconds) in campaign.targets[0].subjects.iter_mut().zip([20, 90, 50]) {
            subject.visit = Duration::from_secs(seconds);
        }
        let all = campaign.choose_benchmarks(0, 1);
        assert_eq!(all.len(), 3, "there is no budget");
        let mut campaign = campaign.with_time_budget(Some(Duration::from_mins(1)));
        let mut first = campaign.choose_benchmarks(0, 0);
        first.sort_unstable();
        assert_eq!(first, [0, 1, 2], "everybody has one round");
        let chosen = campaign.choose_benchmarks(0, 1);
        assert!(chosen == [0] || chosen == [2], "{chosen:?}");
        let subjects = &campaign.targets[0].subjects;
        let done: Vec<bool> = subjects.iter().map(|subject| subject.done).collect();
        assert_eq!(done, [false, true, false], "90 s can come no more");
        let waited: Vec<u32> = subjects.iter().map(|subject| subject.waited).collect();
        assert_eq!(waited.iter().sum::<u32>(), 1);
        assert_eq!(waited[chosen[0]], 0);
    }

    #[test]
    fn a_time_budget_goes_to_those_in_doubt_first_and_nobody_loses_rounds_by_waiting() {
        let (supervisor, interrupt) = (Supervisor::default(), Interrupt::never());
        let mut campaign = campaign(&["a", "b", "c"], &supervisor, &interrupt);
        let wanted = |campaign: &mut Campaign<'_>, round| {
            let mut places = campaign.choose_benchmarks(0, round);
            places.sort_unstable();
            places
        };
        let standing_of = |place| match place {
            0 => LookStatus::Searching,
            1 => LookStatus::Open,
            _ => LookStatus::Settled(Verdict::Unchanged),
        };
        let ids = ["a", "b", "c"];
        campaign.evaluate_rounds(0, 0, &[0, 1, 2], &mut |benchmark, _, _| {
            let place = ids.iter().position(|id| *id == benchmark.key.id)?;
            Some(standing_of(place))
        });
        assert_eq!(wanted(&mut campaign, 1), [0, 1], "there is time for both");
        let mut campaign = campaign.with_time_budget(Some(Duration::from_mins(1)));
        assert_eq!(wanted(&mut campaign, 1), [1]);
        // A round that is not evaluated does not end the waiting.
        campaign.evaluate_rounds(0, 1, &[1], &mut |_, _, _| None);
        assert_eq!(wanted(&mut campaign, 2), [1]);
        let left = |campaign: &Campaign<'_>, round| {
            let all = campaign.subjects();
            all.map(|subject| subject.visits_left(round, None))
                .collect::<Vec<_>>()
        };
        let launches = SamplingSettings::default().launches;
        assert_eq!(left(&campaign, 3), [launches - 1, launches - 3, 0]);
        // It has waited long enough.
        campaign.targets[0].subjects[1].measured = 60;
        assert_eq!(wanted(&mut campaign, 3), [0, 1]);
        // No more visits are expected of a target that has no time left.
        campaign.targets[0].subjects[1].measured = 2;
        campaign.targets[0].late = Some(3);
        assert!(campaign.is_over());
    }
}
