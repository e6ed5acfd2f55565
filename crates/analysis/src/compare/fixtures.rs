//! Keys, measurements, runs and comparisons that tests construct.

use std::collections::BTreeMap;

use super::{
    Comparison, Estimate, PairedSeries, Plan, Question, Reference, TestPolicy, compare, judge,
};
use crate::model::{
    Acceptance, AuthorSettings, Benchmark, BenchmarkCounts, BenchmarkKey, DecisionSettings,
    Environment, Extras, Measurement, Metric, Nanos, NewRun, ProcessSeries, Run, RunId, RunStatus,
    Sample, SamplingSettings, Series, TargetFacts, Throughput, Timestamp,
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
            key: key("b"),
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

pub(crate) const PLAN: Plan = Plan {
    looks: Vec::new(),
    significance_level: 0.01,
    planned: 1,
    confidence_level: 0.95,
    resamples: 100,
    seed: 3,
    seeds: BTreeMap::new(),
    noise: BTreeMap::new(),
};

/// Creates the key of the benchmark `p/t: id`.
pub(crate) fn key(id: &str) -> BenchmarkKey {
    BenchmarkKey {
        package: "p".to_owned(),
        target: "t".to_owned(),
        id: id.to_owned(),
    }
}

/// Creates run 8, which was measured alone.
pub(crate) fn run() -> Run {
    Run {
        id: RunId(8),
        begun: NewRun {
            started: Timestamp(0),
            git: None,
            environment: Environment::default(),
            load: None,
            seed: 7,
            decision: DecisionSettings::default(),
            tool_version: String::new(),
            build: None,
            partition: None,
            past: None,
        },
        finished: None,
        status: RunStatus::Complete,
        acceptance: Acceptance::Pending,
        pair: None,
        plan: None,
        source: None,
    }
}

/// Creates a comparison side by side without rounds.
pub(crate) fn undecided() -> Comparison {
    let never = measurement(Vec::new()).benchmark;
    let series = PairedSeries {
        key: &never.key,
        metric: &never.metric,
        rounds: &[],
        noise_threshold: 0.02,
    };
    judge(&[series], &PLAN).remove(0)
}

/// Creates a comparison side by side with this change.
pub(crate) fn changed_by(change: f64) -> Comparison {
    Comparison {
        change: Some(certain(change)),
        ..undecided()
    }
}

/// Creates a value whose bounds are the value itself.
pub(crate) fn certain(value: f64) -> Estimate {
    Estimate {
        estimate: value,
        lower: value,
        upper: value,
    }
}
