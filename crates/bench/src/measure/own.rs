//! The driver of our own harness, which carries out requests. Both sides are alive at the same time, or run one after the other if they cannot be.

#![expect(
    clippy::disallowed_methods,
    reason = "how long processes take, for the time left"
)]

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::benchmark::{BenchmarkIndex, PerBenchmark};
use super::driver::{BenchDriver, SuccessfulVisit, TargetRound};
use super::process::{CpuPinning, Interrupted, PinnableChild, ProcessObserver, SharedCache};
use super::schedule::{self, SampleLayout};
use super::sides::{CampaignSides, SideChild, SideError, SideResult};
use super::visit::{
    RoundSampling, Sampling, VisitOutcome, VisitRequest, VisitResult, lay_out_again, visit,
};
use crate::child::{Capability, ChildError, Session};
use perfcheck_analysis::model::{
    BenchmarkInProcess, BySide, Harness, Interleaving, ProcessOutcome, ProcessUsage, Side,
    Throughput,
};

/// If a benchmark fails this many times while both sides are alive, and then succeeds with one side at a time, the two sides always run one after the
/// other from then on.
const TRIALS: u32 = 2;

/// Whether the processes of the two sides run at the same time. It stays `Together` if only one side is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProcessOverlap {
    /// The processes of both sides are alive at the same time, and are sampled alternately.
    Together,
    /// A benchmark failed while the processes of both sides were alive, so it is tried with one side at a time.
    OnTrial,
    /// The processes of the two sides cannot be alive at the same time, so they run one after the other.
    Apart,
}

/// Drives a target with our own harness.
pub(super) struct OwnDriver {
    overlap: ProcessOverlap,
    benchmarks: PerBenchmark<OwnBenchmark>,
    /// The processor cache of the machine. The drivers of all targets share this value.
    shared_cache: Rc<RefCell<SharedCache>>,
}

/// The state of a benchmark in this driver.
#[derive(Debug, Clone, Default)]
struct OwnBenchmark {
    /// The layout of the benchmark's samples on each side, which the first visit determines.
    layouts: Option<CampaignSides<SampleLayout>>,
    /// How many times in a row the benchmark failed while both sides were alive, and then succeeded with one side at a time.
    trials: u32,
}

/// A visit that did not fail.
struct PinnedVisit {
    outcome: VisitOutcome,
    /// Whether one processor was enough for the visit. `None` if that is unknown.
    is_solitary: Option<bool>,
}

/// The processes of a visit, and how they are observed.
struct LiveChildren<'v, 's> {
    children: &'v mut [SideChild<Session<'s>>],
    watch: &'v mut ProcessObserver,
    /// Each benchmark's share of the time for starting the processes.
    start_time: Duration,
}

impl BenchDriver for OwnDriver {
    fn lengthens_rounds(&self) -> bool {
        true
    }

    fn runs_sides_together(&self) -> bool {
        self.overlap != ProcessOverlap::Apart
    }

    fn run_processes(&mut self, round: &mut TargetRound<'_, '_>) -> Result<(), Interrupted> {
        let overlap = self.overlap;
        let ended = match overlap {
            ProcessOverlap::Together => self.run_together(round),
            ProcessOverlap::OnTrial | ProcessOverlap::Apart => self.run_apart(round),
        };
        let SideError { side, error } = match ended {
            Ok(()) => return Ok(()),
            Err(failure) if matches!(failure.error, ChildError::Interrupted) => {
                return Err(Interrupted);
            }
            Err(failure) => failure,
        };
        let message = error.to_string();
        match overlap {
            ProcessOverlap::Together if !round.processes.is_pair() => {
                round.processes.head(side).failure = Some(message.clone());
                if round.processes.records.get(side).benchmarks.is_empty() {
                    // A process that reached no benchmark would fail in the same way again.
                    for index in std::mem::take(&mut round.unvisited) {
                        round.record_failure(index, side, &message);
                    }
                }
            }
            // Before this counts as a failure of the benchmark, try the benchmark with one side at a time.
            ProcessOverlap::Together => self.overlap = ProcessOverlap::OnTrial,
            ProcessOverlap::OnTrial | ProcessOverlap::Apart => {
                if overlap == ProcessOverlap::OnTrial {
                    self.overlap = ProcessOverlap::Together;
                }
                if let Some(index) = round.unvisited.pop() {
                    round.record_failure(index, side, &message);
                }
            }
        }
        Ok(())
    }
}

