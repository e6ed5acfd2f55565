//! Simulates decisions on side-by-side measurements with a known truth, with fixed seeds, under several models of noise.
//!
//! `tails`: compares nominal with actual tails of the speed test and its parts for each number of rounds, with one look and threshold 0. The table
//! shows how often p is at most a, where 2 a is nominal because both directions count. `rates`: verdicts, rounds until the stop and coverage of the
//! printed interval, with the looks and the threshold of the command line, for several true changes. `slow`: detection of a slow mode, +40 % in 5 %
//! of windows of 2 ms.
//!
//! `cargo run --release -p perfcheck-tools --bin simulate_paired -- [tails|rates|slow|all] [RUNS] [NOISE]` (default: all, 2000 runs per line, every
//! model whose name contains NOISE).

#![allow(clippy::print_stdout)]

use perfcheck_analysis::compare::{Comparison, FloorGuard, PairedMethod, Plan};
use perfcheck_analysis::model::{Nanos, Round, Sample, Verdict};
use perfcheck_stats::{Draws, Stream};
use perfcheck_tools::numbers::Numbers;
use perfcheck_tools::paired_verdict::judged;
use perfcheck_tools::proportion::exact_interval;
use rayon::prelude::*;

const SAMPLES: usize = 20;

/// Length of a sample, in milliseconds.
const SAMPLE_MS: f64 = 0.5;

/// The model of disturbances. In addition, the samples of each process have exponential noise of half a percent.
#[derive(Debug, Clone, Copy)]
enum Noise {
    /// Processes differ log-normally, with this standard deviation.
    Processes(f64),
    /// Processes are above the floor by an exponential amount with this mean.
    ProcessesAbove(f64),
    /// Samples are above the floor by an exponential amount with this mean.
    Samples(f64),
    /// Bursts cover this share of the time, affect both sides alike and make them 30 % slower. A burst lasts 300 ms on average.
    Bursts(f64),
    /// This share of processes is fast, the others are 5 % slower.
    Modes(f64),
}

const NOISES: [Noise; 11] = [
    Noise::Processes(0.003),
    Noise::Processes(0.01),
    Noise::ProcessesAbove(0.005),
    Noise::ProcessesAbove(0.03),
    Noise::Samples(0.03),
    Noise::Bursts(0.4),
    Noise::Bursts(0.8),
    Noise::Modes(0.1),
    Noise::Modes(0.2),
    Noise::Modes(0.5),
    Noise::Modes(0.9),
];

impl Noise {
    fn name(self) -> String {
        match self {
            Self::Processes(sd) => format!("processes log-normal {:.1} %", sd * 100.0),
            Self::ProcessesAbove(mean) => format!("processes exponential {:.1} %", mean * 100.0),
            Self::Samples(mean) => format!("samples exponential {:.0} %", mean * 100.0),
            Self::Bursts(share) => format!("bursts {:.0} % of the time", share * 100.0),
            Self::Modes(share) => format!("{:.0} % fast processes", share * 100.0),
        }
    }

    /// Draws the effect on a process, which is constant during its life.
    fn process(self, numbers: &mut Numbers) -> f64 {
        match self {
            Self::Processes(sd) => sd * numbers.normal(),
            Self::ProcessesAbove(mean) => mean * numbers.exponential(),
            Self::Modes(fast) if numbers.uniform() > fast => 0.05,
            _ => 0.0,
        }
    }

    fn sample(self, numbers: &mut Numbers, in_burst: bool) -> f64 {
        match self {
            Self::Samples(mean) => mean * numbers.exponential(),
            Self::Bursts(_) if in_burst => 0.26 + 0.02 * numbers.normal(),
            _ => 0.005 * numbers.exponential(),
        }
    }
}

/// Bursts, which begin and end at random times.
struct Bursts {
    share: f64,
    on: bool,
    left_ms: f64,
}

impl Bursts {
    const MEAN_MS: f64 = 300.0;

    fn new(noise: Noise, numbers: &mut Numbers) -> Self {
        let share = if let Noise::Bursts(share) = noise {
            share
        } else {
            0.0
        };
        let mut bursts = Self {
            share,
            on: numbers.uniform() < share,
            left_ms: 0.0,
        };
        bursts.left_ms = bursts.length(numbers);
        bursts
    }

