//! Reading of fractions as people write them.

/// Reads `1%`, `0.5 %` or `0.01` as a fraction. The error says what was expected.
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

#[cfg(test)]
mod tests {
    use super::parse_fraction;

    #[test]
    fn a_percentage_and_a_fraction_mean_the_same() {
        assert_eq!(parse_fraction("1%"), Ok(0.01));
        assert_eq!(parse_fraction(" 0.5 % "), Ok(0.005));
        assert_eq!(parse_fraction("0.01"), Ok(0.01));
        assert_eq!(parse_fraction("0"), Ok(0.0));
    }

    #[test]
    fn anything_else_is_refused_with_the_text_in_the_message() {
        for bad in ["", "%", "-1%", "NaN", "inf", "one"] {
            let message = parse_fraction(bad).expect_err("refused");
            assert!(message.contains(&format!("`{bad}`")), "{message}");
        }
    }
}
