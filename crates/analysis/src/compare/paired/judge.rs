//! Turns the rounds of all benchmarks into verdicts.
//!
//! Each benchmark contributes the p-value of the look that decided it, divided by that look's share of the level. Holm's procedure runs over these
//! values, for each test and each direction. A benchmark that stopped early with a change was rejected at the first step of that procedure and stays
//! rejected.
//!
//! One look at a benchmark: both tests after a number of rounds, and whether they settle it.

use rayon::prelude::*;
use std::collections::BTreeSet;

use super::plan::{HostNoise, PairedMethod, Plan};
use super::series::{PairedSeries, UsableRounds, find_refusal};
use super::slow_path::{self, SlowPathTest};
use super::speed_test::SpeedTest;
use super::{diagnostics, speed_test};
use crate::compare::comparison::{
    ByDirection, Comparison, Decision, Extent, FamilyTest, PairedDecision, SlowPathResult,
};
use crate::compare::estimate::Estimate;
use crate::compare::note::Note;
use crate::compare::process_values::Location;
use crate::model::{Correction, Side, Verdict};
use perfcheck_stats::derived_seed;

/// Reports whether `series` can stop after its rounds: at an interim look if the look settles it, at the last look in any case.
pub fn check_settled(series: &PairedSeries<'_>, plan: &Plan) -> LookStatus {
    let method = PairedMethod::default();
    if series.rounds.len() >= plan.last_look() {
        // Skip the bootstrap: the descriptive intervals are not used.
        let plan = Plan {
            resamples: 1,
            ..plan.clone()
        };
        let verdict = judge_with_method(&[*series], &plan, &method)
            .remove(0)
            .verdict;
        return LookStatus::Settled(verdict);
    }
    let look = Look::interim(series, plan, &method);
    look.map_or(LookStatus::Open, |look| look.status(plan))
}

