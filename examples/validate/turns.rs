//! Rounds of two builds in turn made up, and how they are decided.

use super::numbers::Numbers;
use super::paired_verdict;
use cargo_perfcheck::compare::{Comparison, Method, Round};
use cargo_perfcheck::model::{Nanos, Sample};

/// Samples of a side in a round.
const SAMPLES: usize = 20;

/// `count` rounds of two processes that each last as `process` says, with exponential noise of half a per cent on every sample.
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
                base: side(),
                new: side(),
                led: Vec::new(),
            }
        })
        .collect()
}

/// The verdict on `rounds` after the given looks, at the default level.
pub fn judged(rounds: &[Round], looks: &[u32], theta: f64) -> Comparison {
    paired_verdict::judged(rounds, looks, theta, &Method::default(), super::SEED)
}
