//! Units of values, decimal numbers without loss (digits and a power of ten), and the conversion of a value with a unit to an exact sample.

use std::fmt;
use std::str::FromStr;

use perfcheck_analysis::model::{Metric, Nanos, Sample};
use perfcheck_stats::quotient;

/// Median above which `--guess-units` assumes ticks of 100 ns instead of nanoseconds.
pub(super) const GUESS_LIMIT: f64 = 1e6;

/// A value whose denominator would exceed 128 bits is rounded to fewer and fewer digits until the denominator fits. This is done only as long as its
/// digits form a number of at least this size: a 64-bit float does not distinguish that many digits, so nothing is lost.
const ROUNDED_FROM: u128 = 100_000_000_000_000_000_000;
/// The longest tick that a unit such as `ticks:100ns` may have, in nanoseconds.
const LONGEST_TICK_NS: u64 = 1_000_000_000_000;

/// The unit of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueUnit {
    /// Name, as written by the user.
    name: String,
    /// The metric of samples in this unit.
    metric: Metric,
    /// Size of this unit in the metric's unit: 1000 (nanoseconds) for `us`, 1024 (bytes) for `KiB`.
    factor: u64,
    /// Time in the denominator of a rate, in nanoseconds: 10^9 for `ops/s`. Only used for rates.
    per_ns: u64,
}

impl ValueUnit {
    pub(super) fn nanoseconds() -> Self {
        Self::time("ns", 1)
    }

    /// Returns ticks of 100 ns, as .NET counts them.
    pub(super) fn ticks() -> Self {
        Self::time("ticks:100ns", 100)
    }

    fn time(name: &str, factor: u64) -> Self {
        Self {
            name: name.to_owned(),
            metric: Metric::Time,
            factor,
            per_ns: 1,
        }
    }

    /// Returns the metric of samples in this unit.
    pub fn metric(&self) -> &Metric {
        &self.metric
    }

    /// Converts `value` to a sample. `value` is the total of all `iterations`. A rate is no total, so `iterations` does not matter for it.
    pub(super) fn to_sample(&self, value: Decimal, iterations: u64) -> Result<Sample, String> {
        if let Metric::Rate { .. } = self.metric {
            if value.digits == 0 {
                return Err("is a rate of 0, which cannot be converted to a time".to_owned());
            }
            // A rate of v units per t becomes v iterations in t, both scaled by a power of ten.
            let (units, time) = self.to_fraction(value, self.per_ns)?;
            return sample_from_fraction(time, units);
        }
        let (amount, of) = self.to_fraction(value, iterations)?;
        sample_from_fraction(amount, of)
    }

    /// Returns `value` as a fraction. The numerator is the value in whole units of the metric and the denominator is `count`, both multiplied by the
    /// same power of ten if the value has decimals.
    fn to_fraction(&self, value: Decimal, count: u64) -> Result<(u128, u128), String> {
        let mut digits = value
            .digits
            .checked_mul(u128::from(self.factor))
            .ok_or_else(range_error)?;
        let mut exponent = value.exponent;
        while exponent > 0 {
            digits = digits.checked_mul(10).ok_or_else(range_error)?;
            exponent -= 1;
        }
        while exponent < 0 && digits.is_multiple_of(10) && digits > 0 {
            digits /= 10;
            exponent += 1;
        }
        loop {
            let power = 10_u128.checked_pow(exponent.unsigned_abs());
            let of = power.and_then(|power| power.checked_mul(u128::from(count)));
            if let Some(of) = of {
                return Ok((digits, of));
            }
            if digits < ROUNDED_FROM || exponent == 0 {
                return Err(range_error());
            }
            digits = (digits + 5) / 10;
            exponent += 1;
        }
    }
}

