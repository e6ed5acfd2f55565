//! The interface between a campaign and its drivers. Each kind of harness has a driver, which runs its processes. While a driver runs the processes
//! of one target, it sees a round of that target, and not the campaign. All drivers share the operations on a round.

use std::time::Duration;

use super::benchmark::{BenchmarkIndex, CampaignBenchmark, SkippedVisit, TimePrecision};
use super::plan::CampaignSettings;
use super::process::{ActiveProcesses, Interrupted, ProcessObserver};
use super::progress::RemainingWork;
use super::schedule;
use super::sides::SideResult;
use super::target::Target;
use perfcheck_analysis::model::{
    BenchmarkInProcess, BenchmarkKey, Event, Interleaving, ProcessOutcome, Round, Sample, Side,
};
use perfcheck_stats::Draws;

/// Drives the processes of a bench target. Holds the state that only its kind of harness needs.
pub(super) trait BenchDriver {
    /// Returns how exactly the harness accepts times.
    fn time_precision(&self) -> TimePrecision {
        TimePrecision::Exactly
    }

    /// Explains why the harness measures for longer than requested, or returns `None` if it does not.
    fn explain_rounding(&self) -> Option<String> {
        None
    }

    /// Reports whether later rounds sample for longer than the first ones.
    fn lengthens_rounds(&self) -> bool {
        false
    }

    /// Reports whether the two sides can be alive at the same time.
    fn runs_sides_together(&self) -> bool {
        true
    }

    /// Prepares for the first process of the target. For example, Criterion's driver finds out how long iterations
    /// take.
    fn prepare(&mut self, _round: &mut TargetRound<'_, '_>) {}

    /// Runs one process of each side, for as many of the unvisited benchmarks as possible.
    fn run_processes(&mut self, round: &mut TargetRound<'_, '_>) -> Result<(), Interrupted>;
}

/// An update of Criterion is suggested if it would save at least this time.
const WORTH_AN_UPDATE: Duration = Duration::from_secs(5);

/// A round of a target, with one process of each side.
pub(super) struct TargetRound<'r, 'c> {
    pub(super) target: &'r mut Target,
    pub(super) settings: &'r CampaignSettings<'c>,
    pub(super) processes: ActiveProcesses,
    /// The benchmarks that this round must still visit. They are taken from the end.
    pub(super) unvisited: Vec<BenchmarkIndex>,
    /// Number of visits of the campaign that have ended.
    pub(super) ended_visits: &'r mut usize,
    /// The remaining work of the other targets.
    pub(super) others: RemainingWork,
}

/// A successful visit.
pub(super) struct SuccessfulVisit<T> {
    /// The result of each side.
    pub(super) sides: Vec<SideResult<T>>,
    /// How two sides alternated.
    pub(super) interleaving: Interleaving,
    /// How long the visit took, including its share of the time for starting the processes.
    pub(super) time: Duration,
}

impl TargetRound<'_, '_> {
    pub(super) fn benchmark(&self, index: BenchmarkIndex) -> &CampaignBenchmark {
        &self.target.benchmarks[index]
    }

    pub(super) fn benchmark_mut(&mut self, index: BenchmarkIndex) -> &mut CampaignBenchmark {
        &mut self.target.benchmarks[index]
    }

    /// Returns the random numbers for `purpose` in these processes.
    pub(super) fn draws(&self, purpose: &str) -> Draws {
        let bench = &self.target.executables.candidate;
        schedule::stream(self.settings.seed, purpose, bench, self.processes.block)
    }

    /// Returns the order of the sides if their processes run one after the other.
    pub(super) fn order_of_sides(&self, purpose: &str) -> [Side; 2] {
        let bench = &self.target.executables.candidate;
        schedule::order_of_round(self.settings.seed, purpose, bench, self.processes.round())
    }

    /// Runs the control workload, then starts to observe a process that is about to start.
    pub(super) fn observe_after_control(&self) -> ProcessObserver {
        ProcessObserver::after_control(self.settings.control.as_ref(), self.processes.round())
    }

    pub(super) fn check_interrupt(&self) -> Result<(), Interrupted> {
        if self.settings.context.interrupt.is_requested() {
            Err(Interrupted)
        } else {
            Ok(())
        }
    }

    /// Reports that a benchmark is about to be visited.
    pub(super) fn report_visit(&self, index: BenchmarkIndex) {
        let settings = self.settings;
        let round = self.processes.round();
        let own = RemainingWork::estimate(self.target, settings, round);
        let left: RemainingWork = [own, self.others].into_iter().sum();
        settings.context.observer.observe(&Event::Visiting {
            benchmark: &self.benchmark(index).subject.key,
            process: round,
            done: *self.ended_visits,
            visits: *self.ended_visits + left.visits,
            left: left.time_left(settings),
            bound: left.estimate_kind(settings),
            settled: left.settled,
        });
    }

