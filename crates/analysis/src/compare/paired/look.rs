//! A look at a benchmark: the results of the speed test and the slow-path test after a planned number of rounds, and whether they settle the
//! benchmark.

use super::plan::{HostNoise, PairedMethod, Plan};
use super::series::{PairedSeries, UsableRounds, find_refusal};
use super::slow_path::{self, SlowPathTest};
use super::speed_test::SpeedTest;
use crate::compare::estimate::ChangeBounds;
use crate::compare::note::Note;
use crate::model::Verdict;
use perfcheck_stats::derived_seed;

/// No benchmark is given up before this share of its planned rounds is done, because a later round may still reach the floor (the time of the fastest
/// samples).
const LEAST_DONE_TO_GIVE_UP: f64 = 0.45;

/// If controls have raised the noise threshold by more than this factor, the verdict cannot be `unchanged`.
const MOST_RAISED: f64 = 3.0;

/// The .95 quantile of the normal distribution.
const NORMAL_95: f64 = 1.645;

/// Whether a benchmark needs more rounds, judged at a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookStatus {
    /// The benchmark needs more rounds, for example because its speed is still uncertain.
    Open,
    /// The speed is unchanged so far. The benchmark needs more rounds only because a slow path, a cost that only some samples have, would not show in
    /// so few rounds.
    Searching,
    /// The benchmark can stop with this verdict.
    Settled(Verdict),
}

/// The results of a look at a benchmark after a number of rounds.
pub(super) struct Look {
    pub rounds: usize,
    /// The share of the significance level that this look may spend.
    pub share: f64,
    /// Whether this is the last look, which uses all rounds that were measured.
    pub is_last: bool,
    /// The reason why the rounds cannot be tested; `None` if they can.
    pub refused: Option<Note>,
    pub speed: Option<SpeedTest>,
    pub slow_path: SlowPathTest,
    pub usable: UsableRounds,
    /// The logarithm of the noise threshold in force. Controls may have raised the threshold.
    pub threshold: f64,
    /// The noise that controls have shown, if it raised the threshold.
    pub noise: Option<HostNoise>,
    /// Whether controls raised the threshold so far that the verdict cannot be `unchanged`.
    pub is_too_noisy: bool,
    /// A note about the side whose fastest processes are farthest apart. `None` if the fastest processes of both sides agree.
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

    /// Returns the first look that settles the benchmark. If no look does, returns the last look, which uses all rounds.
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

    /// Returns the look after all rounds of `series`. Returns `None` unless the plan has a look after exactly this many rounds that is not the last
    /// one.
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

