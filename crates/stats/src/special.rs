//! The incomplete beta and gamma functions, from which the distributions are computed.
//!
//! Formula numbers refer to the NIST Digital Library of Mathematical Functions (DLMF, <https://dlmf.nist.gov>).

/// The largest number of steps of a series or continued fraction. It is far above the number needed, which grows as the square root of the largest
/// argument.
const MOST_STEPS: u32 = 1_000_000;

/// From this argument on, four terms of the asymptotic expansion suffice, because the rest is below the rounding error.
const EXPANDED_FROM: f64 = 30.0;

/// A continued fraction has converged if a step changes it by at most this fraction, because rounding alone causes changes of this size.
const CONVERGED: f64 = 4.0 * f64::EPSILON;

/// The value that replaces a denominator of zero in Lentz's method (Thompson and Barnett 1986).
const TINY: f64 = 1e-300;

/// Returns the regularized incomplete beta function `I_x(a, b)`, for `a` and `b` above 0 and `x` within 0 to 1. `complement` is 1 - `x`. It is a
/// parameter because the caller may know it exactly, whereas 1 - `x` would be rounded.
///
/// The function uses the continued fraction (DLMF 8.17.22), which converges fast only for a small `x`. A large `x` is mapped by `I_x(a, b) = 1 -
/// I_(1 - x)(b, a)`.
pub(super) fn beta_regularized(a: f64, b: f64, x: f64, complement: f64) -> f64 {
    if x <= 0.0 || complement <= 0.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    let front =
        (a * logarithm(x, complement) + b * logarithm(complement, x) - log_beta(a, b)).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(a, b, x) / a
    } else {
        1.0 - front * beta_fraction(b, a, complement) / b
    }
}

/// Returns the continued fraction of DLMF 8.17.22, `1 / (1 + d1 / (1 + d2 / (1 + ...)))`.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    1.0 / continued_fraction(1.0, |step| {
        let m = f64::from(step / 2);
        let ends = (a + 2.0 * m, a + 2.0 * m + 1.0);
        let numerator = if step % 2 == 0 {
            m * (b - m) * x / ((ends.0 - 1.0) * ends.0)
        } else {
            -(a + m) * (a + b + m) * x / (ends.0 * ends.1)
        };
        (numerator, 1.0)
    })
}

/// Returns the upper regularized incomplete gamma function `Q(a, x)`, for `a` above 0 and `x` at least 0.
///
/// The function uses the series of the complement (DLMF 8.7.1) for `x` up to `a` + 1, and the continued fraction (DLMF 8.9.2) for a larger `x`.
pub(super) fn gamma_upper_regularized(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let front = (a * x.ln() - x - libm::lgamma(a)).exp();
    if x >= a + 1.0 {
        return front
            / continued_fraction(x + 1.0 - a, |step| {
                let step = f64::from(step);
                (-step * (step - a), x + 2.0 * step + 1.0 - a)
            });
    }
    let (mut term, mut sum) = (1.0 / a, 1.0 / a);
    for step in 1..MOST_STEPS {
        term *= x / (a + f64::from(step));
        sum += term;
        if term < sum * f64::EPSILON {
            break;
        }
    }
    1.0 - front * sum
}

/// Returns `first + n1 / (d1 + n2 / (d2 + ...))` by the modified method of Lentz (Thompson and Barnett 1986). `step(i)` returns the numerator `n_i`
/// and the denominator `d_i`.
fn continued_fraction(first: f64, step: impl Fn(u32) -> (f64, f64)) -> f64 {
    let bounded = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut value = bounded(first);
    let (mut c, mut d) = (value, 0.0);
    for (numerator, denominator) in (1..MOST_STEPS).map(step) {
        d = 1.0 / bounded(denominator + numerator * d);
        c = bounded(denominator + numerator / c);
        value *= c * d;
        // The condition is written so that NaN ends the loop, too.
        let is_moving = (c * d - 1.0).abs() > CONVERGED;
        if !is_moving {
            break;
        }
    }
    value
}