/// Decides `all_series` as one family; the answers come in the same order. The looks are replayed from the data.
///
/// Pure and seeded: the same input gives the same bytes for any number of threads.
pub fn judge(all_series: &[PairedSeries<'_>], plan: &Plan) -> Vec<Comparison> {
    judge_with_method(all_series, plan, &PairedMethod::default())
}

/// Like [`judge`], with another method, for simulations.
pub fn judge_with_method(
    all_series: &[PairedSeries<'_>],
    plan: &Plan,
    method: &PairedMethod,
) -> Vec<Comparison> {
    let looks: Vec<Look> = all_series
        .par_iter()
        .map(|series| Look::find_deciding(series, plan, method))
        .collect();
    let speed = test_family(&looks, plan, plan.floor_level(), |look| {
        let speed = look.speed.as_ref()?;
        Some((speed.p_slower(), speed.p_faster()))
    });
    let slow_path = test_family(&looks, plan, plan.slow_path_level(), |look| {
        Some((look.slow_path.p_slower, look.slow_path.p_faster))
    });
    all_series
        .par_iter()
        .zip(&looks)
        .zip(speed.par_iter().zip(&slow_path))
        .map(|((series, look), (speed_test, slow_path_test))| {
            BenchmarkJudge {
                series,
                look,
                plan,
                method,
                speed_test,
                slow_path_test,
            }
            .build_comparison()
        })
        .collect()
}

/// Tests all benchmarks as one family. `p` gives the p of slower and of faster, before it is divided by the share of the look. Benchmarks that were
/// planned but not judged, or that cannot be tested, stay in the family with p = 1.
fn test_family(
    looks: &[Look],
    plan: &Plan,
    level: f64,
    p: impl Fn(&Look) -> Option<(f64, f64)>,
) -> Vec<FamilyTest> {
    let mut all: Vec<ByDirection> = looks
        .iter()
        .map(|look| {
            let over_share = |p: f64| (p / look.share).min(1.0);
            p(look).map_or(ByDirection::ONE, |(slower, faster)| ByDirection {
                slower: over_share(slower),
                faster: over_share(faster),
            })
        })
        .collect();
    all.resize(plan.family_size(looks.len()), ByDirection::ONE);
    FamilyTest::test_all(&all, level, Correction::Holm)
}

/// The data and test results from which one benchmark is judged.
struct BenchmarkJudge<'a> {
    series: &'a PairedSeries<'a>,
    look: &'a Look,
    plan: &'a Plan,
    method: &'a PairedMethod,
    speed_test: &'a FamilyTest,
    slow_path_test: &'a FamilyTest,
}

impl BenchmarkJudge<'_> {
    fn build_comparison(&self) -> Comparison {
        let look = self.look;
        let mut comparison = self.untested();
        comparison.notes.extend(look.raised_threshold_note());
        if look.usable.left_out > 0 && look.refused.is_none() {
            comparison.notes.push(Note::RoundsLeftOut {
                left_out: look.usable.left_out,
                rounds: look.rounds,
            });
        }
        let estimate = speed_test::estimate_floors(&look.usable, self.method);
        comparison.basis = Decision::Untested {
            location: estimate.map(|(location, ..)| location),
        };
        if let Some((_, base, difference)) = estimate {
            let change = Estimate::unbounded(difference.exp_m1());
            comparison.set_change(base.exp(), Some(change));
        }
        match (&look.refused, &look.speed, estimate) {
            (Some(refused), ..) => comparison.notes.push(refused.clone()),
            (None, Some(speed), Some((location, base, _))) => {
                self.decide(speed, (location, base), &mut comparison);
            }
            (None, ..) => comparison.notes.push(Note::FewRounds {
                rounds: look.usable.rounds.len(),
            }),
        }
        comparison
    }

    /// Creates the comparison as it is before any test.
    fn untested(&self) -> Comparison {
        let threshold = match self.look.noise {
            Some(noise) => noise.change,
            None => self.series.noise_threshold,
        };
        let extent = Extent::InTurn {
            rounds: self.look.usable.rounds.len(),
            stopped_early: false,
            layouts: self.layouts(),
        };
        Comparison {
            verdict: match self.look.refused {
                Some(Note::NoSamples {
                    side: Side::Candidate,
                }) => Verdict::Failed,
                _ => Verdict::Inconclusive,
            },
            ..Comparison::undecided(threshold, extent)
        }
    }

    /// Returns how many code layouts were measured until the look.
    fn layouts(&self) -> usize {
        let rounds = self.series.rounds.iter().take(self.look.rounds);
        let layouts: BTreeSet<u32> = rounds.filter_map(|round| round.layout).collect();
        layouts.len()
    }

    fn decide(
        &self,
        speed: &SpeedTest,
        (location, base): (Location, f64),
        comparison: &mut Comparison,
    ) {
        let look = self.look;
        let levels = ByDirection {
            slower: self.speed_test.step_level.slower * look.share,
            faster: self.speed_test.step_level.faster * look.share,
        };
        let (lower, upper) = (speed.lower(levels.slower), speed.upper(levels.faster));
        // Holm's level may exceed the level at which the two tests were found to agree, and then the bounds may cross.
        let (lower, upper) = (lower.min(upper), upper.max(lower));
        let difference = speed.difference.clamp(lower, upper);
        let change = Estimate::from_logarithms(difference, lower, upper);
        comparison.set_change(base.exp(), Some(change));
        comparison.p_value = Some(self.speed_test.adjusted.in_direction_of(speed.difference));
        let margin = speed.margin(levels.slower);
        comparison.smallest_callable = Some((look.threshold + margin).exp_m1());
        if speed.contradicts(levels.slower) || speed.contradicts(levels.faster) {
            comparison.notes.push(Note::TestsContradict);
        }
        comparison.verdict = self.verdict(lower, upper, &mut comparison.notes);
        comparison.extent = Extent::InTurn {
            rounds: look.usable.rounds.len(),
            stopped_early: !look.is_last,
            layouts: self.layouts(),
        };
        let grounds = self.build_decision(speed, location, comparison.verdict);
        comparison.basis = Decision::Look(grounds);
        comparison.description = diagnostics::describe_change(self.series, look, self.plan);
        if let Some(side) = grounds.slow_path.side {
            comparison.notes.push(Note::SlowPath {
                side,
                share_candidate: grounds.slow_path.share_candidate,
                share_base: grounds.slow_path.share_base,
            });
        }
        diagnostics::add_notes(
            &self.series.rounds[..look.rounds.min(self.series.rounds.len())],
            look,
            speed,
            comparison.verdict,
            &mut comparison.notes,
        );
    }

    fn build_decision(
        &self,
        speed: &SpeedTest,
        location: Location,
        verdict: Verdict,
    ) -> PairedDecision {
        let look = self.look;
        let level = self.plan.floor_level() * look.share / self.plan.family_size(1) as f64;
        let needed = || look.rounds_needed(level);
        PairedDecision {
            location,
            share: look.share,
            test: *self.speed_test,
            standard_error: speed.standard_error,
            slow_path: SlowPathResult {
                test: *self.slow_path_test,
                p: look.slow_path.p_slower,
                suspicion: slow_path::SUSPICION,
                share_candidate: look.slow_path.share_candidate,
                share_base: look.slow_path.share_base,
                side: self.slow_side(verdict),
            },
            rounds_needed: (verdict == Verdict::Inconclusive).then(needed).flatten(),
        }
    }

    /// Turns the bounds into a verdict. No other code of this module decides a comparison.
    fn verdict(&self, lower: f64, upper: f64, notes: &mut Vec<Note>) -> Verdict {
        let (speed, slow_path, threshold) =
            (self.speed_test, self.slow_path_test, self.look.threshold);
        let slower = lower > threshold || slow_path.shows_slower();
        let faster = upper < -threshold || slow_path.shows_faster();
        if let (true, Some(note)) = (slower || faster, &self.look.disturbed) {
            notes.push(note.clone());
            return Verdict::Inconclusive;
        }
        if slower {
            return Verdict::Regressed;
        }
        if speed.would_show_slower_alone() || slow_path.would_show_slower_alone() {
            return Verdict::Suspect;
        }
        if faster {
            return Verdict::Improved;
        }
        if lower < -threshold || upper > threshold {
            return Verdict::Inconclusive;
        }
        if self.look.slow_path.p_slower <= slow_path::SUSPICION {
            notes.push(Note::SlowPathSuspected);
            return Verdict::Inconclusive;
        }
        if self.look.is_too_noisy {
            return Verdict::Inconclusive;
        }
        let rounds = self.look.usable.rounds.len();
        if rounds < Plan::ROUNDS_OF_UNCHANGED {
            notes.push(Note::SlowPathsNotSearched { rounds });
        }
        Verdict::Unchanged
    }

    /// Returns the side that takes a slow path, unless a plain change of speed explains the finding: that makes neighbors differ, too.
    fn slow_side(&self, verdict: Verdict) -> Option<Side> {
        let (speed, slow_path) = (self.speed_test, self.slow_path_test);
        let slow = slow_path.shows_slower()
            || verdict == Verdict::Suspect && slow_path.would_show_slower_alone();
        if slow && !speed.shows_slower() {
            Some(Side::Candidate)
        } else if slow_path.shows_faster() && !speed.shows_faster() {
            Some(Side::Base)
        } else {
            None
        }
    }
}

