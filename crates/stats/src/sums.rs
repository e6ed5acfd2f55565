//! Sums that keep digits which plain addition would lose, and correctly rounded quotients of integers.

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
