//! Student's t distribution, with guards around the library's weak spots.

use statrs::distribution::{Continuous, ContinuousCDF, StudentsT};
use std::f64::consts::PI;

fn distribution(df: f64) -> Option<StudentsT> {
    if !df.is_finite() || df <= 0.0 {
        return None;
    }
    StudentsT::new(0.0, 1.0, df).ok()
}

/// P(T <= `t`) with `df` degrees of freedom; `None` unless `df` is finite and positive and `t` is a number.
pub fn cdf(t: f64, df: f64) -> Option<f64> {
    upper_tail(-t, df)
}

/// P(T >= `t`) with `df` degrees of freedom, accurate in the far tail; `None` as for [`cdf`].
pub fn upper_tail(t: f64, df: f64) -> Option<f64> {
    let distribution = distribution(df)?;
    if t.is_nan() {
        return None;
    }
    if t.is_infinite() {
        return Some(if t > 0.0 { 0.0 } else { 1.0 });
    }
    Some(distribution.sf(t))
}

/// The `p` quantile with `df` degrees of freedom; `None` unless 0 < p < 1 and `df` is finite and positive.
pub fn quantile(p: f64, df: f64) -> Option<f64> {
    let distribution = distribution(df)?;
    if !(p > 0.0 && p < 1.0) {
        return None;
    }
    if p == 0.5 {
        return Some(0.0);
    }
    // One degree of freedom is Cauchy's distribution: exact, where the library loses the far tail.
    if df == 1.0 {
        return Some(if p < 0.5 {
            -1.0 / (PI * p).tan()
        } else {
            1.0 / (PI * (1.0 - p)).tan()
        });
    }
    // Two have a closed form as well: (2p - 1) / sqrt(2p (1 - p)).
    if df == 2.0 {
        return Some((2.0 * p - 1.0) / (2.0 * p * (1.0 - p)).sqrt());
    }
    let t = distribution.inverse_cdf(p);
    // One step of Newton's method, in the smaller tail: the library stops short by some 1e-9 where t is small against df.
    let excess = if p < 0.5 {
        distribution.sf(-t) - p
    } else {
        (1.0 - p) - distribution.sf(t)
    };
    Some(t - excess / distribution.pdf(t)).filter(|t| t.is_finite())
}

/// The t that is exceeded with probability `level`, with `df` degrees of freedom and without the rounding of 1 - `level`; `None` as for [`quantile`].
pub fn critical(level: f64, df: f64) -> Option<f64> {
    quantile(level, df).map(|t| -t)
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
                close(critical(1.0 - p, df), t, 1e-6);
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
            // 1 - a^2 loses digits out there; the tail does not.
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
                close(upper_tail(critical(p, df).unwrap(), df), p, 1e-9);
            }
        }
    }

    #[test]
    fn what_lies_outside_the_domain_is_none() {
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
