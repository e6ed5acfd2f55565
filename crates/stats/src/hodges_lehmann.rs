//! The shift between two independent groups (Hodges and Lehmann 1963), and the interval that Mann and Whitney's test gives it
//! (Hollander, Wolfe and Chicken 2014, section 4.3); with tied values, by the mid-distribution function (Ma, Genton and Parzen 2011).

use super::interval::Interval;
use super::mann_whitney::{MannWhitney, MannWhitneyMethod};
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

/// Differences that are no further apart than this fraction of the largest value are equal, because decimal values are rounded to binary ones.
/// A wider tolerance would merge differences that small changes of large values really have.
const EQUAL_DIFFERENCES: f64 = 4.0 * f64::EPSILON;

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

/// A group of equal differences.
struct DifferenceGroup {
    value: f64,
    /// How many differences are smaller.
    below: usize,
    /// How many differences are smaller or in the group.
    through: usize,
}

impl DifferenceGroup {
    fn mid_rank(&self) -> f64 {
        f64::midpoint(self.below as f64, self.through as f64)
    }
}

impl HodgesLehmann {
    /// Returns the shift at which the test of ranks sees no difference, in the unit of the values: the median of the differences by their mid-distribution function
    /// (Ma, Genton and Parzen 2011). Without equal differences that is [`HodgesLehmann::estimate`]; a coarse clock, whose differences are few whole steps,
    /// does not round it to one of them. It is 0 where U is half of the pairs.
    pub fn estimate_between_ties(&self) -> Option<f64> {
        self.shift_at(self.pairs() as f64 / 2.0)
    }

    /// The interval of [`HodgesLehmann::estimate_between_ties`] at `level`: the shifts at which U is not as far from half of the pairs as an asymptotic p by `method`
    /// needs to be below 1 - level. So it excludes 0 exactly where that p is below 1 - level, with any ties, and is no point unless all differences are equal.
    /// `None` where the groups are too small for `level`, or for a level outside 0..1.
    pub fn interval_between_ties(&self, level: f64, method: MannWhitneyMethod) -> Option<Interval> {
        let z = normal::two_sided(level).filter(|_| level > 0.0 && level < 1.0)?;
        let test = MannWhitney::of(&self.new, &self.base)?;
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

    /// The shift below which `pairs` of the differences lie, of equal ones half: linear between the groups of equal differences, and exact at 0.
    fn shift_at(&self, pairs: f64) -> Option<f64> {
        let rank = (pairs.ceil() as usize).clamp(1, self.pairs());
        let group = self.group(rank)?;
        let (low, high) = if pairs < group.mid_rank() {
            if group.below == 0 {
                return Some(group.value);
            }
            (self.group(group.below)?, group)
        } else {
            if group.through == self.pairs() {
                return Some(group.value);
            }
            let next = self.group(group.through + 1)?;
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

    /// The group of equal differences that has the difference of `rank`.
    fn group(&self, rank: usize) -> Option<DifferenceGroup> {
        let value = self.difference(rank)?;
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
            // The smallest difference of the group is not below it.
            below: self.at_most((value - step).next_down()),
            through: self.at_most(value + step),
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

    #[test]
    fn a_coarse_clock_rounds_neither_the_shift_nor_its_interval_to_a_point() {
        // Half of the values a step higher on one side, a quarter on the other.
        let group = |high: usize| -> Vec<f64> {
            (0..200)
                .map(|at| if at < high { 13.0 } else { 12.0 })
                .collect()
        };
        let (new, base) = (group(100), group(50));
        let shift = HodgesLehmann::of(&new, &base).unwrap();
        assert_eq!(shift.estimate(), Some(0.0));
        // Differences -1, 0, 1: 5,000, 20,000, 15,000 of them, at mid-ranks 2,500, 15,000, 32,500; half of all is 20,000.
        let estimate = shift.estimate_between_ties().unwrap();
        assert!((estimate - 5_000.0 / 17_500.0).abs() < 1e-12, "{estimate}");
        let p = MannWhitney::of(&new, &base)
            .unwrap()
            .p(MannWhitneyMethod::Asymptotic)
            .unwrap();
        let interval = shift
            .interval_between_ties(0.95, MannWhitneyMethod::Asymptotic)
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
            let shift = HodgesLehmann::of(&a, &b).unwrap();
            let test = MannWhitney::of(&a, &b).unwrap();
            let estimate = shift.estimate_between_ties().unwrap();
            prop_assert_eq!(estimate > 0.0, test.u_first > test.u_second());
            for method in [MannWhitneyMethod::Asymptotic, MannWhitneyMethod::AsymptoticCorrected] {
                let p = test.p(method).unwrap();
                prop_assume!((p - (1.0 - level)).abs() > 1e-9);
                let interval = shift.interval_between_ties(level, method);
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
            let shift = HodgesLehmann::of(&a, &b).unwrap();
            let (one, other) = (shift.estimate().unwrap(), shift.estimate_between_ties().unwrap());
            prop_assert!((one - other).abs() < 1e-9, "{} {}", one, other);
        }

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
