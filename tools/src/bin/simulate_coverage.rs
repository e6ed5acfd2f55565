//! Simulates how often the 95 % intervals of `show --stats` and `compare` contain the true value.
//!
//! Runs of 3 to 30 processes are drawn from distributions whose mean, median, deviations and quantiles are known exactly: Gaussian, log-normal, and
//! Gaussian rounded to whole nanoseconds. Processes differ as much as their samples do (20 samples each), or have a single sample each. The interval
//! of a median has the level that is printed beside it; if there are few distinct values, it covers more often. An interval that is not printed is
//! shown as `-`. `cargo run --release -p perfcheck-tools --bin simulate_coverage [-- RUNS]` prints a table; RUNS (2000) is the number of runs per
//! cell.

#![allow(clippy::print_stdout)]

use perfcheck_analysis::compare::{
    BenchmarkRecord, DescribedChange, Estimate, HostClass, Question, Reference, TestPolicy,
    compare, summarize_with,
};
use perfcheck_analysis::model::{DecisionSettings, Measurement, Nanos, Sample, System};
use perfcheck_stats::{Draws, MAD_TO_SD, Stream, normal};
use perfcheck_tools::numbers::Numbers;
use perfcheck_tools::series;
use rayon::prelude::*;

const PROCESSES: [usize; 5] = [3, 5, 8, 12, 30];
/// Number of samples of a process, if it has several.
const SAMPLES: usize = 20;
/// Number of iterations in a sample. It is large, so that whole nanoseconds of elapsed time do not round the time of an iteration.
const ITERATIONS: u64 = 1_000_000;
const RESAMPLES: u32 = 1_000;

/// The distribution of a sample. It does not depend on the share of the variance between processes.
#[derive(Debug, Clone, Copy)]
enum Shape {
    /// Mean 100, standard deviation 5.
    Gaussian,
    /// 100 times the exponential of a normal value with this standard deviation.
    LogNormal,
    /// Mean 12, standard deviation 1, rounded.
    WholeNanoseconds,
}

const LOG_SD: f64 = 0.42;

/// The true values for a sample of any process, and for the comparison of two equal runs.
struct Truth {
    mean: f64,
    median: f64,
    sd: f64,
    mad: f64,
}

impl Shape {
    const ALL: [Self; 3] = [Self::Gaussian, Self::LogNormal, Self::WholeNanoseconds];

    fn sample(self, normal: f64) -> f64 {
        match self {
            Self::Gaussian => 100.0 + 5.0 * normal,
            Self::LogNormal => 100.0 * (LOG_SD * normal).exp(),
            Self::WholeNanoseconds => (12.0 + normal).round().max(0.0),
        }
    }

    fn truth(self) -> Truth {
        match self {
            Self::Gaussian => Truth {
                mean: 100.0,
                median: 100.0,
                sd: 5.0,
                // The scaled MAD estimates this value.
                mad: 5.0 * MAD_TO_SD * normal::quantile(0.75).expect("a probability"),
            },
            Self::LogNormal => {
                let mean = 100.0 * (LOG_SD * LOG_SD / 2.0).exp();
                Truth {
                    mean,
                    median: 100.0,
                    sd: mean * (LOG_SD * LOG_SD).exp_m1().sqrt(),
                    mad: MAD_TO_SD * 100.0 * deviation_of_half_a_log_normal(),
                }
            }
            Self::WholeNanoseconds => {
                let share = |k: f64| normal::cdf(k + 0.5) - normal::cdf(k - 0.5);
                let variance: f64 = (-12_i32..=12)
                    .map(|k| f64::from(k * k) * share(f64::from(k)))
                    .sum();
                Truth {
                    mean: 12.0,
                    median: 12.0,
                    sd: variance.sqrt(),
                    // After rounding, 38 % of the values equal the median and 87 % are within 1 of it. So the median absolute deviation is 1 before
                    // it is scaled.
                    mad: MAD_TO_SD,
                }
            }
        }
    }
}

