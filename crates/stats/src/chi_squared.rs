//! The chi-square distribution.

use super::special::gamma_upper_regularized;

/// Returns P(chi-square with `df` degrees of freedom >= `x`), which is 1 for `x` <= 0. It is accurate in the far tail. Returns `None` unless `df` is
/// finite and positive and `x` is a number.
pub fn upper_tail(x: f64, df: f64) -> Option<f64> {
    if !df.is_finite() || df <= 0.0 || x.is_nan() {
        return None;
    }
    if x <= 0.0 {
        return Some(1.0);
    }
    if x.is_infinite() {
        return Some(0.0);
    }
    Some(gamma_upper_regularized(df / 2.0, x / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_the_closed_forms() {
        // One degree of freedom: erfc(sqrt(x / 2)). Three: erfc(sqrt(x / 2)) + sqrt(2 x / pi) e^(-x/2). 2 m: e^(-x/2) sum_{k<m} (x/2)^k / k!.
        for (x, df, expected) in [
            (3.841_458_820_694_124, 1.0, 0.05),
            (10.0, 3.0, 0.018_566_135_463_043_25),
            (60.0, 10.0, 3.624_300_952_061_488e-9),
        ] {
            let p = upper_tail(x, df).unwrap();
            assert!((p / expected - 1.0).abs() < 1e-9, "{x} {df}: {p}");
        }
    }

    #[test]
    fn what_has_no_tail_has_none() {
        assert_eq!(upper_tail(-1.0, 2.0), Some(1.0));
        assert_eq!(upper_tail(f64::INFINITY, 2.0), Some(0.0));
        assert_eq!(upper_tail(1.0, 0.0), None);
        assert_eq!(upper_tail(f64::NAN, 1.0), None);
    }
}
