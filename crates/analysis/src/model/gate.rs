//! Rules that a benchmark must keep: `[PATTERN=]STATISTIC:LIMIT`, as people write them behind `--fail` and in Cargo.toml.
//!
//! A limit in percent is about the change against the reference, any other about the value itself.

use std::fmt;
use std::str::FromStr;

use super::quantity::parse_fraction;
use super::statistic::{Statistic, StatisticSet, Unit};

/// How much is too much: anything above.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// Of the change against the reference, a fraction.
    Change(f64),
    /// Of the value, in its unit; times in nanoseconds.
    Value(f64),
}

/// A rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// Benchmarks whose ids match this; `None`: all.
    pub pattern: Option<String>,
    /// What it is about.
    pub statistic: Statistic,
    /// How much is too much.
    pub limit: Limit,
    /// As it was written.
    pub text: String,
}

impl FromStr for Gate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (head, limit) = text.rsplit_once(':').ok_or_else(|| {
            format!("`{text}` is no rule such as `median:5%`, `parse/*=p99:2ms` or `allocations:0`")
        })?;
        let (pattern, word) = match head.rsplit_once('=') {
            Some((pattern, word)) => (Some(pattern.trim()), word.trim()),
            None => (None, head.trim()),
        };
        if pattern.is_some_and(str::is_empty) {
            return Err(format!(
                "`{text}` has no pattern before `=`: leave out the `=` to mean all benchmarks"
            ));
        }
        let statistic = Statistic::read(word, StatisticSet::Limits)?;
        let limit = limit.trim();
        let limit = if limit.ends_with('%') {
            if !statistic.has_change() {
                return Err(format!(
                    "a limit of `{word}` is a value such as `2ms`: its change has no interval to rely on (`mean` and `median` have one)"
                ));
            }
            Limit::Change(parse_fraction(limit)?)
        } else {
            Limit::Value(value(limit, statistic.unit())?)
        };
        Ok(Self {
            pattern: pattern.map(str::to_owned),
            statistic,
            limit,
            text: text.trim().to_owned(),
        })
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A number with its unit. Times must have one: a plain `2` could be seconds as well as nanoseconds.
fn value(text: &str, unit: Unit) -> Result<f64, String> {
    let unit_at = text
        .find(|c: char| c.is_alphabetic() || c == 'µ')
        .unwrap_or(text.len());
    let (number, suffix) = text.split_at(unit_at);
    let scale = match (unit, suffix) {
        (Unit::Time, "ns") | (Unit::Count, "") | (Unit::Bytes, "" | "B") => Some(1.0),
        (Unit::Time, "us" | "µs") | (Unit::Bytes, "kB") => Some(1e3),
        (Unit::Time, "ms") | (Unit::Bytes, "MB") => Some(1e6),
        (Unit::Time, "s") | (Unit::Bytes, "GB") => Some(1e9),
        (Unit::Bytes, "KiB") => Some(1024.0),
        (Unit::Bytes, "MiB") => Some(1024.0 * 1024.0),
        (Unit::Bytes, "GiB") => Some(1024.0 * 1024.0 * 1024.0),
        _ => None,
    };
    let number = number.trim_end().parse::<f64>().ok();
    let limit = number.zip(scale).map(|(number, scale)| number * scale);
    limit
        .filter(|limit| limit.is_finite() && *limit >= 0.0)
        .ok_or_else(|| {
            let usual = match unit {
                Unit::Time => "a time with its unit such as `2ms` or `350ns`",
                Unit::Bytes => "bytes such as `0`, `64B` or `1KiB`",
                Unit::Count => "a number such as `0`",
            };
            format!("`{text}` is neither a percentage such as `5%` nor {usual}")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_a_statistic_and_a_limit_behind_a_pattern_if_it_has_one() {
        for (text, pattern, statistic, limit) in [
            ("median:5%", None, Statistic::Median, Limit::Change(0.05)),
            (
                "parse/*=p99:2ms",
                Some("parse/*"),
                Statistic::Latency(990),
                Limit::Value(2e6),
            ),
            (
                "a=b:c=mean:350ns",
                Some("a=b:c"),
                Statistic::Mean,
                Limit::Value(350.0),
            ),
            (
                "allocations:0",
                None,
                Statistic::Allocations,
                Limit::Value(0.0),
            ),
            ("bytes: 1KiB", None, Statistic::Bytes, Limit::Value(1024.0)),
            ("peak:1.5MB", None, Statistic::Peak, Limit::Value(1.5e6)),
            (
                "p99.9:0.5%",
                None,
                Statistic::Latency(999),
                Limit::Change(0.005),
            ),
            (
                "max:1.5 s",
                None,
                Statistic::Latency(1000),
                Limit::Value(1.5e9),
            ),
            ("slope:2us", None, Statistic::Slope, Limit::Value(2e3)),
        ] {
            let gate: Gate = text.parse().expect(text);
            assert_eq!(
                (gate.pattern.as_deref(), gate.statistic, gate.limit),
                (pattern, statistic, limit),
                "{text}"
            );
            assert_eq!(gate.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_rule_says_what_one_looks_like() {
        for (text, words) in [
            ("median", "no rule such as `median:5%`"),
            (
                "meadian:5%",
                "no statistic of what has limits; those are time, mean, median",
            ),
            (
                "median:5",
                "neither a percentage such as `5%` nor a time with its unit",
            ),
            ("median:-5%", "neither a percentage"),
            ("median:5h", "a time with its unit"),
            ("bytes:5ms", "bytes such as `0`"),
            ("allocations:1KiB", "a number such as `0`"),
            ("slope:5%", "`mean` and `median` have one"),
            ("=median:5%", "no pattern before `=`"),
            ("median:", "neither"),
            ("p99:NaNms", "neither"),
        ] {
            let error = text.parse::<Gate>().expect_err(text);
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
