//! Simulates what each rule for many benchmarks detects, and its false alarms, in comparisons of stored runs, with fixed seeds.
//!
//! A suite has 2,000 benchmarks, of which 50 are 25 % slower. The value of each benchmark drifts between runs, independently of others, with the
//! prior standard deviation of the host. Processes within a run differ normally by 1 %. The reference is the mean of m runs, from which the drift is
//! estimated too. The noise threshold is 0, so that every benchmark that is not slower satisfies the null hypothesis exactly. For each rule, the
//! table shows the share of the 50 that is `regressed`, the mean share of false ones among the `regressed`, and the share of suites with a false one.
//! `cargo run --release -p perfcheck-tools --bin simulate_families [-- SUITES]` prints a table; SUITES (40) is the number of suites per line.

#![allow(clippy::print_stdout)]

use perfcheck_analysis::compare::{
    Comparison, HostClass, Question, Reference, TestPolicy, compare,
};
use perfcheck_analysis::model::{
    Analysis, Correction, DecisionSettings, Measurement, Nanos, Sample, Verdict,
};
use perfcheck_stats::{Draws, Stream};
use perfcheck_tools::numbers::Numbers;
use perfcheck_tools::series;
use rayon::prelude::*;

const FAMILY: usize = 2_000;
const SLOWER: usize = 50;
const FACTOR: f64 = 1.25;
const PROCESSES: usize = 3;
const SAMPLES: usize = 20;
const OF_PROCESSES: f64 = 0.01;

fn main() {
    let argument = std::env::args().nth(1);
    let suites: u64 = argument.and_then(|text| text.parse().ok()).unwrap_or(40);
    println!(
        "host       m | rule  found of {SLOWER}  false among the called  suites with a false one, of {suites}"
    );
    for (host, name) in [
        (HostClass::Dedicated, "dedicated"),
        (HostClass::Shared, "shared"),
    ] {
        for runs in [1, 5, 20] {
            for rule in [
                Correction::Holm,
                Correction::BenjaminiHochberg,
                Correction::Unadjusted,
            ] {
                let counted: Vec<(usize, usize)> = (0..suites)
                    .into_par_iter()
                    .map(|seed| called(seed, host, runs, rule))
                    .collect();
                let found: usize = counted.iter().map(|(found, _)| found).sum();
                let shares = counted
                    .iter()
                    .map(|(found, wrong)| *wrong as f64 / (found + wrong).max(1) as f64);
                println!(
                    "{name:9} {runs:2} | {:5} {:8.1} % {:21.2} % {:16}",
                    rule.word(),
                    100.0 * found as f64 / (suites * SLOWER as u64) as f64,
                    100.0 * shares.sum::<f64>() / suites as f64,
                    counted.iter().filter(|(_, wrong)| *wrong > 0).count(),
                );
            }
        }
    }
}

/// Returns how many of the slower benchmarks of a suite are `regressed`, and how many of the others.
fn called(seed: u64, host: HostClass, runs: usize, rule: Correction) -> (usize, usize) {
    let numbers = &mut Numbers(Draws::new(
        Stream {
            seed,
            name: "suite",
        },
        0,
    ));
    let mut candidates = Vec::new();
    let mut past = Vec::new();
    for benchmark in 0..FAMILY {
        let factor = if benchmark < SLOWER { FACTOR } else { 1.0 };
        candidates.push(run(numbers, benchmark, host, factor));
        past.push(
            (0..runs)
                .map(|_| run(numbers, benchmark, host, 1.0))
                .collect::<Vec<_>>(),
        );
    }
    let references: Vec<Reference<'_>> = past
        .iter()
        .map(|runs| Reference {
            averaged: runs.iter().collect(),
            spread: runs.iter().collect(),
            earlier: vec![],
        })
        .collect();
    let questions: Vec<Question<'_>> = candidates
        .iter()
        .zip(&references)
        .map(|(candidate, reference)| Question {
            candidate,
            reference,
            noise_threshold: 0.0,
        })
        .collect();
    let rules = TestPolicy {
        decision: DecisionSettings {
            // Decisions on runs need no resampling, so keep this small.
            resamples: 20,
            analysis: Analysis {
                correction: rule,
                ..Analysis::default()
            },
            ..DecisionSettings::default()
        },
        host,
        seed: 1,
    };
    let comparisons = compare(&questions, &rules);
    let regressed = |places: &[Comparison]| {
        let regressed = places
            .iter()
            .filter(|one| one.verdict == Verdict::Regressed);
        regressed.count()
    };
    let (slower, same) = comparisons.split_at(SLOWER);
    (regressed(slower), regressed(same))
}

/// Simulates a run of one benchmark.
fn run(numbers: &mut Numbers, benchmark: usize, host: HostClass, factor: f64) -> Measurement {
    let drift = host.prior_sd() * numbers.normal();
    let processes = (0..PROCESSES)
        .map(|_| {
            let noise = OF_PROCESSES * numbers.normal();
            let ns = 1e6 * factor * (drift + noise).exp();
            let sample = Sample {
                iterations: 1_000,
                elapsed: Nanos(ns.round() as u64),
            };
            (Vec::new(), vec![sample; SAMPLES])
        })
        .collect();
    series::measurement(&format!("benchmark {benchmark}"), processes)
}
