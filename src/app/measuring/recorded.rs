//! Rounds kept in memory instead of the store, for `doctor` and `doctor --benches`.

use std::collections::BTreeMap;

use perfcheck_analysis::model::{
    BenchmarkKey, BySide, LaunchOutcome, LaunchRecord, Metric, Round, Sample, Side,
};

/// Rounds recorded in memory.
#[derive(Default)]
pub(in crate::app) struct Recorded {
    samples: BTreeMap<BenchmarkKey, BySide<BTreeMap<u32, Vec<Sample>>>>,
    /// The metric that the samples measure
    pub(in crate::app) metrics: BTreeMap<BenchmarkKey, Metric>,
    pub(in crate::app) failed: Vec<BenchmarkKey>,
}

impl Recorded {
    /// Records a process of one side.
    pub(in crate::app) fn record(&mut self, side: Side, launch: &LaunchRecord) {
        for launched in &launch.benchmarks {
            let key = launched.benchmark.key.clone();
            match &launched.outcome {
                LaunchOutcome::Measured(series) => {
                    let metric = launched.benchmark.metric.clone();
                    self.metrics.insert(key.clone(), metric);
                    let sides = self.samples.entry(key).or_default();
                    let round = launch.head.ordinal;
                    sides.of_mut(side).insert(round, series.alike());
                }
                LaunchOutcome::Failed(_) => self.failed.push(key),
            }
        }
    }

    /// Returns the rounds with measurements of both sides.
    pub(in crate::app) fn rounds(self) -> BTreeMap<BenchmarkKey, Vec<Round>> {
        let both = |mut sides: BySide<BTreeMap<u32, Vec<Sample>>>| {
            let base = sides.base.into_iter();
            base.filter_map(|(round, base)| {
                let candidate = sides.candidate.remove(&round)?;
                Some(Round {
                    base,
                    candidate,
                    led: Vec::new(),
                    layout: None,
                })
            })
            .collect()
        };
        let samples = self.samples.into_iter();
        samples.map(|(key, sides)| (key, both(sides))).collect()
    }
}
