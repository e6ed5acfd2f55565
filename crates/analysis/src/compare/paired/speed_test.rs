//! The speed test: the floor test and the rank test, each at its share of the level.
//!
//! They have different weaknesses: a moment of higher CPU frequency on one side alone misleads the floor test, bursts that cover whole rounds mislead
//! the rank test. A finding of one test at its share of the level counts. If the tests contradict each other at that level, only a finding of both
//! counts.

use super::floor_test::FloorTest;
use super::plan::PairedMethod;
use super::rank_test::RankTest;
use super::series::UsableRounds;
use crate::compare::launch_values::Location;

/// Both tests of one benchmark after a number of rounds.
#[derive(Debug, Clone)]
pub(super) struct SpeedTest {
    /// The floor test's share of the level.
    floor_share: f64,
    floor: FloorTest,
    ranks: RankTest,
    /// Whether their intervals at the level of the look are disjoint.
    contradiction: bool,
    /// The estimate of the test with the narrower interval, a logarithm.
    pub difference: f64,
    /// Standard error of that test: half its interval at a level of 15.9 % on each side.
    pub standard_error: f64,
    threshold: f64,
}

/// The one-sided level beyond one standard deviation of the normal distribution.
pub(super) const ONE_DEVIATION: f64 = 0.158_655_253_931_457_05;

impl SpeedTest {
    /// Runs both tests. `level` is the one-sided level of the look for this benchmark. `None` with too few rounds.
    pub(super) fn test(
        usable: &UsableRounds,
        threshold: f64,
        level: f64,
        method: &PairedMethod,
        seed: u64,
    ) -> Option<Self> {
        let floor = FloorTest::test(usable, threshold, method, seed)?;
        let ranks = RankTest::test(usable, floor.resolution)?;
        let share = method.floor_share;
        let (of_floor, of_ranks) = (level * share, level * (1.0 - share));
        let (by_floor, by_ranks) = (
            (floor.lower(of_floor), floor.upper(of_floor)),
            (ranks.lower(of_ranks), ranks.upper(of_ranks)),
        );
        let contradiction = by_floor.0 > by_ranks.1 || by_ranks.0 > by_floor.1;
        let width = |(lower, upper): (f64, f64)| upper - lower;
        let ranks_are_closer = width(by_ranks) < width(by_floor);
        let (difference, standard_error) = if ranks_are_closer {
            let (lower, upper) = (ranks.lower(ONE_DEVIATION), ranks.upper(ONE_DEVIATION));
            (ranks.difference(), (upper - lower) / 2.0)
        } else {
            (floor.difference, floor.standard_error)
        };
        let mut test = Self {
            floor_share: share,
            floor,
            ranks,
            contradiction,
            difference,
            standard_error,
            threshold,
        };
        // The narrower interval may have been cut by the other one.
        let (lower, upper) = (test.lower(level), test.upper(level));
        if lower <= upper {
            test.difference = difference.clamp(lower, upper);
        }
        Some(test)
    }

    /// Returns p of "slower by more than the threshold".
    pub(super) fn p_slower(&self) -> f64 {
        self.combine_p(self.floor.p_slower(), self.ranks.p_slower(self.threshold))
    }

    /// Returns p of "faster by more than the threshold".
    pub(super) fn p_faster(&self) -> f64 {
        self.combine_p(self.floor.p_faster(), self.ranks.p_faster(self.threshold))
    }

    fn combine_p(&self, floor: f64, ranks: f64) -> f64 {
        let (floor, ranks) = (floor / self.floor_share, ranks / (1.0 - self.floor_share));
        let p = if self.contradiction {
            floor.max(ranks)
        } else {
            floor.min(ranks)
        };
        p.min(1.0)
    }

    /// Splits `level` between the floor test and the rank test.
    fn levels(&self, level: f64) -> (f64, f64) {
        (level * self.floor_share, level * (1.0 - self.floor_share))
    }

    /// Reports whether the two intervals are disjoint, at `level` or at the level of the look. Both are checked because the intervals are narrower at
    /// a larger level; so bounds never cross.
    pub(super) fn contradicts(&self, level: f64) -> bool {
        let (floor, ranks) = self.levels(level);
        self.contradiction
            || self.floor.lower(floor) > self.ranks.upper(ranks)
            || self.ranks.lower(ranks) > self.floor.upper(floor)
    }

    /// Returns the one-sided lower bound at `level`.
    pub(super) fn lower(&self, level: f64) -> f64 {
        let (floor, ranks) = self.levels(level);
        let bounds = (self.floor.lower(floor), self.ranks.lower(ranks));
        self.combine_bounds(level, bounds, [f64::max, f64::min])
    }

    /// Returns the one-sided upper bound at `level`.
    pub(super) fn upper(&self, level: f64) -> f64 {
        let (floor, ranks) = self.levels(level);
        let bounds = (self.floor.upper(floor), self.ranks.upper(ranks));
        self.combine_bounds(level, bounds, [f64::min, f64::max])
    }

    /// Combines the bounds of both tests: the narrower one, or the wider one if the tests contradict each other.
    fn combine_bounds(
        &self,
        level: f64,
        (floor, ranks): (f64, f64),
        [narrow, wide]: [fn(f64, f64) -> f64; 2],
    ) -> f64 {
        let pick = if self.contradicts(level) {
            wide
        } else {
            narrow
        };
        pick(floor, ranks)
    }

    /// Returns how far the lower bound is below the estimate.
    pub(super) fn margin(&self, level: f64) -> f64 {
        (self.difference - self.lower(level)).max(0.0)
    }

    /// Returns the statistic of the floor test.
    pub(super) fn location(&self) -> Location {
        self.floor.location
    }

    /// Reports whether the fastest samples of all rounds are equal on each side.
    pub(super) fn is_constant(&self) -> bool {
        self.floor.is_constant()
    }
}

#[cfg(test)]
mod tests {
    use super::super::series::PairedSamples;
    use super::*;

    #[test]
    fn tests_contradict_each_other_at_the_level_that_they_do_so_and_at_that_of_the_look() {
        // The base reaches 0 in one sample of thirty and takes .15 more in the others; the candidate always takes .05.
        let round = |k: u32| {
            let jitter = |i: u32| 1e-4 * f64::from((k * 7 + i * 3) % 11);
            let base = (0..30).map(|i| jitter(i) + if i == 7 { 0.0 } else { 0.15 });
            PairedSamples {
                base: base.collect(),
                candidate: (0..30).map(|i| jitter(i + 5) + 0.05).collect(),
            }
        };
        let usable = UsableRounds {
            rounds: (0..20).map(round).collect(),
            left_out: 0,
            too_short: None,
        };
        let look_at = |level| {
            let method = PairedMethod::default();
            SpeedTest::test(&usable, 0.01, level, &method, 7).expect("rounds enough")
        };
        // At a level of 1e-12 both tests have no bounds.
        let (large, small) = (0.01, 1e-12);
        let test = look_at(large);
        assert!(test.contradicts(large) && test.contradicts(small));
        assert!(test.p_slower() > 0.5 && test.p_faster() > 0.5);
        let test = look_at(small);
        assert!(test.contradicts(large) && !test.contradicts(small));
    }
}
