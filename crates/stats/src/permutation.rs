//! Mann and Whitney's exact test with ties: over all assignments of the group labels to the observed values.

use super::mann_whitney::{MannWhitney, MannWhitneyMethod};

/// The most pairs of values for which the distribution is computed; it takes milliseconds.
const MOST_PAIRS: usize = 900;

impl MannWhitney {
    /// Returns the two-sided permutation p-value for "both groups have the same distribution", given the tied values: the share of all assignments
    /// of the labels whose rank sum is at least as far from its mean as the observed one (Mann and Whitney 1947; for ties Pratt and Gibbons 1981,
    /// section 5.3). Without ties it is their exact p. Above 900 pairs it is the asymptotic p with continuity correction. `None` for an empty
    /// group or a value that is not a number.
    pub fn permutation_p(first: &[f64], second: &[f64]) -> Option<f64> {
        // The two-sided p is the same for both groups; the rank sums of the smaller one need less memory and time.
        let (first, second) = if first.len() <= second.len() {
            (first, second)
        } else {
            (second, first)
        };
        let test = MannWhitney::from_groups(first, second)?;
        if first.len().checked_mul(second.len())? > MOST_PAIRS {
            return test.p_value(MannWhitneyMethod::AsymptoticCorrected);
        }
        let mut pooled: Vec<f64> = first.iter().chain(second).copied().collect();
        pooled.sort_unstable_by(f64::total_cmp);
        // Twice a mid-rank is an integer.
        let mut doubled = Vec::with_capacity(pooled.len());
        for tied in pooled.chunk_by(|a, b| a == b) {
            let rank = 2 * doubled.len() + tied.len() + 1;
            doubled.extend(std::iter::repeat_n(rank, tied.len()));
        }
        let n = first.len();
        let most: usize = doubled[doubled.len() - n..].iter().sum();
        // ways[k][s] is the number of ways in which k of the values so far have the doubled rank sum s.
        let mut ways = vec![vec![0.0_f64; most + 1]; n + 1];
        ways[0][0] = 1.0;
        for (placed, rank) in doubled.iter().enumerate() {
            for k in (1..=n.min(placed + 1)).rev() {
                let (fewer, more) = ways.split_at_mut(k);
                let (from, to) = (&fewer[k - 1], &mut more[0]);
                let reached: usize = doubled[placed + 1 - k..placed].iter().sum();
                for (sum, ways) in from[..=reached].iter().enumerate() {
                    to[sum + rank] += ways;
                }
            }
        }
        // Compute the doubled rank sum that belongs to U, and its mean.
        let offset = (n * (n + 1)) as f64;
        let observed = 2.0 * test.u_first + offset;
        let mean = (n * (pooled.len() + 1)) as f64;
        let (mut extreme, mut all) = (0.0, 0.0);
        for (sum, ways) in ways[n].iter().enumerate() {
            all += ways;
            if (sum as f64 - mean).abs() >= (observed - mean).abs() {
                extreme += ways;
            }
        }
        Some((extreme / all).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tied_values_have_the_share_of_their_permutations() {
        // {1, 2} against {2, 3}: the six pairs of the ranks 1, 2.5, 2.5, 4 have the sums 3.5, 3.5, 5, 5, 6.5, 6.5.
        assert_eq!(
            MannWhitney::permutation_p(&[1.0, 2.0], &[2.0, 3.0]),
            Some(2.0 / 3.0)
        );
        assert_eq!(MannWhitney::permutation_p(&[5.0; 3], &[5.0; 4]), Some(1.0));
        // Complete separation of five and five: 2 of 252, tied or not.
        let p = MannWhitney::permutation_p(&[1.0; 5], &[2.0; 5]).unwrap();
        assert!((p - 2.0 / 252.0).abs() < 1e-15, "{p}");
        assert_eq!(MannWhitney::permutation_p(&[], &[1.0]), None);
        assert_eq!(MannWhitney::permutation_p(&[f64::NAN], &[1.0]), None);
    }

    #[test]
    fn many_values_are_tested_by_the_normal_approximation() {
        let (a, b): (Vec<f64>, Vec<f64>) =
            (0..40).map(|i| (f64::from(i), f64::from(i) + 9.0)).unzip();
        let expected = MannWhitney::from_groups(&a, &b)
            .unwrap()
            .p_value(MannWhitneyMethod::AsymptoticCorrected);
        assert_eq!(MannWhitney::permutation_p(&a, &b), expected);
    }

    #[test]
    fn one_value_against_many_is_ranked_in_little_room_whichever_side_it_is_on() {
        let many: Vec<f64> = (0..900).map(f64::from).collect();
        // The single value is below all others or above all: 2 of 901 places.
        let expected = Some(2.0 / 901.0);
        assert_eq!(MannWhitney::permutation_p(&[-1.0], &many), expected);
        assert_eq!(MannWhitney::permutation_p(&many, &[-1.0]), expected);
    }

    proptest! {
        #[test]
        fn without_ties_it_is_the_exact_p(values in prop::collection::hash_set(0_u32..1000, 2..18), split in 1_usize..17) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let (a, b) = values.split_at(split.min(values.len() - 1));
            let exact = MannWhitney::from_groups(a, b).unwrap().p_value(MannWhitneyMethod::Exact).unwrap();
            prop_assert!((MannWhitney::permutation_p(a, b).unwrap() - exact).abs() < 1e-12);
        }
    }
}
