//! Tests whether the speed of both sides differs, by the floor test and the rank test. Each test has a share of the significance level.
//!
//! The two tests have different weaknesses. The floor test is misled if the CPU frequency is higher for a moment on only one side. The rank test is
//! misled by bursts that cover whole rounds. A change counts if one of the tests finds it at its share of the level. But if the tests contradict each
//! other at that level, a change counts only if both find it.

use super::plan::{FloorGuard, PairedMethod, Plan};
use super::series::{PairedSamples, UsableRounds};
use crate::compare::process_values::Location;
use perfcheck_stats::{
    ClusterLowQuantile, ClusterStatistic, FisherExact, Resampling, SignedRank, Stream, median,
    paired_difference_standard_error, student_t,
};

/// The results of both tests for one benchmark after a number of rounds.
#[derive(Debug, Clone)]
pub(super) struct SpeedTest {
    /// The floor test's share of the level.
    floor_share: f64,
    floor: FloorTest,
    ranks: RankTest,
    /// Whether the intervals of the two tests are disjoint at the level of the look.
    contradiction: bool,
    /// The estimate of the test with the narrower interval, as a logarithm.
    pub difference: f64,
    /// The standard error of the test that gives `difference`. For the rank test it is half the width of the interval at a level of 15.9 % on each
    /// side.
    pub standard_error: f64,
    threshold: f64,
}

/// The probability that a normal value lies more than one standard deviation above the mean.
pub(super) const ONE_DEVIATION: f64 = 0.158_655_253_931_457_05;

impl SpeedTest {
    /// Runs both tests. `level` is the one-sided level that this benchmark has at the look. Returns `None` if there are too few rounds.
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
        // The bounds combine both tests, so the estimate of one test may lie outside of them.
        let (lower, upper) = (test.lower(level), test.upper(level));
        if lower <= upper {
            test.difference = difference.clamp(lower, upper);
        }
        Some(test)
    }

    /// Returns the p-value of both tests together for a slowdown by more than the threshold.
    pub(super) fn p_slower(&self) -> f64 {
        self.combine_p(self.floor.p_slower(), self.ranks.p_slower(self.threshold))
    }

    /// Returns the p-value of both tests together for a speedup by more than the threshold.
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

    /// Returns true if the intervals of the two tests are disjoint at `level`, or at the level of the look. Both levels are checked, because
    /// intervals are narrower at a larger level. So the lower and upper bound of one level never cross.
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

    /// Combines the bounds of both tests. The narrower bound is used, or the wider one if the tests contradict each other.
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

    /// Returns in how many rounds the sides differ in the direction of the estimate.
    pub(super) fn agreeing_rounds(&self) -> usize {
        let agree = |round: &&f64| **round * self.difference > 0.0;
        self.ranks.rounds.iter().filter(agree).count()
    }

    /// Returns how far the lower bound is below the estimate.
    pub(super) fn margin(&self, level: f64) -> f64 {
        (self.difference - self.lower(level)).max(0.0)
    }

    /// Returns the statistic of the samples that the floor test compared.
    pub(super) fn location(&self) -> Location {
        self.floor.location
    }

    /// Reports whether the fastest samples of all rounds are equal on each side.
    pub(super) fn is_constant(&self) -> bool {
        self.floor.is_constant()
    }
}

/// The number of resamples for a standard error. With this number it is uncertain by 2 %.
const RESAMPLES: usize = 1_000;

/// The smallest standard error that is assumed, because executables can differ by this much for reasons other than the work they do.
const LEAST_RESOLUTION: f64 = 2e-4;

/// The fewest samples of a side for which a low quantile is compared. With fewer, the median is.
const FEWEST_FOR_LOW_QUANTILE: usize = 20;

/// The number of samples of a side from which the quantile of [`PairedMethod`] is compared. With fewer, the second fastest sample is.
const ENOUGH_FOR_QUANTILE: usize = 100;

