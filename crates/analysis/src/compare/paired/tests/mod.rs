//! Tests of decisions about side-by-side measurements, situation by situation.

mod degenerate;
mod laws;
mod looks;
mod ranking;
mod resolution;
mod slow_path;

use super::*;
use std::collections::BTreeMap;

use crate::compare::fixtures::{PLAN, key};
use crate::compare::{Comparison, Note};
use crate::model::{BenchmarkKey, Metric, Nanos, Round, Sample, Side, Verdict};
use perfcheck_stats::{Draws, Stream};

/// With this number of iterations, a sample takes half a millisecond at 100 ns per iteration.
const ITERATIONS: u64 = 5_000;

const SAMPLES: usize = 30;

pub(super) fn plan(looks: &[u32]) -> Plan {
    Plan {
        looks: looks.to_vec(),
        ..PLAN
    }
}

fn sample(time: f64) -> Sample {
    Sample {
        iterations: ITERATIONS,
        elapsed: Nanos((time * ITERATIONS as f64).round() as u64),
    }
}

/// Creates rounds in which sample i of a side takes `time(round, side, i)` nanoseconds per iteration.
fn rounds_of(count: usize, mut time: impl FnMut(usize, Side, usize) -> f64) -> Vec<Round> {
    let mut side = |round, side| (0..SAMPLES).map(|i| sample(time(round, side, i))).collect();
    (0..count)
        .map(|round| Round {
            layout: None,
            base: side(round, Side::Base),
            candidate: side(round, Side::Candidate),
            led: Vec::new(),
        })
        .collect()
}

/// Generates random numbers for simulated noise.
struct Noise(Draws);

impl Noise {
    fn new(seed: u64) -> Self {
        let name = "made-up noise";
        Self(Draws::new(Stream { seed, name }, 0))
    }

    fn uniform(&mut self) -> f64 {
        (self.0.index(1 << 24) as f64 + 0.5) / f64::from(1 << 24)
    }

    fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// Returns a standard normal number (Box and Muller 1958).
    fn normal(&mut self) -> f64 {
        let (a, b) = (self.uniform(), self.uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

/// Creates rounds with little noise, in which the new side takes `factor` times as long.
fn quiet(count: usize, factor: f64) -> Vec<Round> {
    let mut noise = Noise::new(1);
    rounds_of(count, |_, side, _| {
        let cost = if side == Side::Candidate { factor } else { 1.0 };
        100.0 * cost * (1.0 + 0.003 * noise.exponential())
    })
}

/// Creates a series of times with the default noise threshold.
pub(super) fn timed_series<'r>(key: &'r BenchmarkKey, rounds: &'r [Round]) -> PairedSeries<'r> {
    PairedSeries {
        key,
        metric: &Metric::Time,
        rounds,
        noise_threshold: 0.01,
    }
}

fn judge_one(rounds: &[Round], noise_threshold: f64, plan: &Plan) -> Comparison {
    let key = key("b");
    let series = PairedSeries {
        key: &key,
        metric: &Metric::Time,
        rounds,
        noise_threshold,
    };
    judge(&[series], plan).remove(0)
}

/// Judges rounds at a threshold of 1 %, with one look at the end.
fn judged(rounds: &[Round]) -> Comparison {
    judge_one(rounds, 0.01, &plan(&[rounds.len() as u32]))
}

fn has(comparison: &Comparison, wanted: impl Fn(&Note) -> bool) -> bool {
    comparison.notes.iter().any(wanted)
}

#[test]
fn two_percent_are_found_in_either_direction_and_the_same_is_unchanged() {
    for (factor, verdict) in [
        (1.02, Verdict::Regressed),
        (1.0 / 1.02, Verdict::Improved),
        (1.0, Verdict::Unchanged),
        (1.05, Verdict::Regressed),
    ] {
        let comparison = judged(&quiet(30, factor));
        assert_eq!(comparison.verdict, verdict, "{factor}");
        let change = comparison.change.unwrap();
        assert!(change.lower < factor - 1.0 && factor - 1.0 < change.upper);
        assert!(
            (change.estimate - (factor - 1.0)).abs() < 1e-3,
            "{change:?}"
        );
        assert_eq!(comparison.extent.processes_candidate(), 30);
        assert!(comparison.notes.is_empty(), "{:?}", comparison.notes);
    }
}

#[test]
fn rounds_agree_if_they_differ_in_the_direction_of_the_estimate() {
    let agreeing = |slower: Side, opposite: usize| {
        let mut noise = Noise::new(8);
        let rounds = rounds_of(30, |round, side, _| {
            // In some layouts, the other side is the slower one.
            let cost = match (side == slower, round < opposite) {
                (true, _) => 1.05,
                (false, false) => 1.0,
                (false, true) => 1.1,
            };
            100.0 * cost * (1.0 + 0.003 * noise.exponential())
        });
        judged(&rounds).look().and_then(|look| look.agreeing_rounds)
    };
    for slower in Side::BOTH {
        assert_eq!(agreeing(slower, 0), Some(30));
        assert_eq!(agreeing(slower, 4), Some(26));
    }
}

#[test]
fn a_change_of_just_the_threshold_is_inconclusive() {
    let comparison = judged(&quiet(30, 1.01));
    assert_eq!(comparison.verdict, Verdict::Inconclusive);
    let callable = comparison.smallest_callable.unwrap();
    assert!(callable > 0.01 && callable < 0.02, "{callable}");
}

#[test]
fn bursts_that_cover_half_of_the_rounds_and_hit_both_sides_hide_nothing() {
    let rounds = |factor: f64| {
        let mut noise = Noise::new(2);
        rounds_of(40, |round, side, _| {
            let burst = if round % 2 == 0 {
                1.3 + 0.1 * noise.uniform()
            } else {
                1.0
            };
            let cost = if side == Side::Candidate { factor } else { 1.0 };
            100.0 * cost * burst * (1.0 + 0.003 * noise.exponential())
        })
    };
    assert_eq!(judged(&rounds(1.0)).verdict, Verdict::Unchanged);
    assert_eq!(judged(&rounds(1.02)).verdict, Verdict::Regressed);
}

#[test]
fn a_faster_layout_that_a_few_processes_of_one_side_happen_to_have_is_no_change() {
    let layout = |lucky: usize| {
        let mut noise = Noise::new(3);
        rounds_of(20, |round, side, _| {
            let slow = side == Side::Candidate || round >= lucky;
            let layout = if slow { 1.05 } else { 1.0 };
            100.0 * layout * (1.0 + 0.002 * noise.exponential())
        })
    };
    // Five fast processes of twenty against none have a probability of 1 in 40 (Fisher), twelve against none of 1 in 50,000.
    assert_eq!(judged(&layout(5)).verdict, Verdict::Inconclusive);
    assert_eq!(judged(&layout(12)).verdict, Verdict::Regressed);
    let by_floors = |guard| PairedMethod {
        floor_share: 1.0,
        guard,
        ..PairedMethod::default()
    };
    let (key, rounds) = (key("b"), layout(5));
    let series = timed_series(&key, &rounds);
    let lower = |guard| {
        judge_with_method(&[series], &plan(&[20]), &by_floors(guard))
            .remove(0)
            .change
            .unwrap()
            .lower
    };
    assert!(lower(FloorGuard::Everywhere) < 0.01 && lower(FloorGuard::Nowhere) > 0.01);
}

#[test]
fn inconclusive_says_what_could_have_been_called_and_how_long_would_settle_it() {
    let mut noise = Noise::new(4);
    let mut process = 0.0;
    let rounds = rounds_of(20, |_, side, i| {
        if i == 0 {
            process = 0.01 * noise.normal();
        }
        let cost = if side == Side::Candidate { 1.013 } else { 1.0 };
        100.0 * cost * (1.0 + process + 0.005 * noise.exponential())
    });
    let comparison = judged(&rounds);
    assert_eq!(comparison.verdict, Verdict::Inconclusive);
    assert!(comparison.smallest_callable.unwrap() > 0.01);
    let needed = comparison.look().unwrap().rounds_needed.unwrap();
    assert!((20..2_000).contains(&needed), "{needed}");
}

/// Creates rounds whose processes differ by 1 %, so that they do not settle whether a candidate that takes `factor` times as long is slower.
fn rounds_of_differing_processes(factor: f64) -> Vec<Round> {
    let mut noise = Noise::new(4);
    let mut process = 0.0;
    rounds_of(20, |_, side, i| {
        if i == 0 {
            process = 0.01 * noise.normal();
        }
        let cost = if side == Side::Candidate { factor } else { 1.0 };
        100.0 * cost * (1.0 + process + 0.0005 * noise.exponential())
    })
}

#[test]
fn more_rounds_are_advised_by_the_square_of_the_margin_over_the_distance_from_the_threshold() {
    for factor in [1.005, 1.013] {
        let rounds = rounds_of_differing_processes(factor);
        let comparison = judged(&rounds);
        assert_eq!(comparison.verdict, Verdict::Inconclusive, "{factor}");
        let threshold = 0.01_f64.ln_1p();
        let margin = comparison.smallest_callable.unwrap().ln_1p() - threshold;
        let size = comparison.change.unwrap().estimate.ln_1p().abs();
        assert_eq!(size > threshold, factor > 1.01, "{size}");
        // The standard error falls with the square root of the number of rounds.
        let expected = (20.0 * (margin / (size - threshold)).powi(2)).ceil() as u64;
        let needed = comparison.look().unwrap().rounds_needed;
        assert_eq!(needed, Some(expected), "{factor}");
    }
}

#[test]
fn more_than_a_thousand_rounds_are_no_advice() {
    let (mut advised, mut not_advised) = (0, 0);
    for seed in 0..30 {
        let mut noise = Noise::new(seed);
        let mut process = 0.0;
        let rounds = rounds_of(20, |_, side, i| {
            if i == 0 {
                process = 0.01 * noise.normal();
            }
            let cost = if side == Side::Candidate { 1.01 } else { 1.0 };
            100.0 * cost * (1.0 + process + 0.0005 * noise.exponential())
        });
        let comparison = judged(&rounds);
        assert_eq!(comparison.verdict, Verdict::Inconclusive, "{seed}");
        let threshold = 0.01_f64.ln_1p();
        let margin = comparison.smallest_callable.unwrap().ln_1p() - threshold;
        let distance = comparison.change.unwrap().estimate.ln_1p().abs() - threshold;
        let rounds = 20.0 * (margin / distance).powi(2);
        let needed = comparison.look().unwrap().rounds_needed;
        assert_eq!(needed.is_some(), rounds <= 1_000.0, "{seed}: {rounds}");
        advised += usize::from(needed.is_some());
        not_advised += usize::from(needed.is_none());
    }
    assert!(advised >= 5 && not_advised >= 5, "{advised} {not_advised}");
}

#[test]
fn a_benchmark_that_was_given_up_is_not_advised_to_have_rounds_that_it_could_have_had() {
    let plan = plan(&[10, 20, 30, 60, 100, 200]);
    let mut given_up = 0;
    for seed in 0..40 {
        let mut noise = Noise::new(seed);
        let mut process = 0.0;
        let rounds = rounds_of(100, |_, side, i| {
            if i == 0 {
                process = 0.03 * noise.normal();
            }
            let cost = if side == Side::Candidate { 1.011 } else { 1.0 };
            100.0 * cost * (1.0 + process + 0.005 * noise.exponential())
        });
        let series = PairedSeries {
            key: &key("b"),
            metric: &crate::model::Metric::Time,
            rounds: &rounds,
            noise_threshold: 0.01,
        };
        if check_settled(&series, &plan) != LookStatus::Settled(Verdict::Inconclusive) {
            continue;
        }
        given_up += 1;
        let comparison = judge_one(&rounds, 0.01, &plan);
        let needed = comparison.look().and_then(|look| look.rounds_needed);
        assert!(
            needed.is_none_or(|needed| needed > 200),
            "{seed}: {needed:?}"
        );
    }
    assert!(given_up > 5, "{given_up} of 40");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let sets: Vec<Vec<Round>> = [1.0, 1.02, 1.005].map(|factor| quiet(30, factor)).to_vec();
    let text = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let keys = ["a", "b", "c"].map(key);
            let all_series: Vec<PairedSeries<'_>> = keys
                .iter()
                .zip(&sets)
                .map(|(key, rounds)| PairedSeries {
                    key,
                    metric: &Metric::Time,
                    rounds,
                    noise_threshold: 0.01,
                })
                .collect();
            format!("{:?}", judge(&all_series, &plan(&[10, 20, 30])))
        })
    };
    let one = text(1);
    assert_eq!(text(2), one);
    assert_eq!(text(5), one);
}

