//! Reads the wall clock, and converts times for people.

#![expect(
    clippy::disallowed_methods,
    reason = "the place that reads the wall clock"
)]

use jiff::Timestamp as Instant;

use perfcheck_analysis::model::Timestamp;

/// Returns the current time in UTC.
pub fn now() -> Timestamp {
    let nanoseconds = Instant::now().as_nanosecond();
    Timestamp(i64::try_from(nanoseconds).unwrap_or(i64::MAX))
}

/// Formats a time to the second, for people and programs, e.g. `2026-11-21T03:04:05Z`.
pub fn to_rfc3339(time: Timestamp) -> String {
    Instant::from_nanosecond(i128::from(time.0))
        .map_or_else(|_| time.0.to_string(), |instant| format!("{instant:.0}"))
}

/// Formats a time relative to now, e.g. `8 minutes ago`, or as a date if it is two weeks ago or more.
pub fn format_ago(time: Timestamp) -> String {
    ago_at(time, now())
}

fn ago_at(time: Timestamp, now: Timestamp) -> String {
    let minutes = now.0.saturating_sub(time.0) / 60_000_000_000;
    let (count, unit) = match minutes {
        ..1 => return "just now".to_owned(),
        1..60 => (minutes, "minute"),
        60..1440 => (minutes / 60, "hour"),
        1440..20_160 => (minutes / 1440, "day"),
        _ => return to_rfc3339(time).chars().take(10).collect(),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural} ago")
}

/// Parses a time that a user wrote as a date, as RFC 3339 or as an age: `2026-11-21`, `90d`. The error describes the
/// accepted formats.
pub fn parse_moment(text: &str) -> Result<Timestamp, String> {
    moment_before(text, now())
}

fn moment_before(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    let trimmed = text.trim();
    let of_instant = |instant: Instant| i64::try_from(instant.as_nanosecond()).ok();
    let ago = || {
        let unit_at = trimmed.find(|c: char| c.is_alphabetic())?;
        let (number, unit) = trimmed.split_at(unit_at);
        let hours = match unit {
            "h" => 1,
            "d" => 24,
            "w" => 7 * 24,
            "y" => 365 * 24,
            _ => return None,
        };
        let number: u32 = number.trim_end().parse().ok()?;
        let nanoseconds = i64::from(number).checked_mul(hours * 3_600_000_000_000)?;
        now.0.checked_sub(nanoseconds)
    };
    let date = || {
        let date: jiff::civil::Date = trimmed.parse().ok()?;
        let start = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
        of_instant(start.timestamp())
    };
    let exact = || of_instant(trimmed.parse::<Instant>().ok()?);
    ago().or_else(exact).or_else(date).map(Timestamp).ok_or_else(|| {
        format!(
            "`{text}` is neither a date such as `2026-01-31` nor an age such as `90d` (units: h, d, w, y)"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_date_a_time_or_so_long_ago() {
        let now = Timestamp(400 * 86_400_000_000_000);
        for (text, days) in [
            ("90d", 310),
            ("2w", 386),
            ("1y", 35),
            ("48h", 398),
            ("1970-01-11", 10),
            ("1970-01-11T00:00:00Z", 10),
            (" 1 d ", 399),
        ] {
            let expected = Timestamp(days * 86_400_000_000_000);
            assert_eq!(moment_before(text, now), Ok(expected), "{text}");
        }
        for bad in [
            "",
            "d",
            "90",
            "-1d",
            "1.5d",
            "3 months",
            "yesterday",
            "2026-13-01",
        ] {
            let message = moment_before(bad, now).expect_err("refused");
            assert!(message.contains("90d"), "{message}");
        }
    }

    #[test]
    fn what_is_recent_is_told_by_its_distance_and_the_rest_by_its_date() {
        let minute = 60_000_000_000;
        let now = Timestamp(400 * 1440 * minute);
        for (minutes, expected) in [
            (-5, "just now"),
            (0, "just now"),
            (1, "1 minute ago"),
            (59, "59 minutes ago"),
            (60, "1 hour ago"),
            (1439, "23 hours ago"),
            (1440, "1 day ago"),
            (20_159, "13 days ago"),
            (20_160, "1971-01-22"),
        ] {
            assert_eq!(ago_at(Timestamp(now.0 - minutes * minute), now), expected);
        }
    }

    #[test]
    fn a_time_is_written_to_the_second_in_utc() {
        assert_eq!(to_rfc3339(Timestamp(1_000_000_000)), "1970-01-01T00:00:01Z");
        assert_eq!(to_rfc3339(Timestamp(1_999_999_999)), "1970-01-01T00:00:01Z");
    }
}
