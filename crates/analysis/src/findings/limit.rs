//! Limits that benchmarks must keep, and the results of checking them. A limit is written `[PATTERN=]STATISTIC:BOUND`, after `--limit` or in
//! Cargo.toml.

use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

use crate::compare::{Estimate, SharedLevel};
use crate::exit_code::ExitCode;
use crate::model::{BenchmarkKey, ProgramBenchmark, Statistic, StatisticSet, Unit, parse_fraction};

/// The upper bound of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ceiling {
    /// The largest change relative to the reference, as a fraction. Such a limit is written in percent.
    Change(f64),
    /// The largest value of the statistic, in its unit. Times are in nanoseconds.
    Value(f64),
}

/// The benchmarks that a limit can apply to because of the table in Cargo.toml that it was written in. A limit of the command line can apply to all
/// benchmarks.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// The only package that the limit applies to.
    pub package: Option<String>,
    /// The pattern of the ids that the limit applies to, in addition to the pattern in the limit itself.
    pub within: Option<GlobMatcher>,
}

/// A limit, with the benchmarks that it applies to.
#[derive(Debug, Clone)]
pub struct Limit {
    /// The statistic that is limited.
    pub statistic: Statistic,
    /// The upper bound.
    pub ceiling: Ceiling,
    /// The limit as it was written.
    pub text: String,
    scope: Scope,
    pattern: Option<GlobMatcher>,
}

impl Ceiling {
    /// Reports whether the limit is about the change and not about the value itself.
    pub fn is_change(self) -> bool {
        matches!(self, Self::Change(_))
    }

    /// Returns the largest value allowed.
    pub fn value(self) -> f64 {
        match self {
            Self::Change(most) | Self::Value(most) => most,
        }
    }
}

impl Limit {
    /// Parses `[PATTERN=]STATISTIC:BOUND`. The error says what was expected.
    pub fn parse(text: &str, scope: Scope) -> Result<Self, String> {
        let (head, limit) = text.rsplit_once(':').ok_or_else(|| {
            format!(
                "`{text}` is not a limit such as `median:5%`, `parse/*=p99:2ms` or `allocations:0`"
            )
        })?;
        let (pattern, word) = match head.rsplit_once('=') {
            Some((pattern, word)) => (Some(pattern.trim()), word.trim()),
            None => (None, head.trim()),
        };
        if pattern.is_some_and(str::is_empty) {
            return Err(format!(
                "`{text}` has no pattern before `=`: leave out the `=` to limit all benchmarks"
            ));
        }
        let statistic = Statistic::parse(word, StatisticSet::Limits)?;
        let limit = limit.trim();
        let ceiling = if limit.ends_with('%') {
            if !statistic.has_change() {
                return Err(format!(
                    "a limit on `{word}` must be a value such as `2ms`, not a percentage: changes of `{word}` have no interval (use `mean` or `median`)"
                ));
            }
            Ceiling::Change(parse_fraction(limit)?)
        } else {
            Ceiling::Value(parse_value(limit, statistic.unit())?)
        };
        let glob = |pattern: &str| {
            let glob = GlobBuilder::new(pattern).build();
            glob.map(|glob| glob.compile_matcher())
                .map_err(|error| error.to_string())
        };
        Ok(Self {
            statistic,
            ceiling,
            text: text.trim().to_owned(),
            scope,
            pattern: pattern.map(glob).transpose()?,
        })
    }

    /// Reports whether the limit applies to the executable of this bench target, whose name takes the place of ids.
    pub(super) fn applies_to_target(&self, package: &str, target: &str) -> bool {
        self.applies_to(&BenchmarkKey {
            package: package.to_owned(),
            target: target.to_owned(),
            id: target.to_owned(),
        })
    }

    /// Reports whether this is a limit on builds of the workspace. Such a limit applies to nothing else, and no other limit applies to builds.
    pub fn is_on_builds(&self) -> bool {
        self.statistic == Statistic::BuildTime
    }

    /// Reports whether the limit applies to this benchmark.
    pub fn applies_to(&self, key: &BenchmarkKey) -> bool {
        if self.is_on_builds() != ProgramBenchmark::is_build(&key.target) {
            return false;
        }
        let Scope { package, within } = &self.scope;
        let matches =
            |glob: &Option<GlobMatcher>| glob.as_ref().is_none_or(|glob| glob.is_match(&key.id));
        package
            .as_ref()
            .is_none_or(|package| *package == key.package)
            && matches(within)
            && matches(&self.pattern)
    }
}

/// The results of checking all limits of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LimitReport {
    /// The limits that benchmarks exceed, in the order of the benchmarks.
    pub exceeded: Vec<ExceededLimit>,
    /// Remarks on limits that led to no decision, with the reasons.
    pub remarks: Vec<LimitNote>,
}

