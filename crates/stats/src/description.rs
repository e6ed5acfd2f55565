//! Location and spread of one sample, and a smooth estimate of the density of its values. Also sums that keep digits which plain addition would lose,
//! and correctly rounded quotients of integers.

use serde::Serialize;

use super::quantile::{Quantile, median};

/// The factor that turns the median absolute deviation into an estimate of the standard deviation of normal data: 1 / Phi^-1(3/4) to four decimals
/// (Hampel 1974).
pub const MAD_TO_SD: f64 = 1.4826;

/// Location and spread of one sample, in its unit. [`FullDescription`](crate::FullDescription) adds percentiles and an outlier policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Description {
    /// Number of values n.
    pub count: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation, sqrt(sum (x - mean)^2 / (n - 1)). `None` for a single value.
    pub sd: Option<f64>,
    /// Median. For an even number of values, it is the mean of the two middle ones.
    pub median: f64,
    /// Median absolute deviation from the median, without a scale factor.
    pub mad: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
}

impl Description {
    /// Describes `values`. Their order does not matter, and the computation takes linear time. Returns `None` if there are no values or if one of
    /// them is not finite. Constant values have a spread of 0.
    ///
    /// ```
    /// use perfcheck_stats::Description;
    /// let described = Description::compute(&[4.0, 1.0, 3.0, 12.0]).expect("finite values");
    /// assert_eq!((described.mean, described.median, described.max), (5.0, 3.5, 12.0));
    /// ```
    pub fn compute(values: &[f64]) -> Option<Self> {
        if values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mean = mean(values)?;
        let centre = median(values)?;
        let deviations: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
        Some(Self {
            count: values.len(),
            mean,
            sd: sample_variance(values).map(f64::sqrt),
            median: centre,
            mad: median(&deviations)?,
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }

    /// Returns the median absolute deviation times [`MAD_TO_SD`]. This estimates the standard deviation and is hardly affected by outliers.
    pub fn mad_scaled(&self) -> f64 {
        self.mad * MAD_TO_SD
    }

    /// Returns the mean divided by the median. Returns `None` unless the median is positive. A value far above 1 means that a few values are much
    /// larger than the others.
    pub fn mean_over_median(&self) -> Option<f64> {
        (self.median > 0.0).then(|| self.mean / self.median)
    }

    /// Returns the standard error of the mean, sd / sqrt(n). Returns `None` for a single value.
    pub fn standard_error(&self) -> Option<f64> {
        self.sd.map(|sd| sd / (self.count as f64).sqrt())
    }

    /// Returns the coefficient of variation, sd / mean, as a fraction. Returns `None` for a single value, or if the mean is 0.
    pub fn cv(&self) -> Option<f64> {
        self.sd
            .filter(|_| self.mean != 0.0)
            .map(|sd| sd / self.mean)
    }
}

/// Returns the arithmetic mean of `values`, rounded only once. Returns `None` if there are no values, and NaN if a value is NaN.
pub fn mean(values: &[f64]) -> Option<f64> {
    let (centre, rest) = parts_of_mean(values);
    let mean = if centre.is_finite() {
        centre + rest
    } else {
        centre
    };
    (!values.is_empty()).then_some(mean)
}

/// Returns the mean of `new` minus the mean of `base`. Returns `None` if one of the sides has no values.
///
/// Both means are computed relative to a point between them, so the difference keeps digits that the rounding of each mean alone would lose.
pub fn mean_difference(new: &[f64], base: &[f64]) -> Option<f64> {
    let centre = f64::midpoint(mean(new)?, mean(base)?);
    Some(mean_distance(new, centre)? - mean_distance(base, centre)?)
}

/// Returns the mean of `values` minus `centre`, with digits that the rounding of the mean would lose. Returns `None` if there are no values.
pub(super) fn mean_distance(values: &[f64], centre: f64) -> Option<f64> {
    let distances = values.iter().map(|value| value - centre);
    (!values.is_empty()).then(|| sum(distances) / values.len() as f64)
}

/// Returns the deviation of each value from the mean, in the order of `values`. To keep digits, it subtracts first the rounded mean and then the
/// rounding error of that mean.
pub(super) fn deviations(values: &[f64]) -> impl Iterator<Item = f64> + Clone + '_ {
    let (centre, rest) = parts_of_mean(values);
    values.iter().map(move |value| (value - centre) - rest)
}

/// Returns the rounded mean and its rounding error.
fn parts_of_mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let centre = sum(values.iter().copied()) / n;
    (centre, sum(values.iter().map(|value| value - centre)) / n)
}

