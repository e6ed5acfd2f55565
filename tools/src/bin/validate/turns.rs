//! Made-up side-by-side rounds of two builds, and decisions on them.

use super::stored;
use perfcheck_analysis::compare::{Comparison, PairedMethod, PairedSeries, Plan, judge};
use perfcheck_analysis::model::{Metric, Nanos, Round, Sample};
use perfcheck_tools::numbers::Numbers;
use perfcheck_tools::paired_verdict;

/// Number of samples per side in a round.
const SAMPLES: usize = 20;

/// Returns `count` rounds of two processes, whose times `process` draws. Every sample has exponential noise of half a percent.
pub fn rounds(
    count: usize,
    numbers: &mut Numbers,
    process: impl Fn(&mut Numbers) -> f64,
) -> Vec<Round> {
    (0..count)
        .map(|_| {
            let mut side = || {
                let value = process(numbers);
                (0..SAMPLES)
                    .map(|_| Sample {
                        iterations: 5_000,
                        elapsed: Nanos(
                            (5e5 * value * (0.005 * numbers.exponential()).exp()).round() as u64,
                        ),
                    })
                    .collect()
            };
            Round {
                layout: None,
                base: side(),
                candidate: side(),
                led: Vec::new(),
            }
        })
        .collect()
}

/// Returns the verdict on `rounds` with the given looks, at the default level.
pub fn judged(rounds: &[Round], looks: &[u32], theta: f64) -> Comparison {
    paired_verdict::judged(rounds, looks, theta, &PairedMethod::default(), super::SEED)
}

/// Compares two sides with these times of processes, one per round. The result includes the comparison of latencies.
pub fn compared(candidate: &[f64], base: &[f64]) -> Comparison {
    let sample = |value: &f64| {
        let sample = Sample {
            iterations: 50,
            elapsed: Nanos((5e5 * value).round() as u64),
        };
        vec![sample; 2]
    };
    let rounds: Vec<Round> = candidate
        .iter()
        .zip(base)
        .map(|(candidate, base)| Round {
            layout: None,
            base: sample(base),
            candidate: sample(candidate),
            led: Vec::new(),
        })
        .collect();
    let looks = [rounds.len() as u32];
    let plan = Plan {
        resamples: 1_000,
        ..paired_verdict::plan(&looks, super::SEED)
    };
    let side = |values: &[f64]| {
        let values: Vec<f64> = values.iter().map(|value| 1e4 * value).collect();
        stored::run_with_latencies(&values)
    };
    let (base, candidate) = (side(base), side(candidate));
    let series = PairedSeries {
        key: &candidate.benchmark.key,
        metric: &Metric::Time,
        rounds: &rounds,
        noise_threshold: 0.01,
    };
    let comparison = judge(&[series], &plan).remove(0);
    comparison.with_paired_extras(&base, &candidate, &plan)
}