/// Converts a fraction to a sample. If its numerator or denominator exceeds 64 bits, a simpler fraction that is equal as a 64-bit float replaces it.
fn sample_from_fraction(elapsed: u128, iterations: u128) -> Result<Sample, String> {
    let parts = |elapsed: u128, iterations: u128| {
        Some((
            u64::try_from(elapsed).ok()?,
            u64::try_from(iterations).ok()?,
        ))
    };
    let (elapsed, iterations) = parts(elapsed, iterations)
        .or_else(|| simplify_fraction(elapsed, iterations))
        .filter(|(_, iterations)| *iterations > 0)
        .ok_or_else(range_error)?;
    Ok(Sample {
        iterations,
        elapsed: Nanos(elapsed),
    })
}

/// Returns the first convergent of the continued fraction of `elapsed` / `iterations` that rounds to the same float. Returns `None` if the numerator
/// or the denominator of this convergent exceeds 64 bits.
fn simplify_fraction(elapsed: u128, iterations: u128) -> Option<(u64, u64)> {
    let wanted = quotient(elapsed, iterations);
    let (mut above, mut below) = (elapsed, iterations);
    let (mut before, mut last) = ((0_u128, 1_u128), (1_u128, 0_u128));
    while below > 0 {
        let whole = above / below;
        let next = |last: u128, before: u128| whole.checked_mul(last)?.checked_add(before);
        (before, last) = (last, (next(last.0, before.0)?, next(last.1, before.1)?));
        let found = (u64::try_from(last.0).ok()?, u64::try_from(last.1).ok()?);
        if quotient(last.0, last.1) == wanted {
            return Some(found);
        }
        (above, below) = (below, above % below);
    }
    None
}

fn range_error() -> String {
    "is too large or too small to store".to_owned()
}

impl fmt::Display for ValueUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl FromStr for ValueUnit {
    type Err = String;

    /// Parses `ns`, `ticks:100ns`, `ops/s`, `MiB/s`, `bytes` or `amount:pages`.
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let unit = |metric, factor, per_ns| Self {
            name: text.to_owned(),
            metric,
            factor,
            per_ns,
        };
        if let Some(factor) = time_unit(text) {
            return Ok(Self::time(text, factor));
        }
        if let Some(tick) = text.strip_prefix("ticks:") {
            let at = tick.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
            let (count, of) = tick.split_at(at);
            let factor = count.parse().ok().zip(time_unit(of));
            return factor
                .and_then(|(count, of): (u64, u64)| count.checked_mul(of))
                .filter(|factor| (1..=LONGEST_TICK_NS).contains(factor))
                .map(|factor| Self::time(text, factor))
                .ok_or_else(|| format!("`{text}` is not a tick length such as `ticks:100ns`"));
        }
        if let Some((what, per)) = text.rsplit_once('/') {
            let per_ns = time_unit(per).filter(|_| is_word(what)).ok_or_else(|| {
                format!("`{text}` is not a rate such as `ops/s`, `bytes/s` or `MiB/s`")
            })?;
            let (name, factor) = byte_unit(what).map_or((what, 1), |factor| ("bytes", factor));
            let metric = Metric::Rate {
                unit: name.to_owned(),
            };
            return Ok(unit(metric, factor, per_ns));
        }
        let amount = |name: &str, factor| {
            let metric = Metric::Amount {
                unit: name.to_owned(),
            };
            unit(metric, factor, 1)
        };
        if let Some(factor) = byte_unit(text) {
            return Ok(amount("bytes", factor));
        }
        if ["instructions", "cycles", "allocations"].contains(&text) {
            return Ok(amount(text, 1));
        }
        match text.strip_prefix("amount:") {
            Some(name) if is_word(name) => Ok(amount(name, 1)),
            _ => Err(format!(
                "`{text}` is not a unit; units are ns, us, ms, s, min, ticks:100ns (a tick of any length); rates such as ops/s, bytes/s or MiB/s; and amounts: bytes, KiB, instructions, cycles, allocations, amount:NAME"
            )),
        }
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || "_-%".contains(c))
}

/// Returns the nanoseconds in a unit of time.
fn time_unit(name: &str) -> Option<u64> {
    Some(match name {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "min" => 60_000_000_000,
        _ => return None,
    })
}