/// No benchmark is given up before this share of the rounds: a later round may still reach the floor.
const LEAST_DONE_TO_GIVE_UP: f64 = 0.45;

/// If controls have raised the noise threshold by more than this factor, nothing is called unchanged.
const MOST_RAISED: f64 = 3.0;

/// The .95 quantile of the normal distribution.
const NORMAL_95: f64 = 1.645;

/// Whether a benchmark needs more rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookStatus {
    /// The benchmark needs more rounds.
    Open,
    /// The speed is unchanged so far; the benchmark needs more rounds only to show slow paths.
    Searching,
    /// The benchmark can stop with this verdict.
    Settled(Verdict),
}

/// The results of a look after a number of rounds.
pub(super) struct Look {
    pub rounds: usize,
    /// The share of the level that this look may spend.
    pub share: f64,
    /// Whether no look follows this one.
    pub is_last: bool,
    /// The reason why nothing can be tested; `None` if the tests are possible.
    pub refused: Option<Note>,
    pub speed: Option<SpeedTest>,
    pub slow_path: SlowPathTest,
    pub usable: UsableRounds,
    /// The noise threshold in force, a logarithm. Controls may have raised it.
    pub threshold: f64,
    /// The noise that controls have shown, if it raised the threshold.
    pub noise: Option<HostNoise>,
    /// Whether the threshold was raised so far that nothing is called unchanged.
    pub is_too_noisy: bool,
    /// The note about a side whose fastest processes disagree.
    pub disturbed: Option<Note>,
}

impl Look {
    fn after_rounds(
        series: &PairedSeries<'_>,
        rounds: usize,
        share: f64,
        plan: &Plan,
        method: &PairedMethod,
    ) -> Self {
        let usable = UsableRounds::select(series, rounds);
        let noise = plan.benchmark_noise(series.key);
        let noise = noise.filter(|noise| noise.change > series.noise_threshold);
        let raised = noise.map_or(series.noise_threshold, |noise| noise.change);
        let threshold = raised.ln_1p();
        let seed = derived_seed(plan.benchmark_seed(series.key), &series.key.to_string());
        let refused = find_refusal(series, &usable);
        let level = plan.floor_level() * share / plan.family_size(1) as f64;
        let speed = match refused {
            Some(_) => None,
            None => SpeedTest::test(&usable, threshold, level, method, seed),
        };
        Self {
            rounds,
            share,
            is_last: false,
            refused,
            speed,
            slow_path: SlowPathTest::test(&usable, threshold),
            disturbed: usable.disturbed_side_note(),
            usable,
            threshold,
            noise,
            is_too_noisy: raised > MOST_RAISED * series.noise_threshold,
        }
    }