    fn length(&self, numbers: &mut Numbers) -> f64 {
        let mean = if self.on {
            Self::MEAN_MS
        } else {
            Self::MEAN_MS * (1.0 - self.share) / self.share
        };
        mean * numbers.exponential()
    }

    fn pass(&mut self, ms: f64, numbers: &mut Numbers) -> bool {
        self.left_ms -= ms;
        while self.left_ms < 0.0 {
            self.on = !self.on;
            self.left_ms += self.length(numbers);
        }
        self.on
    }
}

/// Simulates `rounds` rounds in which the candidate takes `factor` times as long. With a slow mode, 5 % of windows of 2 ms are also 40 % slower.
fn series(
    noise: Noise,
    rounds: usize,
    factor: f64,
    slow_mode: bool,
    numbers: &mut Numbers,
) -> Vec<Round> {
    let mut bursts = Bursts::new(noise, numbers);
    let sample = |time: f64| Sample {
        iterations: 5_000,
        elapsed: Nanos((5e5 * time).round() as u64),
    };
    (0..rounds)
        .map(|_| {
            let process = [noise.process(numbers), noise.process(numbers)];
            let mut sides = [Vec::new(), Vec::new()];
            let mut window = (0, false);
            for index in 0..2 * SAMPLES {
                let candidate_first = index % 4 == 1 || index % 4 == 2;
                let side = usize::from(candidate_first);
                let in_burst = bursts.pass(SAMPLE_MS, numbers);
                let mut time = (process[side] + noise.sample(numbers, in_burst)).exp();
                // A window has four samples.
                if window.0 != index / 4 + 1 {
                    window = (index / 4 + 1, numbers.uniform() < 0.05);
                }
                if side == 1 {
                    time *= factor * if slow_mode && window.1 { 1.4 } else { 1.0 };
                }
                sides[side].push(sample(time));
            }
            // Starting the processes takes as long as sampling them.
            bursts.pass(SAMPLE_MS * SAMPLES as f64 * 2.0, numbers);
            let [base, candidate] = sides;
            Round {
                layout: None,
                base,
                candidate,
                led: Vec::new(),
            }
        })
        .collect()
}

/// Makes one simulated comparison per seed.
fn simulated<T: Send>(
    runs: u64,
    name: &str,
    one: impl Fn(&mut Numbers, u64) -> T + Sync,
) -> Vec<T> {
    (0..runs)
        .into_par_iter()
        .map(|seed| one(&mut Numbers(Draws::new(Stream { seed, name }, 0)), seed))
        .collect()
}

fn tails(runs: u64, noises: &[Noise]) {
    const LEVELS: [f64; 3] = [0.01, 0.001, 0.0001];
    let of = |floor_share, guard| PairedMethod {
        floor_share,
        guard,
        ..PairedMethod::default()
    };
    let methods = [
        PairedMethod::default(),
        of(1.0, FloorGuard::Everywhere),
        of(1.0, FloorGuard::Nowhere),
        of(0.0, FloorGuard::Everywhere),
    ];
    println!(
        "actual tail over nominal at p <= {LEVELS:?}, {runs} runs: noise | rounds | default | floors | floors without guard | ranks"
    );
    for &noise in noises {
        for rounds in [5, 7, 10, 15, 20, 30, 40, 60] {
            let p = simulated(runs, "tails", |numbers, seed| {
                let rounds = series(noise, rounds, 1.0, false, numbers);
                let looks = [rounds.len() as u32];
                methods.map(|method| {
                    let comparison = judged(&rounds, &looks, 0.0, &method, seed);
                    comparison.p_value.unwrap_or(1.0)
                })
            });
            let ratios: Vec<String> = (0..methods.len())
                .map(|method| {
                    let ratio = |level: f64| {
                        let hits = p.iter().filter(|p| p[method] <= level).count() as f64;
                        format!("{:.2}", hits / runs as f64 / (2.0 * level))
                    };
                    LEVELS.map(ratio).join(" ")
                })
                .collect();
            println!("{} | {rounds} | {}", noise.name(), ratios.join(" | "));
        }
    }
}

