//! Launches of benches that print or write down their results: one process for one benchmark. A printed value is the only sample of its launch.

use std::time::Duration;

use super::campaign::{Campaign, Launch};
use super::criterion::{in_force, told};
use super::discover::{ConductWatch, launch_spec, printed_harness};
use crate::child::{ChildError, PrintedHarness, PrintedRequest, PrintedValue};
use perfcheck_analysis::model::{Event, LaunchOutcome, Sample, Series};

/// The one value of a launch as a series.
pub(super) fn series(value: Sample) -> Series {
    Series {
        warm_up: PrintedValue::NO_WARM_UP,
        linear: Vec::new(),
        flat: vec![value],
    }
}

impl Campaign<'_> {
    /// One process, for the benchmark that is wanted next.
    pub(super) fn launch_printed(
        &mut self,
        index: usize,
        round: u32,
        attempt: u32,
        wanted: Vec<usize>,
        harness: &PrintedHarness,
    ) -> Launch {
        let (target, mut launch) = self.begin(index, round, attempt, wanted);
        let Some(place) = launch.wanted.pop() else {
            return launch;
        };
        launch.record.head.harness = Some(printed_harness(harness.printer()));
        self.observe_visit(index, place, &launch);
        let observer = self.launcher.observer;
        let pass_on = |output: &[u8]| observer.observe(&Event::Output(output));
        let means = self.launcher.means(&pass_on);
        let subject = &mut self.targets[index].subjects[place];
        subject.visited += 1;
        let sampling = &subject.resolved.sampling;
        let request = PrintedRequest {
            id: &subject.benchmark.key.id,
            warm_up: Duration::from(sampling.warm_up),
            measurement: Duration::from(sampling.measurement),
            samples: sampling.samples,
        };
        let watch = ConductWatch::start();
        let spec = launch_spec(&target, round, launch.record.head.padding_bytes);
        match harness.measure(&request, &spec, &means) {
            Ok(report) => {
                let conduct = report
                    .usage
                    .map(|usage| watch.conduct_of(&usage, report.took));
                launch.record.head.conduct = conduct;
                subject.took(report.took);
                match report.reported {
                    PrintedValue::Value(value) => {
                        let launched = subject.launched(LaunchOutcome::Measured(series(value)));
                        launch.record.benchmarks.push(launched);
                    }
                    PrintedValue::Samples(reported) => {
                        let mut launched = subject.launched(LaunchOutcome::Failed(String::new()));
                        launched.benchmark = told(&subject.benchmark, &reported);
                        if let Some(measured) = reported.measured {
                            launched.sampling = in_force(launched.sampling, &measured);
                            launched.outcome = LaunchOutcome::Measured(measured.series);
                        }
                        launch.record.benchmarks.push(launched);
                    }
                    PrintedValue::Nothing(reason) => {
                        subject.skipped = true;
                        self.launcher.observer.observe(&Event::Skipped {
                            benchmark: &subject.benchmark.key,
                            reason: &reason,
                        });
                    }
                }
            }
            Err(ChildError::Interrupted) => {
                launch.interrupted = true;
                return launch;
            }
            Err(error) => {
                let message = error.to_string();
                launch.record.head.failure = Some(message.clone());
                self.failed(index, place, &mut launch.record, &message);
            }
        }
        self.done += 1;
        launch.interrupted = self.launcher.interrupt.requested();
        launch
    }
}
