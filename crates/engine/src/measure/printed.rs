//! Processes of benches that print their results or write them to files: one process of each side for one benchmark, one after the other. A printed
//! value is the only sample of its process.

#![expect(
    clippy::disallowed_methods,
    reason = "how long benchmarks take, for the time left"
)]

use std::time::{Duration, Instant};

use super::campaign::Campaign;
use super::chance;
use super::driver::Driver;
use super::launch::{ConductWatch, OpenLaunch};
use super::subject::Subject;
use crate::child::{ChildError, PrintedHarness, PrintedRequest, PrintedValue};
use perfcheck_analysis::model::{LaunchOutcome, LaunchedBenchmark, Sample, Series, Side, Turns};

/// Minimum time of a process in a round. It gives one value however long it takes, so it must be worth its start.
const SHORTEST: Duration = Duration::from_millis(50);

impl Campaign<'_> {
    /// Runs one process of each side, for the next wanted benchmark.
    pub(super) fn launch_printed(&mut self, launch: &mut OpenLaunch) {
        let Some(place) = launch.wanted.pop() else {
            return;
        };
        if launch.is_first() {
            self.tell_rounded_up(launch);
        }
        self.announce(launch, place);
        let drivers = self.targets[launch.index].drivers.clone();
        let draw = format!("sides/{}", self.subject(launch, place).benchmark.key.id);
        let bench = &self.targets[launch.index].executables.candidate;
        let order = chance::order_of_round(self.seed, &draw, bench, launch.round());
        let began = Instant::now();
        let mut sides = Vec::new();
        for side in drivers.present(order) {
            let Driver::Printed(harness) = drivers.of(side) else {
                continue;
            };
            match self.print(launch, place, side, harness) {
                Ok(Some(launched)) => sides.push((side, launched)),
                Ok(None) => return,
                Err(ChildError::Interrupted) => {
                    launch.interrupted = true;
                    return;
                }
                Err(error) => {
                    let message = error.to_string();
                    launch.head(side).failure = Some(message.clone());
                    self.failed(launch, place, side, &message);
                    return;
                }
            }
        }
        self.measured(launch, place, sides, Turns::Launches, began.elapsed());
        launch.interrupted = self.launcher.interrupt.requested();
    }

    /// Runs one process of one side. Returns `None` if the benchmark declines to be measured.
    fn print(
        &mut self,
        launch: &mut OpenLaunch,
        place: usize,
        side: Side,
        harness: &PrintedHarness,
    ) -> Result<Option<LaunchedBenchmark>, ChildError> {
        let target = &self.targets[launch.index];
        launch.head(side).harness = target.drivers.of(side).harness();
        let spec = launch.spec(target.executables.of(side));
        let subject = self.subject(launch, place);
        let watch = ConductWatch::start();
        let report = harness.measure(&self.printed_request(subject), &spec, &self.launcher)?;
        let usage = report.usage;
        launch.head(side).conduct = usage.map(|usage| watch.conduct(&usage, report.took));
        match report.reported {
            PrintedValue::Value(value) => {
                let outcome = LaunchOutcome::Measured(series(value));
                Ok(Some(subject.launched(outcome)))
            }
            PrintedValue::Samples(reported) => match subject.reported(*reported) {
                Some(launched) => Ok(Some(launched)),
                None => Err(ChildError::bench("it wrote no samples down")),
            },
            PrintedValue::Nothing(reason) => {
                self.skipped(launch, place, &reason);
                Ok(None)
            }
        }
    }

    fn printed_request<'s>(&self, subject: &'s Subject) -> PrintedRequest<'s> {
        let sampling = &subject.resolved.sampling;
        let measurement = Duration::from(sampling.measurement);
        PrintedRequest {
            id: &subject.benchmark.key.id,
            warm_up: sampling.warm_up.into(),
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
fn series(value: Sample) -> Series {
    Series {
        warm_up: Sample::UNTIMED,
        linear: Vec::new(),
        flat: vec![value],
    }
}
