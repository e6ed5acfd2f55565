//! Estimates by how much the values of one group are shifted against those of another, independent group (Hodges and Lehmann 1963). The interval of
//! the shift holds the shifts that Mann and Whitney's test does not reject (Hollander, Wolfe and Chicken 2014, section 4.3). Tied values are handled
//! by the mid-distribution function (Ma, Genton and Parzen 2011).

use super::interval::Interval;
use super::quantile::median;
use super::rank_tests::{MannWhitney, MannWhitneyMethod};
use super::{normal, rank_tests};

/// The rule by which the ranks of the bounds of [`HodgesLehmann::interval`] are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HodgesLehmannRanks {
    /// The ranks are exact. They come from the distribution of Mann and Whitney's statistic U over all orders that the values of both groups can
    /// have. The interval then covers its level for any continuous distribution. There may be at most 10,000 pairs of values.
    Exact,
    /// The ranks are computed from the normal approximation of U. For m and n values, the lower rank is floor(m n / 2 - z sqrt(m n (m + n + 1) /
    /// 12)).
    Normal,
}

/// The tolerance for the rounding of 1 - level, so that a rank whose probability is exactly 1 - level is accepted.
const ROUNDING: f64 = 1e-12;

/// Differences count as equal if they differ by at most this fraction of the largest value. The tolerance is needed because decimal values are
/// rounded to binary ones. A wider tolerance would merge real small differences between large values.
const EQUAL_DIFFERENCES: f64 = 4.0 * f64::EPSILON;

/// The shift between two independent groups: the median of all pairwise differences new - base, with its interval (Hodges and Lehmann 1963).
///
/// There may be millions of differences. They are found by rank and never stored.
#[derive(Debug, Clone, PartialEq)]
pub struct HodgesLehmann {
    /// The values of the new group in ascending order. `base` is ascending, too.
    new: Vec<f64>,
    base: Vec<f64>,
}