#[test]
fn halves_that_disagree_are_named() {
    let mut noise = Noise::new(5);
    let rounds = rounds_of(40, |round, side, _| {
        // The host becomes faster, so the pooled floors come from the second half.
        let host = if round < 20 { 1.2 } else { 1.0 };
        let cost = if side == Side::Candidate && round < 20 {
            1.1
        } else {
            1.0
        };
        100.0 * host * cost * (1.0 + 0.002 * noise.exponential())
    });
    let comparison = judged(&rounds);
    assert!(
        has(&comparison, |note| matches!(note, Note::ChangeDrifts)),
        "{:?}",
        comparison.notes
    );
}

#[test]
fn halves_that_disagree_by_less_than_the_threshold_are_not_named() {
    let mut noise = Noise::new(5);
    let rounds = rounds_of(40, |round, side, _| {
        let is_slower = side == Side::Candidate && round < 20;
        let cost = if is_slower { 1.005 } else { 1.0 };
        100.0 * cost * (1.0 + 0.0002 * noise.exponential())
    });
    let comparison = judge_one(&rounds, 0.01, &plan(&[40]));
    assert!(
        !has(&comparison, |note| matches!(note, Note::ChangeDrifts)),
        "{:?}",
        comparison.notes
    );
}

#[test]
fn halves_that_disagree_by_just_the_threshold_are_not_named() {
    // The pooled floors come from the second half. There the host is faster, and both sides take the same times.
    let rounds = rounds_of(40, |round, side, i| match side {
        _ if round >= 20 => 100.0 * (1.0 + 1e-5 * (SAMPLES * round + i) as f64),
        Side::Base => 120.0,
        Side::Candidate => 132.0,
    });
    let apart = 132.0_f64.ln() - 120.0_f64.ln();
    let just = apart.exp_m1();
    let just = [just.next_down(), just, just.next_up()]
        .into_iter()
        .find(|threshold| threshold.ln_1p() == apart)
        .expect("a threshold with this logarithm");
    for (threshold, is_named) in [(just, false), (0.999 * just, true)] {
        let comparison = judge_one(&rounds, threshold, &plan(&[40]));
        assert_eq!(
            has(&comparison, |note| matches!(note, Note::ChangeDrifts)),
            is_named,
            "{comparison:?}"
        );
    }
}