fn rates(runs: u64, noises: &[Noise]) {
    let looks = Plan::looks_up_to(Plan::USUAL_ROUNDS);
    println!("looks {looks:?}, threshold 1 %, {runs} runs");
    println!(
        "noise | true change | regressed %, 95 % interval | improved % | suspect % | unchanged % | inconclusive % | slow path % | mean rounds | interval covers %"
    );
    for &noise in noises {
        for change in [0.0, 0.01, 0.02, 0.05, -0.02] {
            let factor = 1.0 + change;
            let found = simulated(runs, "rates", |numbers, seed| {
                let rounds = series(noise, Plan::USUAL_ROUNDS as usize, factor, false, numbers);
                judged(&rounds, &looks, 0.01, &PairedMethod::default(), seed)
            });
            let share = |test: &dyn Fn(&Comparison) -> bool| {
                100.0 * found.iter().filter(|one| test(one)).count() as f64 / runs as f64
            };
            let regressed = found
                .iter()
                .filter(|one| one.verdict == Verdict::Regressed)
                .count();
            let (low, high) = exact_interval(regressed as u64, runs);
            let rounds: usize = found
                .iter()
                .map(|one| one.extent.processes_candidate())
                .sum();
            println!(
                "{} | {:+.0} % | {:.2} [{:.2}, {:.2}] | {:.2} | {:.2} | {:.1} | {:.1} | {:.2} | {:.1} | {:.2}",
                noise.name(),
                change * 100.0,
                100.0 * regressed as f64 / runs as f64,
                100.0 * low,
                100.0 * high,
                share(&|one| one.verdict == Verdict::Improved),
                share(&|one| one.verdict == Verdict::Suspect),
                share(&|one| one.verdict == Verdict::Unchanged),
                share(&|one| one.verdict == Verdict::Inconclusive),
                share(&|one| one.slow_side().is_some()),
                rounds as f64 / runs as f64,
                share(&|one| one
                    .change
                    .is_some_and(|it| it.lower <= change && change <= it.upper)),
            );
        }
    }
}

fn slow(runs: u64, noises: &[Noise]) {
    let looks = Plan::looks_up_to(Plan::USUAL_ROUNDS);
    println!("looks {looks:?}, threshold 1 %, {runs} runs");
    println!(
        "noise | slow mode | regressed by a slow path % | otherwise regressed % | unchanged % | mean rounds"
    );
    for &noise in noises {
        for slow_mode in [false, true] {
            let found = simulated(runs, "slow", |numbers, seed| {
                let rounds = series(noise, Plan::USUAL_ROUNDS as usize, 1.0, slow_mode, numbers);
                judged(&rounds, &looks, 0.01, &PairedMethod::default(), seed)
            });
            let share = |test: &dyn Fn(&Comparison) -> bool| {
                100.0 * found.iter().filter(|one| test(one)).count() as f64 / runs as f64
            };
            let named = |one: &Comparison| one.slow_side().is_some();
            let rounds: usize = found
                .iter()
                .map(|one| one.extent.processes_candidate())
                .sum();
            println!(
                "{} | {} | {:.2} | {:.2} | {:.1} | {:.1}",
                noise.name(),
                if slow_mode { "yes" } else { "no" },
                share(&|one| one.verdict == Verdict::Regressed && named(one)),
                share(&|one| one.verdict == Verdict::Regressed && !named(one)),
                share(&|one| one.verdict == Verdict::Unchanged),
                rounds as f64 / runs as f64,
            );
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let part = arguments.next();
    let runs = arguments
        .next()
        .and_then(|text| text.parse().ok())
        .unwrap_or(2_000);
    let wanted = arguments.next().unwrap_or_default();
    let noises: Vec<Noise> = NOISES
        .into_iter()
        .filter(|noise| noise.name().contains(&wanted))
        .collect();
    match part.as_deref() {
        Some("tails") => tails(runs, &noises),
        Some("rates") => rates(runs, &noises),
        Some("slow") => slow(runs, &noises),
        _ => {
            tails(runs, &noises);
            rates(runs, &noises);
            slow(runs, &noises);
        }
    }
}
