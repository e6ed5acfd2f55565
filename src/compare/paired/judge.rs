//! From the rounds of all benchmarks to their verdicts.
//!
//! Every benchmark has the p-value of the look that decided it, divided by that look's share of the level; Holm's procedure runs over those,
//! for each test and each direction. One that stopped early with a change did so at the first step of that procedure and stays rejected.

use rayon::prelude::*;

use super::diagnostics;
use super::finding::{Paired, SlowPath};
use super::floor_test;
use super::look::Look;
use super::plan::{Method, Plan};
use super::series::PairedSeries;
use super::slow_path;
use super::speed_test::SpeedTest;
use crate::compare::comparison::{Comparison, Estimate};
use crate::compare::grounds::{Directions, FamilyTest, Grounds, LookGrounds};
use crate::compare::note::Note;
use crate::model::{Side, Verdict};
use perfcheck_stats::{adjusted_p_values, step_levels};

/// Whether a benchmark needs more rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It does.
    Open,
    /// It can stop with this verdict.
    Settled(Verdict),
}

/// Whether `series` can stop after its rounds: at an interim look if that settles it, at the last look in any case.
pub fn standing(series: &PairedSeries<'_>, plan: &Plan) -> Standing {
    let method = Method::default();
    if series.rounds.len() >= plan.last_look() {
        // The descriptive intervals are not looked at.
        let plan = Plan {
            resamples: 1,
            ..plan.clone()
        };
        let verdict = judge_by(&[*series], &plan, &method).remove(0).verdict;
        return Standing::Settled(verdict);
    }
    Look::interim(series, plan, &method)
        .and_then(|look| look.early_verdict(plan))
        .map_or(Standing::Open, Standing::Settled)
}