#[test]
fn halves_that_disagree_are_not_named_where_both_show_the_verdict() {
    let mut noise = Noise::new(5);
    let rounds = rounds_of(40, |round, side, _| {
        let cost = match side {
            Side::Candidate if round < 20 => 2.2,
            Side::Candidate => 2.4,
            Side::Base => 1.0,
        };
        100.0 * cost * (1.0 + 0.002 * noise.exponential())
    });
    let comparison = judged(&rounds);
    assert_eq!(comparison.verdict, Verdict::Regressed);
    assert!(
        !has(&comparison, |note| matches!(note, Note::ChangeDrifts)),
        "{:?}",
        comparison.notes
    );
}

#[test]
fn halves_that_differ_by_the_chance_of_their_processes_are_not_named() {
    let named = (0..30).filter(|seed| {
        let mut noise = Noise::new(*seed);
        let mut process = 0.0;
        let rounds = rounds_of(20, |_, _, i| {
            if i == 0 {
                process = 0.05 * noise.normal();
            }
            100.0 * (1.0 + process)
        });
        has(&judged(&rounds), |note| matches!(note, Note::ChangeDrifts))
    });
    // By chance, 1 in 2,000 is beyond 3.5 standard errors, and a few more because the errors are estimates.
    assert!(named.count() <= 2);
}

