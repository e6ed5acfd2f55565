//! Types that describe a benchmark: its identity, how much work an iteration does, and its metric, which says what the samples mean.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

use super::{AuthorSettings, limits};

/// Identifies a benchmark in all runs. Two bench targets may use the same id, so the key also has the package and the target.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchmarkKey {
    /// Name of the cargo package.
    pub package: String,
    /// Name of the bench target in the package.
    pub target: String,
    /// Id of the benchmark within the executable, e.g. `group/function/input`.
    pub id: String,
}

impl BenchmarkKey {
    /// Compares two benchmarks for listings: by package, target and id, each in [natural order](natural_cmp).
    pub fn cmp_natural(&self, other: &Self) -> Ordering {
        natural_cmp(&self.package, &other.package)
            .then_with(|| natural_cmp(&self.target, &other.target))
            .then_with(|| natural_cmp(&self.id, &other.id))
    }
}

/// Compares two names or labels for sorting. Texts that are numbers come first, ordered by value. All other texts are compared piece by piece:
/// sequences of digits by their value, everything else character by character. Different texts are never equal.
pub fn natural_cmp(a: &str, b: &str) -> Ordering {
    let number = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite());
    let first = match (number(a), number(b)) {
        (Some(x), Some(y)) => x.total_cmp(&y),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => cmp_digit_runs(a, b),
    };
    first.then_with(|| a.cmp(b))
}

fn cmp_digit_runs(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let (digits_a, digits_b) = (leading_digits(a), leading_digits(b));
        let found = if digits_a.is_empty() || digits_b.is_empty() {
            let (mut rest_a, mut rest_b) = (a.chars(), b.chars());
            let (next_a, next_b) = (rest_a.next(), rest_b.next());
            if next_a.is_none() && next_b.is_none() {
                return Ordering::Equal;
            }
            (a, b) = (rest_a.as_str(), rest_b.as_str());
            next_a.cmp(&next_b)
        } else {
            (a, b) = (&a[digits_a.len()..], &b[digits_b.len()..]);
            // Compare digits of any length: without leading zeros, the longer one is larger.
            let value_a = digits_a.trim_start_matches('0');
            let value_b = digits_b.trim_start_matches('0');
            let longer = value_a.len().cmp(&value_b.len());
            longer.then_with(|| value_a.cmp(value_b))
        };
        if found != Ordering::Equal {
            return found;
        }
    }
}

fn leading_digits(text: &str) -> &str {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    &text[..text.len() - rest.len()]
}

impl fmt::Display for BenchmarkKey {
    /// Writes `package/target: id`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}: {}", self.package, self.target, self.id)
    }
}

/// How much one iteration processes, as the author of the benchmark declared it. Bytes and elements may both be declared, or neither.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Throughput {
    /// Number of bytes that one iteration processes. Null if it was not declared.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// Number of elements that one iteration processes. Null if it was not declared.
    #[serde(default)]
    pub elements: Option<u64>,
}

/// A benchmark as its executable announces it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Benchmark {
    /// The package, target and id of the benchmark.
    pub key: BenchmarkKey,
    /// The version string that the author set. Benchmarks of different versions are not comparable.
    pub version: Option<String>,
    /// The work of one iteration.
    pub throughput: Throughput,
    /// The throughput as the author declared it, if its unit is neither bytes nor elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_throughput: Option<String>,
    /// The settings that the author made in code.
    pub settings: AuthorSettings,
    /// The metric, which says what the samples mean.
    pub metric: Metric,
}

/// Whether a bench still works if a process skips some of its benchmarks, as with a filter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SkipSupport {
    /// Skipping works, as in most benches.
    #[default]
    Works,
    /// The code around the benchmarks needs all of them to have run, so each process runs all.
    Breaks,
}

impl Benchmark {
    /// Checks the texts and numbers that the benchmark was announced with, such as its id and its settings. Returns a description of the first one
    /// that exceeds its limit, or `None` if all are within their limits.
    pub fn find_exceeded_limit(&self) -> Option<String> {
        let unit = match &self.metric {
            Metric::Time => None,
            Metric::Rate { unit } | Metric::Amount { unit } => Some(unit),
        };
        let names = [
            ("id", Some(&self.key.id)),
            ("version", self.version.as_ref()),
            ("throughput", self.other_throughput.as_ref()),
            ("unit", unit),
        ];
        let long = names.into_iter().find_map(|(what, text)| {
            let why = limits::check_name(text?).err()?;
            Some(format!("its {what} {why}"))
        });
        let nameless = || self.key.id.is_empty().then(|| "its id is empty".to_owned());
        let Throughput { bytes, elements } = self.throughput;
        let large = [bytes, elements].into_iter().flatten();
        let large = large.max().filter(|count| *count >= limits::BEYOND_NUMBERS);
        long.or_else(nameless)
            .or(large.map(|count| format!("its throughput is {count}, but must be below 2^63")))
            .or_else(|| self.settings.find_exceeded_limit())
    }
}

