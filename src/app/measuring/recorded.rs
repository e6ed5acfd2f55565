//! Rounds kept in memory instead of the store, for `doctor` and `doctor --benches`.

use std::collections::BTreeMap;

use perfcheck_analysis::model::{
    BenchmarkKey, BySide, Metric, ProcessOutcome, ProcessRecord, Round, Sample, Side,
};

/// Rounds recorded in memory.
#[derive(Default)]
pub(in crate::app) struct RecordedRounds {
    samples: BTreeMap<BenchmarkKey, BySide<BTreeMap<u32, Vec<Sample>>>>,
    /// The metric that the samples measure
    pub(in crate::app) metrics: BTreeMap<BenchmarkKey, Metric>,
    pub(in crate::app) failed: Vec<BenchmarkKey>,
}

impl RecordedRounds {
    /// Records a process of one side.
    pub(in crate::app) fn record(&mut self, side: Side, launch: &ProcessRecord) {
        for launched in &launch.benchmarks {
            let key = launched.benchmark.key.clone();
            match &launched.outcome {
                ProcessOutcome::Measured(series) => {
                    let metric = launched.benchmark.metric.clone();
                    self.metrics.insert(key.clone(), metric);
                    let sides = self.samples.entry(key).or_default();
                    let round = launch.head.ordinal;
                    sides
                        .get_mut(side)
                        .insert(round, series.comparable_samples());
                }
                ProcessOutcome::Failed(_) => self.failed.push(key),
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
