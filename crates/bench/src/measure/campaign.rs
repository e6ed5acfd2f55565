//! The measuring loop: rounds of fresh processes over all targets, of one side or of two, until every benchmark has had its rounds or is settled.
//!
//! Each round of two sides uses a different code layout, if the executables can be linked again.

#![expect(
    clippy::disallowed_methods,
    reason = "how long rounds take, for the time left and the time budget"
)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::benchmark::{CampaignBenchmark, ResolvedSettings, SkippedVisit};
use super::criterion::CriterionDriver;
use super::discover::{DiscoveredTarget, HarnessKind};
use super::driver::{BenchDriver, TargetRound};
use super::own::OwnDriver;
use super::plan::{CampaignSettings, PairedPlan};
use super::printed::PrintedDriver;
use super::process::{Interrupted, ProcessNumber, SharedCache};
use super::program::ProgramDriver;
use super::progress::RemainingWork;
use super::sides::CampaignSides;
use super::target::{PairedTarget, RoundScope, StandingFn, Target};
use crate::child::ProcessContext;
use perfcheck_analysis::model::{
    Benchmark, BenchmarkKey, EstimateKind, Event, ProcessRecord, Side, VisitPlan,
};
use perfcheck_build::cargo::BenchTarget;
use perfcheck_host::ControlProbe;

/// If there is a time budget, it is first spent on the benchmarks whose speed is still uncertain, up to this number of rounds for each of them.
const ROUNDS_IN_DOUBT: u32 = 60;

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
    /// How long the rounds of the benchmark took, including its share of the time for starting processes.
    pub time: Duration,
    /// Whether the benchmark ran out of time before it was settled or had used its rounds.
    pub ran_out_of_time: bool,
    /// Whether the processes of both sides could be alive at the same time. Otherwise they ran one after the other.
    pub is_together: bool,
    /// The visit in which the benchmark declined to be measured, if it did.
    pub skipped: Option<SkippedVisit>,
}

/// The result of a campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignResult {
    /// How the campaign ended.
    pub end: CampaignEnd,
    /// The cost of each benchmark.
    pub costs: Vec<BenchmarkCost>,
}

/// How often each target was started in the current round, by package and name. If the benchmarks of a target have different bases, the target
/// belongs to several pairs of executables. All of these pairs share one number.
type Attempts = BTreeMap<(String, String), u32>;

/// The receiver of a campaign's results, which also decides when a benchmark needs no more rounds.
pub struct CampaignSink<'s, E> {
    /// Takes the record of each process as soon as it has ended, even if it was cut short.
    pub record: &'s mut dyn FnMut(Side, &ProcessRecord) -> Result<(), E>,
    /// Decides whether a benchmark needs more rounds. Gets the benchmark, its noise threshold, and the rounds that it has had. The list of rounds is
    /// empty if only one side is measured. Returns `None` if nothing is evaluated after this number of rounds.
    pub standing: &'s mut StandingFn<'s>,
}

/// Everything that a run or a pair of runs measures.
///
/// In each round it lets the driver of every target run as many processes as are needed to visit each open benchmark once. It passes the records to
/// its sink, and asks the sink whether a benchmark needs more rounds. A campaign of one side is an ordinary run; a campaign of two sides is a
/// side-by-side measurement. The requests to a child differ: one side uses the schedules of `schedule.rs`, and two sides use those of `plan.rs`,
/// which are short and consist of quads (ABBA).
pub struct Campaign<'a> {
    targets: Vec<DrivenTarget>,
    settings: CampaignSettings<'a>,
    shared_cache: Rc<RefCell<SharedCache>>,
    /// Number of visits that have ended.
    ended_visits: usize,
}

/// A target and the driver of its processes.
struct DrivenTarget {
    target: Target,
    driver: Box<dyn BenchDriver>,
}

impl<'a> Campaign<'a> {
    /// Plans a campaign that measures one build. `resolve` returns the settings of each benchmark.
    pub fn single(
        targets: Vec<DiscoveredTarget>,
        resolve: impl Fn(&Benchmark) -> ResolvedSettings + 'a,
        seed: u64,
        context: ProcessContext<'a>,
    ) -> Self {
        let mut campaign = Self::new(CampaignSettings::new(seed, resolve, context));
        for found in targets {
            // The filter may have left a target without benchmarks.
            if !found.benchmarks.is_empty() {
                let executable = CampaignSides::single(found.target);
                let harness = CampaignSides::single(found.harness);
                campaign.add_target(executable, &harness, found.benchmarks);
            }
        }
        campaign
    }