/// The difference of the floors, with its uncertainty.
///
/// The floor test asks whether the low quantiles of all samples of each side differ by more than the threshold. Noise makes samples longer, so the
/// fastest of many short samples from many rounds are stable. The round is the unit of resampling. p-value, bounds and verdict come from the same
/// test: the p-value is monotone in the assumed difference, and a bound is the difference at which the p-value reaches the level.
#[derive(Debug, Clone)]
pub(super) struct FloorTest {
    pub location: Location,
    /// The logarithm of the candidate's floor minus that of the base.
    pub difference: f64,
    pub standard_error: f64,
    pub df: f64,
    /// The smallest difference that can be distinguished, as a logarithm.
    pub resolution: f64,
    /// The logarithm of the noise threshold.
    threshold: f64,
    /// The fastest sample of each round, ascending.
    fastest_base: Vec<f64>,
    fastest_candidate: Vec<f64>,
    guard: FloorGuard,
    fisher: FisherExact,
}

/// Chooses the statistic that is compared if each side has `samples` samples. Returns its kind, its quantile and the smallest rank that the quantile
/// may have.
fn choose_location(samples: usize, method: &PairedMethod) -> (Location, f64, usize) {
    match samples {
        0..FEWEST_FOR_LOW_QUANTILE => (Location::Median, 0.5, 1),
        FEWEST_FOR_LOW_QUANTILE..ENOUGH_FOR_QUANTILE => {
            (Location::SecondFastest, 0.0, method.least_rank)
        }
        _ => (Location::LowQuantile, method.quantile, method.least_rank),
    }
}

/// The floors of both sides, as logarithms.
#[derive(Debug, Clone, Copy)]
pub(super) struct FloorEstimate {
    /// The statistic that was computed from the samples of each side.
    pub location: Location,
    pub base: f64,
    /// The floor of the candidate minus that of the base.
    pub difference: f64,
}

/// Estimates the floors of both sides. Returns `None` if there are no samples.
pub(super) fn estimate_floors(
    usable: &UsableRounds,
    method: &PairedMethod,
) -> Option<FloorEstimate> {
    let (location, p, rank) = choose_location(usable.samples(), method);
    let low = |clusters: &[&[f64]]| ClusterLowQuantile::new(clusters, p, rank).observed();
    let base = low(&usable.base_samples());
    let difference = low(&usable.candidate_samples()) - base;
    difference.is_finite().then_some(FloorEstimate {
        location,
        base,
        difference,
    })
}

impl FloorTest {
    /// Runs the floor test. Returns `None` if there are fewer than [`Plan::FEWEST_ROUNDS`] rounds.
    pub(super) fn test(
        usable: &UsableRounds,
        threshold: f64,
        method: &PairedMethod,
        seed: u64,
    ) -> Option<Self> {
        if usable.rounds.len() < Plan::FEWEST_ROUNDS as usize {
            return None;
        }
        let (location, p, rank) = choose_location(usable.samples(), method);
        let base = ClusterLowQuantile::new(&usable.base_samples(), p, rank);
        let candidate = ClusterLowQuantile::new(&usable.candidate_samples(), p, rank);
        let stream = Stream {
            seed,
            name: "floor test",
        };
        let resampling = Resampling {
            resamples: RESAMPLES,
            stream,
        };
        let error = paired_difference_standard_error(&candidate, &base, method.width, resampling)?;
        let difference = candidate.observed() - base.observed();
        let fastest = |pick: fn(&PairedSamples) -> &Vec<f64>| {
            let mut fastest: Vec<f64> = usable
                .rounds
                .iter()
                .filter_map(|round| pick(round).iter().copied().min_by(f64::total_cmp))
                .collect();
            fastest.sort_by(f64::total_cmp);
            fastest
        };
        let rounds = usable.rounds.len();
        let resolution = LEAST_RESOLUTION
            .max(clock_step(&base))
            .max(clock_step(&candidate));
        Some(Self {
            location,
            difference,
            standard_error: (error * method.inflation).max(resolution),
            resolution,
            df: (rounds as f64 - 1.0).min(method.most_df),
            threshold,
            fastest_base: fastest(|round| &round.base),
            fastest_candidate: fastest(|round| &round.candidate),
            guard: method.guard,
            fisher: FisherExact::new(rounds),
        })
        .filter(|test| test.difference.is_finite())
    }

