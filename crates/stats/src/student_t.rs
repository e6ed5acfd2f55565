//! Student's t distribution.

use std::cell::RefCell;
use std::collections::HashMap;
use std::f64::consts::PI;

use super::special::{beta_regularized, log_gamma_growth};

/// The largest number of steps of the search for a quantile. Even bisection alone takes fewer.
const MOST_STEPS: u32 = 200;

/// The largest t whose square is certain to be within the range of a float.
const LARGEST: f64 = 1e150;

/// Returns P(T <= `t`) with `df` degrees of freedom. Returns `None` unless `df` is finite and positive and `t` is a number.
pub fn cdf(t: f64, df: f64) -> Option<f64> {
    upper_tail(-t, df)
}

/// Returns P(T >= `t`) with `df` degrees of freedom. It is accurate in the far tail. Returns `None` in the same cases as [`cdf`].
pub fn upper_tail(t: f64, df: f64) -> Option<f64> {
    if !has_distribution(df) || t.is_nan() {
        return None;
    }
    let tail = tail(t.abs(), df);
    Some(if t < 0.0 { 1.0 - tail } else { tail })
}

/// Returns the `p` quantile of the distribution with `df` degrees of freedom. Returns `None` unless 0 < p < 1 and `df` is finite and positive. Also
/// returns `None` if the quantile is beyond 1e150.
pub fn quantile(p: f64, df: f64) -> Option<f64> {
    if !(has_distribution(df) && p > 0.0 && p < 1.0) {
        return None;
    }
    // The upper half loses no digits: 1 - p is exact from 1/2 on.
    let found = match p {
        0.5 => 0.0,
        _ if p > 0.5 => cached_upper_quantile(1.0 - p, df),
        _ => -cached_upper_quantile(p, df),
    };
    Some(found).filter(|t| t.is_finite())
}

/// Returns the t that is exceeded with probability `level` in the distribution with `df` degrees of freedom. It does not suffer from the rounding of
/// 1 - `level`. Returns `None` in the same cases as [`quantile`].
pub fn upper_quantile(level: f64, df: f64) -> Option<f64> {
    quantile(level, df).map(|t| -t)
}

fn has_distribution(df: f64) -> bool {
    df.is_finite() && df > 0.0
}

/// Returns P(T >= `t`) for a `t` that is not negative. It is half of `I_(df / (df + t^2))(df / 2, 1 / 2)` (Abramowitz and Stegun 1964, 26.7.1). It is
/// 0 if the square of `t` is beyond the range of a float.
fn tail(t: f64, df: f64) -> f64 {
    // Divide first: the square of a large t is infinite.
    let ratio = t / df.sqrt() * (t / df.sqrt());
    let x = 1.0 / (1.0 + ratio);
    let complement = if ratio.is_finite() {
        ratio / (1.0 + ratio)
    } else {
        1.0
    };
    0.5 * beta_regularized(df / 2.0, 0.5, x, complement)
}

fn density(t: f64, df: f64) -> f64 {
    let factor = log_gamma_growth(0.5 * df, 0.5) - 0.5 * (df * PI).ln();
    (factor - 0.5 * (df + 1.0) * (t * t / df).ln_1p()).exp()
}

thread_local! {
    /// Results of [`find_upper_quantile`], by the bits of its arguments. They are kept because thousands of benchmarks need the same level and
    /// degrees of freedom.
    static UPPER_QUANTILES: RefCell<HashMap<(u64, u64), f64>> = RefCell::new(HashMap::new());
}

/// The largest number of quantiles that a thread keeps in [`UPPER_QUANTILES`].
const MOST_REMEMBERED: usize = 1024;

/// Like [`find_upper_quantile`], but keeps its results for later calls.
fn cached_upper_quantile(probability: f64, df: f64) -> f64 {
    let key = (probability.to_bits(), df.to_bits());
    UPPER_QUANTILES.with_borrow_mut(|known| {
        if known.len() >= MOST_REMEMBERED && !known.contains_key(&key) {
            known.clear();
        }
        *known
            .entry(key)
            .or_insert_with(|| find_upper_quantile(probability, df))
    })
}