impl HodgesLehmann {
    /// Sorts the groups `new` (m values) and `base` (n values), which must have the same unit. Returns `None` if a side is empty or a value is not
    /// finite.
    ///
    /// ```
    /// use perfcheck_stats::HodgesLehmann;
    /// let shift = HodgesLehmann::from_groups(&[4.0, 5.0, 7.0], &[1.0, 2.0, 3.0]).expect("two groups");
    /// assert_eq!(shift.estimate(), Some(3.0)); // the median of the nine differences
    /// ```
    pub fn from_groups(new: &[f64], base: &[f64]) -> Option<Self> {
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
            self.difference_of_rank(pairs.div_ceil(2))?,
            self.difference_of_rank(pairs / 2 + 1)?,
        );
        median(&[low, high])
    }

    fn pairs(&self) -> usize {
        self.new.len() * self.base.len()
    }

    /// Returns how many differences are at most `bound`. Rounded differences rise with `new` and fall with `base`, so a single walk along both counts
    /// them.
    fn count_at_most(&self, bound: f64) -> usize {
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

    /// Returns the difference of the given rank, counted from 1. It is the smallest number such that at least `rank` differences are not larger. To
    /// find it exactly, the function bisects the bit patterns of floats, which are in the order of the numbers.
    fn difference_of_rank(&self, rank: usize) -> Option<f64> {
        if rank == 0 || rank > self.pairs() {
            return None;
        }
        let lowest = self.new.first()? - self.base.last()?;
        let highest = self.new.last()? - self.base.first()?;
        let (mut low, mut high) = (ordered_bits(lowest), ordered_bits(highest));
        while low < high {
            let middle = low.midpoint(high);
            if self.count_at_most(from_ordered_bits(middle)) >= rank {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        // Adding 0 turns -0 into 0.
        Some(from_ordered_bits(low) + 0.0)
    }

    /// Returns the interval of the shift at `level`. Its bounds are two of the m n sorted differences: those of rank k and of rank m n + 1 - k, where
    /// k follows from the level (Hollander, Wolfe and Chicken 2014, section 4.3). It excludes exactly the shifts that the Mann-Whitney test rejects.
    /// With ties, it covers more than its level. Returns `None` if the groups are too small for `level` (k < 1) or too large for exact ranks, or if
    /// `level` is outside 0..1.
    pub fn interval(&self, level: f64, ranks: HodgesLehmannRanks) -> Option<Interval> {
        if !(level > 0.0 && level < 1.0) {
            return None;
        }
        let rank = match ranks {
            // Find the largest k with 2 P(U <= k - 1) <= 1 - level.
            HodgesLehmannRanks::Exact => rank_tests::distribution(self.new.len(), self.base.len())?
                .partition_point(|chance| *chance <= (1.0 - level) / 2.0 + ROUNDING),
            HodgesLehmannRanks::Normal => {
                let (m, n) = (self.new.len() as f64, self.base.len() as f64);
                let sd = (m * n * (m + n + 1.0) / 12.0).sqrt();
                (m * n / 2.0 - normal::two_sided(level)? * sd)
                    .floor()
                    .max(0.0) as usize
            }
        };
        Some(Interval {
            lower: self.difference_of_rank(rank)?,
            upper: self.difference_of_rank((self.pairs() + 1).checked_sub(rank)?)?,
        })
    }
}

/// A group of differences that count as equal.
struct DifferenceGroup {
    value: f64,
    /// Number of smaller differences.
    below: usize,
    /// Number of differences that are smaller than the group or belong to it.
    through: usize,
}

impl DifferenceGroup {
    fn mid_rank(&self) -> f64 {
        f64::midpoint(self.below as f64, self.through as f64)
    }
}

impl HodgesLehmann {
    /// Returns the shift at which the rank test sees no difference, in the unit of the values: the median of the differences by their
    /// mid-distribution function (Ma, Genton and Parzen 2011). Without equal differences it equals [`HodgesLehmann::estimate`]. With a coarse clock,
    /// each difference is a few whole clock steps, but this estimate is not rounded to whole steps. It is 0 if U is half of the pairs.
    pub fn estimate_mid_distribution(&self) -> Option<f64> {
        self.shift_at(self.pairs() as f64 / 2.0)
    }

    /// Returns the interval of [`HodgesLehmann::estimate_mid_distribution`] at `level`: the shifts at which the asymptotic p-value by `method` is at
    /// least 1 - level. So the interval excludes 0 exactly if the p-value at 0 is below 1 - level, even with ties. It is a single point only if all
    /// differences are equal. Returns `None` if the groups are too small for `level`, or if `level` is outside 0..1.
    pub fn interval_mid_distribution(
        &self,
        level: f64,
        method: MannWhitneyMethod,
    ) -> Option<Interval> {
        let z = normal::two_sided(level).filter(|_| level > 0.0 && level < 1.0)?;
        let test = MannWhitney::from_groups(&self.new, &self.base)?;
        let half = self.pairs() as f64 / 2.0;
        let reach = z * test.variance().sqrt() + method.continuity_correction();
        if reach >= half {
            return None;
        }
        Some(Interval {
            lower: self.shift_at(half - reach)?,
            upper: self.shift_at(half + reach)?,
        })
    }

    /// Returns the shift below which `pairs` of the differences lie, where a difference equal to the shift counts as half. Between groups of equal
    /// differences, the shift is interpolated linearly. If no difference is 0 and `pairs` is the number of negative differences, the shift is 0.
    fn shift_at(&self, pairs: f64) -> Option<f64> {
        let rank = (pairs.ceil() as usize).clamp(1, self.pairs());
        let group = self.group_of_rank(rank)?;
        let (low, high) = if pairs < group.mid_rank() {
            if group.below == 0 {
                return Some(group.value);
            }
            (self.group_of_rank(group.below)?, group)
        } else {
            if group.through == self.pairs() {
                return Some(group.value);
            }
            let next = self.group_of_rank(group.through + 1)?;
            (group, next)
        };
        let zero = (low.value < 0.0 && high.value > 0.0).then_some((0.0, low.through as f64));
        let (mut from, mut to) = ((low.value, low.mid_rank()), (high.value, high.mid_rank()));
        match zero {
            Some(zero) if pairs < zero.1 => to = zero,
            Some(zero) => from = zero,
            None => {}
        }
        let share = (pairs - from.1) / (to.1 - from.1);
        Some(from.0 + (to.0 - from.0) * share)
    }

    /// Returns the group of equal differences that contains the difference of `rank`.
    fn group_of_rank(&self, rank: usize) -> Option<DifferenceGroup> {
        let value = self.difference_of_rank(rank)?;
        let ends = [
            self.new.first()?,
            self.new.last()?,
            self.base.first()?,
            self.base.last()?,
        ];
        let largest = ends
            .into_iter()
            .fold(0.0, |most: f64, end| most.max(end.abs()));
        let step = largest * EQUAL_DIFFERENCES;
        Some(DifferenceGroup {
            value: if value.abs() <= step { 0.0 } else { value },
            // `next_down` excludes the smallest difference of the group itself.
            below: self.count_at_most((value - step).next_down()),
            through: self.count_at_most(value + step),
        })
    }
}

/// Maps a float to an integer, such that the order of the integers is the order of the floats.
fn ordered_bits(value: f64) -> u64 {
    let bits = value.to_bits();
    if value.is_sign_negative() {
        !bits
    } else {
        bits | SIGN
    }
}

/// Returns the float that [`ordered_bits`] maps to `ordered`.
fn from_ordered_bits(ordered: u64) -> f64 {
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
    use proptest::prelude::*;

    #[test]
    fn too_few_values_have_a_shift_and_no_interval() {
        let shift = HodgesLehmann::from_groups(&[3.0, 4.0], &[1.0]).unwrap();
        assert_eq!(shift.estimate(), Some(2.5));
        for ranks in [HodgesLehmannRanks::Exact, HodgesLehmannRanks::Normal] {
            assert_eq!(shift.interval(0.95, ranks), None);
            assert_eq!(shift.interval(1.0, ranks), None);
        }
        assert_eq!(HodgesLehmann::from_groups(&[], &[1.0]), None);
        assert_eq!(HodgesLehmann::from_groups(&[f64::NAN], &[1.0]), None);
    }

    #[test]
    fn there_is_no_interval_of_all_or_nothing() {
        let values: Vec<f64> = (0..30).map(f64::from).collect();
        let shift = HodgesLehmann::from_groups(&values, &values).unwrap();
        for ranks in [HodgesLehmannRanks::Exact, HodgesLehmannRanks::Normal] {
            assert!(shift.interval(0.95, ranks).is_some());
            for level in [0.0, 1.0, -1.0, 2.0, f64::NAN] {
                assert_eq!(shift.interval(level, ranks), None, "{level}");
            }
        }
    }

    #[test]
    fn a_coarse_clock_rounds_neither_the_shift_nor_its_interval_to_a_point() {
        // Half of the values are a step higher on one side, a quarter on the other.
        let group = |high: usize| -> Vec<f64> {
            (0..200)
                .map(|at| if at < high { 13.0 } else { 12.0 })
                .collect()
        };
        let (new, base) = (group(100), group(50));
        let shift = HodgesLehmann::from_groups(&new, &base).unwrap();
        assert_eq!(shift.estimate(), Some(0.0));
        // There are 5,000, 20,000 and 15,000 differences of -1, 0 and 1, at mid-ranks 2,500, 15,000 and 32,500; half of all is 20,000.
        let estimate = shift.estimate_mid_distribution().unwrap();
        assert!((estimate - 5_000.0 / 17_500.0).abs() < 1e-12, "{estimate}");
        let p = MannWhitney::from_groups(&new, &base)
            .unwrap()
            .p_value(MannWhitneyMethod::Asymptotic)
            .unwrap();
        let interval = shift
            .interval_mid_distribution(0.95, MannWhitneyMethod::Asymptotic)
            .unwrap();
        assert!(
            p < 0.05 && interval.lower > 0.0 && interval.lower < estimate,
            "{interval:?}"
        );
    }

    proptest! {
        #[test]
        fn the_interval_between_ties_excludes_zero_exactly_where_the_asymptotic_test_rejects(
            a in prop::collection::vec(0_u8..9, 4..30), b in prop::collection::vec(2_u8..11, 4..30), tenths: bool, level in 0.5..0.999_f64,
        ) {
            let floats = |x: &[u8]| x.iter().map(|v| f64::from(*v) * if tenths { 0.1 } else { 1.0 }).collect::<Vec<_>>();
            let (a, b) = (floats(&a), floats(&b));
            let shift = HodgesLehmann::from_groups(&a, &b).unwrap();
            let test = MannWhitney::from_groups(&a, &b).unwrap();
            let estimate = shift.estimate_mid_distribution().unwrap();
            prop_assert_eq!(estimate > 0.0, test.u_first > test.u_second());
            for method in [MannWhitneyMethod::Asymptotic, MannWhitneyMethod::AsymptoticCorrected] {
                let p = test.p_value(method).unwrap();
                prop_assume!((p - (1.0 - level)).abs() > 1e-9);
                let interval = shift.interval_mid_distribution(level, method);
                let excludes = interval.is_some_and(|found| found.lower > 0.0 || found.upper < 0.0);
                prop_assert_eq!(excludes, p < 1.0 - level, "{:?} {}", interval, p);
                if let Some(found) = interval {
                    prop_assert!(found.lower <= estimate && estimate <= found.upper, "{:?} {}", found, estimate);
                }
            }
        }

        #[test]
        fn without_equal_differences_the_shift_between_ties_is_the_median_difference(
            a in prop::collection::vec(5.0..9.0_f64, 1..12), b in prop::collection::vec(-5.0..3.0_f64, 1..12),
        ) {
            let shift = HodgesLehmann::from_groups(&a, &b).unwrap();
            let (one, other) = (shift.estimate().unwrap(), shift.estimate_mid_distribution().unwrap());
            prop_assert!((one - other).abs() < 1e-9, "{} {}", one, other);
        }

        #[test]
        fn a_difference_found_by_its_rank_is_that_of_all_pairs_written_out(
            a in prop::collection::vec(-5.0..5.0_f64, 1..12), b in prop::collection::vec(-3_i8..3, 1..12),
        ) {
            let b: Vec<f64> = b.into_iter().map(f64::from).collect();
            let shift = HodgesLehmann::from_groups(&a, &b).unwrap();
            let mut all: Vec<f64> = a.iter().flat_map(|x| b.iter().map(move |y| x - y)).collect();
            all.sort_by(f64::total_cmp);
            for (at, expected) in all.iter().enumerate() {
                prop_assert_eq!(shift.difference_of_rank(at + 1), Some(*expected));
            }
            prop_assert_eq!(shift.difference_of_rank(all.len() + 1), None);
            prop_assert_eq!(shift.estimate(), median(&all));
        }

        #[test]
        fn the_exact_interval_excludes_exactly_the_shifts_that_the_test_rejects(
            a in prop::collection::vec(-5.0..5.0_f64, 4..12), b in prop::collection::vec(-5.0..5.0_f64, 4..12), by in -6.0..6.0_f64,
        ) {
            let shift = HodgesLehmann::from_groups(&a, &b).unwrap().interval(0.9, HodgesLehmannRanks::Exact).unwrap();
            prop_assume!((shift.lower - by).abs() > 1e-9 && (shift.upper - by).abs() > 1e-9);
            let moved: Vec<f64> = b.iter().map(|y| y + by).collect();
            let p = MannWhitney::from_groups(&a, &moved).unwrap().p_value(MannWhitneyMethod::Exact);
            prop_assume!(p.is_some());
            prop_assert_eq!(by < shift.lower || by > shift.upper, p.unwrap() <= 0.1 + 1e-12);
        }
    }
}
