//! Made-up stored runs, and decisions on them.

use perfcheck_analysis::compare::{
    Comparison, HostClass, Question, Reference, TestPolicy, compare,
};
use perfcheck_analysis::model::{DecisionSettings, Latencies, Measurement, Nanos, Sample, Test};
use perfcheck_stats::{HdrCounter, HdrPrecision};
use perfcheck_tools::series::measurement;

/// Enough samples for a location. The noise within a process does not matter here.
const SAMPLES: usize = 20;

/// Returns a run whose processes take `values` nanoseconds per iteration.
pub fn run(values: &[f64]) -> Measurement {
    let processes = values.iter().map(|value| {
        let sample = Sample {
            iterations: 100_000,
            elapsed: Nanos((1e5 * value).round() as u64),
        };
        (Vec::new(), vec![sample; SAMPLES])
    });
    measurement("simulated", processes.collect())
}

/// Returns a run with latencies. Each operation of a process takes a hundred times as long as an iteration of that process.
pub fn run_with_latencies(values: &[f64]) -> Measurement {
    let mut run = run(values);
    for (process, value) in run.processes.iter_mut().zip(values) {
        process.extras.latencies = Some(Latencies {
            counts: vec![HdrCounter {
                index: HdrPrecision::default().index_of((100.0 * value) as u64),
                count: 1_000,
            }],
            ..Latencies::default()
        });
    }
    run
}

/// Compares `candidate` with the mean of `base`, at the default level, with the drift of a shared host.
pub fn decided(
    candidate: &Measurement,
    base: &[Measurement],
    test: Test,
    theta: f64,
) -> Comparison {
    let reference = Reference {
        averaged: base.iter().collect(),
        spread: base.iter().collect(),
        earlier: vec![],
    };
    let question = Question {
        candidate,
        reference: &reference,
        noise_threshold: theta,
    };
    let rules = TestPolicy {
        decision: DecisionSettings {
            // Decisions on runs need no resampling, so keep this small.
            resamples: match test {
                Test::BootstrapT => 20,
                _ => 2_000,
            },
            analysis: test.into(),
            ..DecisionSettings::default()
        },
        host: HostClass::Shared,
        seed: 1,
    };
    compare(&[question], &rules).remove(0)
}