    /// Returns whether this look settles the benchmark. The other benchmarks are still being measured, so each is tested at an equal share of the
    /// level (Bonferroni).
    pub(super) fn status(&self, plan: &Plan) -> LookStatus {
        let Some(speed) = &self.speed else {
            return LookStatus::Open;
        };
        let family = plan.family_size(1) as f64;
        let slow = plan.slow_path_level() * self.share / family;
        let level = plan.floor_level() * self.share / family;
        let (lower, upper) = (speed.lower(level), speed.upper(level));
        let bounds = self.judge(ChangeBounds { lower, upper });
        let is_quiet = self.disturbed.is_none();
        if bounds == Verdict::Regressed || is_quiet && self.slow_path.p_slower <= slow {
            return LookStatus::Settled(Verdict::Regressed);
        }
        if self.slow_path.p_slower <= slow_path::SUSPICION {
            return LookStatus::Open;
        }
        if bounds == Verdict::Improved || is_quiet && self.slow_path.p_faster <= slow {
            return LookStatus::Settled(Verdict::Improved);
        }
        // On a host that is too noisy for `unchanged`, more rounds could still show a change.
        if bounds == Verdict::Unchanged && !self.is_too_noisy {
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

    /// Judges the bounds of the change. If the fastest processes of a side lie far apart (see `Note::withheld_change`), a change must exceed the
    /// threshold by more than their gap. The range that counts as `unchanged` stays the same.
    pub(super) fn judge(&self, bounds: ChangeBounds) -> Verdict {
        bounds.judge_with_resolution(self.threshold, self.callable())
    }

    /// Returns the size, as a logarithm, that the whole interval must exceed for the verdict to be a change.
    pub(super) fn callable(&self) -> f64 {
        self.threshold + self.withheld_change()
    }

    /// Returns how far a change must lie beyond the threshold to be called, as a logarithm. It is 0 unless the host was disturbed.
    pub(super) fn withheld_change(&self) -> f64 {
        self.disturbed.as_ref().map_or(0.0, Note::withheld_change)
    }

    /// Returns a note if controls have raised the noise threshold.
    pub(super) fn raised_threshold_note(&self) -> Option<Note> {
        self.noise.map(|noise| Note::ThresholdRaised {
            controls: noise.controls,
            change: noise.change,
            too_noisy: self.is_too_noisy,
        })
    }

    /// Returns true if more rounds are unlikely to settle the benchmark: the chance to show a change is below 5 %, and so is the chance to show that
    /// there is none. This assumes that the standard error falls with the square root of the number of rounds, and that further rounds resemble the
    /// present ones.
    fn is_hopeless(&self, speed: &SpeedTest, plan: &Plan) -> bool {
        let done = self.rounds as f64 / plan.last_look() as f64;
        if done < LEAST_DONE_TO_GIVE_UP {
            return false;
        }
        // The last look has a larger share of the level, so this margin is conservative.
        let level = plan.floor_level() * self.share / plan.family_size(1) as f64;
        let margin = speed.margin(level) * done.sqrt();
        // The final estimate lies within this distance of the present one, with a probability of 95 %. Both share rounds, so the variance of their
        // difference is only 1 - `done` times the present variance.
        let reach = NORMAL_95 * speed.standard_error * (1.0 - done).max(0.0).sqrt();
        let size = speed.difference.abs();
        let no_change = size + reach < self.callable() + margin;
        let not_the_same = self.is_too_noisy || size - reach > self.threshold - margin;
        no_change && not_the_same
    }

    /// Returns how many rounds in all would settle the benchmark if the standard error falls with the square root of their number. Returns `None` if
    /// no useful number of rounds would.
    pub(super) fn rounds_needed(&self, level: f64) -> Option<u64> {
        let speed = self.speed.as_ref()?;
        let size = speed.difference.abs();
        let is_withheld = size > self.threshold && size <= self.callable();
        if self.is_too_noisy && size <= self.threshold || is_withheld {
            return None;
        }
        let distance = (size - self.threshold).abs();
        let factor = (speed.margin(level) / distance).powi(2).max(1.0);
        let rounds = (factor * self.rounds as f64).ceil();
        (rounds.is_finite() && rounds <= MOST_ROUNDS_NAMED && rounds > self.rounds as f64)
            .then_some(rounds as u64)
    }
}

/// The largest number of rounds that is worth advising.
const MOST_ROUNDS_NAMED: f64 = 1000.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::key;
    use crate::compare::paired::tests::{plan, timed_series};
    use crate::model::{Nanos, Round, Sample};

    /// Returns the last look at ten rounds in which all samples of a side are alike. Those of the base take 100 ns per iteration.
    fn last_look(candidate_ns: u64) -> Look {
        let side = |ns: u64| vec![Sample::from((10_000, Nanos(10_000 * ns))); 8];
        let round = Round {
            base: side(100),
            candidate: side(candidate_ns),
            led: Vec::new(),
            layout: None,
        };
        let key = key("b");
        let rounds = vec![round; 10];
        let series = timed_series(&key, &rounds);
        let look = Look::find_deciding(&series, &plan(&[10]), &PairedMethod::default());
        assert!(look.is_last && look.disturbed.is_none());
        look
    }

    #[test]
    fn a_change_is_hopeless_only_if_the_estimate_does_not_reach_what_is_called() {
        // On a host that is too noisy, the absence of a change cannot be shown, so only the chance to show a change counts here. The estimate lies
        // below its lower bound, so it has no margin.
        let mut look = last_look(110);
        look.is_too_noisy = true;
        let mut speed = look.speed.clone().expect("ten rounds");
        speed.difference = 0.0625;
        assert_eq!(speed.margin(plan(&[10]).floor_level()), 0.0);
        for (threshold, is_hopeless) in [(0.0625, false), (0.0625_f64.next_up(), true)] {
            look.threshold = threshold;
            assert_eq!(look.is_hopeless(&speed, &plan(&[10])), is_hopeless);
        }
    }

    #[test]
    fn the_absence_of_a_change_is_hopeless_only_if_the_margin_exceeds_the_threshold() {
        let mut look = last_look(100);
        let mut speed = look.speed.clone().expect("ten rounds");
        speed.standard_error = 0.0;
        let margin = speed.margin(plan(&[10]).floor_level());
        assert!(speed.difference == 0.0 && margin > 0.0);
        for (threshold, is_hopeless) in [(margin, false), (margin.next_down(), true)] {
            look.threshold = threshold;
            assert_eq!(look.is_hopeless(&speed, &plan(&[10])), is_hopeless);
        }
    }
}