/// A limit that a benchmark exceeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExceededLimit {
    /// The benchmark.
    pub key: BenchmarkKey,
    /// The limit as it was written.
    pub text: String,
    /// The statistic that is limited.
    pub statistic: Statistic,
    /// The largest value allowed.
    pub ceiling: Ceiling,
    /// The value found. Its whole interval is above the limit.
    pub found: Estimate,
    /// How the level of the interval or test is divided among all values that need one. `None` if the value needs no share of the level: a value that
    /// does not vary, or the change that the verdict is about, which has a level of its own.
    pub shared_level: Option<SharedLevel>,
}

/// A remark on a limit that led to no decision about some benchmarks. It contains the text of the limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitNote {
    /// The limit applies to none of the benchmarks.
    ForNothing(String),
    /// These benchmarks were measured, but do not have the statistic of the limit.
    WithoutStatistic(String, Statistic, Vec<BenchmarkKey>),
    /// The estimates of these benchmarks are above the limit, but their intervals are not.
    Undecided {
        /// The limit as it was written.
        text: String,
        /// The benchmarks whose estimates are above the limit.
        benchmarks: Vec<BenchmarkKey>,
        /// Number of values that share the confidence level.
        family: usize,
        /// Whether the limit is about the change. If so, the interval becomes narrower if both builds are measured side by side.
        is_change: bool,
    },
}

impl LimitReport {
    /// Returns the exit code of a command with these results.
    pub fn exit_code(&self) -> ExitCode {
        if self.exceeded.is_empty() {
            ExitCode::Clean
        } else {
            ExitCode::Regression
        }
    }

    /// Reports whether a change exceeds a limit. Such a run must not become a reference, because later runs would then be compared with the worse
    /// level.
    pub(super) fn has_worsened(&self) -> bool {
        self.exceeded
            .iter()
            .any(|exceeded| exceeded.ceiling.is_change())
    }
}

impl FromStr for Limit {
    type Err = String;

    /// Parses a limit of the command line, which applies to all benchmarks that match its pattern.
    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text, Scope::default())
    }
}