    /// Returns the p-value of the floor test for a slowdown by more than the threshold.
    pub(super) fn p_slower(&self) -> f64 {
        self.t_tail(self.difference - self.threshold)
            .max(self.p_guard(&self.fastest_base, &self.fastest_candidate, self.threshold))
    }

    /// Returns the p-value of the floor test for a speedup by more than the threshold.
    pub(super) fn p_faster(&self) -> f64 {
        self.t_tail(-self.difference - self.threshold)
            .max(self.p_guard(&self.fastest_candidate, &self.fastest_base, self.threshold))
    }

    /// Returns the one-sided lower bound at `level`.
    pub(super) fn lower(&self, level: f64) -> f64 {
        let by_t = self.difference - self.margin(level);
        self.guarded_bound(by_t, &self.fastest_base, &self.fastest_candidate, level)
    }

    /// Returns the one-sided upper bound at `level`.
    pub(super) fn upper(&self, level: f64) -> f64 {
        let by_t = -self.difference - self.margin(level);
        -self.guarded_bound(by_t, &self.fastest_candidate, &self.fastest_base, level)
    }

    /// Returns how far the bounds by Student's t lie from the estimate, without the guard.
    pub(super) fn margin(&self, level: f64) -> f64 {
        student_t::upper_quantile(level, self.df).map_or(f64::INFINITY, |t| t * self.standard_error)
    }

    fn t_tail(&self, beyond: f64) -> f64 {
        student_t::upper_tail(beyond / self.standard_error, self.df).unwrap_or(1.0)
    }

    /// Returns the p-value of the guard against a few processes that are fast by accident. First, `shift` is subtracted from the `slow` side. At each
    /// value of the `fast` side, Fisher's exact test asks whether more rounds of the `fast` side than of the `slow` side lie at or below it. The
    /// smallest p-value is returned.
    ///
    /// A process can have a memory layout that makes it faster for its whole life. If few processes have this layout, they may all be on one side,
    /// and resampling the other side cannot show it. So a change needs more rounds with the lower floor than such an accident explains.
    fn p_guard(&self, fast: &[f64], slow: &[f64], shift: f64) -> f64 {
        if self.guard == FloorGuard::Nowhere {
            return 0.0;
        }
        let below = |cut: f64| slow.partition_point(|y| y - shift <= cut);
        fast.iter()
            .enumerate()
            .map(|(i, cut)| self.fisher.upper_tail(i + 1, below(*cut)))
            .fold(1.0, f64::min)
    }

    /// Returns the lower bound `by_t` of Student's t, lowered as far as the guard requires. To get an upper bound, the caller exchanges the sides and
    /// negates both `by_t` and the result.
    fn guarded_bound(&self, by_t: f64, fast: &[f64], slow: &[f64], level: f64) -> f64 {
        let from = match self.guard {
            FloorGuard::Changes => self.threshold,
            FloorGuard::Nowhere | FloorGuard::Everywhere => f64::NEG_INFINITY,
        };
        let passes = |shift: f64| self.p_guard(fast, slow, shift) <= level;
        if by_t <= from || passes(by_t) {
            return by_t;
        }
        let mut good = match self.guard {
            FloorGuard::Changes => from,
            // Start at a shift at which every sample of the `slow` side lies above every sample of the `fast` side, so that the guard passes if it
            // can.
            FloorGuard::Nowhere | FloorGuard::Everywhere => {
                let lowest = |x: &[f64]| x.first().copied().unwrap_or(0.0);
                let highest = |x: &[f64]| x.last().copied().unwrap_or(0.0);
                (lowest(slow) - highest(fast)).min(by_t) - 1.0
            }
        };
        if !passes(good) {
            return from;
        }
        let mut bad = by_t;
        for _ in 0..60 {
            let middle = f64::midpoint(good, bad);
            if passes(middle) {
                good = middle;
            } else {
                bad = middle;
            }
        }
        // The threshold itself has passed the guard, so the bound lies strictly beyond it.
        good.max(from.next_up())
    }

