//! The exact distribution of Mann and Whitney's U without ties, by their recurrence (Mann and Whitney 1947).

/// The most pairs of values for which the distribution is computed; it takes a fraction of a second.
const MOST_PAIRS: usize = 10_000;

/// Returns P(U <= u) for u = 0, 1, ..., `m` `n`, where U counts the pairs in which the value of the first group is the larger one.
///
/// The recurrence: the largest value belongs to the first group with probability i / (i + j), and then exceeds all j values of the other group.
/// `None` for an empty group or more than 10,000 pairs.
pub(super) fn distribution(m: usize, n: usize) -> Option<Vec<f64>> {
    // The distribution is symmetric in the groups; let the smaller one decide the length of the table.
    let (m, n) = (m.max(n), m.min(n));
    if n == 0 || m.checked_mul(n)? > MOST_PAIRS {
        return None;
    }
    // row[j][u] is P(U = u) for i values against j.
    let mut row: Vec<Vec<f64>> = vec![vec![1.0]; n + 1];
    for i in 1..=m {
        for j in 1..=n {
            let first = i as f64 / (i + j) as f64;
            let mut chances = vec![0.0; i * j + 1];
            for (u, chance) in row[j].iter().enumerate() {
                chances[u + j] += first * chance;
            }
            for (chance, smaller) in chances.iter_mut().zip(&row[j - 1]) {
                *chance += (1.0 - first) * smaller;
            }
            row[j] = chances;
        }
    }
    let mut sum = 0.0;
    Some(
        row[n]
            .iter()
            .map(|chance| {
                sum += chance;
                f64::min(sum, 1.0)
            })
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_against_three_has_twenty_orders() {
        let cumulated = distribution(3, 3).unwrap();
        // 1, 1, 2, 3, 3, 3, 3, 2, 1, 1 of 20
        let expected = [1, 2, 4, 7, 10, 13, 16, 18, 19, 20].map(|k| f64::from(k) / 20.0);
        for (found, expected) in cumulated.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-15, "{cumulated:?}");
        }
        assert_eq!(cumulated.len(), 10);
    }

    #[test]
    fn the_groups_are_exchangeable_and_large_ones_are_refused() {
        assert_eq!(distribution(2, 7), distribution(7, 2));
        assert_eq!(distribution(0, 3), None);
        assert_eq!(distribution(101, 100), None);
        assert_eq!(distribution(usize::MAX, 2), None);
    }
}