    /// Returns the first look that settles the benchmark, or the last one that its rounds allow.
    pub(super) fn find_deciding(
        series: &PairedSeries<'_>,
        plan: &Plan,
        method: &PairedMethod,
    ) -> Self {
        let rounds = series.rounds.len();
        let mut before = 0.0;
        for look in plan.interim_looks(rounds) {
            let spent = plan.spent_share(look, method);
            let look = Self::after_rounds(series, look, spent - before, plan, method);
            if matches!(look.status(plan), LookStatus::Settled(_)) {
                return look;
            }
            before = spent;
        }
        Self {
            is_last: true,
            ..Self::after_rounds(series, rounds, 1.0 - before, plan, method)
        }
    }

    /// Returns the interim look after all rounds of `series`; `None` if none is planned there.
    pub(super) fn interim(
        series: &PairedSeries<'_>,
        plan: &Plan,
        method: &PairedMethod,
    ) -> Option<Self> {
        let rounds = series.rounds.len();
        let looks = plan.interim_looks(rounds);
        let (last, earlier) = looks.split_last()?;
        let before = earlier
            .last()
            .map_or(0.0, |look| plan.spent_share(*look, method));
        (*last == rounds).then(|| {
            Self::after_rounds(
                series,
                rounds,
                plan.spent_share(rounds, method) - before,
                plan,
                method,
            )
        })
    }

    /// Reports whether the benchmark is settled at the levels that a single benchmark of the family has.
    pub(super) fn status(&self, plan: &Plan) -> LookStatus {
        let Some(speed) = &self.speed else {
            return LookStatus::Open;
        };
        let family = plan.family_size(1) as f64;
        let slow = plan.slow_path_level() * self.share / family;
        let level = plan.floor_level() * self.share / family;
        let (lower, upper) = (speed.lower(level), speed.upper(level));
        let is_callable = self.disturbed.is_none();
        if is_callable && (lower > self.threshold || self.slow_path.p_slower <= slow) {
            return LookStatus::Settled(Verdict::Regressed);
        }
        if self.slow_path.p_slower <= slow_path::SUSPICION {
            return LookStatus::Open;
        }
        if is_callable && (upper < -self.threshold || self.slow_path.p_faster <= slow) {
            return LookStatus::Settled(Verdict::Improved);
        }
        // If the host is too noisy to call anything unchanged, more rounds could still show a change.
        if lower >= -self.threshold && upper <= self.threshold && !self.is_too_noisy {
            return if self.usable.rounds.len() >= Plan::ROUNDS_OF_UNCHANGED {
                LookStatus::Settled(Verdict::Unchanged)
            } else {
                LookStatus::Searching
            };
        }
        if self.is_hopeless(speed, plan) {
            LookStatus::Settled(Verdict::Inconclusive)
        } else {
            LookStatus::Open
        }
    }

    /// Returns the note that controls raised the threshold, if they did.
    pub(super) fn raised_threshold_note(&self) -> Option<Note> {
        self.noise.map(|noise| Note::ThresholdRaised {
            controls: noise.controls,
            change: noise.change,
            too_noisy: self.is_too_noisy,
        })
    }

    /// Reports whether more rounds are unlikely to show a change or its absence. It assumes that the standard error falls with the square root of the
    /// number of rounds and that further rounds resemble the present ones. Then the estimate has a chance below 5 % to end beyond the threshold by
    /// more than half the interval, and below 5 % to end within it by as much.
    fn is_hopeless(&self, speed: &SpeedTest, plan: &Plan) -> bool {
        let done = self.rounds as f64 / plan.last_look() as f64;
        if done < LEAST_DONE_TO_GIVE_UP {
            return false;
        }
        // The last look has a larger share of the level, so this margin is conservative.
        let level = plan.floor_level() * self.share / plan.family_size(1) as f64;
        let margin = speed.margin(level) * done.sqrt();
        // The variance between the present and the final estimate, without the part that they have in common.
        let reach = NORMAL_95 * speed.standard_error * (1.0 - done).max(0.0).sqrt();
        let size = speed.difference.abs();
        let no_change = size + reach < self.threshold + margin;
        let not_the_same = self.is_too_noisy || size - reach > self.threshold - margin;
        no_change && not_the_same
    }

    /// Returns how many rounds in all would settle the benchmark if the standard error falls with their square root.
    pub(super) fn rounds_needed(&self, level: f64) -> Option<u64> {
        let speed = self.speed.as_ref()?;
        if self.is_too_noisy && speed.difference.abs() <= self.threshold {
            return None;
        }
        let distance = (speed.difference.abs() - self.threshold).abs();
        let factor = (speed.margin(level) / distance).powi(2).max(1.0);
        let rounds = (factor * self.rounds as f64).ceil();
        (rounds.is_finite() && rounds <= MOST_ROUNDS_NAMED && rounds > self.rounds as f64)
            .then_some(rounds as u64)
    }
}

/// More rounds than this are no useful advice.
const MOST_ROUNDS_NAMED: f64 = 1000.0;