    /// Returns true if the fastest samples of all rounds are equal, on each side by itself.
    pub(super) fn is_constant(&self) -> bool {
        let spread = |x: &[f64]| x.last().unwrap_or(&0.0) - x.first().unwrap_or(&0.0);
        spread(&self.fastest_base) == 0.0 && spread(&self.fastest_candidate) == 0.0
    }
}

/// Returns half the smallest step between samples if the clock is coarse, and 0 otherwise. The clock is coarse if the lowest tenth of the samples has
/// few distinct values.
fn clock_step(samples: &ClusterLowQuantile) -> f64 {
    let ascending: Vec<f64> = samples.ascending().collect();
    let steps = || ascending.windows(2).map(|pair| pair[1] - pair[0]);
    let tenth = ascending.len().div_ceil(10);
    let distinct = steps().take(tenth).filter(|step| *step > 0.0).count();
    if distinct * 2 >= tenth {
        return 0.0;
    }
    let step = steps().filter(|step| *step > 0.0).reduce(f64::min);
    step.unwrap_or(0.0) / 2.0
}

/// The number of samples that one side has in the quads that are compared together.
const SAMPLES_TOGETHER: usize = 2 * Plan::QUADS_TOGETHER as usize;

/// The rank test, prepared from the difference of the two sides in each round.
///
/// The rank test asks whether the rounds themselves are slower on one side. In each pair of quads, both sides meet the same state of the host: its
/// frequency and its other load. So the fastest samples of both sides are compared there, and the median of these differences is the value of the
/// round. An exact signed-rank test is applied to the values of the rounds.
#[derive(Debug, Clone)]
pub(super) struct RankTest {
    /// The value of each round.
    rounds: Vec<f64>,
    differences: SignedRank,
    /// The smallest difference that can be distinguished. Bounds are moved outward by this much.
    resolution: f64,
}

/// Returns, for each pair of quads in a round, the fastest new sample minus the fastest base sample.
pub(super) fn differences_of_round(round: &PairedSamples) -> Vec<f64> {
    let quickest = |samples: &[f64]| samples.iter().copied().fold(f64::INFINITY, f64::min);
    round
        .base
        .chunks(SAMPLES_TOGETHER)
        .zip(round.candidate.chunks(SAMPLES_TOGETHER))
        .map(|(base, candidate)| quickest(candidate) - quickest(base))
        .collect()
}

impl RankTest {
    /// Runs the rank test. Returns `None` if there are no rounds. Each bound is moved outward by `resolution`.
    pub(super) fn test(usable: &UsableRounds, resolution: f64) -> Option<Self> {
        let of_round = |round| median(&differences_of_round(round));
        let rounds: Option<Vec<f64>> = usable.rounds.iter().map(of_round).collect();
        let rounds = rounds?;
        Some(Self {
            differences: SignedRank::new(&rounds)?,
            rounds,
            resolution,
        })
    }

    /// Returns the Hodges-Lehmann estimate of the difference.
    pub(super) fn difference(&self) -> f64 {
        self.differences.estimate()
    }

    pub(super) fn p_slower(&self, threshold: f64) -> f64 {
        self.differences.p_above(threshold + self.resolution)
    }

    pub(super) fn p_faster(&self, threshold: f64) -> f64 {
        self.differences.p_below(-threshold - self.resolution)
    }

    pub(super) fn lower(&self, level: f64) -> f64 {
        self.differences.lower_bound(level) - self.resolution
    }