/// Returns the t that is exceeded with this probability, which is at most 1/2. Returns NaN if t is too large for [`tail`].
///
/// The search uses Newton's method on the logarithm of the probability, and bisection if a step leaves the bounds.
fn find_upper_quantile(probability: f64, df: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while tail(high, df) > probability {
        (low, high) = (high, 2.0 * high);
    }
    if high > LARGEST && tail(high, df) == 0.0 {
        return f64::NAN;
    }
    let mut t = 0.5 * (low + high);
    for _ in 0..MOST_STEPS {
        let here = tail(t, df);
        if here == probability {
            return t;
        }
        if here > probability {
            low = t;
        } else {
            high = t;
        }
        let newton = t + here / density(t, df) * (here / probability).ln();
        let next = if newton > low && newton < high {
            newton
        } else {
            0.5 * (low + high)
        };
        if (next - t).abs() <= f64::EPSILON * t {
            return next;
        }
        t = next;
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(value: Option<f64>, expected: f64, tolerance: f64) {
        let value = value.expect("in the domain");
        assert!(
            (value - expected).abs() <= tolerance,
            "{value} is not {expected}"
        );
    }

    #[test]
    fn quantiles_of_all_or_nothing_are_none() {
        for df in [1.0, 2.0, 5.0] {
            for p in [0.0, 1.0, -0.5, 1.5, f64::NAN] {
                assert_eq!(quantile(p, df), None, "{p} {df}");
            }
        }
    }

    #[test]
    fn quantiles_agree_with_the_published_tables() {
        // scipy.stats.t.ppf([.95, .975, .995], df)
        for (df, expected) in [
            (9.0, [1.833_113, 2.262_157, 3.249_836]),
            (29.0, [1.699_127, 2.045_230, 2.756_386]),
            (199.0, [1.652_547, 1.971_957, 2.600_760]),
        ] {
            for (p, t) in [0.95, 0.975, 0.995].into_iter().zip(expected) {
                close(quantile(p, df), t, 1e-6);
                close(upper_quantile(1.0 - p, df), t, 1e-6);
            }
        }
        close(quantile(0.975, 189.0), 1.972_595, 1e-6);
    }

    #[test]
    fn one_and_two_degrees_of_freedom_follow_their_closed_forms_into_the_far_tail() {
        for p in [1e-12_f64, 1e-9, 1e-4, 0.3] {
            let cauchy = -1.0 / (PI * p).tan();
            close(quantile(p, 1.0), cauchy, 1e-9 * cauchy.abs());
            let a = 2.0 * p - 1.0;
            let two = a * (2.0 / (1.0 - a * a)).sqrt();
            close(quantile(p, 2.0), two, 1e-4 * two.abs());
            // 1 - a^2 loses digits this far out; the tail does not.
            let tail = upper_tail(-quantile(p, 2.0).unwrap(), 2.0).unwrap();
            assert!((tail / p - 1.0).abs() < 1e-9, "{p}: {tail}");
        }
        close(quantile(0.5, 1.0), 0.0, 0.0);
    }

    #[test]
    fn the_tail_and_the_quantile_are_inverse() {
        for df in [1.0, 2.0, 4.0, 4.7, 23.0] {
            for p in [1e-6, 0.001, 0.2, 0.9] {
                close(cdf(quantile(p, df).unwrap(), df), p, 1e-9);
                close(upper_tail(upper_quantile(p, df).unwrap(), df), p, 1e-9);
            }
        }
    }

    #[test]
    fn what_lies_outside_the_domain_is_none() {
        assert_eq!(quantile(1e-200, 1.0), None);
        for df in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(cdf(1.0, df), None);
            assert_eq!(quantile(0.9, df), None);
        }
        for p in [0.0, 1.0, -0.1, f64::NAN] {
            assert_eq!(quantile(p, 5.0), None);
        }
        assert_eq!(cdf(f64::NAN, 5.0), None);
        assert_eq!(upper_tail(f64::INFINITY, 5.0), Some(0.0));
        assert_eq!(cdf(f64::INFINITY, 5.0), Some(1.0));
    }
}
