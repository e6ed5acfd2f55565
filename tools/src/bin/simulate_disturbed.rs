//! Simulates whether disturbed warm-ups and disturbed processes lead to wrong verdicts, with fixed seeds, for both drivers of benches, for stored
//! runs and for side-by-side rounds.
//!
//! Some processes have a warm-up that is slowed down 1.5 to 100 times, so their samples are too short. Others are slowed down as a whole, 1.5 to 300
//! times. Each process draws its own factor. The lengths of samples are chosen, and processes are measured again, by the rules of
//! `measure/lengths.rs`. An iteration takes 5.6 ns, or 2.3 times as long in the candidate. Reading the clock adds 20 ns to a sample.
//!
//! `cargo run --release -p perfcheck-tools --bin simulate_disturbed [-- RUNS]` prints a table; RUNS (200) is the number of comparisons per line.

#![allow(clippy::print_stdout)]

use perfcheck_analysis::compare::{
    HostClass, PairedMethod, Plan, ProcessSampling, Question, Reference, TestPolicy, compare,
};
use perfcheck_analysis::model::{
    DecisionSettings, Measurement, Nanos, Round, Sample, Test, Verdict,
};
use perfcheck_bench::measure::SampleLengths;
use perfcheck_stats::{Draws, Stream};
use perfcheck_tools::numbers::Numbers;
use perfcheck_tools::paired_verdict::judged;
use perfcheck_tools::series;
use rayon::prelude::*;

const ITERATION_NS: f64 = 5.6;
const SLOWDOWN: f64 = 2.3;
const CLOCK_NS: f64 = 20.0;
const PROCESSES: usize = 5;
const RATES: [f64; 5] = [0.0, 0.2, 0.5, 0.8, 1.0];
/// Verdicts in the order of the table.
const VERDICTS: [Verdict; 5] = [
    Verdict::Regressed,
    Verdict::Improved,
    Verdict::Suspect,
    Verdict::Unchanged,
    Verdict::Inconclusive,
];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Driver {
    /// The first process determines the length of samples. If samples are too short, they are measured again with a new length.
    Own,
    /// The warm-up of each process determines the length of its samples.
    Criterion,
}

/// The shares of disturbed warm-ups and processes.
#[derive(Clone, Copy)]
struct Disturbed {
    warm_ups: f64,
    processes: f64,
}

/// The speed of one process.
struct Fate {
    /// Time of an iteration in its warm-up, in nanoseconds.
    warm_up_ns: f64,
    /// Time of an iteration in its samples, in nanoseconds.
    samples_ns: f64,
}

impl Disturbed {
    fn draw(self, iteration_ns: f64, numbers: &mut Numbers) -> Fate {
        let mut factor = |rate: f64, most: f64| {
            let hit = numbers.uniform() < rate;
            let factor = 1.5 * (most / 1.5).powf(numbers.uniform());
            if hit { factor } else { 1.0 }
        };
        let process = factor(self.processes, 300.0);
        let warm_up = factor(self.warm_ups, 100.0);
        let own = iteration_ns * process * (0.005 * numbers.normal()).exp();
        Fate {
            warm_up_ns: own * warm_up,
            samples_ns: own,
        }
    }
}

fn sample(iterations: u64, fate: &Fate, numbers: &mut Numbers) -> Sample {
    let ns = fate.samples_ns * (0.005 * numbers.exponential()).exp();
    Sample {
        iterations,
        elapsed: Nanos((iterations as f64 * ns + CLOCK_NS).round() as u64),
    }
}

/// Returns the linear phase of a Criterion process: `count` samples in `time_ns`.
fn ramp(time_ns: f64, count: u64, fate: &Fate, numbers: &mut Numbers) -> Vec<Sample> {
    let total = (count * (count + 1) / 2) as f64;
    let step = (time_ns / fate.warm_up_ns / total).ceil().max(1.0) as u64;
    // Only the longer half of the samples is used.
    (count.div_ceil(2)..=count)
        .map(|place| sample(place * step, fate, numbers))
        .collect()
}

fn flat(iterations: u64, count: usize, fate: &Fate, numbers: &mut Numbers) -> Vec<Sample> {
    (0..count)
        .map(|_| sample(iterations, fate, numbers))
        .collect()
}

/// Simulates a stored run.
fn run(
    driver: Driver,
    disturbed: Disturbed,
    iteration_ns: f64,
    numbers: &mut Numbers,
) -> Measurement {
    let (mut lengths, mut stretch, mut iterations) = (SampleLengths::default(), 1, 0);
    let mut processes = Vec::new();
    while processes.len() < PROCESSES + (lengths.processes_to_repeat() as usize).min(PROCESSES) {
        let fate = disturbed.draw(iteration_ns, numbers);
        let (linear, flat) = match driver {
            // With 100 samples in 50 ms, samples are as long as with 800 in 400 ms.
            Driver::Criterion => {
                let time_ns = 5e7 * f64::from(stretch);
                (ramp(time_ns, 100, &fate, numbers), Vec::new())
            }
            Driver::Own => {
                if let Some(ns) = lengths.known_ns_if_short() {
                    iterations = (1e6 / ns) as u64;
                } else if iterations == 0 {
                    // The linear phase reveals a warm-up that was slower than the rest.
                    iterations = (1e6
                        / fate
                            .samples_ns
                            .max(fate.warm_up_ns.min(2.0 * fate.samples_ns)))
                        as u64;
                }
                (Vec::new(), flat(iterations.max(1), 100, &fate, numbers))
            }
        };
        let samples = if flat.is_empty() { &linear } else { &flat };
        lengths.add(ProcessSampling::from_samples(samples).expect("samples"));
        stretch = lengths.stretch_after(stretch);
        processes.push((linear, flat));
    }
    series::measurement("disturbed", processes)
}

