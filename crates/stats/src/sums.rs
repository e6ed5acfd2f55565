//! Sums that keep digits which plain addition would lose.

/// Returns the sum of `values`, with the rounding error of each addition carried along (Knuth's exact addition: Ogita, Rump and Oishi 2005), as if
/// it were computed with twice the digits and rounded once. Without values it is 0. If a value or the sum is not finite, the result is that of
/// plain addition.
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
    // The error of an overflowing addition is NaN.
    if lost.is_finite() { sum + lost } else { sum }
}

/// Adds a value to a sum; both sums are pairs of the rounded sum and the accumulated rounding error.
fn add_exactly((sum, lost): (f64, f64), value: f64) -> (f64, f64) {
    let next = sum + value;
    let taken = next - sum;
    (next, lost + ((sum - (next - taken)) + (value - taken)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            // Each value is digits 2^shift, so the exact sum is one of 128-bit integers; its conversion rounds to the nearest float.
            let exact: i128 = x.iter().map(|(digits, shift)| i128::from(*digits) << shift).sum();
            let found = sum(x.iter().map(|(digits, shift)| *digits as f64 * f64::from(*shift).exp2()));
            prop_assert_eq!(found, exact as f64);
        }
    }
}
