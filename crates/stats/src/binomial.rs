//! Estimates of a probability from a number of successes: exact one-sided bounds (Clopper and Pearson 1934), and the standard error of a share.

use super::special::beta_regularized;

/// The number of bisections. They are enough to find a bound to the resolution of a float near 1.
const HALVINGS: u32 = 60;

/// Returns the one-sided upper bound of a probability, at the confidence `level`, from `count` successes in `trials`. It is the largest probability
/// at which a result of `count` or fewer successes has a chance of at least 1 - `level`.
///
/// The bound solves `I_p(count + 1, trials - count) = level` for p, as `P(X <= k) = 1 - I_p(k + 1, n - k)`. It is 1 if `count` equals `trials`, even
/// without trials. Returns `None` unless 0 < `level` < 1 and `count` <= `trials`.
pub fn upper_bound(count: u32, trials: u32, level: f64) -> Option<f64> {
    if !(level > 0.0 && level < 1.0) || count > trials {
        return None;
    }
    if count == trials {
        return Some(1.0);
    }
    let (a, b) = (f64::from(count) + 1.0, f64::from(trials - count));
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if beta_regularized(a, b, middle, 1.0 - middle) < level {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(high)
}

/// Returns the one-sided lower bound of a probability, at the confidence `level`. It is 1 - the upper bound for the complementary event. It is 0 for
/// a `count` of 0. Returns `None` in the same cases as [`upper_bound`].
pub fn lower_bound(count: u32, trials: u32, level: f64) -> Option<f64> {
    let missed = trials.checked_sub(count)?;
    upper_bound(missed, trials, level).map(|bound| 1.0 - bound)
}

/// Returns the standard error of a share, which was estimated from `count` successes in `trials` independent trials. It is meant for the difference
/// of two shares (Agresti and Caffo 2000).
///
/// The error is `sqrt(p (1 - p) / n)`, with p = (`count` + 1) / n and n = `trials` + 2. Because of the two added trials, shares of 0 and 1 have an
/// error, too. Returns `None` if `count` > `trials`.
pub fn share_standard_error(count: u64, trials: u64) -> Option<f64> {
    let n = trials as f64 + 2.0;
    let p = (count as f64 + 1.0) / n;
    (count <= trials).then(|| (p * (1.0 - p) / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(value: Option<f64>, expected: f64) {
        let value = value.expect("in the domain");
        assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
    }

    #[test]
    fn none_seen_has_the_closed_form() {
        for trials in [1, 5, 15, 192, 500] {
            let closed = 1.0 - 0.05_f64.powf(1.0 / f64::from(trials));
            close(upper_bound(0, trials, 0.95), closed);
            close(lower_bound(trials, trials, 0.95), 1.0 - closed);
        }
    }

    #[test]
    fn bounds_solve_the_binomial_tail() {
        // P(X <= k) summed term by term.
        let at_most = |count: u32, trials: u32, p: f64| -> f64 {
            let mut term = (1.0 - p).powf(f64::from(trials));
            let mut sum = term;
            for k in 1..=count {
                term *= f64::from(trials - k + 1) / f64::from(k) * p / (1.0 - p);
                sum += term;
            }
            sum
        };
        for (count, trials) in [(1, 10), (3, 17), (9, 10), (40, 200)] {
            let upper = upper_bound(count, trials, 0.95).expect("in the domain");
            assert!((at_most(count, trials, upper) - 0.05).abs() < 1e-9);
            let lower = lower_bound(count, trials, 0.95).expect("in the domain");
            assert!((1.0 - at_most(count - 1, trials, lower) - 0.05).abs() < 1e-9);
        }
    }

    #[test]
    fn without_trials_nothing_is_excluded_and_nonsense_has_no_bound() {
        assert_eq!(upper_bound(0, 0, 0.95), Some(1.0));
        assert_eq!(lower_bound(0, 0, 0.95), Some(0.0));
        assert_eq!(upper_bound(2, 1, 0.95), None);
        assert_eq!(lower_bound(2, 1, 0.95), None);
        assert_eq!(upper_bound(0, 1, 1.0), None);
    }

    #[test]
    fn the_error_of_a_share_is_that_of_one_more_of_both_kinds() {
        // One more success and one more failure turn 4 of 8 into 5 of 10: sqrt(5 / 10 x 5 / 10 / 10).
        close(share_standard_error(4, 8), 0.025_f64.sqrt());
        close(
            share_standard_error(0, 98),
            (0.01 * 0.99 / 100.0_f64).sqrt(),
        );
        close(
            share_standard_error(98, 98),
            (0.01 * 0.99 / 100.0_f64).sqrt(),
        );
        close(share_standard_error(0, 0), 0.125_f64.sqrt());
        assert_eq!(share_standard_error(2, 1), None);
    }
}