fn stored(driver: Driver, disturbed: Disturbed, factor: f64, numbers: &mut Numbers) -> Verdict {
    let base = run(driver, disturbed, ITERATION_NS, numbers);
    let candidate = run(driver, disturbed, ITERATION_NS * factor, numbers);
    let reference = Reference {
        averaged: vec![&base],
        spread: vec![&base],
        earlier: vec![],
    };
    let question = Question {
        candidate: &candidate,
        reference: &reference,
        noise_threshold: 0.02,
    };
    let rules = TestPolicy {
        decision: DecisionSettings {
            resamples: 20,
            analysis: Test::BootstrapT.into(),
            ..DecisionSettings::default()
        },
        host: HostClass::Shared,
        seed: 1,
    };
    compare(&[question], &rules).remove(0).verdict
}

fn paired(driver: Driver, disturbed: Disturbed, factor: f64, numbers: &mut Numbers) -> Verdict {
    let iteration_ns = [ITERATION_NS, ITERATION_NS * factor];
    let mut lengths = [SampleLengths::default(), SampleLengths::default()];
    let (mut stretch, mut laid_out_ns) = (1, 0.0_f64);
    let mut rounds: Vec<Round> = Vec::new();
    for had in 0..Plan::USUAL_ROUNDS {
        let fates = iteration_ns.map(|ns| disturbed.draw(ns, numbers));
        let quicker_ns = fates[0].samples_ns.min(fates[1].samples_ns);
        if laid_out_ns == 0.0 {
            laid_out_ns = quicker_ns;
        }
        let iterations = (5e5 / laid_out_ns).max(1.0) as u64;
        let [base, candidate] = fates.map(|fate| match driver {
            Driver::Own => flat(iterations, 20, &fate, numbers),
            Driver::Criterion => ramp(2e7 * f64::from(stretch), 50, &fate, numbers),
        });
        for (lengths, side) in lengths.iter_mut().zip([&base, &candidate]) {
            lengths.add(ProcessSampling::from_samples(side).expect("samples"));
        }
        stretch = (lengths[0].stretch_after(stretch)).max(lengths[1].stretch_after(stretch));
        let is_short = iterations as f64 * quicker_ns < 1e5;
        if had < 10 && quicker_ns * 1.5 < laid_out_ns || is_short {
            laid_out_ns = quicker_ns;
        }
        rounds.push(Round {
            layout: None,
            base,
            candidate,
            led: Vec::new(),
        });
    }
    let looks = Plan::looks_up_to(Plan::USUAL_ROUNDS);
    judged(&rounds, &looks, 0.01, &PairedMethod::default(), 1).verdict
}

fn main() {
    let argument = std::env::args().nth(1);
    let runs: u64 = argument.and_then(|text| text.parse().ok()).unwrap_or(200);
    println!(
        "way | driver | truth | warm-ups disturbed | processes disturbed | regressed | improved | suspect | unchanged | inconclusive | against the truth of {runs}"
    );
    let mut wrong_in_all = 0;
    for way in ["stored", "side by side"] {
        for driver in [Driver::Own, Driver::Criterion] {
            for factor in [1.0, SLOWDOWN] {
                for (warm_ups, processes) in RATES
                    .iter()
                    .flat_map(|w| RATES.iter().map(move |p| (*w, *p)))
                {
                    let disturbed = Disturbed {
                        warm_ups,
                        processes,
                    };
                    let one = |seed| {
                        let stream = Stream { seed, name: way };
                        let numbers = &mut Numbers(Draws::new(stream, 0));
                        match way {
                            "stored" => stored(driver, disturbed, factor, numbers),
                            _ => paired(driver, disturbed, factor, numbers),
                        }
                    };
                    let found: Vec<Verdict> = (0..runs).into_par_iter().map(one).collect();
                    let counts =
                        VERDICTS.map(|verdict| found.iter().filter(|one| **one == verdict).count());
                    let [regressed, improved, _, unchanged, _] = counts;
                    let wrong = if factor == 1.0 {
                        regressed + improved
                    } else {
                        improved + unchanged
                    };
                    wrong_in_all += wrong;
                    println!(
                        "{way} | {driver:?} | x {factor} | {:.0} % | {:.0} % | {} | {wrong}",
                        warm_ups * 100.0,
                        processes * 100.0,
                        counts.map(|count| count.to_string()).join(" | "),
                    );
                }
            }
        }
    }
    println!("against the truth in all: {wrong_in_all}");
}
