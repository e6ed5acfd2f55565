//! Effects of many benchmarks on verdicts of `--metric` and on rules of `--limit`: on identical code, a run may fail no more often than its level
//! allows.

use super::band::binomial_band;
use super::{simulated, stored, turns};
use perfcheck_analysis::compare::{
    Comparison, Estimate, HostClass, Question, Reference, SharedLevel, TestPolicy, compare,
};
use perfcheck_analysis::model::{DecisionSettings, Measurement, Statistic, Verdict};
use perfcheck_stats::HdrPrecision;
use perfcheck_tools::numbers::Numbers;
use perfcheck_tools::proportion::exact_interval;

/// Number of benchmarks of a run.
const FAMILY: usize = 50;
/// Confidence level of the intervals of all benchmarks together. Half of the remaining probability, `NOMINAL`, is for a false slowdown.
const LEVEL: f64 = 0.95;
const NOMINAL: f64 = 0.025;
/// Standard deviation between processes of the same executable.
const SPREAD: f64 = 0.02;
/// One in this many families is simulated with a change, because each has many benchmarks.
const POWER_SHARE: u64 = 10;

/// The way in which both sides are measured.
#[derive(Clone, Copy)]
enum Setting {
    /// At different times: number of processes per run, number of reference runs, and the drift between runs.
    Stored {
        processes: usize,
        runs: usize,
        drift: f64,
    },
    /// Side by side, with this number of rounds.
    SideBySide { rounds: usize },
}

const SETTINGS: [(&str, Setting); 6] = [
    (
        "stored, 5 processes, one reference run, no drift",
        Setting::Stored {
            processes: 5,
            runs: 1,
            drift: 0.0,
        },
    ),
    (
        "stored, 5 processes, one reference run, drift 3 %",
        Setting::Stored {
            processes: 5,
            runs: 1,
            drift: 0.03,
        },
    ),
    (
        "stored, 10 processes, one reference run, no drift",
        Setting::Stored {
            processes: 10,
            runs: 1,
            drift: 0.0,
        },
    ),
    (
        "stored, 5 processes, 20 reference runs, no drift",
        Setting::Stored {
            processes: 5,
            runs: 20,
            drift: 0.0,
        },
    ),
    (
        "stored, 5 processes, 20 reference runs, drift 3 %",
        Setting::Stored {
            processes: 5,
            runs: 20,
            drift: 0.03,
        },
    ),
    ("in turn, 10 rounds", Setting::SideBySide { rounds: 10 }),
];

/// The distribution of differences between processes of the same executable.
#[derive(Clone, Copy)]
enum Noise {
    Normal,
    OneSided,
    HeavyTailed,
}

impl Noise {
    const ALL: [Self; 3] = [Self::Normal, Self::OneSided, Self::HeavyTailed];

    fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::OneSided => "exponential",
            Self::HeavyTailed => "heavy-tailed",
        }
    }

    /// Draws the logarithm of one process's factor. The standard deviation of Student's t with three degrees of freedom is sqrt 3 times its scale.
    fn draw(self, numbers: &mut Numbers) -> f64 {
        SPREAD
            * match self {
                Self::Normal => numbers.normal(),
                Self::OneSided => numbers.exponential(),
                Self::HeavyTailed => {
                    let squares: f64 = (0..3).map(|_| numbers.normal().powi(2)).sum();
                    numbers.normal() / squares.sqrt()
                }
            }
    }
}

/// The tested rules: verdicts of `--metric p95`, and `--limit median:LIMIT`. Each is decided by its own interval, and with a level that all
/// benchmarks share.
const ASKED: [(&str, usize); 2] = [("`--metric p95`", 0), ("`--limit median:`", 2)];

/// The limits with which `--limit` is tested. The first is at the edge of the null hypothesis, and the second has a margin.
const LIMITS: [f64; 2] = [0.0, 0.01];

/// Number of benchmarks with an alarm, by limit and tested rule.
type Alarms = [[usize; 4]; 2];

