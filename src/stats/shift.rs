//! The shift between two independent groups (Hodges and Lehmann 1963), and the interval that Mann and Whitney's test gives it
//! (Hollander, Wolfe and Chicken 2014, section 4.3).

use super::bootstrap::Interval;
use super::quantile::median;
use super::{normal, rank_sum};

/// How the ranks of the bounds are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShiftRanks {
    /// From the distribution of U over all orders: covers the level for any continuous distribution; up to 10,000 pairs.
    Exact,
    /// floor(m n / 2 - z sqrt(m n (m + n + 1) / 12)).
    Normal,
}

/// A level that a rank has exactly is not missed by the rounding of 1 - level.
const ROUNDING: f64 = 1e-12;

/// All pairwise differences of two groups, ascending.
#[derive(Debug, Clone, PartialEq)]
pub struct Shift {
    differences: Vec<f64>,
    new: usize,
    base: usize,
}

impl Shift {
    /// Of `new` against `base`. Time and memory are those of all pairs. `None` for an empty side or a value that is not finite.
    pub fn of(new: &[f64], base: &[f64]) -> Option<Self> {
        let finite = new.iter().chain(base).all(|value| value.is_finite());
        if new.is_empty() || base.is_empty() || !finite {
            return None;
        }
        let mut differences: Vec<f64> = new
            .iter()
            .flat_map(|x| base.iter().map(move |y| x - y))
            .collect();
        differences.sort_unstable_by(f64::total_cmp);
        Some(Self {
            differences,
            new: new.len(),
            base: base.len(),
        })
    }

    /// The median of the differences.
    pub fn estimate(&self) -> Option<f64> {
        median(&self.differences)
    }

    /// The differences of ranks k and m n + 1 - k. `None` where the groups are too small for `level` (k < 1), too large for exact ranks,
    /// or for a level outside 0..1. With ties the interval covers more than its level.
    pub fn interval(&self, level: f64, ranks: ShiftRanks) -> Option<Interval> {
        if !(level > 0.0 && level < 1.0) {
            return None;
        }
        let rank = match ranks {
            // The largest k with 2 P(U <= k - 1) within what is left of the level.
            ShiftRanks::Exact => rank_sum::distribution(self.new, self.base)?
                .partition_point(|chance| *chance <= (1.0 - level) / 2.0 + ROUNDING),
            ShiftRanks::Normal => {
                let (m, n) = (self.new as f64, self.base as f64);
                let sd = (m * n * (m + n + 1.0) / 12.0).sqrt();
                (m * n / 2.0 - normal::two_sided(level)? * sd)
                    .floor()
                    .max(0.0) as usize
            }
        };
        let lower = *self.differences.get(rank.checked_sub(1)?)?;
        Some(Interval {
            lower,
            upper: *self.differences.get(self.differences.len() - rank)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{MannWhitney, MannWhitneyMethod};
    use proptest::prelude::*;

    #[test]
    fn too_few_values_have_a_shift_and_no_interval() {
        let shift = Shift::of(&[3.0, 4.0], &[1.0]).unwrap();
        assert_eq!(shift.estimate(), Some(2.5));
        for ranks in [ShiftRanks::Exact, ShiftRanks::Normal] {
            assert_eq!(shift.interval(0.95, ranks), None);
            assert_eq!(shift.interval(1.0, ranks), None);
        }
        assert_eq!(Shift::of(&[], &[1.0]), None);
        assert_eq!(Shift::of(&[f64::NAN], &[1.0]), None);
    }

    proptest! {
        #[test]
        fn the_exact_interval_excludes_exactly_the_shifts_that_the_test_rejects(
            a in prop::collection::vec(-5.0..5.0_f64, 4..12), b in prop::collection::vec(-5.0..5.0_f64, 4..12), by in -6.0..6.0_f64,
        ) {
            let shift = Shift::of(&a, &b).unwrap().interval(0.9, ShiftRanks::Exact).unwrap();
            prop_assume!((shift.lower - by).abs() > 1e-9 && (shift.upper - by).abs() > 1e-9);
            let moved: Vec<f64> = b.iter().map(|y| y + by).collect();
            let p = MannWhitney::of(&a, &moved).unwrap().p(MannWhitneyMethod::Exact);
            prop_assume!(p.is_some());
            prop_assert_eq!(by < shift.lower || by > shift.upper, p.unwrap() <= 0.1 + 1e-12);
        }
    }
}
