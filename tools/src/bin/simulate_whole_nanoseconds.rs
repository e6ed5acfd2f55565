//! Simulates the tests of published systems, and the default for tables without processes, on whole nanoseconds with many ties.
//!
//! Samples are drawn from N(12, 1) and compared with others from N(12, 1) or from N(12.36, 1) (3 % slower), all rounded to whole nanoseconds, 200
//! samples per side in 5 processes. The samples of a side are independent of each other, so p keeps its level. These results are contradictions:
//! `regressed` or `improved` with p at or above the level; `unchanged` with p below it; an interval of width 0 with p below it; and, without a noise
//! threshold, p below the level without a reported change. `cargo run --release -p perfcheck-tools --bin simulate_whole_nanoseconds [-- PAIRS]`
//! prints a table; PAIRS (1000) is the number of pairs per cell.

#![allow(clippy::print_stdout)]

use perfcheck_analysis::compare::{
    Comparison, HostClass, Question, Reference, TestPolicy, compare,
};
use perfcheck_analysis::model::{
    Analysis, DecisionSettings, Measurement, Nanos, Observations, Sample, System, Test, Verdict,
};
use perfcheck_stats::{Draws, Significance, Stream};
use perfcheck_tools::numbers::Numbers;
use perfcheck_tools::proportion::exact_interval;
use perfcheck_tools::series;
use rayon::prelude::*;

const PROCESSES: usize = 5;
const SAMPLES: usize = 40;

/// What was counted over all pairs of samples that were drawn and judged alike.
#[derive(Default, Clone, Copy)]
struct Counts {
    p_below_level: u64,
    called: u64,
    unchanged: u64,
    contradictions: u64,
}

fn main() {
    let argument = std::env::args().nth(1);
    let pairs: u64 = argument.and_then(|text| text.parse().ok()).unwrap_or(1_000);
    println!(
        "{:28} | identical: p < level   called [95 %]           unchanged contradictions | 3 % slower: p < level   called   unchanged contradictions",
        format!("{pairs} pairs a cell")
    );
    for (name, decision) in deciders() {
        let same = simulate(&decision, pairs, 12.0);
        let slower = simulate(&decision, pairs, 12.36);
        let (low, high) = exact_interval(same.called, pairs);
        println!(
            "{name:28} | {:20} {:8} [{:.1}, {:.1}] % {:9} {:14} | {:21} {:8} {:11} {:14}",
            same.p_below_level,
            same.called,
            100.0 * low,
            100.0 * high,
            same.unchanged,
            same.contradictions,
            slower.p_below_level,
            slower.called,
            slower.unchanged,
            slower.contradictions,
        );
    }
}

/// Returns every preset, and the default for tables without processes, with and without its noise threshold.
fn deciders() -> Vec<(String, DecisionSettings)> {
    let tables = |noise_threshold| {
        let usual = DecisionSettings::default();
        DecisionSettings {
            analysis: Analysis {
                observations: Observations::Samples,
                ..Test::MannWhitney.into()
            },
            significance_level: usual.thresholds.test_level,
            noise_threshold,
            ..usual
        }
    };
    let presets = System::ALL
        .iter()
        .map(|system| (system.word().to_owned(), system.decision_settings()));
    let usual = DecisionSettings::default().noise_threshold;
    presets
        .chain([
            (
                format!("tables, noise {:.0} %", 100.0 * usual),
                tables(usual),
            ),
            ("tables, noise 0 %".to_owned(), tables(0.0)),
        ])
        .collect()
}

fn simulate(decision: &DecisionSettings, pairs: u64, mean: f64) -> Counts {
    let each = (0..pairs).into_par_iter().map(|seed| {
        let stream = Stream {
            seed,
            name: "whole nanoseconds",
        };
        let mut numbers = Numbers(Draws::new(stream, 0));
        let base = run(&mut numbers, 12.0);
        let candidate = run(&mut numbers, mean);
        count(&judge(decision, &base, &candidate), decision)
    });
    each.reduce(Counts::default, |a, b| Counts {
        p_below_level: a.p_below_level + b.p_below_level,
        called: a.called + b.called,
        unchanged: a.unchanged + b.unchanged,
        contradictions: a.contradictions + b.contradictions,
    })
}

fn run(numbers: &mut Numbers, mean: f64) -> Measurement {
    let processes = (0..PROCESSES).map(|_| {
        let samples = (0..SAMPLES).map(|_| Sample {
            iterations: 1,
            elapsed: Nanos((mean + numbers.normal()).round().max(0.0) as u64),
        });
        (Vec::new(), samples.collect())
    });
    series::measurement("whole", processes.collect())
}

fn judge(decision: &DecisionSettings, base: &Measurement, candidate: &Measurement) -> Comparison {
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
        decision: DecisionSettings {
            resamples: 500,
            ..*decision
        },
        host: HostClass::Dedicated,
        seed: 1,
    };
    compare(&[question], &rules).remove(0)
}

fn count(found: &Comparison, decision: &DecisionSettings) -> Counts {
    let p_below_level = found
        .p_value
        .is_some_and(|p| p < decision.significance_level);
    let called = matches!(found.verdict, Verdict::Regressed | Verdict::Improved);
    let unchanged = found.verdict == Verdict::Unchanged;
    let is_point = found
        .change
        .is_some_and(|change| change.lower >= change.upper);
    let decides_alone = decision.noise_threshold == 0.0;
    // Use the stated significance: if Cliff's delta is negligible, a separate rule prevents a reported change, with a note.
    let is_significant = found
        .published_decision()
        .is_some_and(|tested| tested.significance == Significance::Significant);
    let contradicts = found.p_value.is_some()
        && (called && !p_below_level
            || p_below_level && (unchanged || is_point)
            || is_significant && decides_alone && !called);
    Counts {
        p_below_level: p_below_level.into(),
        called: called.into(),
        unchanged: unchanged.into(),
        contradictions: contradicts.into(),
    }
}