/// Returns the distance from 1 within which half of a log-normal distribution with median 1 lies, by bisection.
fn deviation_of_half_a_log_normal() -> f64 {
    let share = |d: f64| normal::cdf(d.ln_1p() / LOG_SD) - normal::cdf((-d).ln_1p() / LOG_SD);
    let (mut low, mut high) = (0.0, 0.999);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if share(middle) < 0.5 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The rules for drawing a run.
#[derive(Debug, Clone, Copy)]
struct Design {
    shape: Shape,
    samples: usize,
    processes: usize,
}

/// Whether each interval contains the true value, or `None` if the interval is not printed.
type Covered = [Option<bool>; ROWS.len()];

const ROWS: [&str; 9] = [
    "mean of processes",
    "mean",
    "mean, BCa",
    "median",
    "std dev",
    "MAD (scaled)",
    "change of the mean",
    "change of the median",
    "mean of samples, one process of so many",
];

fn main() {
    let argument = std::env::args().nth(1);
    let runs: u64 = argument.and_then(|text| text.parse().ok()).unwrap_or(2_000);
    println!("{runs} runs a cell, in per cent.\n");
    println!("| settings | processes | samples are | interval | k = 3 | 5 | 8 | 12 | 30 |");
    println!("|---|---|---|---|---|---|---|---|---|");
    let settings = [
        ("default", DecisionSettings::default()),
        ("criterion", System::Criterion.decision_settings()),
    ];
    for (name, decision) in settings {
        let decision = DecisionSettings {
            resamples: RESAMPLES,
            ..decision
        };
        for samples in [SAMPLES, 1] {
            for shape in Shape::ALL {
                print_rows(name, &decision, samples, shape, runs);
            }
        }
    }
}

fn print_rows(name: &str, decision: &DecisionSettings, samples: usize, shape: Shape, runs: u64) {
    let cells = PROCESSES.map(|processes| {
        let design = Design {
            shape,
            samples,
            processes,
        };
        (0..runs)
            .into_par_iter()
            .map(|run| simulate(design, decision, run))
            .collect::<Vec<Covered>>()
    });
    for (row, interval) in ROWS.iter().enumerate() {
        let shares = cells.each_ref().map(|all| {
            let found: Vec<bool> = all.iter().filter_map(|covered| covered[row]).collect();
            let hits = found.iter().filter(|covered| **covered).count();
            if found.is_empty() {
                "-".to_owned()
            } else {
                format!("{:.1}", 100.0 * hits as f64 / found.len() as f64)
            }
        });
        println!(
            "| {name} | of {samples} | {shape:?} | {interval} | {} |",
            shares.join(" | ")
        );
    }
}

fn simulate(design: Design, decision: &DecisionSettings, seed: u64) -> Covered {
    let name = format!("coverage {design:?}");
    let mut numbers = Numbers(Draws::new(Stream { seed, name: &name }, 0));
    let mut run = || measurement(design, &mut numbers);
    let (candidate, base) = (run(), run());
    let summary = summarize_with(&candidate, decision, seed).expect("samples");
    let record =
        BenchmarkRecord::from_measurement(&candidate, &summary, decision, seed).expect("samples");
    let (mean, median) = changes(&candidate, &base, decision, seed);
    let truth = design.shape.truth();
    let one_process = (design.samples == 1).then_some(record.of_samples.mean_ns);
    [
        covers(record.mean_of_processes, truth.mean),
        covers(Some(summary.mean), truth.mean),
        covers(record.mean_bca, truth.mean),
        covers(Some(summary.median), truth.median),
        covers(summary.sd, truth.sd),
        covers(Some(summary.mad), truth.mad),
        covers(mean.map(|change| change.estimate), 0.0),
        covers(median.map(|change| change.estimate), 0.0),
        covers(one_process, truth.mean),
    ]
}

/// Returns whether the interval contains the true value, or `None` if it has no bounds. A median of whole nanoseconds may differ by rounding.
fn covers(found: Option<Estimate>, truth: f64) -> Option<bool> {
    let Estimate { lower, upper, .. } = found.filter(|found| found.lower.is_finite())?;
    let rounding = 1e-9 * truth;
    Some(lower - rounding <= truth && truth <= upper + rounding)
}

fn measurement(design: Design, numbers: &mut Numbers) -> Measurement {
    let is_single = design.samples == 1;
    let processes = (0..design.processes).map(|_| {
        let shared = numbers.normal();
        let samples = (0..design.samples).map(|_| {
            let normal = if is_single {
                shared
            } else {
                (shared + numbers.normal()) / std::f64::consts::SQRT_2
            };
            let time = design.shape.sample(normal);
            Sample {
                iterations: ITERATIONS,
                elapsed: Nanos((time * ITERATIONS as f64).round() as u64),
            }
        });
        (Vec::new(), samples.collect())
    });
    series::measurement("coverage", processes.collect())
}

/// Returns the changes of mean and median between two equal runs.
fn changes(
    candidate: &Measurement,
    base: &Measurement,
    decision: &DecisionSettings,
    seed: u64,
) -> (Option<DescribedChange>, Option<DescribedChange>) {
    let reference = Reference {
        averaged: vec![base],
        spread: vec![base],
        earlier: vec![],
    };
    let question = Question {
        candidate,
        reference: &reference,
        noise_threshold: decision.noise_threshold,
    };
    let rules = TestPolicy {
        decision: *decision,
        host: HostClass::Dedicated,
        seed,
    };
    let description = compare(&[question], &rules).remove(0).description;
    (description.mean, description.median)
}