/// Prints how often any benchmark of a run raises a false alarm, and how often a slower one is found.
pub fn print(runs: u64) {
    let (low, high) = binomial_band(runs, NOMINAL);
    println!("### Many benchmarks\n");
    println!(
        "{FAMILY} identical benchmarks, {runs} runs a cell: how often any of them is `regressed` with `--metric p95`, or breaks a rule `--limit median:LIMIT`, in per cent with the exact 95 % interval. Nominal {} % (half of 1 less {} %); the band that holds 99 % of such counts is {:.1} to {:.1}. \
         *Each* is what it was when every benchmark had an interval of {} % to itself, without the drift between runs; *shared* is what decides. The limit 0 (for percentiles a noise threshold of 0, to which the histogram adds 0.1 %) is the null at its edge. Processes differ with a standard deviation of {} %. \
         Power: how often one of the {FAMILY} that is 10 % slower is found at limit 1 %.\n",
        100.0 * NOMINAL,
        100.0 * LEVEL,
        100.0 * low as f64 / runs as f64,
        100.0 * high as f64 / runs as f64,
        100.0 * LEVEL,
        100.0 * SPREAD,
    );
    println!(
        "| measured | processes are | asked | each, limit 0 | shared, limit 0 | each, limit 1 % | shared, limit 1 % | power, each | power, shared |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (name, setting) in SETTINGS {
        for noise in Noise::ALL {
            let stream = format!("{name} {}", noise.name());
            let alarms = simulated(runs, &stream, |numbers| {
                family(setting, noise, 1.0, numbers)
            });
            let slower = format!("{stream} slower");
            let found = simulated(runs.div_ceil(POWER_SHARE), &slower, |numbers| {
                family(setting, noise, 1.1, numbers)
            });
            for (words, first) in ASKED {
                let cells = [(0, first), (0, first + 1), (1, first), (1, first + 1)]
                    .map(|(limit, which)| rate(&alarms, limit, which));
                let power = [first, first + 1].map(|which| {
                    let hits: usize = found.iter().map(|hits| hits[1][which]).sum();
                    format!("{:.1}", 100.0 * hits as f64 / (found.len() * FAMILY) as f64)
                });
                println!(
                    "| {name} | {} | {words} | {} | {} |",
                    noise.name(),
                    cells.join(" | "),
                    power.join(" | ")
                );
            }
        }
    }
    println!();
}

/// Formats how often there was any alarm, marked if it is above the band of the nominal rate.
fn rate(alarms: &[Alarms], limit: usize, which: usize) -> String {
    let runs = alarms.len() as u64;
    let hits = alarms
        .iter()
        .filter(|found| found[limit][which] > 0)
        .count() as u64;
    let (low, high) = exact_interval(hits, runs);
    let above = hits > binomial_band(runs, NOMINAL).1;
    let mark = if above { " ▲" } else { "" };
    let percent = |share: f64| 100.0 * share;
    format!(
        "{:.1} [{:.1}, {:.1}]{mark}",
        percent(hits as f64 / runs as f64),
        percent(low),
        percent(high)
    )
}

/// Returns the alarms of one run whose benchmarks have all become slower by `factor`.
fn family(setting: Setting, noise: Noise, factor: f64, numbers: &mut Numbers) -> Alarms {
    let mut comparisons = match setting {
        Setting::Stored {
            processes,
            runs,
            drift,
        } => {
            let mut run = |factor: f64| {
                let here = (drift * numbers.normal()).exp() * factor;
                let values: Vec<f64> = (0..processes)
                    .map(|_| 1e4 * here * noise.draw(numbers).exp())
                    .collect();
                stored::run_with_latencies(&values)
            };
            let sides: Vec<(Measurement, Vec<Measurement>)> = (0..FAMILY)
                .map(|_| (run(factor), (0..runs).map(|_| run(1.0)).collect()))
                .collect();
            stored_family(&sides)
        }
        Setting::SideBySide { rounds } => (0..FAMILY)
            .map(|_| {
                let mut side = |factor: f64| -> Vec<f64> {
                    (0..rounds)
                        .map(|_| factor * noise.draw(numbers).exp())
                        .collect()
                };
                let (candidate, base) = (side(factor), side(1.0));
                turns::compared(&candidate, &base)
            })
            .collect(),
    };
    LIMITS.map(|limit| {
        for one in &mut comparisons {
            one.noise_threshold = limit;
        }
        let decision = DecisionSettings::default();
        Comparison::judge_by_metric(&mut comparisons, Statistic::P95, &decision);
        let level = SharedLevel::bonferroni(LEVEL, FAMILY).effective_level();
        let count = |alarm: &dyn Fn(&Comparison) -> bool| {
            comparisons.iter().filter(|one| alarm(one)).count()
        };
        let above = |change: Option<Estimate>| change.is_some_and(|found| found.lower > limit);
        [
            count(&|one| {
                let threshold = limit.max(HdrPrecision::default().error());
                let found = one.percentile(Statistic::P95);
                found.is_some_and(|found| found.change.lower > threshold)
            }),
            count(&|one| one.verdict == Verdict::Regressed),
            count(&|one| above(one.description.median.map(|found| found.estimate))),
            count(&|one| {
                above((one.description.median).map(|found| found.uncertainty.interval_at(level)))
            }),
        ]
    })
}

fn stored_family(sides: &[(Measurement, Vec<Measurement>)]) -> Vec<Comparison> {
    let references: Vec<Reference<'_>> = sides
        .iter()
        .map(|(_, base)| Reference {
            averaged: base.iter().collect(),
            spread: base.iter().collect(),
            earlier: vec![],
        })
        .collect();
    let questions: Vec<Question<'_>> = sides
        .iter()
        .zip(&references)
        .map(|((candidate, _), reference)| Question {
            candidate,
            reference,
            noise_threshold: 0.01,
        })
        .collect();
    let few = sides
        .iter()
        .all(|(candidate, _)| candidate.processes.len() < 8);
    let rules = TestPolicy {
        decision: DecisionSettings {
            // With fewer than eight processes, no result used here depends on resamples.
            resamples: if few { 20 } else { 1_000 },
            ..DecisionSettings::default()
        },
        host: HostClass::Shared,
        seed: super::SEED,
    };
    compare(&questions, &rules)
}
