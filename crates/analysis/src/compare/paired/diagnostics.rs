//! Finds what a reader should know about a side-by-side comparison besides its verdict, and adds notes about it.

use super::look::Look;
use super::plan::Plan;
use super::series::{PairedSamples, PairedSeries, UsableRounds};
use super::speed_test::{RankTest, SpeedTest, differences_of_round};
use crate::compare::description::ChangeDescription;
use crate::compare::note::Note;
use crate::compare::process_values::Location;
use crate::model::{Round, Sample, Side, Verdict};
use perfcheck_stats::{Description, derived_seed, mean, median, sample_variance};

/// The fewest rounds from which diagnostics are computed.
const FEWEST_ROUNDS: usize = 10;

/// The change counts as drifting if it differs between the two halves of the rounds by more than this many standard errors of the difference.
const DRIFT: f64 = 3.5;

/// An effect of the position in a pair counts if it exceeds this many of its standard errors.
const POSITION: f64 = 4.0;

/// The gap between rounds, as a difference of logarithms, that must be exceeded to separate two modes.
const MODE_GAP: f64 = 0.03;

/// The time of an iteration, in nanoseconds, from which it counts as long. A round of 20 ms then has at most ten samples per side.
const LONG_ITERATION_NS: f64 = 1e6;

/// The fewest rounds from which the reason why rounds differ can be estimated.
const FEWEST_TELLING_ROUNDS: usize = 5;

/// The smallest share of the rounds that a mode must have.
const MODE_SHARE: f64 = 0.2;

/// Describes how the mean and the median of all samples changed, with intervals over rounds.
pub(super) fn describe_change(
    series: &PairedSeries<'_>,
    look: &Look,
    plan: &Plan,
) -> ChangeDescription {
    let times = |samples: &[Sample]| -> Vec<f64> {
        let timed = samples.iter().filter(|sample| sample.iterations > 0);
        timed.map(|sample| sample.per_iteration()).collect()
    };
    // Use samples without a neighbor, too: this is only a description.
    let rounds = series.rounds.iter().take(look.rounds);
    let (candidate, base): (Vec<Vec<f64>>, Vec<Vec<f64>>) = rounds
        .map(|round| (times(&round.candidate), times(&round.base)))
        .filter(|(candidate, base)| !candidate.is_empty() && !base.is_empty())
        .unzip();
    let candidate: Vec<&[f64]> = candidate.iter().map(Vec::as_slice).collect();
    let base: Vec<&[f64]> = base.iter().map(Vec::as_slice).collect();
    let seed = derived_seed(plan.benchmark_seed(series.key), &series.key.to_string());
    ChangeDescription::from_rounds(
        &candidate,
        &base,
        plan.confidence_level,
        plan.resamples as usize,
        seed,
    )
}

/// Adds the notes that apply to this measurement to `notes`.
pub(super) fn add_notes(
    rounds: &[Round],
    look: &Look,
    speed: &SpeedTest,
    verdict: Verdict,
    notes: &mut Vec<Note>,
) {
    let usable = &look.usable;
    match speed.location() {
        Location::Median => notes.push(Note::MedianOfFewSamples {
            samples: usable.samples(),
        }),
        Location::SecondFastest => notes.push(Note::SecondFastestOfFewSamples {
            samples: usable.samples(),
        }),
        Location::LowQuantile => {}
    }
    if speed.is_constant() {
        notes.push(Note::NoVariance);
    }
    if usable.rounds.len() < FEWEST_ROUNDS {
        return;
    }
    notes.extend(note_drift(usable, speed, look.threshold, verdict));
    notes.extend(note_position_effect(rounds, look.threshold));
    if matches!(verdict, Verdict::Inconclusive | Verdict::Suspect) {
        notes.extend(note_autocorrelation(usable));
        notes.extend(note_long_iterations(rounds));
        notes.extend(note_variance_source(usable, look.threshold));
        notes.extend(note_modes(Side::Base, usable, |round| &round.base));
        notes.extend(note_modes(Side::Candidate, usable, |round| {
            &round.candidate
        }));
    }
}