#[test]
fn halves_that_are_faster_by_unlike_amounts_are_named_only_where_one_of_them_is_not_faster() {
    let faster = |second: f64| {
        let mut noise = Noise::new(5);
        let rounds = rounds_of(40, |round, side, _| {
            let cost = match side {
                Side::Candidate if round < 24 => 1.0 / 2.4,
                Side::Candidate => second,
                Side::Base => 1.0,
            };
            100.0 * cost * (1.0 + 0.002 * noise.exponential())
        });
        judged(&rounds)
    };
    for (second, drifts) in [(1.0 / 2.2, false), (0.995, true)] {
        let comparison = faster(second);
        assert_eq!(comparison.verdict, Verdict::Improved, "{second}");
        let named = has(&comparison, |note| matches!(note, Note::ChangeDrifts));
        assert_eq!(named, drifts, "{second}: {:?}", comparison.notes);
    }
}

#[test]
fn modes_are_named_where_nothing_was_settled() {
    let rounds = rounds_of(12, |round, side, i| {
        let slow = (round + usize::from(side == Side::Candidate)) % 2 == 0;
        100.0 * if slow { 1.08 } else { 1.0 } * (1.0 + 1e-4 * i as f64)
    });
    let comparison = judge_one(&rounds, 0.0, &plan(&[12]));
    assert_eq!(comparison.verdict, Verdict::Inconclusive);
    let modes = |wanted| {
        has(
            &comparison,
            move |note| matches!(note, Note::SeveralModes { side, .. } if *side == wanted),
        )
    };
    assert!(
        modes(Side::Candidate) && modes(Side::Base),
        "{:?}",
        comparison.notes
    );
}

/// Returns the gap between the modes and the share of the fast rounds, for each side with two modes. In each round, all samples of the base take one
/// of `times`. The rounds of the candidate take the same times in another order.
fn modes_of(times: &[f64]) -> Vec<(f64, f64)> {
    let rounds = rounds_of(times.len(), |round, side, _| {
        let at = round + 5 * usize::from(side == Side::Candidate);
        times[at % times.len()]
    });
    let comparison = judge_one(&rounds, 0.0, &plan(&[times.len() as u32]));
    assert_eq!(comparison.verdict, Verdict::Inconclusive);
    let notes = comparison.notes.iter();
    let modes = notes.filter_map(|note| match note {
        Note::SeveralModes { apart, share, .. } => Some((*apart, *share)),
        _ => None,
    });
    modes.collect()
}

#[test]
fn ten_rounds_are_enough_for_notes_and_nine_are_not() {
    let alternating = |count: usize| -> Vec<f64> {
        let is_slow = |at: usize| at % 2 == 1;
        (0..count)
            .map(|at| if is_slow(at) { 108.0 } else { 100.0 })
            .collect()
    };
    assert_eq!(modes_of(&alternating(10)).len(), 2);
    assert_eq!(modes_of(&alternating(9)), []);
}

