//! Parsers of values, shared by the command line and the tables.

use std::time::Duration;

use perfcheck_analysis::model::{parse_duration, parse_fraction};

/// Parses a time that is not zero. The error says which value is expected.
pub fn parse_positive_duration(text: &str) -> Result<Duration, String> {
    match parse_duration(text)? {
        Duration::ZERO => Err("a measurement takes more than no time".to_owned()),
        duration => Ok(duration),
    }
}

/// Parses a fraction below 100 %. The error says which value is expected.
pub fn parse_fraction_below_one(text: &str) -> Result<f64, String> {
    let fraction = parse_fraction(text)?;
    if fraction < 1.0 {
        return Ok(fraction);
    }
    // The user probably forgot the percent sign.
    let meant = if fraction < 100.0 && !text.ends_with('%') {
        format!("; did you mean `{text}%`?")
    } else {
        String::new()
    };
    Err(format!("`{text}` is not below 100 %{meant}"))
}

/// Parses `dedicated` or `shared`, and returns whether others use the machine too. The error says which value is expected.
pub fn parse_shared_host(text: &str) -> Result<bool, String> {
    match text {
        "dedicated" => Ok(false),
        "shared" => Ok(true),
        _ => Err(format!("`{text}` is neither `dedicated` nor `shared`")),
    }
}

/// Parses the level of a one-sided test, above 0 and below 50 %. The error says which value is expected.
pub fn parse_significance_level(text: &str) -> Result<f64, String> {
    let level = parse_fraction(text)?;
    if level > 0.0 && level < 0.5 {
        Ok(level)
    } else {
        Err("a significance level lies between 0 and 50 %".to_owned())
    }
}

/// Parses the level of an interval, from 50 % to less than 100 %. The error says which value is expected.
pub fn parse_confidence_level(text: &str) -> Result<f64, String> {
    let level = parse_fraction(text)?;
    if (0.5..1.0).contains(&level) {
        Ok(level)
    } else {
        Err("a confidence level lies between 50 % and 100 %".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_named_when_they_are_left() {
        assert_eq!(parse_positive_duration("1ms"), Ok(Duration::from_millis(1)));
        assert!(parse_positive_duration("0s").is_err());
        assert_eq!(parse_fraction_below_one("5%"), Ok(0.05));
        let five = parse_fraction_below_one("5").expect_err("a percentage without its sign");
        assert!(five.contains("did you mean `5%`?"), "{five}");
        for beyond in ["1000%", "1000"] {
            let error = parse_fraction_below_one(beyond).expect_err("more than all");
            assert_eq!(error, format!("`{beyond}` is not below 100 %"));
        }
        assert_eq!(parse_significance_level("1%"), Ok(0.01));
        for wrong in ["0", "50%", "-1%", "nan"] {
            assert!(parse_significance_level(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_confidence_level("0.95"), Ok(0.95));
        for wrong in ["95", "100%", "0.05"] {
            assert!(parse_confidence_level(wrong).is_err(), "{wrong}");
        }
    }
}