/// Returns a note if the change in the first half of the rounds differs from that in the second half. There is no note if both halves are beyond the
/// threshold in the direction of the verdict. Then each half alone confirms the verdict, and measuring again is unnecessary.
fn note_drift(
    usable: &UsableRounds,
    speed: &SpeedTest,
    threshold: f64,
    verdict: Verdict,
) -> Option<Note> {
    let halves = usable.halves(usable.rounds.len() / 2);
    // Use the rank test, because a side may have no quiet moment in half of the rounds, which would distort its floor.
    let [first, second] = halves.map(|half| RankTest::test(&half, 0.0));
    let (first, second) = (first?.difference(), second?.difference());
    // The standard error of each half is sqrt 2 times the standard error of all rounds. So the difference between the halves has twice the standard
    // error of all rounds.
    let apart = (second - first).abs();
    let agree = match verdict {
        Verdict::Regressed => first.min(second) > threshold,
        Verdict::Improved => first.max(second) < -threshold,
        _ => false,
    };
    let drifts = apart > threshold.max(DRIFT * 2.0 * speed.standard_error) && !agree;
    drifts.then_some(Note::ChangeDrifts)
}

/// Returns a note if a sample takes longer or shorter as the second of its pair than as the first. The effect must exceed the threshold and what
/// chance explains. The quad ABBA consists of the pairs AB and BA.
fn note_position_effect(rounds: &[Round], threshold: f64) -> Option<Note> {
    let of_rounds: Vec<f64> = rounds.iter().filter_map(position_in_round).collect();
    if of_rounds.len() < FEWEST_ROUNDS {
        return None;
    }
    let effect = mean(&of_rounds)?;
    let standard_error = (sample_variance(&of_rounds)? / of_rounds.len() as f64).sqrt();
    let matters = effect.abs() > threshold && effect.abs() > POSITION * standard_error;
    matters.then(|| Note::PositionMatters {
        effect: effect.exp_m1(),
    })
}

/// Returns how much slower a sample is as the second of its pair than as the first, as a logarithm: the median over the quads of one round. In each
/// quad, each side comes first in one of the two pairs, so a difference between the sides cancels out.
fn position_in_round(round: &Round) -> Option<f64> {
    let quads = round
        .base
        .chunks_exact(2)
        .zip(round.candidate.chunks_exact(2));
    let effects: Vec<f64> = quads
        .zip(&round.led)
        .map(|((base, candidate), led)| {
            let ahead = |i: usize| candidate[i].per_iteration().ln() - base[i].per_iteration().ln();
            let effect = (ahead(0) - ahead(1)) / 2.0;
            if *led { -effect } else { effect }
        })
        .filter(|effect| effect.is_finite())
        .collect();
    median(&effects)
}

/// Returns a note if an iteration is so long that a round has few samples.
fn note_long_iterations(rounds: &[Round]) -> Option<Note> {
    let samples = rounds.iter().flat_map(|round| &round.candidate);
    let times: Vec<f64> = samples
        .filter(|sample| sample.iterations > 0)
        .map(|sample| sample.per_iteration())
        .collect();
    let iteration_ns = median(&times)?;
    (iteration_ns > LONG_ITERATION_NS).then_some(Note::LongIterations { iteration_ns })
}

/// Returns a note on why rounds differ, if they differ by more than the threshold. The cause may lie in the processes or in the single samples. The
/// value of a round is the median of n differences between samples, so its variance is about pi / (2 n) times that of a difference. If rounds vary
/// more than that, the processes differ. Rounds with a single difference are left out.
fn note_variance_source(usable: &UsableRounds, threshold: f64) -> Option<Note> {
    let mut of_rounds = Vec::new();
    let mut steps = Vec::new();
    let mut explained = Vec::new();
    for round in &usable.rounds {
        let differences = differences_of_round(round);
        if differences.len() > 1 {
            of_rounds.push(median(&differences)?);
            steps.extend(differences.windows(2).map(|two| two[1] - two[0]));
            explained.push(std::f64::consts::FRAC_PI_2 / differences.len() as f64);
        }
    }
    if of_rounds.len() < FEWEST_TELLING_ROUNDS {
        return None;
    }
    let of_rounds = Description::compute(&of_rounds)?.mad_scaled();
    // A step is the difference of two differences, so its deviation is sqrt 2 times theirs.
    let of_samples = Description::compute(&steps)?.mad_scaled() / std::f64::consts::SQRT_2;
    let by_samples = of_samples * of_samples * mean(&explained)?;
    let by_processes = of_rounds * of_rounds - by_samples;
    let is_more = |by: f64| by > threshold;
    if by_processes > by_samples {
        // Divide by two for one side: each round is the difference of two processes.
        let by = (by_processes / 2.0).sqrt();
        is_more(by * std::f64::consts::SQRT_2).then_some(Note::ProcessesDiffer { by })
    } else {
        is_more(of_samples).then_some(Note::SamplesDiffer { by: of_samples })
    }
}