    pub(super) fn upper(&self, level: f64) -> f64 {
        self.differences.upper_bound(level) + self.resolution
    }
}

#[cfg(test)]
mod tests {
    use super::super::series::PairedSamples;
    use super::*;

    #[test]
    fn tests_contradict_each_other_at_the_level_that_they_do_so_and_at_that_of_the_look() {
        // The base takes 0 in one sample of thirty and 0.15 in the others. The candidate always takes 0.05. All are logarithms.
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
        // At a level of 1e-12, neither test has bounds.
        let (large, small) = (0.01, 1e-12);
        let test = look_at(large);
        assert!(test.contradicts(large) && test.contradicts(small));
        assert!(test.p_slower() > 0.5 && test.p_faster() > 0.5);
        let test = look_at(small);
        assert!(test.contradicts(large) && !test.contradicts(small));
    }

    #[test]
    fn the_step_of_a_coarse_clock_counts_by_its_half_and_that_of_a_fine_one_by_nothing() {
        let step = |samples: &[f64]| clock_step(&ClusterLowQuantile::new(&[samples], 0.5, 1));
        let coarse: Vec<f64> = (0..40).map(|i| f64::from(i / 20) * 0.5).collect();
        assert_eq!(step(&coarse), 0.25);
        let fine: Vec<f64> = (0..40).map(f64::from).collect();
        assert_eq!(step(&fine), 0.0);
        assert_eq!(step(&[1.0; 40]), 0.0);
        // A tenth of twenty samples are two. So the clock is coarse if fewer than half of the two lowest steps lead to another value.
        let first_step_at = |at: usize| -> Vec<f64> {
            let times = (0..20).map(|i| if i < at { 0.0 } else { 0.5 });
            times.collect()
        };
        assert_eq!(step(&first_step_at(3)), 0.25);
        assert_eq!(step(&first_step_at(2)), 0.0);
    }

    #[test]
    fn tests_whose_intervals_touch_do_not_contradict_each_other() {
        // Six of twenty base processes are 5 % faster, which has a probability of 1 % by accident. `FloorGuard::Changes` lets the bound of the floor
        // test reach the threshold and no further.
        let round = |k: u32| {
            let jitter = |i: u32| 1e-4 * f64::from((k * 7 + i * 3) % 11);
            let base = if k < 6 { 0.0 } else { 0.05 };
            PairedSamples {
                base: (0..30).map(|i| jitter(i) + base).collect(),
                candidate: (0..30).map(|i| jitter(i + 5) + 0.05).collect(),
            }
        };
        let slower: Vec<PairedSamples> = (0..20).map(round).collect();
        let faster = slower.iter().map(|round| PairedSamples {
            base: round.candidate.clone(),
            candidate: round.base.clone(),
        });
        let faster: Vec<PairedSamples> = faster.collect();
        let test = |rounds: &[PairedSamples], threshold: f64| {
            let usable = UsableRounds {
                rounds: rounds.to_vec(),
                left_out: 0,
                too_short: None,
            };
            let method = PairedMethod {
                guard: FloorGuard::Changes,
                ..PairedMethod::default()
            };
            SpeedTest::test(&usable, threshold, 0.01, &method, 7).expect("rounds enough")
        };
        // Each test has half of the level. The bound of the rank test does not depend on the threshold.
        let reached = test(&slower, 0.01).ranks.upper(0.005);
        let (slower, faster) = (test(&slower, reached), test(&faster, reached));
        assert_eq!(slower.floor.lower(0.005), reached);
        assert_eq!(faster.floor.upper(0.005), -reached);
        assert_eq!(faster.ranks.lower(0.005), -reached);
        // At a level of 1e-12, neither test has bounds, so only a contradiction at the level of the look counts.
        for level in [0.01, 1e-12] {
            assert!(!slower.contradicts(level) && !faster.contradicts(level));
        }
    }
}