/// Returns the bytes in a unit of memory.
fn byte_unit(name: &str) -> Option<u64> {
    Some(match name {
        "B" | "bytes" => 1,
        "kB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    })
}

/// Maximum number of significant digits. Further digits are dropped, because no clock or float has them.
const MOST_DIGITS: u32 = 25;
/// Accepted powers of ten. No real measurement is outside this range.
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
    /// As in `1.5`.
    Point,
    /// As in `1,5`.
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
    use proptest::prelude::*;

    use super::*;

    fn sample(value: &str, unit: &str, iterations: u64) -> Result<(u64, u64), String> {
        let value = Decimal::parse(value, DecimalMark::Point)?;
        let unit: ValueUnit = unit.parse()?;
        unit.to_sample(value, iterations)
            .map(|sample| (sample.iterations, sample.elapsed.0))
    }

    #[test]
    fn values_become_exact_fractions() {
        for (value, unit, iterations, expected) in [
            ("12.345", "ns", 1, (1_000, 12_345)),
            ("250", "ns", 1, (1, 250)),
            ("250", "ns", 100, (100, 250)),
            ("1.5", "us", 1, (1, 1_500)),
            ("0.001234567", "s", 1, (1, 1_234_567)),
            ("3", "ticks:100ns", 1, (1, 300)),
            ("0.5", "ticks:100ns", 1, (1, 50)),
            ("2000000", "ops/s", 1, (2_000_000, 1_000_000_000)),
            ("2.5", "ops/s", 1, (25, 10_000_000_000)),
            ("3", "ops/ms", 1, (3, 1_000_000)),
            ("1", "KiB/s", 1, (1_024, 1_000_000_000)),
            ("1.5", "KiB", 1, (1, 1_536)),
            ("0", "ns", 1, (1, 0)),
        ] {
            assert_eq!(
                sample(value, unit, iterations),
                Ok(expected),
                "{value} {unit}"
            );
        }
    }

    #[test]
    fn what_cannot_be_kept_is_refused() {
        assert!(
            sample("0", "ops/s", 1)
                .unwrap_err()
                .contains("converted to a time")
        );
        for (value, unit) in [("1e25", "s"), ("1e-30", "ns")] {
            assert!(sample(value, unit, 1).unwrap_err().contains("to store"));
        }
    }

    #[test]
    fn a_word_that_is_no_unit_is_told_which_there_are() {
        for word in [
            "",
            "nanos",
            "ticks",
            "ticks:ns",
            "ticks:0ns",
            "/s",
            "ops/",
            "ops/h",
            "amount:",
        ] {
            assert!(word.parse::<ValueUnit>().is_err(), "{word}");
        }
        assert!(
            "nanos"
                .parse::<ValueUnit>()
                .unwrap_err()
                .contains("ticks:100ns")
        );
    }

    proptest! {
        #[test]
        fn a_float_comes_back_as_it_was_whatever_its_size(digits in 1.0_f64..10.0, power in -15_i32..18, unit in 0_usize..5) {
            // The exact value in nanoseconds, as the standard library reads the digits. Minutes are left out: 60 is no power of ten.
            let (unit, shift) = [("ns", 0), ("us", 3), ("ms", 6), ("s", 9), ("amount:x", 0)][unit];
            prop_assume!(power + shift < 18);
            let text = format!("{digits}e{power}");
            let read = Decimal::parse(&text, DecimalMark::Point).unwrap();
            let unit: ValueUnit = unit.parse().unwrap();
            let found = unit.to_sample(read, 1).unwrap().per_iteration();
            let expected: f64 = format!("{digits}e{}", power + shift).parse().unwrap();
            prop_assert_eq!(found.to_bits(), expected.to_bits(), "{} is not {}", found, expected);
        }

        #[test]
        fn a_rate_comes_back_to_a_unit_in_the_last_place_of_its_time(value in 1e-3_f64..1e15) {
            let read = Decimal::parse(&value.to_string(), DecimalMark::Point).unwrap();
            let unit: ValueUnit = "ops/s".parse().unwrap();
            let found = 1e9 / unit.to_sample(read, 1).unwrap().per_iteration();
            prop_assert!((found / value - 1.0).abs() < 4e-16, "{} is not {}", found, value);
        }
    }

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