/// What the two whole numbers of each sample, `iterations` and `elapsed`, mean for a benchmark.
///
/// With every metric, a smaller `elapsed` per iteration is better: a rate is stored as the time that its units took. The same statistics can
/// therefore judge all metrics, and the mean of a rate is its harmonic mean.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Metric {
    /// A time: the iterations took `elapsed` nanoseconds. Less time is better.
    #[default]
    Time,
    /// A rate: `iterations` is a number of units that were processed in `elapsed` nanoseconds. It is shown as units per second, and more is better.
    Rate {
        /// Name of the unit, e.g. `ops` or `bytes`.
        unit: String,
    },
    /// An amount: the iterations used `elapsed` units, such as instructions. Less is better.
    Amount {
        /// Name of the unit, e.g. `instructions`.
        unit: String,
    },
}

impl Metric {
    /// Reports whether samples are times of iterations, as in all benchmarks measured by this tool.
    pub fn is_time(&self) -> bool {
        *self == Self::Time
    }

    /// Reports whether `elapsed` is a time, for which a clock can be too coarse. Amounts are exact, however small.
    pub fn is_timed(&self) -> bool {
        !matches!(self, Self::Amount { .. })
    }
}

impl fmt::Display for Metric {
    /// Writes `time`, `rate of ops` or `amount of bytes`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time => f.write_str("time"),
            Self::Rate { unit } => write!(f, "rate of {unit}"),
            Self::Amount { unit } => write!(f, "amount of {unit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted<const N: usize>(mut texts: [&str; N]) -> [&str; N] {
        texts.sort_by(|a, b| natural_cmp(a, b));
        texts
    }

    #[test]
    fn numbers_in_names_are_in_the_order_of_their_values() {
        assert_eq!(
            sorted(["hex/4096", "hex/64", "hex/512", "hex", "hex/64/b", "hash/7"]),
            ["hash/7", "hex", "hex/64", "hex/64/b", "hex/512", "hex/4096"]
        );
        assert_eq!(
            sorted([
                "x/99999999999999999999999",
                "x/100000000000000000000000",
                "x/"
            ]),
            [
                "x/",
                "x/99999999999999999999999",
                "x/100000000000000000000000"
            ]
        );
    }

    #[test]
    fn labels_that_are_numbers_come_first_and_fractions_count() {
        assert_eq!(
            sorted(["b", "100", "9", "a", "0.5", "0.25", "10"]),
            ["0.25", "0.5", "9", "10", "100", "a", "b"]
        );
    }

    #[test]
    fn different_names_are_never_equal_and_the_order_is_one() {
        let names = [
            "a01", "a1", "a1b", "a", "1", "01", "é2", "é10", "", "a-1", "1a", "2a",
        ];
        for a in names {
            for b in names {
                let order = natural_cmp(a, b);
                assert_eq!(order == Ordering::Equal, a == b, "{a} {b}");
                assert_eq!(order, natural_cmp(b, a).reverse(), "{a} {b}");
                for c in names {
                    if order == Ordering::Less && natural_cmp(b, c) == Ordering::Less {
                        assert_eq!(natural_cmp(a, c), Ordering::Less, "{a} {b} {c}");
                    }
                }
            }
        }
    }

    #[test]
    fn keys_are_ordered_by_package_then_target_then_id() {
        let key = |package: &str, target: &str, id: &str| BenchmarkKey {
            package: package.to_owned(),
            target: target.to_owned(),
            id: id.to_owned(),
        };
        let (first, second) = (key("a2", "z", "9"), key("a10", "a", "10"));
        assert_eq!(first.cmp_natural(&second), Ordering::Less);
        let (first, second) = (key("a", "t2", "10"), key("a", "t10", "9"));
        assert_eq!(first.cmp_natural(&second), Ordering::Less);
    }

