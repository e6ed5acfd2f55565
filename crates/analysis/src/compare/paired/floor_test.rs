//! The floor test: do the low quantiles of the pooled samples differ by more than the threshold?
//!
//! Noise makes samples longer, so the fastest of many short samples from many rounds are stable. The round is the unit of resampling. p-value, bounds
//! and verdict come from one inversion: `rejects(shift)` is monotone in `shift`, and the bounds are where it changes.

use super::plan::{FloorGuard, PairedMethod, Plan};
use super::series::{PairedSamples, UsableRounds};
use crate::compare::launch_values::Location;
use perfcheck_stats::{
    ClusterLowQuantile, ClusterStatistic, FisherExact, Resampling, Stream,
    paired_difference_standard_error, student_t,
};

/// Resamples for a standard error; they leave it uncertain by 2 %.
const RESAMPLES: usize = 1_000;

/// The smallest standard error: executables can differ by this much for reasons other than the work they do.
const LEAST_RESOLUTION: f64 = 2e-4;

/// With fewer samples than this on a side, the median is compared.
const FEWEST_FOR_LOW_QUANTILE: usize = 20;

/// From this number of samples on, the quantile of [`PairedMethod`] is compared.
const ENOUGH_FOR_QUANTILE: usize = 100;

/// The difference of the floors, with its uncertainty.
#[derive(Debug, Clone)]
pub(super) struct FloorTest {
    pub location: Location,
    /// New minus base, logarithms.
    pub difference: f64,
    pub standard_error: f64,
    pub df: f64,
    /// Differences below this cannot be distinguished.
    pub resolution: f64,
    /// Noise threshold, a logarithm.
    threshold: f64,
    /// The fastest sample of each round, ascending.
    fastest_base: Vec<f64>,
    fastest_candidate: Vec<f64>,
    guard: FloorGuard,
    fisher: FisherExact,
}

/// Chooses the statistic for `samples` pooled samples per side: location, quantile, least rank.
fn choose_location(samples: usize, method: &PairedMethod) -> (Location, f64, usize) {
    match samples {
        0..FEWEST_FOR_LOW_QUANTILE => (Location::Median, 0.5, 1),
        FEWEST_FOR_LOW_QUANTILE..ENOUGH_FOR_QUANTILE => {
            (Location::SecondFastest, 0.0, method.least_rank)
        }
        _ => (Location::LowQuantile, method.quantile, method.least_rank),
    }
}

/// Returns the statistic, the base value and the difference, as logarithms; `None` without samples.
pub(super) fn estimate_floors(
    usable: &UsableRounds,
    method: &PairedMethod,
) -> Option<(Location, f64, f64)> {
    let (location, p, rank) = choose_location(usable.samples(), method);
    let low = |clusters: &[&[f64]]| ClusterLowQuantile::new(clusters, p, rank).observed();
    let base = low(&usable.base_samples());
    let difference = low(&usable.candidate_samples()) - base;
    difference
        .is_finite()
        .then_some((location, base, difference))
}

impl FloorTest {
    /// Returns `None` with fewer than [`Plan::FEWEST_ROUNDS`] rounds.
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

    /// Returns p of "slower by more than the threshold".
    pub(super) fn p_slower(&self) -> f64 {
        self.t_tail(self.difference - self.threshold)
            .max(self.p_guard(&self.fastest_base, &self.fastest_candidate, self.threshold))
    }

    /// Returns p of "faster by more than the threshold".
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

    /// Returns half the width of the interval by Student's t.
    pub(super) fn margin(&self, level: f64) -> f64 {
        student_t::upper_quantile(level, self.df).map_or(f64::INFINITY, |t| t * self.standard_error)
    }

    fn t_tail(&self, beyond: f64) -> f64 {
        student_t::upper_tail(beyond / self.standard_error, self.df).unwrap_or(1.0)
    }

    /// Returns the p of Fisher's test that no more rounds of the `fast` side than of the `slow` one fall below a cut, at the best of all cuts, after
    /// `slow` was made faster by `shift`.
    ///
    /// A process can have a memory layout that makes it faster for its whole life. If few processes have it, they may all be on one side, and
    /// resampling the other side cannot show it. So a change needs more rounds with the lower floor than such an accident explains.
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

    /// Returns the bound by Student's t, moved back as far as the guard requires.
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
            // Start beyond every sample.
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

    /// Reports whether the fastest samples of all rounds are equal on each side.
    pub(super) fn is_constant(&self) -> bool {
        let spread = |x: &[f64]| x.last().unwrap_or(&0.0) - x.first().unwrap_or(&0.0);
        spread(&self.fastest_base) == 0.0 && spread(&self.fastest_candidate) == 0.0
    }
}

/// Returns half the smallest step between samples if the lowest tenth of them falls on few values, which shows a coarse clock; otherwise 0.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_of_a_coarse_clock_counts_by_its_half_and_that_of_a_fine_one_by_nothing() {
        let step = |samples: &[f64]| clock_step(&ClusterLowQuantile::new(&[samples], 0.5, 1));
        let coarse: Vec<f64> = (0..40).map(|i| f64::from(i / 20) * 0.5).collect();
        assert_eq!(step(&coarse), 0.25);
        let fine: Vec<f64> = (0..40).map(f64::from).collect();
        assert_eq!(step(&fine), 0.0);
        assert_eq!(step(&[1.0; 40]), 0.0);
    }
}