    /// Plans a campaign that measures two builds side by side. `noise_threshold` returns the threshold of each benchmark.
    pub fn paired(
        targets: Vec<PairedTarget>,
        noise_threshold: impl Fn(&Benchmark) -> f64 + 'a,
        plan: PairedPlan,
        context: ProcessContext<'a>,
    ) -> Self {
        let resolve = move |benchmark: &Benchmark| plan.resolve(noise_threshold(benchmark));
        let mut campaign = Self::new(CampaignSettings {
            plan: Some(plan),
            time_budget: plan.time_budget,
            ..CampaignSettings::new(plan.seed, resolve, context)
        });
        for pair in targets {
            let harnesses = pair.harnesses.into();
            let target = campaign.add_target(pair.targets.into(), &harnesses, pair.benchmarks);
            target.layouts = pair.layouts;
            for benchmark in target.benchmarks.iter_mut() {
                benchmark.base_id = pair.base_ids.get(&benchmark.subject.key.id).cloned();
            }
        }
        campaign
    }

    fn new(settings: CampaignSettings<'a>) -> Self {
        Self {
            targets: Vec::new(),
            settings,
            shared_cache: Rc::new(RefCell::new(SharedCache::of_host())),
            ended_visits: 0,
        }
    }

    fn add_target(
        &mut self,
        executables: CampaignSides<BenchTarget>,
        harnesses: &CampaignSides<HarnessKind>,
        benchmarks: Vec<Benchmark>,
    ) -> &mut Target {
        let driver = self.create_driver(harnesses, benchmarks.len());
        let benchmarks = benchmarks.into_iter().map(|benchmark| {
            let resolved = (self.settings.resolve)(&benchmark);
            CampaignBenchmark::new(benchmark, resolved, driver.time_precision())
        });
        let mut target = Target::new(executables, benchmarks.collect());
        target.has_longer_rounds = driver.lengthens_rounds();
        let at = self.targets.len();
        self.targets.push(DrivenTarget { target, driver });
        &mut self.targets[at].target
    }

    /// Creates the driver of a target. Only executables with the same driver are paired, so the candidate's harness decides.
    fn create_driver(
        &self,
        harnesses: &CampaignSides<HarnessKind>,
        benchmarks: usize,
    ) -> Box<dyn BenchDriver> {
        match &harnesses.candidate {
            HarnessKind::Own => Box::new(OwnDriver::new(benchmarks, self.shared_cache.clone())),
            HarnessKind::Criterion(candidate) => {
                let versions = harnesses.map(|harness| match harness {
                    HarnessKind::Criterion(version) => *version,
                    _ => *candidate,
                });
                Box::new(CriterionDriver::new(versions, benchmarks))
            }
            HarnessKind::Printed(candidate) => {
                let harnesses = harnesses.map(|harness| match harness {
                    HarnessKind::Printed(harness) => Arc::clone(harness),
                    _ => Arc::clone(candidate),
                });
                Box::new(PrintedDriver::new(harnesses))
            }
            HarnessKind::Program(candidate) => {
                let programs = harnesses.map(|harness| match harness {
                    HarnessKind::Program(programs) => Arc::clone(programs),
                    _ => Arc::clone(candidate),
                });
                Box::new(ProgramDriver::new(programs, benchmarks))
            }
        }
    }

    /// Sets a time budget: after the first round, no process starts that is expected to end later than `budget` after the start of the campaign.
    #[must_use]
    pub fn with_time_budget(mut self, budget: Option<Duration>) -> Self {
        self.settings.time_budget = budget;
        self
    }

    /// Runs the control workload before each process, while no child is alive.
    #[must_use]
    pub fn with_control(mut self, probe: ControlProbe) -> Self {
        self.settings.control = Some(probe);
        self
    }

    /// Returns how long the campaign will take, as estimated from the plan before anything is measured, and the kind of this estimate.
    pub fn expected_duration(&self) -> (Duration, EstimateKind) {
        let work = self.remaining_work();
        let settings = &self.settings;
        (work.time_left(settings), work.estimate_kind(settings))
    }