impl OwnDriver {
    pub(super) fn new(benchmarks: usize, shared_cache: Rc<RefCell<SharedCache>>) -> Self {
        Self {
            overlap: ProcessOverlap::Together,
            benchmarks: PerBenchmark::repeat(OwnBenchmark::default(), benchmarks),
            shared_cache,
        }
    }

    /// Visits benchmarks while all sides are alive. With two sides, a benchmark stays unvisited until it has been measured.
    fn run_together(&mut self, round: &mut TargetRound<'_, '_>) -> Result<(), SideError> {
        let mut coin = round.draws("sides");
        let began = Instant::now();
        let mut watch = round.observe_after_control();
        let mut children = Vec::new();
        let order = schedule::draw_order(&mut coin);
        for side in round.processes.records.sides_in(order) {
            let session = start(round, side).map_err(SideError::on(side))?;
            children.push(SideChild { side, session });
        }
        let benchmarks = u32::try_from(round.unvisited.len()).unwrap_or(u32::MAX);
        let live = LiveChildren {
            children: &mut children,
            watch: &mut watch,
            start_time: began.elapsed() / benchmarks,
        };
        self.visit_all(round, live)?;
        children.sort_by_key(|child| child.side);
        for SideChild { side, session } in &mut children {
            round.processes.head(*side).conduct = process_usage(&watch, session);
        }
        for SideChild { side, mut session } in children {
            // Two sides do not run to their end, because the code after the benchmarks of one side would run at the same time as the other side.
            let ended = if round.processes.is_pair() {
                Ok(())
            } else {
                session.run_to_end()
            };
            match ended.and_then(|()| session.bye()) {
                Ok(()) => {}
                Err(error @ ChildError::Interrupted) => return Err(SideError { side, error }),
                // The failure of the last benchmark has already been recorded.
                Err(_) if last_failed(&round.processes.records.get(side).benchmarks) => {}
                Err(error) => round.warn_of_late_failure(side, &error.to_string()),
            }
        }
        Ok(())
    }

    /// Visits the unvisited benchmarks while the children live.
    fn visit_all(
        &mut self,
        round: &mut TargetRound<'_, '_>,
        mut live: LiveChildren<'_, '_>,
    ) -> Result<(), SideError> {
        let is_addressable = live
            .children
            .iter()
            .all(|child| child.session.hello().capability() == Some(Capability::Addressable));
        if !is_addressable {
            // The children go through their benchmarks in program order, and `unvisited` is taken from its end, so it must be in reverse order.
            round.unvisited.sort_unstable_by(|a, b| b.cmp(a));
        }
        let mut progress = false;
        while let Some(index) = round.unvisited.last().copied() {
            // Children in program order have passed the benchmark of the base. Another process will reach it again.
            if progress && !is_addressable && round.benchmark(index).base_id.is_some() {
                break;
            }
            round.report_visit(index);
            let began = Instant::now();
            let choice = round.choose_processor(index);
            match self.visit_pinned(round, index, &mut live, choice) {
                Ok(PinnedVisit {
                    outcome: VisitOutcome::Measured(sides),
                    is_solitary,
                }) => {
                    round.unvisited.pop();
                    round
                        .benchmark_mut(index)
                        .note_processor_use(&[is_solitary]);
                    self.benchmarks[index].trials = 0;
                    let visit = SuccessfulVisit {
                        sides,
                        interleaving: Interleaving::Samples,
                        time: began.elapsed() + live.start_time,
                    };
                    self.record_visit(round, index, visit);
                }
                Ok(PinnedVisit {
                    outcome: VisitOutcome::Skipped(skipped),
                    ..
                }) => {
                    round.unvisited.pop();
                    round.record_skip(index, skipped);
                }
                // The program of one side may have another order, and may have passed this benchmark already. Another process will reach it.
                Ok(PinnedVisit {
                    outcome: VisitOutcome::Absent(_),
                    ..
                }) if progress => break,
                Err(failure)
                    if round.processes.is_pair()
                        && !is_addressable
                        && progress
                        && failure.error.leaves_child_usable() =>
                {
                    break;
                }
                Ok(PinnedVisit {
                    outcome: VisitOutcome::Absent(side),
                    ..
                }) => visit_failed(round, index, SideError::on(side)(absent_error()))?,
                Err(failure) => visit_failed(round, index, failure)?,
            }
            progress = true;
            if round.check_interrupt().is_err() {
                return Err(SideError::on(Side::Candidate)(ChildError::Interrupted));
            }
        }
        Ok(())
    }