/// Returns the sum of the squared [`deviations`], by the corrected two-pass algorithm (Chan, Golub and `LeVeque` 1983). It is 0 if all values are
/// equal.
pub(super) fn squared_deviations(values: &[f64]) -> f64 {
    sum(deviations(values).map(|deviation| deviation * deviation))
}

/// Returns the sample variance of `values`, sum (x - mean)^2 / (n - 1), in their unit squared. Returns `None` if there are fewer than two values, and
/// NaN if a value is not finite.
pub fn sample_variance(values: &[f64]) -> Option<f64> {
    (values.len() >= 2).then(|| squared_deviations(values) / (values.len() - 1) as f64)
}

/// Returns the standard error of the mean of `values`, sd / sqrt(n), in their unit. Returns `None` if there are fewer than two values, and NaN if a
/// value is not finite.
pub fn standard_error(values: &[f64]) -> Option<f64> {
    sample_variance(values).map(|variance| (variance / values.len() as f64).sqrt())
}

/// A label for the coefficient of variation of a sample, which is its standard deviation divided by its mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Variability {
    /// The coefficient of variation is at most the lower bound, so the sample varies little.
    Stable,
    /// The coefficient of variation lies between the two bounds.
    Ordinary,
    /// The coefficient of variation is at least the upper bound, which is worth a warning.
    High,
}

impl Variability {
    /// Labels the coefficient of variation `cv` by the bounds `stable` and `high`, all of which are fractions (`NBenchmark` uses the bounds 0.05 and
    /// 0.5). The sign of `cv` does not matter, and NaN is labeled as high.
    pub fn classify(cv: f64, stable: f64, high: f64) -> Self {
        match cv.abs() {
            cv if cv <= stable => Self::Stable,
            cv if cv < high => Self::Ordinary,
            _ => Self::High,
        }
    }
}

/// Returns Silverman's bandwidth for [`density_curve`], in the unit of `values`. It is `0.9 min(s, IQR / 1.34) n^(-1/5)` (Silverman 1986, equation
/// 3.31), where s is the standard deviation and the interquartile range has `Linear` quartiles. If one of these two measures of spread is zero, the
/// other one is used alone. Returns `None` if there are fewer than two values, if they have no spread, or if one of them is not finite.
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
/// The result holds (x, density) for `points` evenly spaced x from `lower` to `upper`. The unit of x is that of `values`, and the unit of the density
/// is its reciprocal. The result is empty if there are no values, if there are fewer than two points, or if the bandwidth is not positive. The
/// computation takes `points` times n steps.
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

/// Returns the sum of `values` as if it were computed with twice the digits and rounded once. To this end, the rounding error of each addition is
/// carried along (Knuth's exact addition: Ogita, Rump and Oishi 2005). If a value or the sum is not finite, the result is that of plain addition. The
/// sum of no values is 0.
pub fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values = values.into_iter();
    // Form two sums at once: the processor can overlap their additions, so carrying errors costs little time.
    let (mut even, mut odd) = ((0.0, 0.0), (0.0, 0.0));
    while let Some(value) = values.next() {
        let next = values.next().unwrap_or(0.0);
        even = add_exactly(even, value);
        odd = add_exactly(odd, next);
    }
    let (sum, lost) = add_exactly(even, odd.0);
    let lost = lost + odd.1;
    // If an addition overflows, its error is NaN.
    if lost.is_finite() { sum + lost } else { sum }
}

/// Adds `value` to a sum. Both the sum that is passed and the sum that is returned are pairs of a rounded sum and its accumulated rounding error.
fn add_exactly((sum, lost): (f64, f64), value: f64) -> (f64, f64) {
    let next = sum + value;
    let taken = next - sum;
    (next, lost + ((sum - (next - taken)) + (value - taken)))
}

