//! Processes of benches that print their results: one process of each side for one benchmark, one after the other. A printed
//! value is the only sample of its process.

#![expect(
    clippy::disallowed_methods,
    reason = "how long benchmarks take, for the time left"
)]

use std::time::{Duration, Instant};

use super::campaign::Campaign;
use super::driver::Driver;
use super::process::{ActiveProcesses, ProcessObserver};
use super::schedule;
use super::subject::CampaignBenchmark;
use crate::child::{ChildError, PrintedHarness, PrintedRequest, PrintedValue};
use perfcheck_analysis::model::{
    BenchmarkInProcess, Interleaving, ProcessOutcome, Sample, Series, Side,
};

/// Minimum time of a process in a round. It gives one value however long it takes, so it must be worth its start.
const SHORTEST: Duration = Duration::from_millis(50);

impl Campaign<'_> {
    /// Runs one process of each side, for the next wanted benchmark.
    pub(super) fn launch_printed(&mut self, launch: &mut ActiveProcesses) {
        let Some(place) = launch.wanted.pop() else {
            return;
        };
        self.report_visit(launch, place);
        let drivers = self.targets[launch.index].drivers.clone();
        let draw = format!("sides/{}", self.subject(launch, place).benchmark.key.id);
        let bench = &self.targets[launch.index].executables.candidate;
        let order = schedule::order_of_round(self.seed, &draw, bench, launch.round());
        let began = Instant::now();
        let mut sides = Vec::new();
        for side in drivers.sides_in(order) {
            let Driver::Printed(harness) = drivers.get(side) else {
                continue;
            };
            match self.run_printed(launch, place, side, harness) {
                Ok(Some(launched)) => sides.push((side, launched)),
                Ok(None) => return,
                Err(ChildError::Interrupted) => {
                    launch.interrupted = true;
                    return;
                }
                Err(error) => {
                    let message = error.to_string();
                    launch.head(side).failure = Some(message.clone());
                    self.record_failure(launch, place, side, &message);
                    return;
                }
            }
        }
        self.record_success(
            launch,
            place,
            sides,
            Interleaving::Launches,
            began.elapsed(),
        );
        launch.interrupted = self.launcher.interrupt.is_requested();
    }

    /// Runs one process of one side. Returns `None` if the benchmark declines to be measured.
    fn run_printed(
        &mut self,
        launch: &mut ActiveProcesses,
        place: usize,
        side: Side,
        harness: &PrintedHarness,
    ) -> Result<Option<BenchmarkInProcess>, ChildError> {
        let target = &self.targets[launch.index];
        launch.head(side).harness = target.drivers.get(side).harness();
        let spec = launch.spec(target.executables.get(side));
        let subject = self.subject(launch, place);
        let watch = ProcessObserver::start();
        let report = harness.measure(&self.printed_request(subject), &spec, &self.launcher)?;
        let usage = report.usage;
        launch.head(side).conduct = usage.map(|usage| watch.conduct(&usage, report.took));
        match report.reported {
            PrintedValue::Value(value) => {
                let outcome = ProcessOutcome::Measured(single_value_series(value));
                Ok(Some(subject.record(outcome)))
            }
            PrintedValue::Nothing(reason) => {
                self.record_skip(launch, place, &reason);
                Ok(None)
            }
        }
    }

    fn printed_request<'s>(&self, subject: &'s CampaignBenchmark) -> PrintedRequest<'s> {
        let sampling = &subject.resolved.sampling;
        let measurement = Duration::from(sampling.measurement);
        PrintedRequest {
            id: &subject.benchmark.key.id,
            measurement: match self.in_turn {
                None => measurement,
                // The time of a round is shared by both sides.
                Some(_) => (measurement / 2).max(SHORTEST),
            },
            samples: sampling.samples,
        }
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