    /// Visits one benchmark in one process of each side, one after the other. The order changes between rounds.
    fn run_apart(&mut self, round: &mut TargetRound<'_, '_>) -> Result<(), SideError> {
        let Some(index) = round.unvisited.last().copied() else {
            return Ok(());
        };
        round.report_visit(index);
        let whole = Instant::now();
        let mut sides = Vec::new();
        // Choose once for both sides, so that they run on the same processor.
        let choice = round.choose_processor(index);
        let mut processor_uses = Vec::new();
        for side in round.order_of_sides("sides") {
            let began = Instant::now();
            let mut watch = ProcessObserver::start();
            let session = start(round, side).map_err(SideError::on(side))?;
            let mut children = [SideChild { side, session }];
            let mut live = LiveChildren {
                start_time: began.elapsed(),
                children: &mut children,
                watch: &mut watch,
            };
            let visited = self.visit_pinned(round, index, &mut live, choice.clone())?;
            processor_uses.push(visited.is_solitary);
            let [SideChild { mut session, .. }] = children;
            round.processes.head(side).conduct = process_usage(&watch, &mut session);
            match visited.outcome {
                VisitOutcome::Measured(measured) => sides.extend(measured),
                VisitOutcome::Skipped(skipped) => {
                    session.bye().map_err(SideError::on(side))?;
                    round.unvisited.pop();
                    round.record_skip(index, skipped);
                    return Ok(());
                }
                VisitOutcome::Absent(side) => return Err(SideError::on(side)(absent_error())),
            }
            session.bye().map_err(SideError::on(side))?;
        }
        round.unvisited.pop();
        round
            .benchmark_mut(index)
            .note_processor_use(&processor_uses);
        let visit = SuccessfulVisit {
            sides,
            interleaving: self.note_success_apart(round, index),
            time: whole.elapsed(),
        };
        self.record_visit(round, index, visit);
        Ok(())
    }

    /// Notes that a benchmark succeeded in processes that ran one after the other. Returns the interleaving that is recorded for its samples.
    fn note_success_apart(
        &mut self,
        round: &TargetRound<'_, '_>,
        index: BenchmarkIndex,
    ) -> Interleaving {
        if self.overlap != ProcessOverlap::OnTrial {
            return Interleaving::Processes;
        }
        let benchmark = &mut self.benchmarks[index];
        benchmark.trials += 1;
        if benchmark.trials < TRIALS {
            // One failure while both sides were alive may be an accident, so nothing changes yet.
            self.overlap = ProcessOverlap::Together;
            return Interleaving::Samples;
        }
        self.overlap = ProcessOverlap::Apart;
        let bench = &round.target.executables.candidate;
        round.warn(&format!(
            "{}/{}: the two sides cannot run at the same time, so their processes alternate",
            bench.package, bench.target
        ));
        Interleaving::Processes
    }

