//! Effects of processes on false alarms: processes of the same executable differ, and no verdict may report that as a change.

use super::{simulated, stored, turns};
use perfcheck_analysis::model::{Test, Verdict};
use perfcheck_stats::{MannWhitney, MannWhitneyMethod};
use perfcheck_tools::numbers::Numbers;
use perfcheck_tools::proportion::exact_interval;

/// Standard deviations between processes of the logarithm of their times.
const EFFECTS: [f64; 4] = [0.0, 0.005, 0.01, 0.02];
const PROCESSES: usize = 5;
/// Standard deviation between the samples of a process.
const WITHIN: f64 = 0.01;
const LOOKS: [u32; 3] = [10, 20, 30];

/// Simulates identical code with process effects of this size. Returns true if there is a false alarm at the level of 1 %.
type Alarm = fn(f64, &mut Numbers) -> bool;

const ROWS: [(&str, Alarm); 5] = [
    ("run level, threshold 0", |effect, numbers| {
        stored_alarm(Test::BootstrapT, 0.0, effect, numbers)
    }),
    (
        "t-score (`--ignore-drift`), threshold 0",
        |effect, numbers| stored_alarm(Test::TScore, 0.0, effect, numbers),
    ),
    ("in turn, threshold 0", |effect, numbers| {
        turned_alarm(0.0, effect, numbers)
    }),
    ("in turn, threshold 1 %", |effect, numbers| {
        turned_alarm(0.01, effect, numbers)
    }),
    (
        "for comparison: Mann-Whitney of pooled samples",
        |effect, numbers| {
            let (candidate, base) = (pooled(effect, numbers), pooled(effect, numbers));
            let found = MannWhitney::from_groups(&candidate, &base).expect("samples");
            let p = found.p_value(MannWhitneyMethod::Asymptotic).unwrap_or(1.0);
            // The one-sided p for slower is half of the two-sided p.
            p / 2.0 <= 0.01 && found.u_first > (candidate.len() * base.len()) as f64 / 2.0
        },
    ),
];

/// Prints how often each rule raises a false alarm, for each size of process effects.
pub fn print(runs: u64) {
    println!("### Process effects and false alarms\n");
    println!(
        "Identical code called `regressed`, nominal 1 %: count of {runs} runs, rate and its exact 95 % interval. Processes differ log-normally by the deviation given, \
         stored runs of {PROCESSES} processes a side, {} rounds in turn with looks after {LOOKS:?}.\n",
        LOOKS[LOOKS.len() - 1]
    );
    println!("| decided by | effect 0 | 0.5 % | 1 % | 2 % |");
    println!("|---|---|---|---|---|");
    for (name, alarm) in ROWS {
        let cells = EFFECTS.map(|effect| {
            let stream = format!("{name} {effect}");
            let found = simulated(runs, &stream, |numbers| alarm(effect, numbers));
            let hits = found.iter().filter(|alarm| **alarm).count() as u64;
            let (low, high) = exact_interval(hits, runs);
            format!(
                "{hits}: {:.2} % [{:.2}, {:.2}]",
                100.0 * hits as f64 / runs as f64,
                100.0 * low,
                100.0 * high
            )
        });
        println!("| {name} | {} |", cells.join(" | "));
    }
    println!();
}

fn stored_alarm(test: Test, theta: f64, effect: f64, numbers: &mut Numbers) -> bool {
    let mut run = || {
        let values: Vec<f64> = (0..PROCESSES)
            .map(|_| {
                // The location of twenty samples varies even if processes are equal.
                let within = WITHIN / 20.0_f64.sqrt() * numbers.normal();
                100.0 * (effect * numbers.normal() + within).exp()
            })
            .collect();
        stored::run(&values)
    };
    let (candidate, base) = (run(), run());
    stored::decided(&candidate, &[base], test, theta).verdict == Verdict::Regressed
}

fn turned_alarm(theta: f64, effect: f64, numbers: &mut Numbers) -> bool {
    let most = LOOKS[LOOKS.len() - 1] as usize;
    let rounds = turns::rounds(most, numbers, |numbers| (effect * numbers.normal()).exp());
    turns::judged(&rounds, &LOOKS, theta).verdict == Verdict::Regressed
}

fn pooled(effect: f64, numbers: &mut Numbers) -> Vec<f64> {
    (0..PROCESSES)
        .flat_map(|_| {
            let process = effect * numbers.normal();
            (0..20)
                .map(|_| 100.0 * (process + WITHIN * numbers.normal()).exp())
                .collect::<Vec<f64>>()
        })
        .collect()
}
