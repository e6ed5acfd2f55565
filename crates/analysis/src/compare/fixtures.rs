//! Measurements that tests construct.

use super::{Comparison, Question, Reference, TestPolicy, compare};
use crate::model::{
    AuthorSettings, Benchmark, BenchmarkCounts, BenchmarkKey, Extras, Measurement, Metric, Nanos,
    ProcessSeries, Sample, SamplingSettings, Series, TargetFacts, Throughput,
};

/// With this number of iterations, a sample takes a millisecond at 100 ns per iteration.
pub(crate) const ITERATIONS: u64 = 10_000;

/// Creates a process with flat samples of `iterations`, at `times` nanoseconds per iteration.
pub(crate) fn flat_process(process: u32, iterations: u64, times: &[f64]) -> ProcessSeries {
    let flat = times
        .iter()
        .map(|time| Sample {
            iterations,
            elapsed: Nanos((time * iterations as f64).round() as u64),
        })
        .collect();
    let warm_up = Sample {
        iterations: 1,
        elapsed: Nanos(1),
    };
    ProcessSeries {
        layout: None,
        process,
        quantum: Nanos(1),
        conduct: None,
        series: Series {
            warm_up,
            linear: vec![],
            flat,
        },
        extras: Extras::default(),
    }
}

/// Adds a linear phase of `count` samples to a process. Each sample has `step` iterations more than the one before. An iteration takes `time`, and
/// all samples have the same `overhead`.
pub(super) fn with_ramp(
    mut process: ProcessSeries,
    step: u64,
    count: u64,
    time: f64,
    overhead: f64,
) -> ProcessSeries {
    process.series.linear = (1..=count)
        .map(|i| {
            let iterations = i * step;
            Sample {
                iterations,
                elapsed: Nanos((time * iterations as f64 + overhead).round() as u64),
            }
        })
        .collect();
    process
}

/// Creates a measurement of the benchmark `p/t: b`.
pub(crate) fn measurement(processes: Vec<ProcessSeries>) -> Measurement {
    Measurement {
        benchmark: Benchmark {
            key: BenchmarkKey {
                package: "p".into(),
                target: "t".into(),
                id: "b".into(),
            },
            version: None,
            throughput: Throughput::default(),
            other_throughput: None,
            settings: AuthorSettings::default(),
            metric: Metric::Time,
        },
        target_facts: TargetFacts::default(),
        sampling: SamplingSettings::default(),
        noise_threshold: 0.02,
        processes,
        failures: vec![],
        counts: BenchmarkCounts::default(),
        verdict: None,
        described: None,
        expired: None,
    }
}

/// Creates a measurement with one process for each of `floors`. Each process has `samples` samples, from its floor to 0.6 % above it.
pub(super) fn floors(floors: &[f64], samples: u32) -> Measurement {
    let processes = (0_u32..)
        .zip(floors)
        .map(|(process, floor)| {
            let times: Vec<f64> = (0..samples)
                .map(|i| floor * (1.0 + 1e-3 * f64::from(i % 7)))
                .collect();
            flat_process(process, ITERATIONS, &times)
        })
        .collect();
    measurement(processes)
}

/// Compares a run with one other run, at a threshold of 2 %.
pub(super) fn compare_two(
    candidate: &Measurement,
    base: &Measurement,
    rules: &TestPolicy,
) -> Comparison {
    let reference = Reference {
        averaged: vec![base],
        spread: vec![base],
        earlier: vec![],
    };
    let question = Question {
        candidate,
        reference: &reference,
        noise_threshold: 0.02,
    };
    compare(&[question], rules).remove(0)
}
