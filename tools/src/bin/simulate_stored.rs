//! Simulates false alarms and detection in comparisons of stored runs with the whole procedure, with fixed seeds.
//!
//! Runs have five processes, log-normal or with disturbances that only add time. The value of each benchmark drifts between runs, independently of
//! others, mostly with the prior standard deviation of a shared host. The last lines are imported pairs from an unknown host, and the same pairs
//! treated as from a dedicated one. The reference is the mean of m runs, from which the drift is estimated too. A false alarm is a run of identical
//! code with a family of benchmarks in which any of them is `regressed`. For power, one benchmark of the family is slower.
//!
//! `cargo run --release -p perfcheck-tools --bin simulate_stored [-- RUNS]` prints a table; RUNS (2000) is the number of simulated runs per line.

#![allow(clippy::print_stdout)]

use perfcheck_analysis::compare::{HostClass, Question, Reference, TestPolicy, compare};
use perfcheck_analysis::model::{DecisionSettings, Measurement, Nanos, Sample, Test, Verdict};
use perfcheck_stats::{Draws, Stream};
use perfcheck_tools::numbers::Numbers;
use perfcheck_tools::proportion::exact_interval;
use perfcheck_tools::series;
use rayon::prelude::*;
use std::fmt;

const PROCESSES: usize = 5;

/// Enough samples for the low quantile to be compared. All are equal, because the noise within a process does not matter here.
const SAMPLES: usize = 20;

/// How the processes of a run differ, in logarithms of their times.
#[derive(Clone, Copy)]
enum Noise {
    /// Processes differ normally, with this standard deviation.
    Normal(f64),
    /// Processes differ exponentially, with this mean.
    Exponential(f64),
    /// Processes differ exponentially with a mean of 1 %. In addition, this share of processes is 25 % slower.
    Disturbed(f64),
}

/// One line of the table.
#[derive(Clone, Copy)]
struct Case {
    test: Test,
    /// Standard deviation between runs of the logarithm of a benchmark's time.
    drift: f64,
    noise: Noise,
    /// Number of runs in the reference.
    runs: usize,
    /// Number of benchmarks in the family.
    family: usize,
    host: HostClass,
}

fn main() {
    let argument = std::env::args().nth(1);
    let simulated: u64 = argument.and_then(|text| text.parse().ok()).unwrap_or(2_000);
    println!(
        "decider    drift processes              m family host      | false alarms of {simulated} runs, 95 % interval | power at +20 % +50 %"
    );
    for case in cases() {
        let alarms = case.alarms(simulated, 1.0);
        let power = [1.2, 1.5].map(|factor| {
            let runs = (simulated / 4).max(1);
            100.0 * case.alarms(runs, factor) as f64 / runs as f64
        });
        let (low, high) = exact_interval(alarms, simulated);
        println!(
            "{:9} {:4.0} % {:18} {:4} {:6} {:9} | {alarms:4} = {:5.2} % [{:.2}, {:.2}] | {:5.1} {:5.1}",
            match case.test {
                Test::BootstrapT => "run level",
                Test::TScore => "t-score",
                test => test.word(),
            },
            case.drift * 100.0,
            case.noise.to_string(),
            case.runs,
            case.family,
            match case.host {
                HostClass::Dedicated => "dedicated",
                HostClass::Shared => "shared",
            },
            100.0 * alarms as f64 / simulated as f64,
            100.0 * low,
            100.0 * high,
            power[0],
            power[1],
        );
    }
}