    /// Measures until every benchmark is settled, or the rounds or the time are used up. Failures of benches are recorded like results: the only
    /// errors are those of the sink.
    pub fn run<E>(mut self, sink: &mut CampaignSink<'_, E>) -> Result<CampaignResult, E> {
        self.settings.began = Instant::now();
        let plan = self.visit_plan();
        self.report_plan(plan);
        let mut end = CampaignEnd::Complete;
        'rounds: for round in 0.. {
            if self.is_over() {
                break;
            }
            let mut attempts = Attempts::new();
            for place in 0..self.targets.len() {
                let scope = self.round_scope();
                let others = self.targets.iter().enumerate();
                let others = others.filter(|(other, _)| *other != place);
                let others = others
                    .map(|(_, other)| RemainingWork::estimate(&other.target, &self.settings, round))
                    .sum();
                let context = RoundContext {
                    settings: &self.settings,
                    round,
                    others,
                    ended_visits: &mut self.ended_visits,
                };
                let ended = self.targets[place].run_round(context, scope, &mut attempts, sink)?;
                if ended == CampaignEnd::Interrupted {
                    end = ended;
                    break 'rounds;
                }
            }
        }
        self.settings.context.observer.observe(&Event::Measured);
        let (VisitPlan::Processes(processes) | VisitPlan::Rounds(processes)) = plan;
        for driven in &self.targets {
            driven.target.report_lateness(&self.settings, processes);
        }
        let costs = self.targets.into_iter().flat_map(|driven| {
            let is_together = driven.driver.runs_sides_together();
            let benchmarks = driven.target.benchmarks.into_iter();
            benchmarks.map(move |benchmark| BenchmarkCost {
                ran_out_of_time: end == CampaignEnd::Complete && benchmark.has_unused_rounds(),
                key: benchmark.subject.key,
                time: benchmark.time,
                is_together,
                skipped: benchmark.skipped,
            })
        });
        Ok(CampaignResult {
            end,
            costs: costs.collect(),
        })
    }

    fn benchmarks(&self) -> impl Iterator<Item = &CampaignBenchmark> {
        let targets = self.targets.iter();
        targets.flat_map(|driven| driven.target.benchmarks.iter())
    }

    fn visit_plan(&self) -> VisitPlan {
        match &self.settings.plan {
            None => {
                let processes = self.benchmarks().map(CampaignBenchmark::processes).max();
                VisitPlan::Processes(processes.unwrap_or(0))
            }
            Some(plan) => VisitPlan::Rounds(plan.rounds),
        }
    }

    /// Returns the work of the whole campaign.
    fn remaining_work(&self) -> RemainingWork {
        let targets = self.targets.iter();
        targets
            .map(|driven| RemainingWork::estimate(&driven.target, &self.settings, 0))
            .sum()
    }

    fn report_plan(&self, plan: VisitPlan) {
        let (expected, bound) = self.expected_duration();
        self.settings.context.observer.observe(&Event::Planned {
            benchmarks: self.benchmarks().count(),
            visits: self.remaining_work().visits,
            expected,
            bound,
            plan,
        });
    }

    /// Returns true if every target has run out of open benchmarks or of time.
    fn is_over(&self) -> bool {
        let mut targets = self.targets.iter().map(|driven| &driven.target);
        targets.all(|target| target.late.is_some() || target.open_benchmarks().next().is_none())
    }

    /// Returns which benchmarks the next round visits. A time budget is first spent on the benchmarks whose speed is still uncertain.
    fn round_scope(&self) -> RoundScope {
        let targets = self.targets.iter().map(|driven| &driven.target);
        let in_time = targets.filter(|target| target.late.is_none());
        let mut open = in_time.flat_map(Target::open_benchmarks);
        let is_in_doubt = |benchmark: &CampaignBenchmark| {
            !benchmark.can_wait() && benchmark.measured < ROUNDS_IN_DOUBT
        };
        if self.settings.time_budget.is_some() && open.any(is_in_doubt) {
            RoundScope::InDoubt
        } else {
            RoundScope::AllOpen
        }
    }
}

/// A round as seen by one target.
struct RoundContext<'r, 'c> {
    settings: &'r CampaignSettings<'c>,
    round: u32,
    /// The remaining work of the other targets.
    others: RemainingWork,
    ended_visits: &'r mut usize,
}