/// Returns the quotient of two integers, rounded once: the float nearest to the exact fraction. If two floats are equally near, it is the one with an
/// even significand. 0 / 0 is NaN, and any other division by 0 is infinite.
pub fn quotient(numerator: u128, denominator: u128) -> f64 {
    let exact = 1 << f64::MANTISSA_DIGITS;
    if (numerator <= exact && denominator <= exact) || denominator == 0 {
        return numerator as f64 / denominator as f64;
    }
    let (mut whole, mut rest) = (numerator / denominator, numerator % denominator);
    let mut scale = 1.0_f64;
    // Compute two bits more than a float has. The remainder then only decides whether the fraction is above a midpoint between two floats.
    while whole < 4 * exact && rest > 0 {
        let missing = denominator - rest;
        let fits = rest >= missing;
        rest = if fits { rest - missing } else { 2 * rest };
        whole = 2 * whole + u128::from(fits);
        scale /= 2.0;
    }
    (whole | u128::from(rest > 0)) as f64 * scale
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_unscaled_mad_of_the_published_example_is_one() {
        let described = Description::compute(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]).unwrap();
        assert_eq!(described.mad, 1.0);
        assert_eq!(described.mad_scaled(), 1.4826);
        assert_eq!(described.median, 2.0);
        assert_eq!((described.min, described.max), (1.0, 9.0));
    }

    #[test]
    fn the_standard_deviation_divides_by_n_minus_one() {
        // np.std([100, 110, 90], ddof=1) = 10
        let described = Description::compute(&[100.0, 110.0, 90.0]).unwrap();
        assert!((described.sd.unwrap() - 10.0).abs() < 1e-12);
        assert!((described.cv().unwrap() - 0.1).abs() < 1e-12);
        assert!((described.standard_error().unwrap() - 10.0 / 3.0_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn an_offset_that_the_values_still_resolve_costs_no_digit_of_the_spread() {
        // The deviations are k / 2^10 for k from -1000 to 1000. Their squares sum to 2 * (1000 * 1001 * 2001 / 6) / 2^20, and n - 1 is 2000.
        let expected = (667_667_000.0_f64 / 2000.0).sqrt() / 1024.0;
        for offset in [0.0, 1e3, 1e6, 1e9, 1e12] {
            let values: Vec<f64> = (-1000..=1000)
                .map(|k| offset + f64::from(k) / 1024.0)
                .collect();
            let described = Description::compute(&values).unwrap();
            assert_eq!(described.mean, offset);
            assert!((described.sd.unwrap() / expected - 1.0).abs() < 1e-14);
        }
        assert_eq!(sample_variance(&[1e12 + 0.1; 49]), Some(0.0));
    }

    #[test]
    fn a_difference_of_means_has_the_digits_that_each_mean_lacks() {
        // The means are 1e12 + 1 and 1e12 + 4 / 3; no 64-bit float equals the latter.
        let found = mean_difference(&[1e12, 1e12 + 1.0, 1e12 + 3.0], &[1e12 + 1.0]).unwrap();
        assert!((found - 1.0 / 3.0).abs() < 1e-15, "{found}");
        assert_eq!(mean_difference(&[], &[1.0]), None);
    }

    #[test]
    fn one_value_has_no_standard_deviation_and_a_zero_mean_no_cv() {
        let one = Description::compute(&[3.0]).unwrap();
        assert_eq!((one.sd, one.cv(), one.standard_error()), (None, None, None));
        assert_eq!(standard_error(&[3.0]), None);
        assert_eq!(Description::compute(&[-1.0, 1.0]).unwrap().cv(), None);
    }

    #[test]
    fn nothing_and_values_that_are_not_finite_have_no_description() {
        assert_eq!(Description::compute(&[]), None);
        assert_eq!(Description::compute(&[1.0, f64::NAN]), None);
        assert_eq!(Description::compute(&[1.0, f64::INFINITY]), None);
    }

    proptest! {
        #[test]
        fn scaling_the_values_scales_every_field(x in prop::collection::vec(1.0f64..1e6, 2..40), c in 0.01f64..100.0) {
            let scaled: Vec<f64> = x.iter().map(|v| v * c).collect();
            let (a, b) = (Description::compute(&x).unwrap(), Description::compute(&scaled).unwrap());
            let near = |u: f64, v: f64| (u - v).abs() <= 1e-9 * b.max;
            prop_assert!(near(a.mean * c, b.mean) && near(a.median * c, b.median) && near(a.mad * c, b.mad));
            prop_assert!(near(a.sd.unwrap() * c, b.sd.unwrap()));
        }
    }

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

    #[test]
    fn what_cancels_and_what_is_tiny_stays() {
        assert_eq!(sum([1.0, 1e100, 1.0, -1e100]), 2.0);
        assert_eq!(sum([0.1; 10]), 1.0);
        assert_eq!(sum([]), 0.0);
    }

    #[test]
    fn what_is_not_finite_is_as_in_plain_addition() {
        assert_eq!(sum([1.0, f64::INFINITY, 2.0]), f64::INFINITY);
        assert_eq!(sum([f64::MAX, f64::MAX]), f64::INFINITY);
        assert!(sum([f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        assert!(sum([1.0, f64::NAN]).is_nan());
    }

    proptest! {
        #[test]
        fn the_sum_is_that_of_whole_numbers_rounded_once(
            x in prop::collection::vec((-(1_i64 << 53)..(1 << 53), 0_u32..30), 0..200)
        ) {
            // Each value is digits * 2^shift, so a 128-bit integer represents the exact sum. Its conversion rounds to the nearest float.
            let exact: i128 = x.iter().map(|(digits, shift)| i128::from(*digits) << shift).sum();
            let found = sum(x.iter().map(|(digits, shift)| *digits as f64 * f64::from(*shift).exp2()));
            prop_assert_eq!(found, exact as f64);
        }
    }

    #[test]
    fn fractions_round_once() {
        // float(fractions.Fraction(a, b)) in Python.
        for (a, b, expected) in [
            (
                13_683_554_807_294_777_401,
                796_031_015_877_463_607,
                17.189_725_694_559_048,
            ),
            (
                1_087_616_251_031_009_399,
                934_106_634_596_949,
                1_164.338_428_556_711,
            ),
            (
                6_697_632_617_140_470,
                284_279_121_638_486_272,
                0.023_560_058_081_429_4,
            ),
            (
                2_999_119_280_217_472,
                1_108_508_653_600_339_130,
                0.002_705_544_309_894_735_6,
            ),
            (
                17_447_969_379_044_759,
                17_829_964_394_069_928_507,
                0.000_978_575_671_460_554_4,
            ),
        ] {
            assert_eq!(quotient(a, b), expected);
        }
        assert!(quotient(0, 0).is_nan());
        assert_eq!(quotient(u128::MAX, 0), f64::INFINITY);
        assert_eq!(quotient(0, u128::MAX), 0.0);
    }

    proptest! {
        #[test]
        fn decimals_are_the_numbers_that_their_digits_are_read_as(digits: u64, decimals in 0_u32..38) {
            let expected: f64 = format!("{digits}e-{decimals}").parse().unwrap();
            prop_assert_eq!(quotient(u128::from(digits), 10_u128.pow(decimals)), expected);
        }

        #[test]
        fn the_middle_between_two_numbers_goes_to_the_even_one_and_what_is_beside_it_to_its_side(
            digits in (1_u128 << 52)..(1 << 53), power in 0_u32..50, odd in 0_u128..4_000_000
        ) {
            // Numerator and denominator are those of (2 digits + 1) / 2^(power + 1), both multiplied by an odd number.
            let common = 2 * odd + 1;
            let (middle, of) = ((2 * digits + 1) * common, common << (power + 1));
            let number = |digits: u128| digits as f64 / 2_f64.powi(power.cast_signed());
            prop_assert_eq!(quotient(middle, of), number(digits + digits % 2));
            if common > 1 {
                prop_assert_eq!(quotient(middle - 1, of), number(digits));
                prop_assert_eq!(quotient(middle + 1, of), number(digits + 1));
            }
            prop_assert_eq!(quotient(digits * common, common << power), number(digits));
        }
    }
}