/// Parses a number with its unit. Times need a unit, because a plain `2` could be seconds as well as nanoseconds.
fn parse_value(text: &str, unit: Unit) -> Result<f64, String> {
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
                Unit::Time => "a time with a unit such as `2ms` or `350ns`",
                Unit::Bytes => "a size such as `0`, `64B` or `1KiB`",
                Unit::Count => "a number such as `0`",
            };
            format!("`{text}` is neither a percentage such as `5%` nor {usual}")
        })
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;
    use crate::compare::fixtures::{certain, key};

    #[test]
    fn every_unit_has_its_size() {
        for (text, unit, expected) in [
            ("7", Unit::Bytes, 7.0),
            ("7B", Unit::Bytes, 7.0),
            ("7kB", Unit::Bytes, 7e3),
            ("7MB", Unit::Bytes, 7e6),
            ("7GB", Unit::Bytes, 7e9),
            ("7KiB", Unit::Bytes, 7_168.0),
            ("7MiB", Unit::Bytes, 7_340_032.0),
            ("7 GiB", Unit::Bytes, 7_516_192_768.0),
            ("7ns", Unit::Time, 7.0),
            ("7us", Unit::Time, 7e3),
            ("7 µs", Unit::Time, 7e3),
            ("7ms", Unit::Time, 7e6),
            ("0.5s", Unit::Time, 5e8),
            ("7", Unit::Count, 7.0),
        ] {
            assert_eq!(parse_value(text, unit), Ok(expected), "{text}");
        }
        for (text, unit) in [
            ("7", Unit::Time),
            ("7B", Unit::Count),
            ("7ns", Unit::Bytes),
            ("-7B", Unit::Bytes),
            ("B", Unit::Bytes),
            ("7TB", Unit::Bytes),
        ] {
            assert!(parse_value(text, unit).is_err(), "{text}");
        }
    }

    #[test]
    fn a_rule_is_a_statistic_and_a_limit_behind_a_pattern_if_it_has_one() {
        for (text, pattern, statistic, ceiling) in [
            ("median:5%", None, Statistic::Median, Ceiling::Change(0.05)),
            (
                "parse/*=p99:2ms",
                Some("parse/*"),
                Statistic::Latency(990),
                Ceiling::Value(2e6),
            ),
            (
                "a=b:c=mean:350ns",
                Some("a=b:c"),
                Statistic::Mean,
                Ceiling::Value(350.0),
            ),
            (
                "allocations:0",
                None,
                Statistic::Allocations,
                Ceiling::Value(0.0),
            ),
            (
                "bytes: 1KiB",
                None,
                Statistic::Bytes,
                Ceiling::Value(1024.0),
            ),
            ("peak:1.5MB", None, Statistic::Peak, Ceiling::Value(1.5e6)),
            (
                "p99.9:0.5%",
                None,
                Statistic::Latency(999),
                Ceiling::Change(0.005),
            ),
            (
                "max:1.5 s",
                None,
                Statistic::Latency(1000),
                Ceiling::Value(1.5e9),
            ),
            ("slope:2us", None, Statistic::Slope, Ceiling::Value(2e3)),
            ("cpu:2ms", None, Statistic::Cpu, Ceiling::Value(2e6)),
            ("memory:5%", None, Statistic::Memory, Ceiling::Change(0.05)),
            (
                "program:rg=size:1%",
                Some("program:rg"),
                Statistic::Size,
                Ceiling::Change(0.01),
            ),
            ("size:2kB", None, Statistic::Size, Ceiling::Value(2e3)),
            (
                "build-time:30s",
                None,
                Statistic::BuildTime,
                Ceiling::Value(3e10),
            ),
        ] {
            let read = Limit::from_str(text).expect(text);
            assert_eq!(
                (read.statistic, read.ceiling, read.text.as_str()),
                (statistic, ceiling, text),
                "{text}"
            );
            let glob = read.pattern.as_ref().map(|pattern| pattern.glob().glob());
            assert_eq!(glob, pattern, "{text}");
        }
    }

    #[test]
    fn what_is_no_rule_says_what_one_looks_like() {
        for (text, words) in [
            ("median", "is not a limit such as `median:5%`"),
            (
                "meadian:5%",
                "not a statistic for limits; choose one of time, mean, median",
            ),
            (
                "median:5",
                "neither a percentage such as `5%` nor a time with a unit",
            ),
            ("median:-5%", "neither a percentage"),
            ("median:5h", "a time with a unit"),
            ("bytes:5ms", "a size such as `0`"),
            ("allocations:1KiB", "a number such as `0`"),
            ("slope:5%", "use `mean` or `median`"),
            ("=median:5%", "no pattern before `=`"),
            ("median:", "neither"),
            ("p99:NaNms", "neither"),
        ] {
            let error = Limit::from_str(text).expect_err(text);
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn a_rule_is_for_what_its_place_and_its_pattern_are_for() {
        let key = |package: &str, id: &str| BenchmarkKey {
            package: package.into(),
            target: "t".into(),
            id: id.into(),
        };
        let all = Limit::from_str("median:5%").expect("well formed");
        assert!(all.applies_to(&key("p", "x")));
        let parse = Limit::from_str("parse/*=median:5%").expect("well formed");
        assert!(parse.applies_to(&key("p", "parse/10")) && !parse.applies_to(&key("p", "sort/10")));
        let scope = Scope {
            package: Some("p".into()),
            within: globset::Glob::new("*/10")
                .ok()
                .map(|glob| glob.compile_matcher()),
        };
        let both = Limit::parse("parse/*=median:5%", scope).expect("well formed");
        assert!(both.applies_to(&key("p", "parse/10")));
        for (package, id) in [("q", "parse/10"), ("p", "parse/11"), ("p", "sort/10")] {
            assert!(!both.applies_to(&key(package, id)), "{package} {id}");
        }
        assert!(Limit::from_str("[=median:5%").is_err());
        let build = BenchmarkKey {
            target: ProgramBenchmark::BUILD_TARGET.into(),
            ..key("p", "build/cold")
        };
        let on_builds = Limit::from_str("build-time:5%").expect("well formed");
        assert!(on_builds.applies_to(&build) && !on_builds.applies_to(&key("p", "x")));
        assert!(!all.applies_to(&build), "it is on benchmarks");
    }

    #[test]
    fn what_exceeds_a_limit_is_a_regression_and_worse_only_where_it_is_a_change() {
        let report = |ceilings: &[Ceiling]| LimitReport {
            exceeded: ceilings
                .iter()
                .map(|ceiling| ExceededLimit {
                    key: key("b"),
                    text: "mean".to_owned(),
                    statistic: Statistic::Mean,
                    ceiling: *ceiling,
                    found: certain(9.0),
                    shared_level: None,
                })
                .collect(),
            remarks: vec![LimitNote::ForNothing("x=mean:5%".to_owned())],
        };
        let (change, value) = (Ceiling::Change(0.05), Ceiling::Value(7.5));
        assert!(change.is_change() && !value.is_change());
        assert_eq!((change.value(), value.value()), (0.05, 7.5));
        for (ceilings, code, has_worsened) in [
            (&[][..], ExitCode::Clean, false),
            (&[value], ExitCode::Regression, false),
            (&[change], ExitCode::Regression, true),
            (&[value, change], ExitCode::Regression, true),
        ] {
            let found = report(ceilings);
            let expected = (code, has_worsened);
            assert_eq!((found.exit_code(), found.has_worsened()), expected);
        }
    }
}