    /// Visits one benchmark in these children, on the processor that `choice` picks.
    fn visit_pinned(
        &mut self,
        round: &TargetRound<'_, '_>,
        index: BenchmarkIndex,
        live: &mut LiveChildren<'_, '_>,
        choice: Option<impl FnOnce(u32) -> usize>,
    ) -> Result<PinnedVisit, SideError> {
        let benchmark = round.benchmark(index);
        let ids = BySide {
            base: benchmark.id_on(Side::Base),
            candidate: benchmark.id_on(Side::Candidate),
        };
        let sampling = match &round.settings.plan {
            None => Sampling::Process(benchmark.resolved),
            Some(plan) => Sampling::Round(RoundSampling {
                settings: plan.round,
                start_time: live.start_time,
                had: benchmark.rounds.len(),
                subjects: benchmark.paired_subjects(),
                coin: round.draws(&format!("quads/{}", ids.candidate)),
            }),
        };
        let request = VisitRequest {
            ids,
            metric: &benchmark.subject.metric,
            layouts: &mut self.benchmarks[index].layouts,
            known_ns: benchmark.lengths.candidate.known_ns_if_short(),
            sampling,
            shared_cache: &mut self.shared_cache.borrow_mut(),
        };
        let pinning = CpuPinning::bind(live.children, choice);
        live.watch.note_processor(pinning.processor());
        let outcome = visit(live.children, request)?;
        Ok(PinnedVisit {
            outcome,
            is_solitary: pinning.release(live.children),
        })
    }

    /// Records the result of a visit.
    fn record_visit(
        &mut self,
        round: &mut TargetRound<'_, '_>,
        index: BenchmarkIndex,
        visit: SuccessfulVisit<VisitResult>,
    ) {
        let benchmark = round.benchmark(index);
        let layouts = &mut self.benchmarks[index].layouts;
        if let (Some(plan), Some(known)) = (&round.settings.plan, &*layouts)
            && benchmark.subject.metric.is_timed()
            && let Some(again) = lay_out_again(&plan.round, known, benchmark, &visit.sides)
        {
            *layouts = Some(again);
        }
        let record = |side: SideResult<VisitResult>| {
            let VisitResult {
                series,
                throughput,
                extras,
            } = side.result;
            let mut result = benchmark.record(ProcessOutcome::Measured(series));
            result.extras = extras;
            if throughput != Throughput::default() {
                result.benchmark.throughput = throughput;
            }
            SideResult {
                side: side.side,
                result,
            }
        };
        let visit = SuccessfulVisit {
            sides: visit.sides.into_iter().map(record).collect(),
            interleaving: visit.interleaving,
            time: visit.time,
        };
        round.benchmark_mut(index).note_lengths(&visit.sides);
        round.record_success(index, visit);
    }
}

/// Handles a visit that failed while all sides were alive. With one side the failure is recorded at once, and the child may go on. Returns `Err` if
/// the child cannot be used any further, or if the benchmark is first to be tried with one side at a time.
fn visit_failed(
    round: &mut TargetRound<'_, '_>,
    index: BenchmarkIndex,
    failure: SideError,
) -> Result<(), SideError> {
    let SideError { side, error } = &failure;
    if round.processes.is_pair() || matches!(error, ChildError::Interrupted) {
        return Err(failure);
    }
    round.unvisited.pop();
    round.record_failure(index, *side, &error.to_string());
    if error.leaves_child_usable() {
        Ok(())
    } else {
        Err(failure)
    }
}

/// Starts the executable of one side.
fn start<'c>(round: &mut TargetRound<'_, 'c>, side: Side) -> Result<Session<'c>, ChildError> {
    let spec = round.processes.spec(round.target.executables.get(side));
    let head = round.processes.head(side);
    let started = Session::start(&spec, &round.settings.context);
    let session = started.inspect_err(|error| head.failure = Some(error.to_string()))?;
    let hello = session.hello();
    head.harness = Some(Harness {
        name: hello.harness.clone(),
        version: hello.version.clone(),
        quantum: hello.quantum_ns,
    });
    match hello.capability() {
        Some(_) => Ok(session),
        None => Err(ChildError::Capability),
    }
}

/// Returns the resources used by a process that has answered its last request. Returns `None` if the system does not report them.
fn process_usage(watch: &ProcessObserver, session: &mut Session<'_>) -> Option<ProcessUsage> {
    let usage = session.usage()?;
    Some(watch.process_usage(&usage, session.working_time()))
}

fn absent_error() -> ChildError {
    ChildError::bench("the bench no longer lists this benchmark")
}

/// Reports whether the last benchmark of a process failed.
fn last_failed(benchmarks: &[BenchmarkInProcess]) -> bool {
    let last = benchmarks.last().map(|last| &last.outcome);
    matches!(last, Some(ProcessOutcome::Failed { .. }))
}