#[test]
fn modes_are_described_by_the_gap_between_them_and_the_share_of_the_fast_rounds() {
    let fast_of_twelve = |fast: usize| {
        let times: Vec<f64> = (0..12)
            .map(|k| if 5 * k % 12 < fast { 100.0 } else { 108.0 })
            .collect();
        modes_of(&times)
    };
    for fast in [3, 4, 9] {
        let found = fast_of_twelve(fast);
        assert_eq!(found.len(), 2, "{fast}: {found:?}");
        for (apart, share) in found {
            assert!((apart - 0.08).abs() < 1e-9, "{fast}: {apart}");
            assert_eq!(share, fast as f64 / 12.0);
        }
    }
    // A mode needs a fifth of the rounds, so of twelve it needs three.
    assert_eq!((fast_of_twelve(2), fast_of_twelve(10)), (vec![], vec![]));
}

#[test]
fn modes_are_apart_by_more_than_twice_what_the_closer_one_of_them_spans() {
    // Eight fast rounds span 9 %. After a gap of 8 % come four slow rounds, which are alike or span 6 %.
    let of = |slow: [f64; 4]| {
        let fast = [0.0, 0.0, 0.03, 0.03, 0.06, 0.06, 0.09, 0.09];
        let logarithms = fast.into_iter().chain(slow);
        modes_of(&logarithms.map(|x| 100.0 * x.exp()).collect::<Vec<_>>())
    };
    let alike = of([0.17; 4]);
    assert_eq!(alike.len(), 2, "{alike:?}");
    for (apart, share) in alike {
        assert!((apart.ln_1p() - 0.08).abs() < 1e-5, "{apart}");
        assert_eq!(share, 8.0 / 12.0);
    }
    assert_eq!(of([0.17, 0.19, 0.21, 0.23]), []);
}

#[test]
fn rounds_that_resemble_the_one_before_are_named_where_nothing_was_settled() {
    let mut noise = Noise::new(6);
    let rounds = rounds_of(24, |round, side, _| {
        let slow = (round / 6) % 2 == usize::from(side == Side::Candidate);
        100.0 * if slow { 1.02 } else { 1.0 } * (1.0 + 0.002 * noise.exponential())
    });
    let comparison = judge_one(&rounds, 0.0, &plan(&[24]));
    let correlation = comparison.notes.iter().find_map(|note| match note {
        Note::RoundsDependOnTheirNeighbours { correlation } => Some(*correlation),
        _ => None,
    });
    // Three of 23 pairs of successive rounds are in different groups.
    assert_eq!(correlation, Some((20.0 - 3.0) / 23.0), "{comparison:?}");
}

#[test]
fn every_note_reads_as_a_sentence_without_braces() {
    let notes = [
        Note::FewRounds { rounds: 3 },
        Note::SecondFastestOfFewSamples { samples: 40 },
        Note::SlowPath {
            side: Side::Candidate,
            share_candidate: 0.071,
            share_base: 0.02,
        },
        Note::SlowPathSuspected,
        Note::SlowPathsNotSearched { rounds: 10 },
        Note::ChangeDrifts,
        Note::ThresholdRaised {
            controls: 25,
            change: 0.025,
            too_noisy: false,
        },
        Note::PositionMatters { effect: 0.04 },
        Note::RoundsDependOnTheirNeighbours { correlation: 0.8 },
        Note::SeveralModes {
            side: Side::Base,
            apart: 0.05,
            share: 0.4,
        },
        Note::LongIterations {
            iteration_ns: 2.1e7,
        },
        Note::ProcessesDiffer { by: 0.021 },
        Note::SamplesDiffer { by: 0.3 },
        Note::SeveralProcessors { processors: 1.9 },
    ];
    let texts = notes.map(|note| note.to_string());
    assert!(texts[2].contains("7.1 % in the new run"), "{}", texts[2]);
    assert_eq!(
        texts[5],
        "the change differs between the two halves of the rounds by more than noise and chance explain: measure again"
    );
    assert!(
        texts
            .iter()
            .all(|text| !text.is_empty() && !text.contains(['{', '}']) && !text.ends_with('.'))
    );
}
