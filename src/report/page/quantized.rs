//! Numbers as few characters: a curve needs no more digits than a screen has pixels.
//!
//! Digits of base 64, most significant first, as `assets/format.js` reads them. What is stated in words or tables is never quantized.

use serde_json::{Number, Value, json};

use perfcheck_analysis::compare::Estimate;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Values as places between `low` and `high`, `width` digits each; what lies outside is at the edge, and so is what is no number.
pub(super) fn places(
    values: impl IntoIterator<Item = f64>,
    (low, high): (f64, f64),
    width: u8,
) -> String {
    let most = 64_f64.powi(width.into()) - 1.0;
    let scale = if high > low { most / (high - low) } else { 0.0 };
    let mut text = String::new();
    for value in values {
        let place = ((value - low) * scale).round().clamp(0.0, most);
        // A number that is none becomes 0.
        let place = place as u32;
        for digit in (0..width).rev() {
            let index = place >> (6 * u32::from(digit)) & 63;
            text.push(char::from(DIGITS[index as usize]));
        }
    }
    text
}

/// Eight significant digits: more than any statistic deserves, and the same number in every table.
pub(super) fn short(value: f64) -> Value {
    let rounded: f64 = format!("{value:.7e}").parse().unwrap_or(value);
    // Of a whole number without `.0`.
    if rounded.fract() == 0.0 && rounded.abs() < 1e15 {
        return Value::from(rounded as i64);
    }
    Number::from_f64(rounded).map_or(Value::Null, Value::Number)
}

/// Value, lower and upper bound; a bound that the data do not give is null.
pub(super) fn estimate(found: &Estimate) -> Value {
    json!([
        short(found.estimate),
        short(found.lower),
        short(found.upper)
    ])
}

/// [`short`] where there is a number.
pub(super) fn short_or_null(value: Option<f64>) -> Value {
    value.map_or(Value::Null, short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_takes_as_many_digits_as_were_asked_for() {
        assert_eq!(places([0.0, 1.0, 0.5], (0.0, 1.0), 1), "A_g");
        assert_eq!(places([0.0, 1.0], (0.0, 1.0), 2), "AA__");
        // 64 of 4095 are the digits 1 and 0.
        assert_eq!(places([64.0], (0.0, 4095.0), 2), "BA");
    }

    #[test]
    fn what_lies_outside_is_at_the_edge_and_a_range_without_width_is_no_error() {
        assert_eq!(places([-5.0, 9.0, f64::NAN], (0.0, 1.0), 1), "A_A");
        assert_eq!(places([3.0], (3.0, 3.0), 2), "AA");
    }

    #[test]
    fn numbers_are_short_and_infinite_ones_absent() {
        assert_eq!(short(0.1 + 0.2).to_string(), "0.3");
        assert_eq!(short(12_345_678.4).to_string(), "12345678");
        assert_eq!(short(100.0).to_string(), "100");
        assert_eq!(short(f64::INFINITY), Value::Null);
        assert_eq!(short(1.0 / 3.0).to_string(), "0.33333333");
    }
}
