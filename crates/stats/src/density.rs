//! A smooth estimate of the density of values.

use super::description::Description;
use super::quantile::Quantile;
use super::sums::sum;

/// Returns Silverman's bandwidth of `values`, given in any order, in their unit: `0.9 min(s, IQR / 1.34) n^(-1/5)` (Silverman 1986, equation
/// 3.31), with `Linear` quartiles. If one of the two spreads is zero, the other is used. `None` without spread, below two values, or with a value
/// that is not finite.
pub fn silverman_bandwidth(values: &[f64]) -> Option<f64> {
    let described = Description::compute(values)?;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let quartile = |p| Quantile::Linear.select_sorted(&sorted, p);
    let robust = (quartile(0.75)? - quartile(0.25)?) / 1.34;
    let spread = [described.sd?, robust]
        .into_iter()
        .filter(|spread| *spread > 0.0)
        .min_by(f64::total_cmp)?;
    Some(0.9 * spread * (values.len() as f64).powf(-0.2)).filter(|width| width.is_normal())
}

/// Returns the kernel density estimate `sum phi((x - x_i) / h) / (n h)` with the normal density as its kernel (Rosenblatt 1956; Parzen 1962).
///
/// The result holds (x, density) at `points` evenly spaced places from `lower` to `upper`; x is in the unit of `values`, the density in its
/// reciprocal. It takes `points` times n steps. It is empty without values, with fewer than two points, or if the bandwidth is not positive.
pub fn density_curve(
    values: &[f64],
    bandwidth: f64,
    (lower, upper): (f64, f64),
    points: usize,
) -> Vec<(f64, f64)> {
    if values.is_empty() || points < 2 || !bandwidth.is_normal() || bandwidth < 0.0 {
        return Vec::new();
    }
    let scale = values.len() as f64 * bandwidth * std::f64::consts::TAU.sqrt();
    let at = |x: f64| {
        let kernel = |value: &f64| (-0.5 * ((x - value) / bandwidth).powi(2)).exp();
        sum(values.iter().map(kernel)) / scale
    };
    let step = (upper - lower) / (points - 1) as f64;
    (0..points)
        .map(|i| lower + i as f64 * step)
        .map(|x| (x, at(x)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bandwidth_follows_the_narrower_of_the_two_spreads_that_there_are() {
        // 0.9 * min(np.std(x, ddof=1), (75th - 25th percentile) / 1.34) * 5 ** -0.2 of 1..5: s = 1.5811, IQR / 1.34 = 1.4925
        let found = silverman_bandwidth(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert!((found - 0.973_584_6).abs() < 1e-6, "{found}");
        let mostly_one = silverman_bandwidth(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 9.0]);
        assert!(mostly_one.is_some(), "quartiles alike, deviation not");
        assert_eq!(silverman_bandwidth(&[2.0; 9]), None);
        assert_eq!(silverman_bandwidth(&[2.0]), None);
    }

    #[test]
    fn the_curve_is_scipys_and_has_area_one() {
        // A kernel of width 0.5 at 1, 2 and 4: sum(norm.pdf(2, [1, 2, 4], .5)) / 3
        let curve = density_curve(&[1.0, 2.0, 4.0], 0.5, (-2.0, 7.0), 901);
        let at_two = curve[400];
        assert!((at_two.0 - 2.0).abs() < 1e-12);
        assert!((at_two.1 - 0.302_044_7).abs() < 1e-6, "{}", at_two.1);
        let area: f64 = curve
            .windows(2)
            .map(|w| (w[1].0 - w[0].0) * (w[0].1 + w[1].1) / 2.0)
            .sum();
        assert!((area - 1.0).abs() < 1e-6, "{area}");
        assert_eq!(density_curve(&[1.0], 0.0, (0.0, 1.0), 9), []);
        assert_eq!(density_curve(&[], 1.0, (0.0, 1.0), 9), []);
    }
}