    /// Warns of the time that rounding up to whole seconds costs, if that justifies an update. `reason` explains the rounding.
    pub(super) fn report_rounding(&self, reason: &str) {
        let (round, limit) = (self.processes.round(), self.settings.time_per_benchmark());
        let sum = |time: fn(&CampaignBenchmark) -> Duration| -> Duration {
            let open = self.target.open_benchmarks();
            open.map(|benchmark| time(benchmark) * benchmark.visits_left(round, limit))
                .sum()
        };
        let saved = sum(CampaignBenchmark::rounding_cost);
        if saved < WORTH_AN_UPDATE {
            return;
        }
        let bench = &self.target.executables.candidate;
        self.warn(&format!(
            "{}/{}: {reason}; an update to Criterion 0.4 or later would save {:.0} s of {:.0} s",
            bench.package,
            bench.target,
            saved.as_secs_f64(),
            sum(|benchmark| benchmark.visit).as_secs_f64()
        ));
    }

    /// Records a successful visit for each side.
    pub(super) fn record_success(
        &mut self,
        index: BenchmarkIndex,
        visit: SuccessfulVisit<BenchmarkInProcess>,
    ) {
        let SuccessfulVisit {
            sides,
            interleaving,
            time,
        } = visit;
        let is_pair = self.processes.is_pair();
        let layout = self.processes.records.candidate.head.layout;
        let benchmark = self.benchmark_mut(index);
        benchmark.record_visit(time);
        if let Some(first) = sides.first() {
            benchmark.subject.metric = first.result.benchmark.metric.clone();
        }
        if is_pair {
            let find = |side| sides.iter().find(|one| one.side == side);
            let samples = |side| {
                find(side)
                    .map(|one| comparable_samples(&one.result))
                    .unwrap_or_default()
            };
            let led = find(Side::Candidate).map(|candidate| candidate.result.extras.led.clone());
            benchmark.rounds.push(Round {
                base: samples(Side::Base),
                candidate: samples(Side::Candidate),
                led: led.unwrap_or_default(),
                layout,
            });
        }
        for SideResult { side, mut result } in sides {
            if is_pair {
                result.sampling.turns = interleaving;
            }
            let record = self.processes.records.get_mut(side);
            record.benchmarks.push(result);
        }
        *self.ended_visits += 1;
    }

    /// Records that a benchmark declined to be measured: this one, or the one that the base measures beside it.
    pub(super) fn record_skip(&mut self, index: BenchmarkIndex, skipped: SkippedVisit) {
        *self.ended_visits += 1;
        let executable = self.target.executables.get(skipped.side);
        let declined = BenchmarkKey {
            package: executable.package.clone(),
            target: executable.target.clone(),
            id: self.benchmark(index).id_on(skipped.side).to_owned(),
        };
        self.settings.context.observer.observe(&Event::Skipped {
            benchmark: &declined,
            reason: &skipped.reason,
        });
        let benchmark = self.benchmark_mut(index);
        benchmark.done = true;
        benchmark.skipped = Some(skipped);
    }

    /// Records a failure on `side` as a failure of both sides, because the other side has nothing to be compared with.
    pub(super) fn record_failure(&mut self, index: BenchmarkIndex, side: Side, message: &str) {
        *self.ended_visits += 1;
        self.benchmark_mut(index).failures += 1;
        let benchmark = &self.target.benchmarks[index];
        self.settings.context.observer.observe(&Event::VisitFailed {
            benchmark: &benchmark.subject.key,
            process: self.processes.round(),
            side,
            message,
        });
        let records = &mut self.processes.records;
        for recorded in records.sides_in(Side::BOTH) {
            let failed = benchmark.record(ProcessOutcome::Failed {
                side,
                message: message.to_owned(),
            });
            records.get_mut(recorded).benchmarks.push(failed);
        }
    }

    /// Warns that a process failed on `side` after everything was measured.
    pub(super) fn warn_of_late_failure(&mut self, side: Side, message: &str) {
        let head = self.processes.head(side);
        head.failure = Some(message.to_owned());
        let message = format!("{}/{}: {message}", head.package, head.target);
        self.warn(&message);
    }

    pub(super) fn warn(&self, message: &str) {
        let observer = self.settings.context.observer;
        observer.observe(&Event::Warning(message));
    }

    /// Returns a function that chooses the processor to which a benchmark is bound. Returns `None` if the benchmark is not bound, because one
    /// processor is not known to be enough for it. The choice is drawn anew for each pair of processes. A single side is never bound.
    pub(super) fn choose_processor(
        &self,
        index: BenchmarkIndex,
    ) -> Option<impl FnOnce(u32) -> usize + Clone + use<>> {
        let may_bind = self.settings.plan.is_some_and(|plan| plan.bind);
        let is_bound = may_bind && self.benchmark(index).is_solitary == Some(true);
        is_bound.then(|| {
            let mut draws = self.draws("processor");
            move |count| draws.index(count)
        })
    }
}

/// Returns the samples of one side that can be compared with each other.
fn comparable_samples(record: &BenchmarkInProcess) -> Vec<Sample> {
    match &record.outcome {
        ProcessOutcome::Measured(series) => series.comparable_samples(),
        ProcessOutcome::Failed { .. } => Vec::new(),
    }
}
