//! Kruskal and Wallis's test of several independent groups (Kruskal and Wallis 1952).

use super::chi_squared;
use super::ranks::Ranks;

/// Kruskal and Wallis's test of several independent groups (Kruskal and Wallis 1952).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KruskalWallis {
    /// Statistic H, `12 / (N (N + 1)) sum(R_i^2 / n_i) - 3 (N + 1)`, divided by `1 - ties / (N^3 - N)`
    pub h: f64,
    /// Asymptotic p-value, P(chi-square with k - 1 degrees of freedom >= H)
    pub p: f64,
}

impl KruskalWallis {
    /// Tests whether all `groups`, each of any length and in any order, have the same distribution; N log N steps. If all values are equal, H is 0
    /// and p is 1. `None` below two groups, with an empty one, or with a value that is not a number.
    pub fn test(groups: &[&[f64]]) -> Option<Self> {
        let ranks = Ranks::compute(groups)?;
        if groups.len() < 2 {
            return None;
        }
        let n = ranks.count as f64;
        let spread = 1.0 - ranks.ties / (n * n * n - n);
        if spread <= 1e-14 {
            return Some(Self { h: 0.0, p: 1.0 });
        }
        // Sum about the mean rank: the textbook formula would lose digits by cancellation.
        let centre = f64::midpoint(n, 1.0);
        let between: f64 = ranks
            .sums
            .iter()
            .zip(groups)
            .map(|(sum, group)| {
                let size = group.len() as f64;
                size * (sum / size - centre).powi(2)
            })
            .sum();
        let h = 12.0 / (n * (n + 1.0)) * between / spread;
        let df = (groups.len() - 1) as f64;
        Some(Self {
            h,
            p: chi_squared::upper_tail(h, df)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_do_not_differ_and_what_is_no_group_has_no_test() {
        let same = KruskalWallis::test(&[&[2.0; 3], &[2.0; 4]]).unwrap();
        assert_eq!((same.h, same.p), (0.0, 1.0));
        assert_eq!(KruskalWallis::test(&[&[1.0, 2.0]]), None);
        assert_eq!(KruskalWallis::test(&[&[1.0, 2.0], &[]]), None);
        assert_eq!(KruskalWallis::test(&[]), None);
        let balanced = KruskalWallis::test(&[&[1.0, 4.0], &[2.0, 3.0]]).unwrap();
        assert_eq!((balanced.h, balanced.p), (0.0, 1.0));
    }
}
