//! The shift between two independent groups (Hodges and Lehmann 1963), and the interval that Mann and Whitney's test gives it
//! (Hollander, Wolfe and Chicken 2014, section 4.3).

use super::interval::Interval;
use super::quantile::median;
use super::{normal, u_distribution};

/// How the ranks of the bounds of [`HodgesLehmann::interval`] are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HodgesLehmannRanks {
    /// The ranks are from the distribution of U over all orders: the interval covers the level for any continuous distribution; up to 10,000 pairs.
    Exact,
    /// The lower rank is floor(m n / 2 - z sqrt(m n (m + n + 1) / 12)), by the normal approximation.
    Normal,
}

/// A level that a rank has exactly is not missed by the rounding of 1 - level.
const ROUNDING: f64 = 1e-12;

/// The shift between two independent groups: the median of all pairwise differences new - base, with its interval (Hodges and Lehmann 1963).
///
/// The differences, of which there may be millions, are found by rank and never written out.
#[derive(Debug, Clone, PartialEq)]
pub struct HodgesLehmann {
    /// Both groups, ascending.
    new: Vec<f64>,
    base: Vec<f64>,
}

impl HodgesLehmann {
    /// Sorts the groups `new` (m values) and `base` (n values), in any order and of one unit. `None` for an empty side or a value that is not finite.
    pub fn of(new: &[f64], base: &[f64]) -> Option<Self> {
        let finite = new.iter().chain(base).all(|value| value.is_finite());
        if new.is_empty() || base.is_empty() || !finite {
            return None;
        }
        let ascending = |values: &[f64]| {
            let mut values = values.to_vec();
            values.sort_unstable_by(f64::total_cmp);
            values
        };
        Some(Self {
            new: ascending(new),
            base: ascending(base),
        })
    }

    /// Returns the median of the differences, in the unit of the values. It takes at most 128 (m + n) steps.
    pub fn estimate(&self) -> Option<f64> {
        let pairs = self.pairs();
        let (low, high) = (
            self.difference(pairs.div_ceil(2))?,
            self.difference(pairs / 2 + 1)?,
        );
        median(&[low, high])
    }

    fn pairs(&self) -> usize {
        self.new.len() * self.base.len()
    }

    /// Differences of at most `bound`: rounded differences rise with `new` and fall with `base`, so one walk along both counts them.
    fn at_most(&self, bound: f64) -> usize {
        let mut within = 0;
        self.base
            .iter()
            .map(|y| {
                while within < self.new.len() && self.new[within] - y <= bound {
                    within += 1;
                }
                within
            })
            .sum()
    }

    /// The difference of this rank, from 1: the smallest number that so many differences do not exceed, found by halving the
    /// ordered bit patterns of all numbers.
    fn difference(&self, rank: usize) -> Option<f64> {
        if rank == 0 || rank > self.pairs() {
            return None;
        }
        let lowest = self.new.first()? - self.base.last()?;
        let highest = self.new.last()? - self.base.first()?;
        let (mut low, mut high) = (ordered(lowest), ordered(highest));
        while low < high {
            let middle = low.midpoint(high);
            if self.at_most(number(middle)) >= rank {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        // Two zeros differ in their bits and not in value.
        Some(number(low) + 0.0)
    }

    /// The interval of the shift at `level`: the differences of ranks k and m n + 1 - k (Hollander, Wolfe and Chicken 2014, section 4.3), so that it
    /// excludes exactly the shifts that the Mann-Whitney test rejects. `None` where the groups are too small for `level` (k < 1), too large for exact
    /// ranks, or for a level outside 0..1. With ties the interval covers more than its level.
    pub fn interval(&self, level: f64, ranks: HodgesLehmannRanks) -> Option<Interval> {
        if !(level > 0.0 && level < 1.0) {
            return None;
        }
        let rank = match ranks {
            // The largest k with 2 P(U <= k - 1) within what is left of the level.
            HodgesLehmannRanks::Exact => {
                u_distribution::distribution(self.new.len(), self.base.len())?
                    .partition_point(|chance| *chance <= (1.0 - level) / 2.0 + ROUNDING)
            }
            HodgesLehmannRanks::Normal => {
                let (m, n) = (self.new.len() as f64, self.base.len() as f64);
                let sd = (m * n * (m + n + 1.0) / 12.0).sqrt();
                (m * n / 2.0 - normal::two_sided(level)? * sd)
                    .floor()
                    .max(0.0) as usize
            }
        };
        Some(Interval {
            lower: self.difference(rank)?,
            upper: self.difference((self.pairs() + 1).checked_sub(rank)?)?,
        })
    }
}

/// Bits whose order is that of the numbers.
fn ordered(value: f64) -> u64 {
    let bits = value.to_bits();
    if value.is_sign_negative() {
        !bits
    } else {
        bits | SIGN
    }
}

/// The number of such bits.
fn number(ordered: u64) -> f64 {
    f64::from_bits(if ordered & SIGN == 0 {
        !ordered
    } else {
        ordered & !SIGN
    })
}

const SIGN: u64 = 1 << 63;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MannWhitney, MannWhitneyMethod};
    use proptest::prelude::*;