impl DrivenTarget {
    /// Runs one round, with as many processes as it takes to visit each chosen benchmark once.
    fn run_round<E>(
        &mut self,
        RoundContext {
            settings,
            round,
            others,
            ended_visits,
        }: RoundContext<'_, '_>,
        scope: RoundScope,
        attempts: &mut Attempts,
        sink: &mut CampaignSink<'_, E>,
    ) -> Result<CampaignEnd, E> {
        let Self { target, driver } = self;
        let chosen = target.choose_benchmarks(settings, round, scope);
        if chosen.is_empty() {
            return Ok(CampaignEnd::Complete);
        }
        let began = Instant::now();
        let bench = &target.executables.candidate;
        let attempt = attempts
            .entry((bench.package.clone(), bench.target.clone()))
            .or_default();
        target.link_layout(settings, round);
        let mut unvisited = chosen.clone();
        while !unvisited.is_empty() {
            let number = ProcessNumber {
                round,
                attempt: *attempt,
            };
            let mut step = TargetRound {
                processes: target.prepare_processes(settings.seed, number),
                target: &mut *target,
                settings,
                unvisited,
                ended_visits: &mut *ended_visits,
                others,
            };
            let ended = run_processes(&mut **driver, &mut step);
            let records = &step.processes.records;
            for side in records.sides_in(Side::BOTH) {
                let record = records.get(side);
                if !record.benchmarks.is_empty() {
                    (sink.record)(side, record)?;
                }
            }
            if let Err(Interrupted) = ended {
                return Ok(CampaignEnd::Interrupted);
            }
            unvisited = step.unvisited;
            *attempt += 1;
        }
        let evaluated = target.evaluate_rounds(settings, round, &chosen, sink.standing);
        if let Err(Interrupted) = evaluated {
            return Ok(CampaignEnd::Interrupted);
        }
        target.round_time = began.elapsed();
        Ok(CampaignEnd::Complete)
    }
}

