//! Parsers for fractions, slowdowns and times, in the formats that users type.

use std::time::Duration;

/// Parses `1%`, `0.5 %` or `0.01` as a fraction. The error says what was expected.
pub fn parse_fraction(text: &str) -> Result<f64, String> {
    let trimmed = text.trim();
    let (number, scale) = match trimmed.strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (trimmed, 1.0),
    };
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value / scale),
        _ => Err(format!(
            "`{text}` is neither a percentage such as `1%` nor a fraction such as `0.01`"
        )),
    }
}

/// Parses a slowdown, such as `1.02` or `2%`, and returns it as a fraction, here 0.02. The error says what was expected.
pub fn parse_slowdown(text: &str) -> Result<f64, String> {
    let trimmed = text.trim();
    let fraction = if trimmed.ends_with('%') {
        parse_fraction(trimmed).unwrap_or(f64::NAN)
    } else {
        trimmed
            .parse::<f64>()
            .map_or(f64::NAN, |factor| factor - 1.0)
    };
    // The protocol sends slowdowns in millionths.
    let fraction = (fraction * 1e6).round() / 1e6;
    if (1e-6..=9.0).contains(&fraction) {
        Ok(fraction)
    } else {
        Err(format!(
            "`{text}` is neither a factor above 1 such as `1.02` nor a percentage such as `2%` (at most `10` or `900%`)"
        ))
    }
}

/// Parses `100ms`, `1.5s`, `2min`, or a plain number of seconds. The error says what was expected.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let trimmed = text.trim();
    let unit_at = trimmed
        .find(|c: char| c.is_alphabetic())
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(unit_at);
    let seconds = match unit {
        "ns" => Some(1e-9),
        "us" | "µs" => Some(1e-6),
        "ms" => Some(1e-3),
        "" | "s" => Some(1.0),
        "m" | "min" => Some(60.0),
        _ => None,
    };
    let number = number.trim_end().parse::<f64>().ok();
    number
        .zip(seconds)
        .and_then(|(number, seconds)| Duration::try_from_secs_f64(number * seconds).ok())
        .ok_or_else(|| {
            format!("`{text}` is not a time such as `100ms`, `1.5s` or `2min` (a number without a unit means seconds)")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit_or_is_in_seconds() {
        for (text, millis) in [
            ("100ms", 100),
            ("0.1", 100),
            ("1.5 s", 1500),
            ("2min", 120_000),
        ] {
            assert_eq!(
                parse_duration(text),
                Ok(Duration::from_millis(millis)),
                "{text}"
            );
        }
        for bad in ["", "s", "-1s", "1h", "NaN", "1e300s"] {
            let message = parse_duration(bad).expect_err("refused");
            assert!(message.contains(&format!("`{bad}`")), "{message}");
        }
    }

    #[test]
    fn a_percentage_and_a_fraction_mean_the_same() {
        assert_eq!(parse_fraction("1%"), Ok(0.01));
        assert_eq!(parse_fraction(" 0.5 % "), Ok(0.005));
        assert_eq!(parse_fraction("0.01"), Ok(0.01));
        assert_eq!(parse_fraction("0"), Ok(0.0));
    }

    #[test]
    fn a_slowdown_is_a_factor_above_one_or_a_percentage() {
        for (text, fraction) in [("1.02", 0.02), ("2%", 0.02), ("0.5 %", 0.005), ("10", 9.0)] {
            let read = parse_slowdown(text).expect(text);
            assert!((read - fraction).abs() < 1e-12, "{text}: {read}");
        }
        for bad in ["1", "0.02", "0%", "-2%", "11", "fast", "NaN", ""] {
            let message = parse_slowdown(bad).expect_err("refused");
            assert!(message.contains(&format!("`{bad}`")), "{message}");
        }
    }

    #[test]
    fn anything_else_is_refused_with_the_text_in_the_message() {
        for bad in ["", "%", "-1%", "NaN", "inf", "one"] {
            let message = parse_fraction(bad).expect_err("refused");
            assert!(message.contains(&format!("`{bad}`")), "{message}");
        }
    }

    #[test]
    fn every_unit_of_time_has_its_length() {
        for (text, nanos) in [
            ("250ns", 250),
            ("250us", 250_000),
            ("250 µs", 250_000),
            ("250ms", 250_000_000),
            ("3", 3_000_000_000),
            ("3s", 3_000_000_000),
            ("3m", 180_000_000_000),
            ("3min", 180_000_000_000),
        ] {
            let expected = Ok(Duration::from_nanos(nanos));
            assert_eq!(parse_duration(text), expected, "{text}");
        }
    }

    #[test]
    fn the_smallest_and_the_largest_slowdown_are_allowed_and_no_other_beyond() {
        assert_eq!(parse_slowdown("0.0001%"), Ok(1e-6));
        assert_eq!(parse_slowdown(" 900% "), Ok(9.0));
        assert_eq!(parse_slowdown("1.5"), Ok(0.5));
        for beyond in ["0.00001%", "900.1%", "10.001"] {
            assert!(parse_slowdown(beyond).is_err(), "{beyond}");
        }
    }

    #[test]
    fn what_is_refused_is_told_with_what_was_expected() {
        let expected = "`x` is neither a percentage such as `1%` nor a fraction such as `0.01`";
        assert_eq!(parse_fraction("x"), Err(expected.to_owned()));
        let expected = "`x` is neither a factor above 1 such as `1.02` nor a percentage such as `2%` (at most `10` or `900%`)";
        assert_eq!(parse_slowdown("x"), Err(expected.to_owned()));
        let expected = "`x` is not a time such as `100ms`, `1.5s` or `2min` (a number without a unit means seconds)";
        assert_eq!(parse_duration("x"), Err(expected.to_owned()));
    }
}