/// Decides all of `all_series` as one family; the answers come in their order. The looks are replayed from the data.
///
/// Pure and seeded: the same input gives the same bytes for any number of threads.
pub fn judge(all_series: &[PairedSeries<'_>], plan: &Plan) -> Vec<Comparison> {
    judge_by(all_series, plan, &Method::default())
}

/// The same with another method, for simulations.
pub fn judge_by(all_series: &[PairedSeries<'_>], plan: &Plan, method: &Method) -> Vec<Comparison> {
    let looks: Vec<Look> = all_series
        .par_iter()
        .map(|series| Look::deciding(series, plan, method))
        .collect();
    let families = Families {
        slower: Family::of(&looks, plan, plan.floor_level(), |look| {
            look.speed.as_ref().map(SpeedTest::p_slower)
        }),
        faster: Family::of(&looks, plan, plan.floor_level(), |look| {
            look.speed.as_ref().map(SpeedTest::p_faster)
        }),
        slow_path: Family::of(&looks, plan, plan.slow_path_level(), |look| {
            Some(look.slow_path.p_slower)
        }),
        fast_path: Family::of(&looks, plan, plan.slow_path_level(), |look| {
            Some(look.slow_path.p_faster)
        }),
    };
    all_series
        .par_iter()
        .zip(&looks)
        .enumerate()
        .map(|(index, (series, look))| {
            Answer {
                series,
                look,
                plan,
                method,
                families: &families,
                index,
            }
            .comparison()
        })
        .collect()
}

/// Holm's procedure over one test in one direction; benchmarks planned but not judged stay in it with p = 1.
struct Family {
    level: f64,
    /// p over the share of the look, not adjusted for the family.
    p: Vec<f64>,
    adjusted: Vec<f64>,
    levels: Vec<f64>,
}

struct Families {
    slower: Family,
    faster: Family,
    slow_path: Family,
    fast_path: Family,
}

impl Family {
    fn of(looks: &[Look], plan: &Plan, level: f64, p: impl Fn(&Look) -> Option<f64>) -> Self {
        let mut all: Vec<f64> = looks
            .iter()
            .map(|look| p(look).map_or(1.0, |p| (p / look.share).min(1.0)))
            .collect();
        all.resize(plan.family(looks.len()), 1.0);
        Self {
            level,
            adjusted: adjusted_p_values(&all),
            levels: step_levels(&all, level),
            p: all,
        }
    }

    /// What a benchmark has in both directions of a test.
    fn test(slower: &Self, faster: &Self, index: usize) -> FamilyTest {
        let both = |pick: fn(&Self) -> &Vec<f64>| Directions {
            slower: pick(slower)[index],
            faster: pick(faster)[index],
        };
        FamilyTest {
            family_level: slower.level,
            p: both(|family| &family.p),
            adjusted: both(|family| &family.adjusted),
            step_level: both(|family| &family.levels),
        }
    }

    fn rejects(&self, index: usize) -> bool {
        self.p[index] <= self.levels[index]
    }

    /// Whether it would be rejected if it were alone.
    fn rejects_alone(&self, index: usize) -> bool {
        self.p[index] <= self.level
    }
}

/// One benchmark on its way to a verdict.
struct Answer<'a> {
    series: &'a PairedSeries<'a>,
    look: &'a Look,
    plan: &'a Plan,
    method: &'a Method,
    families: &'a Families,
    index: usize,
}

impl Answer<'_> {
    fn comparison(&self) -> Comparison {
        let look = self.look;
        let mut comparison = self.empty();
        comparison.notes.extend(look.raised_threshold());
        let estimate = floor_test::difference(&look.usable, self.method);
        comparison.location = estimate.map(|(location, _)| location);
        comparison.change = estimate.map(|(_, d)| Estimate::unbounded(d.exp_m1()));
        if let Some(refused) = &look.refused {
            comparison.notes.push(refused.clone());
            return comparison;
        }
        let Some(speed) = &look.speed else {
            comparison.notes.push(Note::FewRounds {
                rounds: look.usable.rounds.len(),
            });
            return comparison;
        };
        let (index, share) = (self.index, look.share);
        let lower = speed.lower(self.families.slower.levels[index] * share);
        let upper = speed.upper(self.families.faster.levels[index] * share);
        // Holm's level may be larger than that at which the two tests were found to agree.
        let (lower, upper) = (lower.min(upper), upper.max(lower));
        let difference = speed.difference.clamp(lower, upper);
        comparison.change = Some(Estimate::from_logarithms(difference, lower, upper));
        let direction = if speed.difference >= 0.0 {
            &self.families.slower
        } else {
            &self.families.faster
        };
        comparison.p_value = Some(direction.adjusted[index]);
        let margin = speed.margin(self.families.slower.levels[index] * share);
        comparison.smallest_callable = Some((look.threshold + margin).exp_m1());
        if speed.contradicts(self.families.slower.levels[index] * share)
            || speed.contradicts(self.families.faster.levels[index] * share)
        {
            comparison.notes.push(Note::TestsContradict);
        }
        comparison.verdict = self.verdict(lower, upper, &mut comparison.notes);
        let inconclusive = comparison.verdict == Verdict::Inconclusive;
        let level = self.plan.floor_level() * share / self.plan.family(1) as f64;
        comparison.paired = Some(Paired {
            rounds: look.usable.rounds.len(),
            stopped_early: !look.is_last,
            standard_error: Some(speed.standard_error),
            slow_path: self.slow_path(comparison.verdict),
            rounds_needed: if inconclusive {
                look.rounds_needed(level)
            } else {
                None
            },
        });
        comparison.grounds = Some(self.grounds(speed));
        diagnostics::describe(&mut comparison, self.series, look, self.plan);
        if let Some(found) = self.slow_path(comparison.verdict) {
            comparison.notes.push(Note::SlowPath {
                side: found.side,
                share_candidate: found.share_candidate,
                share_base: found.share_base,
            });
        }
        diagnostics::add(
            &self.series.rounds[..look.rounds.min(self.series.rounds.len())],
            look,
            speed,
            comparison.verdict,
            &mut comparison.notes,
        );
        comparison
    }

    fn empty(&self) -> Comparison {
        let rounds = self.look.usable.rounds.len();
        let threshold = match self.look.noise {
            Some(noise) => noise.change,
            None => self.series.noise_threshold,
        };
        Comparison {
            verdict: match self.look.refused {
                Some(Note::NoSamples {
                    side: Side::Candidate,
                }) => Verdict::Failed,
                _ => Verdict::Inconclusive,
            },
            launches_candidate: rounds,
            launches_base: rounds,
            runs_averaged: 1,
            runs_spread: 1,
            paired: Some(Paired {
                rounds,
                stopped_early: false,
                standard_error: None,
                slow_path: None,
                rounds_needed: None,
            }),
            ..Comparison::undecided(threshold)
        }
    }

    fn grounds(&self, speed: &SpeedTest) -> Grounds {
        let (families, look) = (self.families, self.look);
        Grounds {
            family: families.slower.p.len(),
            test: Family::test(&families.slower, &families.faster, self.index),
            standard_error: Some(speed.standard_error),
            degrees_of_freedom: None,
            t_score: None,
            look: Some(LookGrounds {
                share: look.share,
                slow_path: Family::test(&families.slow_path, &families.fast_path, self.index),
                slow_path_p: look.slow_path.p_slower,
                suspicion: slow_path::SUSPICION,
                share_candidate: look.slow_path.share_candidate,
                share_base: look.slow_path.share_base,
            }),
        }
    }

    /// The only place where bounds become a verdict.
    fn verdict(&self, lower: f64, upper: f64, notes: &mut Vec<Note>) -> Verdict {
        let (families, index, threshold) = (self.families, self.index, self.look.threshold);
        let slower = lower > threshold || families.slow_path.rejects(index);
        let faster = upper < -threshold || families.fast_path.rejects(index);
        if slower {
            return Verdict::Regressed;
        }
        if families.slower.rejects_alone(index) || families.slow_path.rejects_alone(index) {
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
        if self.look.rounds < slow_path::FEWEST_ROUNDS {
            notes.push(Note::SlowPathsNotSearched {
                rounds: self.look.rounds,
            });
        }
        Verdict::Unchanged
    }

    /// The finding of the slow-path test where it is what there is to say: a mere change of speed makes neighbours differ, too.
    fn slow_path(&self, verdict: Verdict) -> Option<SlowPath> {
        let (families, index) = (self.families, self.index);
        let found = |side, family: &Family| SlowPath {
            side,
            share_candidate: self.look.slow_path.share_candidate,
            share_base: self.look.slow_path.share_base,
            p_value: family.adjusted[index],
        };
        let slow = families.slow_path.rejects(index)
            || verdict == Verdict::Suspect && families.slow_path.rejects_alone(index);
        if slow && !families.slower.rejects(index) {
            Some(found(Side::Candidate, &families.slow_path))
        } else if families.fast_path.rejects(index) && !families.faster.rejects(index) {
            Some(found(Side::Base, &families.fast_path))
        } else {
            None
        }
    }
}
