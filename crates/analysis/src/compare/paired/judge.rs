//! Turns the rounds of all benchmarks into verdicts.
//!
//! Each benchmark has a p-value for each test and each direction of a change. It comes from the look that decided the benchmark, and is divided by
//! that look's share of the level. Holm's procedure then corrects these p-values for the number of benchmarks. A change that stopped a benchmark
//! early was significant at the first and strictest step of this procedure, so it stays significant.

use crate::compare::LookStatus;
use crate::compare::paired::look::Look;
use rayon::prelude::*;
use std::collections::BTreeSet;

use super::plan::{PairedMethod, Plan};
use super::series::PairedSeries;
use super::speed_test::{FloorEstimate, SpeedTest};
use super::{diagnostics, slow_path, speed_test};
use crate::compare::comparison::{
    ByDirection, Comparison, Decision, Extent, FamilyTest, PairedDecision, SlowPathResult,
};
use crate::compare::estimate::{ChangeBounds, Estimate};
use crate::compare::note::Note;
use crate::compare::process_values::Location;
use crate::model::{Correction, Side, Verdict};

/// Returns whether the benchmark of `series` can stop after the rounds that it has. Before the last planned look, it can if the look at these rounds
/// settles it. At the last look, it always can.
pub fn check_settled(series: &PairedSeries<'_>, plan: &Plan) -> LookStatus {
    let method = PairedMethod::default();
    if series.rounds.len() >= plan.last_look() {
        // Skip the bootstrap, because its intervals affect no verdict.
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

/// Decides about all benchmarks of a run and returns one comparison for each series, in the same order. The series must be given together, because
/// p-values are adjusted for the number of benchmarks. No earlier decision is needed: the looks are repeated from the rounds.
///
/// All random numbers come from the seed in `plan`, so the same input gives the same bytes for any number of threads.
pub fn judge(all_series: &[PairedSeries<'_>], plan: &Plan) -> Vec<Comparison> {
    judge_with_method(all_series, plan, &PairedMethod::default())
}

/// Like [`judge`], but with a chosen method. Simulations use it to try other methods.
pub fn judge_with_method(
    all_series: &[PairedSeries<'_>],
    plan: &Plan,
    method: &PairedMethod,
) -> Vec<Comparison> {
    let judged = judge_looks(all_series, plan, method).into_iter();
    judged.map(|(_, comparison)| comparison).collect()
}

/// Like [`judge_with_method`], but also returns the look that decided each benchmark.
pub(super) fn judge_looks(
    all_series: &[PairedSeries<'_>],
    plan: &Plan,
    method: &PairedMethod,
) -> Vec<(Look, Comparison)> {
    let looks: Vec<Look> = all_series
        .par_iter()
        .map(|series| Look::find_deciding(series, plan, method))
        .collect();
    let speed = test_family(&looks, plan, plan.floor_level(), |look| {
        let speed = look.speed.as_ref()?;
        Some(ByDirection {
            slower: speed.p_slower(),
            faster: speed.p_faster(),
        })
    });
    let slow_path = test_family(&looks, plan, plan.slow_path_level(), |look| {
        Some(ByDirection {
            slower: look.slow_path.p_slower,
            faster: look.slow_path.p_faster,
        })
    });
    let comparisons: Vec<Comparison> = all_series
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
        .collect();
    looks.into_iter().zip(comparisons).collect()
}

/// Computes the p-values of one test for all benchmarks and adjusts them for the number of benchmarks. `p` returns the p-values of a look for both
/// directions, before they are divided by the share of the look. Benchmarks that were planned but not judged, or that cannot be tested, count with
/// p-values of 1.
fn test_family(
    looks: &[Look],
    plan: &Plan,
    level: f64,
    p: impl Fn(&Look) -> Option<ByDirection>,
) -> Vec<FamilyTest> {
    let mut all: Vec<ByDirection> = looks
        .iter()
        .map(|look| {
            let over_share = |p: f64| (p / look.share).min(1.0);
            p(look).map_or(ByDirection::ONE, |p| ByDirection {
                slower: over_share(p.slower),
                faster: over_share(p.faster),
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
            location: estimate.map(|floors| floors.location),
        };
        if let Some(floors) = estimate {
            let change = Estimate::unbounded(floors.difference.exp_m1());
            comparison.set_change(floors.base.exp(), Some(change));
        }
        match (&look.refused, &look.speed, estimate) {
            (Some(refused), ..) => comparison.notes.push(refused.clone()),
            (None, Some(speed), Some(floors)) => self.decide(speed, floors, &mut comparison),
            (None, ..) => comparison.notes.push(Note::FewRounds {
                rounds: look.usable.rounds.len(),
            }),
        }
        comparison
    }

    /// Creates a comparison without the results of any test.
    fn untested(&self) -> Comparison {
        let threshold = match self.look.noise {
            Some(noise) => noise.change,
            None => self.series.noise_threshold,
        };
        let extent = Extent::SideBySide {
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

    /// Returns how many code layouts were measured up to the look.
    fn layouts(&self) -> usize {
        let rounds = self.series.rounds.iter().take(self.look.rounds);
        let layouts: BTreeSet<u32> = rounds.filter_map(|round| round.layout).collect();
        layouts.len()
    }

    /// Completes the comparison of a benchmark that could be tested. The bounds of the change are at the levels that the correction for the number of
    /// benchmarks gives this benchmark.
    fn decide(&self, speed: &SpeedTest, floors: FloorEstimate, comparison: &mut Comparison) {
        let look = self.look;
        let levels = ByDirection {
            slower: self.speed_test.step_level.slower * look.share,
            faster: self.speed_test.step_level.faster * look.share,
        };
        let (lower, upper) = (speed.lower(levels.slower), speed.upper(levels.faster));
        // Holm's level may exceed the level at which the two tests were found to agree. At that larger level, the bounds may cross.
        let (lower, upper) = (lower.min(upper), upper.max(lower));
        let difference = speed.difference.clamp(lower, upper);
        let change = Estimate::from_logarithms(difference, lower, upper);
        comparison.set_change(floors.base.exp(), Some(change));
        comparison.p_value = Some(self.speed_test.adjusted.in_direction_of(speed.difference));
        let margin = speed.margin(levels.slower);
        comparison.smallest_callable = Some((look.callable() + margin).exp_m1());
        if speed.contradicts(levels.slower) || speed.contradicts(levels.faster) {
            comparison.notes.push(Note::TestsContradict);
        }
        comparison.verdict = self.verdict(lower, upper, &mut comparison.notes);
        comparison.extent = Extent::SideBySide {
            rounds: look.usable.rounds.len(),
            stopped_early: !look.is_last,
            layouts: self.layouts(),
        };
        let grounds = self.build_decision(speed, floors.location, comparison.verdict);
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
            agreeing_rounds: Some(speed.agreeing_rounds()),
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

    /// Turns the bounds and the slow-path test into the verdict of a benchmark that could be tested.
    fn verdict(&self, lower: f64, upper: f64, notes: &mut Vec<Note>) -> Verdict {
        let (speed, slow_path) = (self.speed_test, self.slow_path_test);
        let change = ChangeBounds { lower, upper };
        let bounds = self.look.judge(change);
        let is_called = matches!(bounds, Verdict::Regressed | Verdict::Improved);
        let slow_path_shows_change = slow_path.shows_slower() || slow_path.shows_faster();
        let is_withheld = change.judge(self.look.threshold) != bounds || slow_path_shows_change;
        if !is_called
            && is_withheld
            && let Some(note) = &self.look.disturbed
        {
            notes.push(note.clone());
            return Verdict::Inconclusive;
        }
        let is_quiet = self.look.disturbed.is_none();
        let slower = bounds == Verdict::Regressed || is_quiet && slow_path.shows_slower();
        let faster = bounds == Verdict::Improved || is_quiet && slow_path.shows_faster();
        if slower {
            return Verdict::Regressed;
        }
        if speed.would_show_slower_alone() || slow_path.would_show_slower_alone() {
            return Verdict::Suspect;
        }
        if faster {
            return Verdict::Improved;
        }
        if bounds != Verdict::Unchanged {
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

    /// Returns the side on which some samples take a slow path. Returns `None` if a plain change of speed explains the finding, because such a change
    /// also makes samples slower than their neighbors.
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
