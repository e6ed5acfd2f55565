//! A distribution-free interval of a median.
//!
//! A value is below the median with probability 1/2, so the order statistics of ranks l and n + 1 - l enclose the median with probability 1 - 2
//! P(Bin(n, 1/2) <= l - 1) or more (Thompson 1936; Conover 1999, section 3.2).

use super::interval::Interval;
use super::normal;
use super::special::beta_regularized;

/// The number of values from which ranks follow the normal approximation.
const NORMAL_FROM: usize = 50;

/// The tolerance for the rounding of 1 - level, so that a rank that has exactly the wanted level is accepted.
const ROUNDING: f64 = 1e-12;

/// A distribution-free interval of a median: two order statistics, and the probability that they enclose it (Thompson 1936; Conover 1999, section
/// 3.2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MedianInterval {
    /// The two order statistics, in the unit of the values
    pub interval: Interval,
    /// Ranks of the two order statistics, from 1
    pub ranks: (usize, usize),
    /// Probability that they enclose the median: a lower bound, and exact for a continuous distribution
    pub coverage: f64,
}

impl MedianInterval {
    /// Computes the interval, at `level`, of the median of the population that `values`, given in any order, are drawn from.
    ///
    /// Order statistics of ranks l and n + 1 - l enclose the median with probability 1 - 2 P(Bin(n, 1/2) <= l - 1) or more. Below 50 values the
    /// result is the narrowest symmetric pair of ranks that covers `level`; from 50 on it has ranks floor((n - z sqrt n) / 2) and ceil(1 + (n + z
    /// sqrt n) / 2). `None` if even the extremes do not cover the level (below 6 values at 95 %, 8 at 99 %), with a value that is not a number, or
    /// for a level outside 0..1.
    pub fn compute(values: &[f64], level: f64) -> Option<Self> {
        if !(level > 0.0 && level < 1.0) || values.iter().any(|value| value.is_nan()) {
            return None;
        }
        let n = values.len();
        let (lower, upper) = if n < NORMAL_FROM {
            let lower = exact_rank(n, (1.0 - level) / 2.0)?;
            (lower, n + 1 - lower)
        } else {
            let (count, z) = (n as f64, normal::two_sided(level)?);
            let reach = z * count.sqrt();
            let lower = ((count - reach) / 2.0).floor();
            let upper = (1.0 + f64::midpoint(count, reach)).ceil();
            if lower < 1.0 || upper > count {
                return None;
            }
            (lower as usize, upper as usize)
        };
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Some(Self {
            interval: Interval {
                lower: sorted[lower - 1],
                upper: sorted[upper - 1],
            },
            ranks: (lower, upper),
            coverage: 1.0 - binomial_half_cdf(lower - 1, n) - binomial_half_cdf(n - upper, n),
        })
    }
}

/// Returns the largest rank l with P(Bin(n, 1/2) <= l - 1) <= `tail`, if there is one.
fn exact_rank(n: usize, tail: f64) -> Option<usize> {
    (1..=n / 2)
        .take_while(|rank| binomial_half_cdf(rank - 1, n) <= tail + ROUNDING)
        .last()
}

/// Returns P(Bin(n, 1/2) <= k) for k < n.
fn binomial_half_cdf(k: usize, n: usize) -> f64 {
    beta_regularized((n - k) as f64, (k + 1) as f64, 0.5, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn up_to(n: u32) -> Vec<f64> {
        (1..=n).map(f64::from).collect()
    }

    #[test]
    fn too_few_values_and_nonsense_have_no_interval() {
        assert_eq!(MedianInterval::compute(&up_to(5), 0.95), None);
        assert_eq!(MedianInterval::compute(&up_to(7), 0.99), None);
        assert_eq!(MedianInterval::compute(&[], 0.95), None);
        assert_eq!(MedianInterval::compute(&[f64::NAN; 9], 0.95), None);
        for level in [0.0, 1.0, f64::NAN] {
            assert_eq!(MedianInterval::compute(&up_to(20), level), None);
        }
        // At this level the approximate ranks lie outside the sample.
        assert_eq!(MedianInterval::compute(&up_to(50), 1.0 - 1e-13), None);
    }

    #[test]
    fn both_rules_cover_what_they_are_asked_for() {
        for n in (8..49).chain([50, 51, 99, 400]) {
            for level in [0.9, 0.95, 0.99] {
                let found = MedianInterval::compute(&up_to(n), level).unwrap();
                assert!(found.coverage >= level - 1e-12, "{n} {level}: {found:?}");
                assert_eq!(found.ranks.0 + found.ranks.1, n as usize + 1);
            }
        }
    }

    #[test]
    fn the_interval_follows_the_values_and_not_their_order() {
        let mut values = up_to(30);
        let straight = MedianInterval::compute(&values, 0.95);
        values.reverse();
        assert_eq!(MedianInterval::compute(&values, 0.95), straight);
    }
}
