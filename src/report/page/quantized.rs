//! Compact encodings of numbers: a curve needs no more digits than a screen has pixels.
//!
//! Positions are written in base 64, most significant digit first, as `assets/format.js` reads them. Numbers in sentences or tables are never
//! quantized.

use serde::{Serialize, Serializer};

use crate::report::scale::Scale;
use perfcheck_analysis::compare::Estimate;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Encodes values as positions within a range, with `width` digits each. Values outside the range, and NaN, are moved to an end of it.
pub(super) fn encode_positions(
    values: impl IntoIterator<Item = f64>,
    range: (f64, f64),
    width: u8,
) -> String {
    let most = 64_f64.powi(width.into()) - 1.0;
    let scale = Scale::new(range);
    let mut text = String::new();
    for value in values {
        let place = (scale.position(value) * most).round().clamp(0.0, most);
        // The conversion turns NaN into 0.
        let place = place as u32;
        for digit in (0..width).rev() {
            let index = place >> (6 * u32::from(digit)) & 63;
            text.push(char::from(DIGITS[index as usize]));
        }
    }
    text
}

/// A number with eight significant digits, which is more than enough for any statistic. Infinity and NaN become null.
#[derive(Clone, Copy)]
pub(super) struct Short(pub(super) f64);

impl Serialize for Short {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rounded: f64 = format!("{:.7e}", self.0).parse().unwrap_or(self.0);
        // Whole numbers are written without `.0`.
        if rounded.fract() == 0.0 && rounded.abs() < 1e15 {
            return serializer.serialize_i64(rounded as i64);
        }
        serializer.serialize_f64(rounded)
    }
}

/// A value with its lower and upper bound; null stands for a bound that the data do not give.
pub(super) type RoundedEstimate = [Short; 3];

pub(super) fn short_estimate(found: &Estimate) -> RoundedEstimate {
    [found.estimate, found.lower, found.upper].map(Short)
}

/// A list of numbers that usually follows from its first one.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum FirstOrAll {
    One(Option<usize>),
    Each(Vec<usize>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_takes_as_many_digits_as_were_asked_for() {
        assert_eq!(encode_positions([0.0, 1.0, 0.5], (0.0, 1.0), 1), "A_g");
        assert_eq!(encode_positions([0.0, 1.0], (0.0, 1.0), 2), "AA__");
        // 64 of 4095 is written with the digits 1 and 0.
        assert_eq!(encode_positions([64.0], (0.0, 4095.0), 2), "BA");
    }

    #[test]
    fn what_lies_outside_is_at_the_edge_and_a_range_without_width_is_no_error() {
        assert_eq!(
            encode_positions([-5.0, 9.0, f64::NAN], (0.0, 1.0), 1),
            "A_A"
        );
        assert_eq!(encode_positions([3.0], (3.0, 3.0), 2), "AA");
    }

    #[test]
    fn numbers_are_short_and_infinite_ones_absent() {
        for (number, written) in [
            (0.1 + 0.2, "0.3"),
            (12_345_678.4, "12345678"),
            (100.0, "100"),
            (f64::INFINITY, "null"),
            (1.0 / 3.0, "0.33333333"),
        ] {
            assert_eq!(
                serde_json::to_string(&Short(number)).expect("JSON"),
                written
            );
        }
    }
}
