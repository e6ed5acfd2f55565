//! Measures the cost of the analysis on one thread and on all threads.
//!
//! Processes have 390 flat samples (and a linear phase of 30), and the analysis draws 100,000 resamples. The cases are: one comparison with all its
//! intervals, and the summary of each side; five processes against twenty runs of five; a hundred comparisons at once.
//!
//! Run with `cargo run --release -p perfcheck-tools --bin analysis_cost`; it prints medians in milliseconds. With `--once`, it makes one comparison
//! of five processes per side with both summaries and prints nothing: `tools/analysis_cost.sh` uses this.

#![allow(clippy::print_stdout)]

use perfcheck_analysis::compare::{HostClass, Question, Reference, TestPolicy, compare, summarize};
use perfcheck_analysis::model::{DecisionSettings, Measurement, Nanos, Sample};
use perfcheck_stats::{Draws, Stream};
use perfcheck_tools::series;
use std::hint::black_box;
use std::time::Instant;

const SAMPLES: u64 = 390;
const RAMP: u64 = 30;
const REPETITIONS: usize = 11;

fn main() {
    if std::env::args().any(|argument| argument == "--once") {
        let (base, candidate) = (measurement("base", 5), measurement("new", 5));
        compare_all(&[&candidate], &[&base]);
        summarize_once(&base);
        summarize_once(&candidate);
        return;
    }
    println!("threads processes compare_ms summary_ms both_sides_ms");
    for threads in [1, rayon::current_num_threads()] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        for processes in [5, 10, 1] {
            let (base, candidate) = (
                measurement("base", processes),
                measurement("new", processes),
            );
            let compared = median_ms(|| pool.install(|| compare_all(&[&candidate], &[&base])));
            let summed = median_ms(|| pool.install(|| summarize_once(&candidate)));
            println!(
                "{threads} {processes} {compared:.2} {summed:.2} {:.2}",
                compared + 2.0 * summed
            );
        }
        let candidate: Vec<Measurement> = (0..100)
            .map(|id| measurement(&format!("new {id}"), 5))
            .collect();
        let candidate: Vec<&Measurement> = candidate.iter().collect();
        let runs: Vec<Measurement> = (0..20)
            .map(|id| measurement(&format!("base {id}"), 5))
            .collect();
        let runs: Vec<&Measurement> = runs.iter().collect();
        for (what, questions, base) in [
            (
                "one question, 20 runs in the reference",
                &candidate[..1],
                &runs[..],
            ),
            ("100 questions", &candidate[..], &runs[..1]),
            (
                "100 questions, 20 runs in the reference",
                &candidate[..],
                &runs[..],
            ),
        ] {
            let compared = median_ms(|| pool.install(|| compare_all(questions, base)));
            println!("{threads} {what}: {compared:.1} ms");
        }
    }
}

fn compare_all(candidate: &[&Measurement], runs: &[&Measurement]) {
    let reference = Reference {
        averaged: runs.to_vec(),
        spread: runs.to_vec(),
        earlier: vec![],
    };
    let questions: Vec<Question<'_>> = candidate
        .iter()
        .map(|candidate| Question {
            candidate,
            reference: &reference,
            noise_threshold: 0.02,
        })
        .collect();
    let rules = TestPolicy {
        decision: DecisionSettings::default(),
        host: HostClass::Shared,
        seed: 1,
    };
    black_box(compare(&questions, &rules));
}

fn summarize_once(measurement: &Measurement) {
    black_box(summarize(measurement, 0.95, 100_000, 1));
}

#[allow(clippy::disallowed_methods)]
fn median_ms(work: impl Fn()) -> f64 {
    let mut times: Vec<f64> = (0..REPETITIONS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[REPETITIONS / 2]
}

/// Returns processes near 100 ns per iteration, whose noise only adds time.
fn measurement(name: &str, processes: u32) -> Measurement {
    let mut draws = Draws::new(Stream { seed: 3, name }, 0);
    let mut sample = |iterations: u64| {
        let noise = (draws.index(1000) * draws.index(1000)) as u64 / 10;
        Sample {
            iterations,
            elapsed: Nanos(iterations * 100 + noise),
        }
    };
    let processes = (0..processes)
        .map(|_| {
            let ramp = (1..=RAMP).map(|i| sample(i * 333)).collect();
            (ramp, (0..SAMPLES).map(|_| sample(10_000)).collect())
        })
        .collect();
    series::measurement("analysis", processes)
}