/// Runs one process of each side.
fn run_processes(
    driver: &mut dyn BenchDriver,
    round: &mut TargetRound<'_, '_>,
) -> Result<(), Interrupted> {
    if round.processes.is_first() {
        driver.prepare(round);
        if let Some(reason) = driver.explain_rounding() {
            round.report_rounding(&reason);
        }
    }
    driver.run_processes(round)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::benchmark::BenchmarkIndex;
    use crate::measure::plan::RoundSettings;
    use perfcheck_analysis::compare::LookStatus;
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
                programs: Vec::new(),
            },
            benchmarks: ids.iter().map(benchmark).collect(),
            capabilities: Vec::new(),
            clock_step: None,
            harness: HarnessKind::Own,
        }
    }

    fn campaign<'a>(
        ids: &[&str],
        supervisor: &'a Supervisor,
        interrupt: &'a Interrupt,
    ) -> Campaign<'a> {
        let context =
            ProcessContext::new(supervisor, interrupt, &NullObserver, Duration::from_secs(1));
        let resolve = |_: &Benchmark| ResolvedSettings {
            sampling: SamplingSettings::default(),
            noise_threshold: 0.01,
            pinned: None,
            pinned_samples: None,
            past_visit: None,
        };
        Campaign::single(vec![found(ids)], resolve, 1, context)
    }

    fn choose(campaign: &mut Campaign<'_>, round: u32) -> Vec<usize> {
        let scope = campaign.round_scope();
        let target = &mut campaign.targets[0].target;
        let chosen = target.choose_benchmarks(&campaign.settings, round, scope);
        chosen
            .into_iter()
            .map(|BenchmarkIndex(index)| index)
            .collect()
    }

    fn evaluate(
        campaign: &mut Campaign<'_>,
        round: u32,
        visited: &[usize],
        standing: &mut StandingFn<'_>,
    ) -> Result<(), Interrupted> {
        let visited: Vec<_> = visited.iter().copied().map(BenchmarkIndex).collect();
        let target = &mut campaign.targets[0].target;
        target.evaluate_rounds(&campaign.settings, round, &visited, standing)
    }

    #[test]
    fn an_interrupt_between_two_rounds_stops_the_looks_and_not_after_them() {
        let (supervisor, interrupt) = (Supervisor::default(), Interrupt::never());
        let mut campaign = campaign(&["a", "b", "c", "d"], &supervisor, &interrupt);
        let mut looked_at = Vec::new();
        let ended = evaluate(&mut campaign, 0, &[2, 0, 1, 3], &mut |benchmark, _, _| {
            looked_at.push(benchmark.key.id.clone());
            if looked_at.len() == 2 {
                interrupt.request();
            }
            Some(LookStatus::Settled(Verdict::Unchanged))
        });
        assert!(ended.is_err(), "it was interrupted");
        assert_eq!(looked_at, ["c", "a"], "the signal came in the second look");
        let done: Vec<bool> = campaign
            .benchmarks()
            .map(|benchmark| benchmark.done)
            .collect();
        assert_eq!(done, [true, false, true, false]);
    }

    #[test]
    fn what_no_longer_fits_into_the_time_is_given_up_and_the_rest_goes_on() {
        let (supervisor, interrupt) = (Supervisor::default(), Interrupt::never());
        let mut campaign = campaign(&["a", "b", "c"], &supervisor, &interrupt);
        campaign.settings.plan = Some(PairedPlan {
            rounds: 100,
            round: RoundSettings::default(),
            time_budget: None,
            time_per_benchmark: None,
            bind: true,
            seed: 1,
        });
        for (benchmark, seconds) in campaign.targets[0]
            .target
            .benchmarks
            .iter_mut()
            .zip([20, 90, 50])
        {
            benchmark.visit = Duration::from_secs(seconds);
        }
        let all = choose(&mut campaign, 1);
        assert_eq!(all.len(), 3, "there is no budget");
        let mut campaign = campaign.with_time_budget(Some(Duration::from_secs(60)));
        let mut first = choose(&mut campaign, 0);
        first.sort_unstable();
        assert_eq!(first, [0, 1, 2], "everybody has one round");
        let chosen = choose(&mut campaign, 1);
        assert!(chosen == [0] || chosen == [2], "{chosen:?}");
        let benchmarks = &campaign.targets[0].target.benchmarks;
        let done: Vec<bool> = benchmarks.iter().map(|benchmark| benchmark.done).collect();
        assert_eq!(done, [false, true, false], "90 s can come no more");
        let waited: Vec<u32> = benchmarks
            .iter()
            .map(|benchmark| benchmark.waited)
            .collect();
        assert_eq!(waited.iter().sum::<u32>(), 1);
        assert_eq!(waited[chosen[0]], 0);
    }

    #[test]
    fn a_time_budget_goes_to_those_in_doubt_first_and_nobody_loses_rounds_by_waiting() {
        let (supervisor, interrupt) = (Supervisor::default(), Interrupt::never());
        let mut campaign = campaign(&["a", "b", "c"], &supervisor, &interrupt);
        let chosen = |campaign: &mut Campaign<'_>, round| {
            let mut places = choose(campaign, round);
            places.sort_unstable();
            places
        };
        let standing_of = |place| match place {
            0 => LookStatus::Searching,
            1 => LookStatus::Open,
            _ => LookStatus::Settled(Verdict::Unchanged),
        };
        let ids = ["a", "b", "c"];
        let _ = evaluate(&mut campaign, 0, &[0, 1, 2], &mut |benchmark, _, _| {
            let place = ids.iter().position(|id| *id == benchmark.key.id)?;
            Some(standing_of(place))
        });
        assert_eq!(chosen(&mut campaign, 1), [0, 1], "there is time for both");
        let mut campaign = campaign.with_time_budget(Some(Duration::from_secs(60)));
        assert_eq!(chosen(&mut campaign, 1), [1]);
        // A round that is not evaluated does not end the waiting.
        let _ = evaluate(&mut campaign, 1, &[1], &mut |_, _, _| None);
        assert_eq!(chosen(&mut campaign, 2), [1]);
        let left = |campaign: &Campaign<'_>, round| {
            let all = campaign.benchmarks();
            all.map(|benchmark| benchmark.visits_left(round, None))
                .collect::<Vec<_>>()
        };
        let processes = SamplingSettings::default().processes;
        assert_eq!(left(&campaign, 3), [processes - 1, processes - 3, 0]);
        // The speed of the other benchmark has been uncertain for 60 rounds, so the waiting benchmark is visited again.
        campaign.targets[0].target.benchmarks[BenchmarkIndex(1)].measured = 60;
        assert_eq!(chosen(&mut campaign, 3), [0, 1]);
        // No more visits are expected of a target that has no time left.
        campaign.targets[0].target.benchmarks[BenchmarkIndex(1)].measured = 2;
        campaign.targets[0].target.late = Some(3);
        assert!(campaign.is_over());
    }
}