/// Returns the logarithm of `x`. It is computed from `complement`, which is 1 - `x`, if that is more accurate.
fn logarithm(x: f64, complement: f64) -> f64 {
    if x < 0.5 {
        x.ln()
    } else {
        (-complement).ln_1p()
    }
}

/// Returns the logarithm of the beta function, for `a` and `b` above 0.
fn log_beta(a: f64, b: f64) -> f64 {
    let (less, more) = if a < b { (a, b) } else { (b, a) };
    libm::lgamma(less) - log_gamma_growth(more, less)
}

/// Returns the difference of the logarithms of the gamma function at `x` + `step` and at `x`, which are both above 0. For a large `x`, the leading
/// digits of the two logarithms would cancel, so the result is computed from the difference of their asymptotic expansions (DLMF 5.11.1).
pub(super) fn log_gamma_growth(x: f64, step: f64) -> f64 {
    let end = x + step;
    if x < EXPANDED_FROM {
        return libm::lgamma(end) - libm::lgamma(x);
    }
    let rest = |x: f64| {
        let square = x * x;
        (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / 1680.0 / square) / square) / square) / x
    };
    (x - 0.5) * (step / x).ln_1p() + step * (end.ln() - 1.0) + rest(end) - rest(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
        let error = (found / expected - 1.0).abs();
        assert!(error <= tolerance, "{what}: {found} is not {expected}");
    }

    #[test]
    fn the_incomplete_beta_function_is_right_to_the_rounding_of_its_factors() {
        // mpmath 1.4 with 40 digits: betainc(a, b, 0, x, regularized=True).
        for (a, b, x, expected, tolerance) in [
            (0.5, 0.5, 0.1, 0.204_832_764_699_133_46, 1e-14),
            (0.05, 0.5, 1e-9, 0.332_324_191_485_380_5, 1e-14),
            (1.0, 1.0, 0.3, 0.3, 1e-14),
            (2.0, 3.0, 0.5, 0.6875, 1e-14),
            (15.0, 0.5, 0.97, 0.343_126_705_588_170_7, 1e-13),
            (30.0, 70.0, 0.2, 0.009_692_085_749_007_045, 1e-13),
            (99.5, 0.5, 0.5, 8.868_774_841_835_691e-32, 1e-13),
            (5e3, 0.5, 0.9999, 0.317_310_507_257_953_45, 1e-13),
            (5e5, 0.5, 0.9999, 1.520_166_280_836_206_5e-23, 2e-12),
        ] {
            let what = format!("I_{x}({a}, {b})");
            close(
                beta_regularized(a, b, x, 1.0 - x),
                expected,
                tolerance,
                &what,
            );
            let mirrored = 1.0 - beta_regularized(b, a, 1.0 - x, x);
            assert!(
                (mirrored - expected).abs() <= tolerance,
                "{what} from the other end: {mirrored}"
            );
        }
        assert_eq!(beta_regularized(2.0, 3.0, 0.0, 1.0), 0.0);
        assert_eq!(beta_regularized(2.0, 3.0, 1.0, 0.0), 1.0);
    }

    #[test]
    fn the_incomplete_gamma_function_is_right_into_the_far_tail() {
        // mpmath 1.4 with 40 digits: gammainc(a, x, inf, regularized=True).
        for (a, x, expected) in [
            (0.5, 1e-6, 0.998_871_621_209_030_8),
            (0.5, 0.5, 0.317_310_507_862_914_1),
            (0.5, 30.0, 9.485_737_571_073_848e-15),
            (1.0, 1.0, 0.367_879_441_171_442_3),
            (5.0, 30.0, 3.624_300_952_061_488e-9),
            (10.0, 3.0, 0.998_897_511_869_884_5),
            (100.0, 130.0, 0.002_750_408_367_306_526_5),
        ] {
            close(
                gamma_upper_regularized(a, x),
                expected,
                2e-13,
                &format!("Q({a}, {x})"),
            );
        }
        assert_eq!(gamma_upper_regularized(3.0, 0.0), 1.0);
    }
}