    #[test]
    fn an_id_that_ends_comes_before_one_that_goes_on_whatever_zeros_its_numbers_have() {
        let key = |id: &str| BenchmarkKey {
            package: "p".to_owned(),
            target: "t".to_owned(),
            id: id.to_owned(),
        };
        let order = |a, b| key(a).cmp_natural(&key(b));
        assert_eq!(order("a1", "a01b"), Ordering::Less);
        assert_eq!(order("a01b", "a1"), Ordering::Greater);
        assert_eq!(order("a01", "a1"), Ordering::Less, "the same number");
    }

    #[test]
    fn a_benchmark_says_the_first_of_its_values_that_is_beyond_a_limit() {
        let (fits, long) = ("x".repeat(1_000), "x".repeat(1_001));
        let most = limits::BEYOND_NUMBERS - 1;
        let within = Benchmark {
            key: BenchmarkKey {
                package: "p".to_owned(),
                target: "t".to_owned(),
                id: fits.clone(),
            },
            version: Some(fits.clone()),
            throughput: Throughput {
                bytes: Some(most),
                elements: Some(most),
            },
            other_throughput: Some(fits.clone()),
            settings: AuthorSettings::default(),
            metric: Metric::Rate { unit: fits },
        };
        let exceeded_limit = |change: &dyn Fn(&mut Benchmark)| {
            let mut benchmark = within.clone();
            change(&mut benchmark);
            benchmark.find_exceeded_limit()
        };
        let is = |limit: Option<String>, text: &str| assert_eq!(limit.as_deref(), Some(text));
        assert_eq!(exceeded_limit(&|_| ()), None);
        assert_eq!(exceeded_limit(&|found| found.metric = Metric::Time), None);
        let id = "its id has 1001 bytes (limit: 1000)";
        is(exceeded_limit(&|found| found.key.id.clone_from(&long)), id);
        is(
            exceeded_limit(&|found| found.key.id.clear()),
            "its id is empty",
        );
        let version = "its version has 1001 bytes (limit: 1000)";
        is(
            exceeded_limit(&|found| found.version = Some(long.clone())),
            version,
        );
        let throughput = "its throughput has 1001 bytes (limit: 1000)";
        is(
            exceeded_limit(&|found| found.other_throughput = Some(long.clone())),
            throughput,
        );
        let amount = || Metric::Amount { unit: long.clone() };
        let unit = "its unit has 1001 bytes (limit: 1000)";
        is(exceeded_limit(&|found| found.metric = amount()), unit);
        let count = "its throughput is 9223372036854775808, but must be below 2^63";
        is(
            exceeded_limit(&|found| found.throughput.bytes = Some(most + 1)),
            count,
        );
        is(
            exceeded_limit(&|found| found.throughput.elements = Some(most + 1)),
            count,
        );
        let processes =
            exceeded_limit(&|found| found.settings.processes = Some(0)).expect("too few");
        assert!(processes.starts_with("its code sets `processes`"));
    }

    #[test]
    fn a_benchmark_is_named_by_its_package_target_and_id() {
        let key = BenchmarkKey {
            package: "p".to_owned(),
            target: "t".to_owned(),
            id: "group/x".to_owned(),
        };
        assert_eq!(key.to_string(), "p/t: group/x");
    }

    #[test]
    fn a_metric_is_a_time_a_rate_in_time_or_an_amount_without_time() {
        let unit = || "ops".to_owned();
        let (rate, amount) = (
            Metric::Rate { unit: unit() },
            Metric::Amount { unit: unit() },
        );
        let facts = |metric: &Metric| (metric.is_time(), metric.is_timed(), metric.to_string());
        assert_eq!(facts(&Metric::Time), (true, true, "time".to_owned()));
        assert_eq!(facts(&rate), (false, true, "rate of ops".to_owned()));
        assert_eq!(facts(&amount), (false, false, "amount of ops".to_owned()));
    }

    #[test]
    fn digits_lead_a_name_up_to_the_first_other_character() {
        assert_eq!(leading_digits("12a3"), "12");
        assert_eq!(leading_digits("a12"), "");
        assert_eq!(leading_digits("12"), "12");
        assert_eq!(cmp_digit_runs("a1", "a01"), Ordering::Equal);
        assert_eq!(cmp_digit_runs("", ""), Ordering::Equal);
        assert_eq!(cmp_digit_runs("a9", "aa"), Ordering::Less);
    }
}