fn cases() -> Vec<Case> {
    let prior = HostClass::Shared.prior_sd();
    let case = |test, drift, noise, runs, family| Case {
        test,
        drift,
        noise,
        runs,
        family,
        host: HostClass::Shared,
    };
    let mut cases = Vec::new();
    for processes in [0.01, 0.03, 0.1] {
        for runs in [1, 5, 20] {
            for family in [1, 20] {
                let noise = Noise::Normal(processes);
                cases.push(case(Test::BootstrapT, prior, noise, runs, family));
            }
        }
    }
    for noise in [
        Noise::Exponential(0.03),
        Noise::Exponential(0.1),
        Noise::Disturbed(0.25),
        Noise::Disturbed(0.5),
    ] {
        for runs in [1, 20] {
            cases.push(case(Test::BootstrapT, prior, noise, runs, 1));
        }
    }
    for (drift, runs) in [(0.0, 1), (0.0, 20), (prior, 1)] {
        for family in [1, 20] {
            let noise = Noise::Normal(0.03);
            cases.push(case(Test::TScore, drift, noise, runs, family));
        }
    }
    for host in [HostClass::from_shared(None), HostClass::Dedicated] {
        for drift in [0.01, 0.02, 0.04] {
            let noise = Noise::Normal(0.01);
            cases.push(Case {
                host,
                ..case(Test::BootstrapT, drift, noise, 1, 1)
            });
        }
    }
    cases
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Normal(sd) => write!(f, "normal {:.0} %", sd * 100.0),
            Self::Exponential(mean) => write!(f, "exponential {:.0} %", mean * 100.0),
            Self::Disturbed(share) => write!(f, "{:.0} % disturbed", share * 100.0),
        }
    }
}

impl Noise {
    fn draw(self, numbers: &mut Numbers) -> f64 {
        match self {
            Self::Normal(sd) => sd * numbers.normal(),
            Self::Exponential(mean) => mean * numbers.exponential(),
            Self::Disturbed(share) => {
                let slow = numbers.uniform() < share;
                0.01 * numbers.exponential() + if slow { 1.25_f64.ln() } else { 0.0 }
            }
        }
    }
}

impl Case {
    /// Returns how many of `simulated` runs raise an alarm. If `factor` is 1, any `regressed` benchmark is an alarm. Otherwise only the first
    /// benchmark is slower, and only that one counts.
    fn alarms(self, simulated: u64, factor: f64) -> u64 {
        let hits = (0..simulated).into_par_iter().filter(|seed| {
            let stream = Stream {
                seed: *seed,
                name: if factor == 1.0 { "null" } else { "effect" },
            };
            self.alarm(&mut Numbers(Draws::new(stream, 0)), factor)
        });
        hits.count() as u64
    }

    fn alarm(self, numbers: &mut Numbers, factor: f64) -> bool {
        let mut news = Vec::new();
        let mut references = Vec::new();
        for benchmark in 0..self.family {
            let factor = if benchmark == 0 { factor } else { 1.0 };
            news.push(self.run(numbers, benchmark, factor));
            let runs = (0..self.runs).map(|_| self.run(numbers, benchmark, 1.0));
            references.push(runs.collect::<Vec<_>>());
        }
        let references: Vec<Reference<'_>> = references
            .iter()
            .map(|runs| Reference {
                averaged: runs.iter().collect(),
                spread: runs.iter().collect(),
                earlier: vec![],
            })
            .collect();
        let questions: Vec<Question<'_>> = news
            .iter()
            .zip(&references)
            .map(|(candidate, reference)| Question {
                candidate,
                reference,
                // The null hypothesis is identical code, so allow no tolerance by a threshold.
                noise_threshold: 0.0,
            })
            .collect();
        let rules = TestPolicy {
            decision: DecisionSettings {
                // Decisions on runs need no resampling. For p-values of the t-score, 20 comparisons at 1 % need a resolution of 1 / 2000.
                resamples: match self.test {
                    Test::BootstrapT => 20,
                    _ => 4_000,
                },
                analysis: self.test.into(),
                ..DecisionSettings::default()
            },
            host: self.host,
            seed: 1,
        };
        let of_interest = if factor == 1.0 { self.family } else { 1 };
        compare(&questions, &rules)
            .iter()
            .take(of_interest)
            .any(|comparison| comparison.verdict == Verdict::Regressed)
    }

    fn run(self, numbers: &mut Numbers, benchmark: usize, factor: f64) -> Measurement {
        let run = self.drift * numbers.normal();
        let processes = (0..PROCESSES)
            .map(|_| {
                let time = factor * (run + self.noise.draw(numbers)).exp();
                let sample = Sample {
                    iterations: 1_000,
                    elapsed: Nanos((1e6 * time).round() as u64),
                };
                (Vec::new(), vec![sample; SAMPLES])
            })
            .collect();
        series::measurement(&format!("benchmark {benchmark}"), processes)
    }
}