    #[test]
    fn too_few_values_have_a_shift_and_no_interval() {
        let shift = HodgesLehmann::of(&[3.0, 4.0], &[1.0]).unwrap();
        assert_eq!(shift.estimate(), Some(2.5));
        for ranks in [HodgesLehmannRanks::Exact, HodgesLehmannRanks::Normal] {
            assert_eq!(shift.interval(0.95, ranks), None);
            assert_eq!(shift.interval(1.0, ranks), None);
        }
        assert_eq!(HodgesLehmann::of(&[], &[1.0]), None);
        assert_eq!(HodgesLehmann::of(&[f64::NAN], &[1.0]), None);
    }

    #[test]
    fn there_is_no_interval_of_all_or_nothing() {
        let values: Vec<f64> = (0..30).map(f64::from).collect();
        let shift = HodgesLehmann::of(&values, &values).unwrap();
        for ranks in [HodgesLehmannRanks::Exact, HodgesLehmannRanks::Normal] {
            assert!(shift.interval(0.95, ranks).is_some());
            for level in [0.0, 1.0, -1.0, 2.0, f64::NAN] {
                assert_eq!(shift.interval(level, ranks), None, "{level}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_difference_found_by_its_rank_is_that_of_all_pairs_written_out(
            a in prop::collection::vec(-5.0..5.0_f64, 1..12), b in prop::collection::vec(-3_i8..3, 1..12),
        ) {
            let b: Vec<f64> = b.into_iter().map(f64::from).collect();
            let shift = HodgesLehmann::of(&a, &b).unwrap();
            let mut all: Vec<f64> = a.iter().flat_map(|x| b.iter().map(move |y| x - y)).collect();
            all.sort_by(f64::total_cmp);
            for (at, expected) in all.iter().enumerate() {
                prop_assert_eq!(shift.difference(at + 1), Some(*expected));
            }
            prop_assert_eq!(shift.difference(all.len() + 1), None);
            prop_assert_eq!(shift.estimate(), median(&all));
        }

        #[test]
        fn the_exact_interval_excludes_exactly_the_shifts_that_the_test_rejects(
            a in prop::collection::vec(-5.0..5.0_f64, 4..12), b in prop::collection::vec(-5.0..5.0_f64, 4..12), by in -6.0..6.0_f64,
        ) {
            let shift = HodgesLehmann::of(&a, &b).unwrap().interval(0.9, HodgesLehmannRanks::Exact).unwrap();
            prop_assume!((shift.lower - by).abs() > 1e-9 && (shift.upper - by).abs() > 1e-9);
            let moved: Vec<f64> = b.iter().map(|y| y + by).collect();
            let p = MannWhitney::of(&a, &moved).unwrap().p(MannWhitneyMethod::Exact);
            prop_assume!(p.is_some());
            prop_assert_eq!(by < shift.lower || by > shift.upper, p.unwrap() <= 0.1 + 1e-12);
        }
    }
}
