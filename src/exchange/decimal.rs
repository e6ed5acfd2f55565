//! Decimal numbers of tables without loss: digits and a power of ten.

/// Maximum number of significant digits; further ones are dropped, since no clock or float has them.
const MOST_DIGITS: u32 = 25;
/// Range of exponents; a measurement never exceeds it.
const EXPONENTS: std::ops::RangeInclusive<i32> = -40..=25;

/// The number `digits * 10^exponent`, at least 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decimal {
    pub(super) digits: u128,
    pub(super) exponent: i32,
}

/// The character before a number's decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DecimalMark {
    /// As in `1.5`
    Point,
    /// As in `1,5`
    Comma,
}

impl Decimal {
    /// Parses `12`, `12.5` or `1.25e3`. The error continues a sentence about the column.
    pub(super) fn parse(text: &str, mark: DecimalMark) -> Result<Self, String> {
        if text.is_empty() {
            return Err("is empty".to_owned());
        }
        let unsigned = text.strip_prefix('+').unwrap_or(text);
        let lower = unsigned.to_ascii_lowercase();
        if ["nan", "inf", "infinity", "-inf", "-infinity", "-nan"].contains(&lower.as_str()) {
            return Err(format!("`{text}` is not a finite number"));
        }
        if let Some(positive) = unsigned.strip_prefix('-') {
            return match Self::parse(positive, mark) {
                Ok(zero) if zero.digits == 0 => Ok(zero),
                Ok(_) => Err(format!("`{text}` is negative")),
                Err(_) => Err(not_a_number(text)),
            };
        }
        let (mantissa, power) = match lower.split_once('e') {
            Some((mantissa, power)) => (
                mantissa,
                power.parse::<i32>().map_err(|_| not_a_number(text))?,
            ),
            None => (lower.as_str(), 0),
        };
        let point = match mark {
            DecimalMark::Point => '.',
            DecimalMark::Comma => ',',
        };
        let (whole, fraction) = mantissa.split_once(point).unwrap_or((mantissa, ""));
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
            return Err(not_a_number(text));
        }
        let mut found = Self {
            digits: 0,
            exponent: power.saturating_sub(i32::try_from(fraction.len()).unwrap_or(i32::MAX)),
        };
        let mut kept = 0;
        for byte in whole.bytes().chain(fraction.bytes()) {
            if kept >= MOST_DIGITS {
                found.exponent = found.exponent.saturating_add(1);
                continue;
            }
            found.digits = found.digits * 10 + u128::from(byte - b'0');
            kept += u32::from(found.digits > 0);
        }
        found.without_trailing_zeros(text)
    }

    fn without_trailing_zeros(mut self, text: &str) -> Result<Self, String> {
        if self.digits == 0 {
            self.exponent = 0;
        }
        while self.exponent < 0 && self.digits.is_multiple_of(10) && self.digits > 0 {
            self.digits /= 10;
            self.exponent += 1;
        }
        if EXPONENTS.contains(&self.exponent) {
            Ok(self)
        } else {
            Err(format!("`{text}` is out of range"))
        }
    }

    /// Returns the nearest float.
    pub(super) fn as_f64(self) -> f64 {
        format!("{}e{}", self.digits, self.exponent)
            .parse()
            .unwrap_or(f64::INFINITY)
    }
}

fn not_a_number(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    format!("`{short}` is not a number")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<(u128, i32), String> {
        Decimal::parse(text, DecimalMark::Point).map(|found| (found.digits, found.exponent))
    }

    #[test]
    fn numbers_are_read_digit_by_digit() {
        for (text, expected) in [
            ("12", (12, 0)),
            ("12.345", (12_345, -3)),
            ("12.500", (125, -1)),
            ("+.5", (5, -1)),
            ("5.", (5, 0)),
            ("1.25e3", (125, 1)),
            ("1E-9", (1, -9)),
            ("0", (0, 0)),
            ("-0.0", (0, 0)),
            ("100", (100, 0)),
        ] {
            assert_eq!(read(text), Ok(expected), "{text}");
        }
        let comma = Decimal::parse("1,5", DecimalMark::Comma);
        assert_eq!(comma.map(Decimal::as_f64), Ok(1.5));
    }

    #[test]
    fn what_is_no_measurement_says_why() {
        for (text, reason) in [
            ("", "is empty"),
            ("nan", "not a finite number"),
            ("-inf", "not a finite number"),
            ("-3", "is negative"),
            ("1,5", "is not a number"),
            ("0x10", "is not a number"),
            ("1 000", "is not a number"),
            (".", "is not a number"),
            ("1e", "is not a number"),
            ("--1", "is not a number"),
            ("1e99", "out of range"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn what_a_float_prints_is_read_back_as_the_same_float(value in 1e-15_f64..1e18) {
            let found = Decimal::parse(&value.to_string(), DecimalMark::Point).unwrap();
            prop_assert_eq!(found.as_f64(), value);
        }
    }
}
