//! Straight lines through points by least squares: through the origin, or with an intercept.

use super::description::sum;
use super::description::{deviations, mean, squared_deviations};

/// Returns the least-squares slope of a line through the origin and the points (`x[i]`, `y[i]`), sum xy / sum x^2, in units of y per unit of x.
///
/// The points may have any order. Returns `None` if `x` and `y` have different lengths, if there are no points, if all x are 0, or if the result is
/// not finite.
pub fn slope_through_origin(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.len() != y.len() {
        return None;
    }
    let xy = sum(x.iter().zip(y).map(|(x, y)| x * y));
    let xx = sum(x.iter().map(|x| x * x));
    Some(xy / xx).filter(|slope| slope.is_finite())
}

/// Returns R^2 of the least-squares line b x through the origin: 1 - sum (y - b x)^2 / sum (y - mean y)^2. It has no unit and is at most 1.
///
/// It is negative if the line fits worse than the mean. Returns `None` if y does not vary, and in the same cases as [`slope_through_origin`].
pub fn r_squared_through_origin(x: &[f64], y: &[f64]) -> Option<f64> {
    let slope = slope_through_origin(x, y)?;
    let residual = sum(x.iter().zip(y).map(|(x, y)| (y - slope * x).powi(2)));
    let total = squared_deviations(y);
    (total > 0.0).then(|| 1.0 - residual / total)
}

/// A straight line with an intercept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearFit {
    /// Value at x = 0, in units of y.
    pub intercept: f64,
    /// Rise of y per unit of x.
    pub slope: f64,
}

impl LinearFit {
    /// Fits a line to the points (`x[i]`, `y[i]`) by ordinary least squares. Returns `None` if there are fewer than three points, if `x` and `y` have
    /// different lengths, if x does not vary, or if a value is not finite.
    pub fn fit(x: &[f64], y: &[f64]) -> Option<Self> {
        if x.len() != y.len() || x.len() < 3 {
            return None;
        }
        let xy = sum(deviations(x).zip(deviations(y)).map(|(x, y)| x * y));
        let slope = xy / squared_deviations(x);
        let line = Self {
            intercept: mean(y)? - slope * mean(x)?,
            slope,
        };
        slope.is_finite().then_some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_sum_xy_over_sum_xx_and_not_the_mean_of_ratios() {
        let (x, y) = ([10.0, 20.0, 30.0, 40.0], [101.0, 199.0, 305.0, 398.0]);
        assert!((slope_through_origin(&x, &y).unwrap() - 10.02).abs() < 1e-12);
    }

    #[test]
    fn r_squared_is_one_on_the_line_and_uses_the_centred_total() {
        assert_eq!(
            r_squared_through_origin(&[1.0, 2.0], &[3.0, 6.0]),
            Some(1.0)
        );
        // x 1 2 3, y 1 2 4: b = 17/14, residual = 21 - 17^2/14 = 0.357142..., total = 14/3
        let r2 = r_squared_through_origin(&[1.0, 2.0, 3.0], &[1.0, 2.0, 4.0]).unwrap();
        assert!((r2 - (1.0 - (21.0 - 289.0 / 14.0) / (14.0 / 3.0))).abs() < 1e-12);
    }

    #[test]
    fn points_that_fix_no_line_give_none() {
        assert_eq!(slope_through_origin(&[], &[]), None);
        assert_eq!(slope_through_origin(&[0.0], &[1.0]), None);
        assert_eq!(slope_through_origin(&[1.0, 2.0], &[1.0]), None);
        assert_eq!(r_squared_through_origin(&[1.0, 2.0], &[5.0, 5.0]), None);
        assert_eq!(LinearFit::fit(&[2.0, 2.0, 2.0], &[1.0, 2.0, 3.0]), None);
    }

    #[test]
    fn a_constant_overhead_is_the_intercept() {
        let line = LinearFit::fit(&[1.0, 2.0, 3.0], &[12.0, 14.0, 16.0]).unwrap();
        assert!((line.intercept - 10.0).abs() < 1e-12 && (line.slope - 2.0).abs() < 1e-12);
    }
}
