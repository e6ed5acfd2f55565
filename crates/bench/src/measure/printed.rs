//! The driver of benches that print their results. Each benchmark gets a process of each side, one after the other. A printed value is the only
//! sample of its process.

#![expect(
    clippy::disallowed_methods,
    reason = "how long benchmarks take, for the time left"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::benchmark::{BenchmarkIndex, SkippedVisit};
use super::driver::{BenchDriver, SuccessfulVisit, TargetRound};
use super::process::{Interrupted, ProcessObserver};
use super::sides::{CampaignSides, SideResult};
use crate::child::{ChildError, PrintedHarness, PrintedRequest, PrintedValue};
use perfcheck_analysis::model::{
    BenchmarkInProcess, Harness, Interleaving, Nanos, ProcessOutcome, Sample, Series, Side,
};

/// Minimum time of a process in a round. A process gives one value however short it is, so a very short one is not worth its start.
const SHORTEST: Duration = Duration::from_millis(50);

/// Drives a target whose harness only prints.
pub(super) struct PrintedDriver {
    harnesses: CampaignSides<Arc<PrintedHarness>>,
}

impl BenchDriver for PrintedDriver {
    /// Runs one process of each side, for the next unvisited benchmark.
    fn run_processes(&mut self, round: &mut TargetRound<'_, '_>) -> Result<(), Interrupted> {
        let Some(index) = round.unvisited.pop() else {
            return Ok(());
        };
        round.report_visit(index);
        let order =
            round.order_of_sides(&format!("sides/{}", round.benchmark(index).subject.key.id));
        let began = Instant::now();
        let mut sides = Vec::new();
        for side in self.harnesses.sides_in(order) {
            match self.run_process(round, index, side) {
                Ok(Some(result)) => sides.push(SideResult { side, result }),
                Ok(None) => return Ok(()),
                Err(ChildError::Interrupted) => return Err(Interrupted),
                Err(error) => {
                    let message = error.to_string();
                    round.processes.head(side).failure = Some(message.clone());
                    round.record_failure(index, side, &message);
                    return Ok(());
                }
            }
        }
        let visit = SuccessfulVisit {
            sides,
            interleaving: Interleaving::Processes,
            time: began.elapsed(),
        };
        round.record_success(index, visit);
        round.check_interrupt()
    }
}

impl PrintedDriver {
    pub(super) fn new(harnesses: CampaignSides<Arc<PrintedHarness>>) -> Self {
        Self { harnesses }
    }

    /// Returns the facts known about the harness of a side. The resolution of its clock is unknown. It is set to 0, so that no value is rejected as
    /// too short.
    fn harness(&self, side: Side) -> Harness {
        Harness {
            name: self.harnesses.get(side).printer().word().to_owned(),
            version: String::new(),
            quantum: Nanos(0),
        }
    }

    /// Runs one process of one side. Returns `None` if the benchmark declines to be measured.
    fn run_process(
        &self,
        round: &mut TargetRound<'_, '_>,
        index: BenchmarkIndex,
        side: Side,
    ) -> Result<Option<BenchmarkInProcess>, ChildError> {
        round.processes.head(side).harness = Some(self.harness(side));
        let spec = round.processes.spec(round.target.executables.get(side));
        let watch = ProcessObserver::start();
        let request = printed_request(round, index, side);
        let harness = self.harnesses.get(side);
        let report = harness.measure(&request, &spec, &round.settings.context)?;
        let usage = report.usage;
        round.processes.head(side).conduct =
            usage.map(|usage| watch.process_usage(&usage, report.took));
        let benchmark = round.benchmark(index);
        match report.reported {
            PrintedValue::Value(value) => {
                let outcome = ProcessOutcome::Measured(single_value_series(value));
                Ok(Some(benchmark.record(outcome)))
            }
            PrintedValue::Nothing(reason) => {
                round.record_skip(index, SkippedVisit { side, reason });
                Ok(None)
            }
        }
    }
}

fn printed_request<'r>(
    round: &'r TargetRound<'_, '_>,
    index: BenchmarkIndex,
    side: Side,
) -> PrintedRequest<'r> {
    let benchmark = round.benchmark(index);
    let sampling = &benchmark.resolved.sampling;
    let measurement = Duration::from(sampling.measurement);
    PrintedRequest {
        id: benchmark.id_on(side),
        measurement: match round.settings.plan {
            None => measurement,
            // The time of a round is shared by both sides.
            Some(_) => (measurement / 2).max(SHORTEST),
        },
        samples: sampling.samples,
    }
}

/// Returns the only value of a process as a series.
fn single_value_series(value: Sample) -> Series {
    Series {
        warm_up: Sample::UNTIMED,
        linear: Vec::new(),
        flat: vec![value],
    }
}