/// Returns a note if the difference of the sides in a round correlates with the difference in the next round. Then the rounds are not independent.
fn note_autocorrelation(usable: &UsableRounds) -> Option<Note> {
    let fastest = |x: &[f64]| x.iter().copied().min_by(f64::total_cmp).unwrap_or(0.0);
    let differences: Vec<f64> = usable
        .rounds
        .iter()
        .map(|round| fastest(&round.candidate) - fastest(&round.base))
        .collect();
    // Use only the signs about the median, because a single disturbed round could otherwise decide.
    let centre = median(&differences)?;
    let signs: Vec<f64> = differences
        .iter()
        .map(|x| if *x > centre { 1.0 } else { -1.0 })
        .collect();
    let products: f64 = signs.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let correlation = products / (signs.len() - 1) as f64;
    let limit = 3.0 / (signs.len() as f64).sqrt();
    (correlation > limit).then_some(Note::RoundsDependOnTheirNeighbours { correlation })
}

/// Returns a note if the rounds of a side fall into a fast and a slow group.
fn note_modes(
    side: Side,
    usable: &UsableRounds,
    pick: fn(&PairedSamples) -> &Vec<f64>,
) -> Option<Note> {
    let mut floors: Vec<f64> = usable
        .rounds
        .iter()
        .filter_map(|round| pick(round).iter().copied().min_by(f64::total_cmp))
        .collect();
    floors.sort_by(f64::total_cmp);
    let fewest = (floors.len() as f64 * MODE_SHARE).ceil() as usize;
    let (at, gap) = floors
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .enumerate()
        .skip(fewest.saturating_sub(1))
        .take(floors.len().saturating_sub(2 * fewest) + 1)
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let within = (floors[at] - floors[0]).min(floors[floors.len() - 1] - floors[at + 1]);
    (gap > MODE_GAP && gap > 2.0 * within).then(|| Note::SeveralModes {
        side,
        apart: gap.exp_m1(),
        share: (at + 1) as f64 / floors.len() as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::paired::plan::PairedMethod;
    use crate::model::Nanos;

    /// Creates a round of one quad with a position effect of sqrt(2^`power`): a sample takes that many times as long in the second position of its
    /// pair as in the first.
    fn round(power: i32, led: bool) -> Round {
        let sample = |power: i32| Sample {
            iterations: 1 << (-power).max(0),
            elapsed: Nanos(1 << power.max(0)),
        };
        let candidate = [sample(power), sample(0)];
        Round {
            base: vec![sample(0); 2],
            candidate: if led {
                candidate.into_iter().rev().collect()
            } else {
                candidate.to_vec()
            },
            led: vec![led],
            layout: None,
        }
    }

    fn effect(rounds: &[Round], threshold: f64) -> Option<f64> {
        match note_position_effect(rounds, threshold)? {
            Note::PositionMatters { effect } => Some(effect),
            _ => None,
        }
    }

    #[test]
    fn an_effect_of_positions_is_named_beyond_the_threshold_and_from_ten_rounds_on() {
        let rounds = |count: usize, power| -> Vec<Round> {
            (0..count).map(|at| round(power, at % 3 == 0)).collect()
        };
        let doubled = std::f64::consts::LN_2;
        assert_eq!(effect(&rounds(10, 2), 0.99 * doubled), Some(1.0));
        assert_eq!(effect(&rounds(10, -2), 0.99 * doubled), Some(-0.5));
        assert_eq!(effect(&rounds(10, 2), doubled), None);
        assert_eq!(effect(&rounds(10, -2), doubled), None);
        assert_eq!(effect(&rounds(9, 2), 0.99 * doubled), None);
    }

    #[test]
    fn an_effect_of_positions_of_four_standard_errors_is_not_named() {
        // The deviations from 2 have a mean of 0, and their squares add up to 60. So the variance of 16 rounds is 60 / 15 = 4, and their mean of 2
        // has a standard error of 2 / 4: the mean is four errors, for any factor. Find a factor for which rounding does not change this.
        let deviations = [4, -4, 2, 2, 2, -2, -2, -2, 1, 1, -1, -1, 0, 0, 0, 0];
        let with = |deviations: [i32; 16], factor: i32| {
            deviations.map(|deviation| round(factor * (2 + deviation), deviation > 0))
        };
        let has_four_errors = |factor: &i32| {
            let rounds = with(deviations, *factor);
            let effects: Vec<f64> = rounds.iter().filter_map(position_in_round).collect();
            let error = (sample_variance(&effects).unwrap() / 16.0).sqrt();
            let effect = mean(&effects).unwrap();
            assert!((effect / error - 4.0).abs() < 1e-12, "{effect} {error}");
            effect == 4.0 * error
        };
        let factor = (1..=9).find(has_four_errors).expect("one of nine");
        assert_eq!(effect(&with(deviations, factor), 0.01), None);
        let mut closer = deviations;
        (closer[0], closer[1]) = (3, -3);
        assert!(effect(&with(closer, factor), 0.01).is_some());
        let mut wider = deviations;
        (wider[0], wider[1]) = (5, -5);
        assert_eq!(effect(&with(wider, factor), 0.01), None);
    }

    #[test]
    fn an_iteration_is_long_beyond_a_millisecond_and_only_samples_with_iterations_tell() {
        let iteration_of = |samples: &[(u64, u64)]| {
            let candidate = samples
                .iter()
                .map(|(iterations, ns)| Sample::from((*iterations, Nanos(*ns))));
            let round = Round {
                base: Vec::new(),
                candidate: candidate.collect(),
                led: Vec::new(),
                layout: None,
            };
            match note_long_iterations(&[round])? {
                Note::LongIterations { iteration_ns } => Some(iteration_ns),
                _ => None,
            }
        };
        assert_eq!(iteration_of(&[(1, 1_000_000)]), None);
        assert_eq!(iteration_of(&[(1, 1_000_001)]), Some(1_000_001.0));
        assert_eq!(iteration_of(&[(2, 1_500_000)]), None);
        // The median of the three samples that have iterations.
        let ran = [(1, 1_000_000), (1, 2_000_000), (1, 7_000_000)];
        assert_eq!(iteration_of(&ran), Some(2_000_000.0));
        let mut with_others = ran.to_vec();
        with_others.extend([(0, 9_000_000); 4]);
        assert_eq!(iteration_of(&with_others), Some(2_000_000.0));
        assert_eq!(iteration_of(&[(0, 9_000_000)]), None);
    }

    fn usable(rounds: impl IntoIterator<Item = (Vec<f64>, Vec<f64>)>) -> UsableRounds {
        let rounds = rounds.into_iter();
        UsableRounds {
            rounds: rounds
                .map(|(base, candidate)| PairedSamples { base, candidate })
                .collect(),
            left_out: 0,
            too_short: None,
        }
    }

    #[test]
    fn processes_that_differ_by_just_the_threshold_are_not_named() {
        // Each round has two equal differences, so samples explain nothing. The median distance of the rounds from their median is an eighth.
        let with = |rounds: &[i32]| {
            usable(rounds.iter().map(|at| {
                let difference = f64::from(*at) / 8.0;
                (vec![0.0; 8], vec![difference; 8])
            }))
        };
        let rounds = with(&[-2, -1, 0, 1, 2]);
        let of_rounds = perfcheck_stats::MAD_TO_SD / 8.0;
        let by = (of_rounds * of_rounds / 2.0).sqrt();
        let threshold = by * std::f64::consts::SQRT_2;
        assert!((threshold / of_rounds - 1.0).abs() < 1e-15);
        assert_eq!(note_variance_source(&rounds, threshold), None);
        assert_eq!(
            note_variance_source(&rounds, threshold.next_down()),
            Some(Note::ProcessesDiffer { by })
        );
        assert_eq!(
            note_variance_source(&with(&[-2, -1, 1, 2]), 0.0),
            None,
            "four rounds tell nothing"
        );
    }

    #[test]
    fn samples_that_differ_by_just_the_threshold_are_not_named() {
        // All rounds have the median 0, and half of the steps are one up, the others one down.
        let differences = [[0.0; 4], [1.0; 4], [0.0; 4]].concat();
        let rounds = usable(vec![(vec![0.0; 12], differences); 5]);
        let by = perfcheck_stats::MAD_TO_SD / std::f64::consts::SQRT_2;
        assert_eq!(note_variance_source(&rounds, by), None);
        assert_eq!(
            note_variance_source(&rounds, by.next_down()),
            Some(Note::SamplesDiffer { by })
        );
    }

    /// Returns the correlation that the note names, for rounds in which the fastest samples of the sides differ by `differences`.
    fn correlation(differences: impl IntoIterator<Item = i32>) -> Option<f64> {
        // The speed of the host, which both sides share, goes up and down.
        let round = |(at, difference): (i32, i32)| {
            let fastest = 100.0 * f64::from(1 + at % 3);
            let candidate = fastest + f64::from(difference);
            (vec![999.0, fastest], vec![candidate, 999.0])
        };
        let rounds = (0..).zip(differences).map(round);
        match note_autocorrelation(&usable(rounds))? {
            Note::RoundsDependOnTheirNeighbours { correlation } => Some(correlation),
            _ => None,
        }
    }

    #[test]
    fn the_round_at_the_median_counts_as_one_below_it() {
        // Of the 24 pairs of neighbors among 25 rounds, one is on both sides of the median.
        let below_first = [12].into_iter().chain(0..12).chain(13..25);
        assert_eq!(correlation(below_first), Some(22.0 / 24.0));
        // The round at the median comes before those above it, and those below it come last.
        let above_first = [12].into_iter().chain(13..25).chain(0..12);
        assert_eq!(correlation(above_first), Some(20.0 / 24.0));
    }

    #[test]
    fn rounds_depend_on_their_neighbors_beyond_three_standard_errors() {
        // The error is the reciprocal of the square root of the number of rounds. Rounds that are all alike have a correlation of 1.
        assert_eq!(correlation([0; 9]), None);
        assert_eq!(correlation([0; 10]), Some(1.0));
    }

    /// Returns the distance of the modes of a side whose rounds have these fastest samples, and the share of the fast ones.
    fn modes(floors: &[f64]) -> Option<(f64, f64)> {
        let rounds = usable(floors.iter().map(|floor| (vec![9.0, *floor], vec![])));
        match note_modes(Side::Base, &rounds, |round| &round.base)? {
            Note::SeveralModes {
                side: Side::Base,
                apart,
                share,
            } => Some((apart, share)),
            _ => None,
        }
    }

    #[test]
    fn each_of_two_modes_has_a_fifth_of_the_rounds() {
        for fast in 1..10 {
            let floors: Vec<f64> = (0..10).map(|at| f64::from(u8::from(at >= fast))).collect();
            let expected = (1.0_f64.exp_m1(), f64::from(fast) / 10.0);
            let found = modes(&floors);
            assert_eq!(found, (2..=8).contains(&fast).then_some(expected), "{fast}");
        }
    }

    #[test]
    fn modes_are_further_apart_than_three_percent_and_than_twice_the_closer_of_them() {
        let of = |fast: [f64; 3], slow: [f64; 3]| modes(&[fast, slow].concat()).is_some();
        let gap = |gap: f64| of([0.0; 3], [gap; 3]);
        assert!(!gap(MODE_GAP) && gap(MODE_GAP.next_up()));
        // One mode spans an eighth, and the other one as much or more.
        let (wide, wider) = ([0.0, 0.125, 0.125], [0.0, 0.0625, 0.1875]);
        for [fast, slow] in [[wide; 2], [wide, wider], [wider, wide]] {
            let after = |gap: f64| of(fast, slow.map(|x| fast[2] + gap + x));
            assert!(!after(0.25) && after(0.25 + 1e-9), "{fast:?} {slow:?}");
        }
    }

    #[test]
    fn halves_that_both_show_the_verdict_beyond_the_threshold_have_not_drifted() {
        let halves = |first: f64, second: f64| {
            let differences = [[first; 5], [second; 5]].concat();
            usable(differences.iter().map(|x| (vec![0.0; 8], vec![*x; 8])))
        };
        // The standard error of these rounds is just the smallest that is assumed.
        let speed = SpeedTest::test(&halves(0.0, 0.0), 0.125, 0.01, &PairedMethod::default(), 1);
        let speed = speed.expect("ten rounds");
        let drifts = |first: f64, second: f64, verdict| {
            let found = note_drift(&halves(first, second), &speed, 0.125, verdict);
            assert!(found.is_none() || found == Some(Note::ChangeDrifts));
            found.is_some()
        };
        let beyond = 0.125_f64.next_up();
        for (sign, verdict, opposite) in [
            (1.0, Verdict::Regressed, Verdict::Improved),
            (-1.0, Verdict::Improved, Verdict::Regressed),
        ] {
            assert!(drifts(sign * 0.125, sign * 0.5, verdict));
            assert!(drifts(sign * 0.5, sign * 0.125, verdict));
            assert!(!drifts(sign * beyond, sign * 0.5, verdict));
            assert!(!drifts(sign * 0.5, sign * beyond, verdict));
            for other in [opposite, Verdict::Unchanged, Verdict::Inconclusive] {
                assert!(drifts(sign * beyond, sign * 0.5, other));
            }
            assert!(!drifts(sign * 0.25, sign * 0.375, Verdict::Inconclusive));
        }
    }
}
