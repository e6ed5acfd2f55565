//! Benches of both sides that print or write down their results: a process of the one side, then one of the other, for one benchmark at a time.
//!
//! The side that goes first is drawn for every two rounds and turns around in the second: ABBA or BAAB.

#![expect(
    clippy::disallowed_methods,
    reason = "how long benchmarks take, for the time left"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::launch_pair::LaunchPair;
use super::rounds::PairedCampaign;
use super::turns::{Turn, order};
use crate::child::{ChildError, PrintedHarness, PrintedRequest, PrintedValue};
use crate::measure::chance;
use crate::measure::criterion::in_force;
use crate::measure::discover::{ConductWatch, launch_spec, printed_harness};
use crate::measure::printed::series;
use perfcheck_analysis::model::{Beside, BySide, Event, Metric, Throughput, Turns};

/// A launch has one value, however long it takes, so it is made worth its start.
const SHORTEST: Duration = Duration::from_millis(50);

impl PairedCampaign<'_> {
    /// One process of each side, for the benchmark that is wanted next.
    pub(super) fn one_by_one(
        &mut self,
        index: usize,
        pair: &mut LaunchPair,
        harnesses: &BySide<Arc<PrintedHarness>>,
    ) {
        let Some(place) = pair.wanted.pop() else {
            return;
        };
        self.announce(index, place, pair);
        let targets = self.targets[index].targets.clone();
        let id = self.targets[index].subjects[place].benchmark.key.id.clone();
        let round = pair.records.candidate.head.ordinal;
        let draw = format!("sides/{id}");
        let mut coin = chance::draws(
            self.plan.seed,
            &draw,
            &targets.candidate,
            u64::from(round / 2),
        );
        let mut sides = order(&mut coin);
        if round % 2 == 1 {
            sides.reverse();
        }
        let observer = self.launcher.observer;
        let pass_on = |output: &[u8]| observer.observe(&Event::Output(output));
        let means = self.launcher.means(&pass_on);
        let request = PrintedRequest {
            id: &id,
            warm_up: self.plan.round.warm_up.into(),
            measurement: (Duration::from(self.plan.round.time) / 2).max(SHORTEST),
            samples: None,
        };
        let began = Instant::now();
        let mut turns = BySide::<Option<Turn>>::default();
        for side in sides {
            let head = &mut pair.records.of_mut(side).head;
            let harness = harnesses.of(side);
            head.harness = Some(printed_harness(harness.printer()));
            let spec = launch_spec(targets.of(side), head.ordinal, head.padding_bytes);
            let watch = ConductWatch::start();
            match harness.measure(&request, &spec, &means) {
                Ok(report) => {
                    let conduct = report
                        .usage
                        .map(|usage| watch.conduct_of(&usage, report.took));
                    head.conduct = conduct;
                    *turns.of_mut(side) = match report.reported {
                        PrintedValue::Value(value) => Some(Turn {
                            series: series(value),
                            throughput: Throughput::default(),
                            metric: Some(Metric::Time),
                            sampling: None,
                            beside: Beside::default(),
                        }),
                        PrintedValue::Samples(reported) => {
                            let sampling = self.targets[index].subjects[place].sampling;
                            reported.measured.map(|measured| Turn {
                                sampling: Some(in_force(sampling, &measured)),
                                series: measured.series,
                                throughput: reported.throughput,
                                metric: Some(measured.metric),
                                beside: Beside::default(),
                            })
                        }
                        PrintedValue::Nothing(reason) => {
                            self.skipped(index, place, &reason);
                            return;
                        }
                    };
                }
                Err(ChildError::Interrupted) => {
                    pair.interrupted = true;
                    return;
                }
                Err(error) => {
                    let message = error.to_string();
                    head.failure = Some(message.clone());
                    self.failed(index, place, pair, side, &message);
                    return;
                }
            }
        }
        self.done += 1;
        let subject = &mut self.targets[index].subjects[place];
        subject.time += began.elapsed();
        if let BySide {
            base: Some(base),
            candidate: Some(candidate),
        } = turns
        {
            subject.measured(BySide { base, candidate }, Turns::Launches, pair);
        }
    }
}
