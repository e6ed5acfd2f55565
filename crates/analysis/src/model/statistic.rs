//! The statistics that users can name. One table has their words, and says for which uses (columns, limits and others) each of them is available.
//!
//! `compare` computes the values. A word has only one meaning within a [`StatisticSet`]: in columns and pivots, `p95` and `max` describe samples.
//! Everywhere else, they describe single operations.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// A number that describes a measurement, or its change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Statistic {
    /// Time per iteration. Its value in one run is the median. Its change is the one that a verdict about time rests on.
    Time,
    /// Smallest sample.
    Min,
    /// Largest sample.
    Max,
    /// Mean. In columns, it is the mean of the processes' means: harmonic for rates, otherwise arithmetic.
    Mean,
    /// Median of all samples.
    Median,
    /// The 1 % quantile of the samples.
    Floor,
    /// The slope of the linear phase.
    Slope,
    /// Standard deviation of all samples. For rates, it is the deviation of their harmonic mean, computed by the delta method.
    StdDev,
    /// Standard deviation of the means of the processes.
    ProcessStdDev,
    /// Standard deviation of all samples, divided by their mean.
    Variation,
    /// Median absolute deviation of the samples, scaled so that it estimates the standard deviation.
    Mad,
    /// Median absolute deviation of the samples, without the scale factor.
    MadUnscaled,
    /// Mean of the best samples. The number says what percentage of the samples this is.
    BestMean(u8),
    /// Percentile of the samples. The number is the share of samples, in thousandths, that are at least as good as the percentile.
    Percentile(u16),
    /// Percentile of the samples by linear interpolation. The number is in thousandths.
    LinearPercentile(u16),
    /// The subselection of mmtests. For each process, random parts of its samples are drawn, and the median of the parts' means is taken. The value
    /// is the mean of these medians over all processes.
    Subselection,
    /// Like `Subselection`, but each random part is drawn with replacement.
    SubselectionReplaced,
    /// Half the width of the 95 % interval of the subselection.
    SubselectionMargin,
    /// Allocations of an iteration.
    Allocations,
    /// Bytes that an iteration allocates.
    Bytes,
    /// Largest number of bytes that are allocated at once in an iteration.
    Peak,
    /// Instructions of an iteration.
    Instructions,
    /// CPU time of a run of a program, in user and system mode.
    Cpu,
    /// Largest memory of a run of a program at any time.
    Memory,
    /// Size of an executable without symbols and debug information.
    Size,
    /// Time of a build of the workspace.
    BuildTime,
    /// Percentile of the times of single operations. The number is in thousandths, so 1000 is the longest operation.
    Latency(u16),
}

/// A set of statistics, named for the use for which they are available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatisticSet {
    /// Statistics that can be columns in a table of runs or in a pivot.
    Columns,
    /// Statistics that can stand for a process in a test, or for a side in the summary (`--center`).
    Centers,
    /// Statistics that verdicts can be about (`--metric`).
    Metrics,
    /// Statistics that can have limits (`--limit`).
    Limits,
    /// Statistics whose values `history` can show (`history --metric`).
    Histories,
}

/// The unit of a statistic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Nanoseconds.
    Time,
    /// Bytes.
    Bytes,
    /// A number of items, such as allocations or instructions.
    Count,
}

impl Statistic {
    /// The median time of single operations.
    pub const P50: Self = Self::Latency(500);
    /// The 95th percentile of the times of single operations.
    pub const P95: Self = Self::Latency(950);
    /// The 99th percentile of the times of single operations.
    pub const P99: Self = Self::Latency(990);
    /// The 99.9th percentile of the times of single operations.
    pub const P999: Self = Self::Latency(999);
    /// The longest single operation.
    pub const LONGEST: Self = Self::Latency(1000);

    /// Parses the word of a statistic that belongs to `set`. The error message lists the words of the set.
    pub fn parse(text: &str, set: StatisticSet) -> Result<Self, String> {
        let word = text.trim().to_ascii_lowercase();
        let named = set.statistics().iter().find(|one| one.to_string() == word);
        let found = named.copied().or_else(|| {
            (set == StatisticSet::Columns)
                .then(|| Self::parse_column(&word))
                .flatten()
        });
        found.ok_or_else(|| {
            format!(
                "`{text}` is not a statistic for {}; choose one of {}",
                set.description(),
                set.words().join(", ")
            )
        })
    }

    /// Parses the words that only columns accept: `best-N`, `pN` and `pN-linear` with any percentage, and the names that mmtests uses for its
    /// statistics.
    fn parse_column(word: &str) -> Option<Self> {
        let percent = |digits: &str| {
            let found = digits.parse().ok().filter(|percent| *percent <= 100_u8)?;
            digits.bytes().all(|c| c.is_ascii_digit()).then_some(found)
        };
        // A percentile such as `p99.9` has at most one decimal.
        let thousandths = |digits: &str| {
            let (whole, tenths) = digits.split_once('.').unwrap_or((digits, "0"));
            let tenths = percent(tenths).filter(|_| tenths.len() == 1)?;
            let found = u16::from(percent(whole)?) * 10 + u16::from(tenths);
            (found <= 1000).then_some(found)
        };
        match (word, word.strip_prefix("best-"), word.strip_prefix('p')) {
            ("amean" | "hmean", ..) => Some(Self::Mean),
            ("stddev", ..) => Some(Self::StdDev),
            ("coeffvar", ..) => Some(Self::Variation),
            (_, Some(digits), _) => percent(digits).map(Self::BestMean),
            (_, None, Some(digits)) => match digits.strip_suffix("-linear") {
                Some(digits) => thousandths(digits).map(Self::LinearPercentile),
                None => thousandths(digits).map(Self::Percentile),
            },
            (_, None, None) => None,
        }
    }

    /// Returns the unit.
    pub fn unit(self) -> Unit {
        match self {
            Self::Allocations | Self::Instructions => Unit::Count,
            Self::Bytes | Self::Peak | Self::Memory | Self::Size => Unit::Bytes,
            _ => Unit::Time,
        }
    }

    /// Reports whether the statistic measures spread. Less spread is better, whichever metric is measured.
    pub fn is_spread(self) -> bool {
        matches!(
            self,
            Self::StdDev
                | Self::ProcessStdDev
                | Self::Variation
                | Self::Mad
                | Self::MadUnscaled
                | Self::SubselectionMargin
        )
    }

    /// Reports whether the change of the statistic has an interval. Only then can it have a limit in percent.
    pub fn has_change(self) -> bool {
        !matches!(self, Self::Slope | Self::StdDev | Self::Mad)
    }

    /// Returns a description of the statistic for the help text of a flag.
    pub fn help(self) -> &'static str {
        match self {
            Self::Time => "Time per iteration",
            Self::Min => "The smallest sample",
            Self::Max => "The largest sample",
            Self::Mean => "The mean",
            Self::Median => "The median",
            Self::Floor => "The 1st percentile",
            Self::Slope => "The slope of the linear phase (Criterion)",
            Self::StdDev => "The standard deviation",
            Self::ProcessStdDev => "The standard deviation of the processes' means",
            Self::Variation => "The standard deviation divided by the mean",
            Self::Mad => "The median absolute deviation, scaled",
            Self::MadUnscaled => {
                "The median absolute deviation, not scaled (as in the serializer benchmarks)"
            }
            Self::BestMean(50) => "The mean of the best 50 % (mmtests)",
            Self::BestMean(75) => "The mean of the best 75 %",
            Self::BestMean(90) => "The mean of the best 90 %",
            Self::BestMean(95) => "The mean of the best 95 %",
            Self::BestMean(99) => "The mean of the best 99 %",
            Self::BestMean(_) => "The mean of the best N percent",
            Self::Percentile(_) => "A percentile of the samples",
            Self::LinearPercentile(_) => {
                "An interpolated percentile (as in the serializer benchmarks)"
            }
            Self::Subselection => {
                "Median of the means of 100 random 80 % subsets, averaged over processes (mmtests)"
            }
            Self::SubselectionReplaced => {
                "Like `subselection`, but with 1000 subsets drawn with replacement"
            }
            Self::SubselectionMargin => "Half the width of the subselection's interval",
            Self::Allocations => "Allocations per iteration",
            Self::Bytes => "Allocated bytes per iteration",
            Self::Peak => "Largest number of bytes in use at any time",
            Self::Instructions => "Instructions per iteration (counted with valgrind)",
            Self::Cpu => "CPU time of a run (programs)",
            Self::Memory => "Peak memory of a run (programs)",
            Self::Size => "Size of the executable after `strip`",
            Self::BuildTime => "Time of a build (builds instead of benchmarks)",
            Self::P50 => "Median time of single operations (latency benchmarks)",
            Self::P95 => "95th percentile of the times of single operations",
            Self::P99 => "99th percentile of the times of single operations",
            Self::P999 => "99.9th percentile of the times of single operations",
            Self::LONGEST => "Longest single operation",
            Self::Latency(_) => "A percentile of the times of single operations",
        }
    }
}

impl StatisticSet {
    /// Returns the statistics of the set that have a word of their own, in the order in which they are listed.
    pub fn statistics(self) -> &'static [Statistic] {
        use Statistic as S;
        match self {
            Self::Columns => &[
                S::Min,
                S::Mean,
                S::Median,
                S::StdDev,
                S::ProcessStdDev,
                S::Variation,
                S::Mad,
                S::MadUnscaled,
                S::Max,
                S::Subselection,
                S::SubselectionReplaced,
                S::SubselectionMargin,
            ],
            Self::Centers => &[
                S::Mean,
                S::Median,
                S::Floor,
                S::Slope,
                S::Subselection,
                S::BestMean(50),
                S::BestMean(75),
                S::BestMean(90),
                S::BestMean(95),
                S::BestMean(99),
            ],
            Self::Metrics => &[
                S::Time,
                S::Allocations,
                S::Bytes,
                S::Peak,
                S::Instructions,
                S::P50,
                S::P95,
                S::P99,
                S::P999,
                S::LONGEST,
                S::BuildTime,
            ],
            Self::Limits => &[
                S::Time,
                S::Mean,
                S::Median,
                S::Slope,
                S::StdDev,
                S::Mad,
                S::Allocations,
                S::Bytes,
                S::Peak,
                S::Instructions,
                S::Cpu,
                S::Memory,
                S::Size,
                S::P50,
                S::P95,
                S::P99,
                S::P999,
                S::LONGEST,
                S::BuildTime,
            ],
            Self::Histories => &[
                S::Time,
                S::Instructions,
                S::Cpu,
                S::Memory,
                S::Size,
                S::BuildTime,
            ],
        }
    }

    /// Returns all words that the set accepts, for help and errors.
    pub fn words(self) -> Vec<String> {
        let mut words: Vec<String> = self.statistics().iter().map(Statistic::to_string).collect();
        if self == Self::Columns {
            words.push("best-95 (any percentage)".to_owned());
            words.push("p95 (any percentile, also p99.9)".to_owned());
            words.push("p95-linear (interpolated)".to_owned());
        }
        words
    }

    fn description(self) -> &'static str {
        match self {
            Self::Columns => "columns",
            Self::Centers => "a process",
            Self::Metrics => "verdicts",
            Self::Limits => "limits",
            Self::Histories => "histories",
        }
    }
}

impl fmt::Display for Statistic {
    /// Writes the word that users type.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match *self {
            Self::Time => "time",
            Self::Min => "min",
            Self::Max | Self::LONGEST => "max",
            Self::Mean => "mean",
            Self::Median => "median",
            Self::Floor => "floor",
            Self::Slope => "slope",
            Self::StdDev => "std-dev",
            Self::ProcessStdDev => "process-std-dev",
            Self::Variation => "cv",
            Self::Mad => "mad",
            Self::MadUnscaled => "mad-unscaled",
            Self::BestMean(percent) => return write!(f, "best-{percent}"),
            Self::Percentile(thousandths) => {
                return write!(f, "p{}", f64::from(thousandths) / 10.0);
            }
            Self::LinearPercentile(thousandths) => {
                return write!(f, "p{}-linear", f64::from(thousandths) / 10.0);
            }
            Self::Subselection => "subselection",
            Self::SubselectionReplaced => "subselection-replaced",
            Self::SubselectionMargin => "subselection-margin",
            Self::Allocations => "allocations",
            Self::Bytes => "bytes",
            Self::Peak => "peak",
            Self::Instructions => "instructions",
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Size => "size",
            Self::BuildTime => "build-time",
            Self::Latency(thousandths) => return write!(f, "p{}", f64::from(thousandths) / 10.0),
        })
    }
}

impl Serialize for Statistic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Statistic {
    /// Parses the word of a center, a metric or a statistic with limits. Only these are stored, and no word has two meanings among them.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        Self::parse(&word, StatisticSet::Limits)
            .or_else(|_| Self::parse(&word, StatisticSet::Centers))
            .map_err(de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Statistic {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Statistic".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "The word of a statistic, as options write it."
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error as ValueError, StringDeserializer};

    /// A statistic that is displayed as it is stored.
    struct Written(Statistic);

    impl fmt::Display for Written {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.serialize(f)
        }
    }

    const SETS: [StatisticSet; 5] = [
        StatisticSet::Columns,
        StatisticSet::Centers,
        StatisticSet::Metrics,
        StatisticSet::Limits,
        StatisticSet::Histories,
    ];

    #[test]
    fn a_word_of_a_set_is_read_as_it_is_written_and_another_one_names_those_there_are() {
        for set in SETS {
            for statistic in set.statistics() {
                assert_eq!(
                    Statistic::parse(&statistic.to_string(), set),
                    Ok(*statistic)
                );
            }
            let error = Statistic::parse("meadian", set).expect_err("unknown");
            assert!(
                error.starts_with("`meadian` is not a statistic for "),
                "{error}"
            );
            assert!(error.ends_with(&set.words().join(", ")), "{error}");
        }
    }

    #[test]
    fn each_statistic_of_a_set_says_something_of_its_own() {
        for set in SETS {
            let texts = set.statistics().iter().map(|statistic| statistic.help());
            let different: std::collections::BTreeSet<&str> = texts.collect();
            assert_eq!(different.len(), set.statistics().len(), "{set:?}");
        }
    }

    #[test]
    fn any_percentage_is_for_columns_alone() {
        let columns = |word| Statistic::parse(word, StatisticSet::Columns);
        assert_eq!(columns("best-33"), Ok(Statistic::BestMean(33)));
        assert_eq!(columns("p95"), Ok(Statistic::Percentile(950)));
        assert_eq!(columns("p99.9"), Ok(Statistic::Percentile(999)));
        assert_eq!(columns("p5-linear"), Ok(Statistic::LinearPercentile(50)));
        assert_eq!(columns("HMean"), Ok(Statistic::Mean));
        assert!(columns("p101").is_err() && columns("p+5").is_err());
        assert!(
            columns("p99.99").is_err() && columns("p100.1").is_err() && columns("p99.").is_err()
        );
        assert!(Statistic::parse("best-33", StatisticSet::Centers).is_err());
        let limits = |word| Statistic::parse(word, StatisticSet::Limits);
        assert_eq!(limits("p95"), Ok(Statistic::P95));
        assert_eq!(limits("max"), Ok(Statistic::LONGEST));
    }

    #[test]
    fn what_is_stored_is_read_again() {
        for set in [
            StatisticSet::Centers,
            StatisticSet::Metrics,
            StatisticSet::Limits,
        ] {
            for statistic in set.statistics() {
                let written = Written(*statistic).to_string();
                assert_eq!(written, statistic.to_string());
                let reader: StringDeserializer<ValueError> = written.into_deserializer();
                assert_eq!(Statistic::deserialize(reader), Ok(*statistic));
            }
        }
    }

    #[test]
    fn counts_bytes_and_times_have_units_of_their_own() {
        for counted in [Statistic::Allocations, Statistic::Instructions] {
            assert_eq!(counted.unit(), Unit::Count);
        }
        assert_eq!(Statistic::Bytes.unit(), Unit::Bytes);
        assert_eq!(Statistic::Peak.unit(), Unit::Bytes);
        assert_eq!(Statistic::P99.unit(), Unit::Time);
    }

    #[test]
    fn each_word_of_a_set_is_among_those_that_are_offered() {
        for set in SETS {
            let words = set.words();
            assert!(
                set.statistics()
                    .iter()
                    .all(|one| words.contains(&one.to_string()))
            );
            let has_patterns = words.len() > set.statistics().len();
            assert_eq!(has_patterns, set == StatisticSet::Columns);
        }
    }

    #[test]
    fn spread_and_changes_without_an_interval_are_of_these_statistics() {
        use Statistic as S;
        let all: Vec<S> = SETS
            .iter()
            .flat_map(|set| set.statistics())
            .copied()
            .collect();
        let of = |is: fn(S) -> bool| {
            let mut words: Vec<String> = all
                .iter()
                .filter(|one| is(**one))
                .map(S::to_string)
                .collect();
            words.sort();
            words.dedup();
            words
        };
        let spread = [
            "cv",
            "mad",
            "mad-unscaled",
            "process-std-dev",
            "std-dev",
            "subselection-margin",
        ];
        assert_eq!(of(S::is_spread), spread);
        assert_eq!(of(|one| !one.has_change()), ["mad", "slope", "std-dev"]);
    }

    #[test]
    fn each_set_has_a_name_in_the_error_about_a_word() {
        for (set, name) in SETS
            .into_iter()
            .zip(["columns", "a process", "verdicts", "limits"])
        {
            let error = Statistic::parse("x", set).expect_err("unknown");
            let expected = format!("`x` is not a statistic for {name}; choose one of ");
            assert!(error.starts_with(&expected), "{error}");
        }
    }

    #[test]
    fn percentages_are_whole_numbers_of_at_most_a_hundred_and_percentiles_have_a_tenth_more() {
        let columns = |word: &str| Statistic::parse(word, StatisticSet::Columns).ok();
        assert_eq!(columns("best-100"), Some(Statistic::BestMean(100)));
        assert_eq!(columns("best-101"), None);
        assert_eq!(columns("best-"), None);
        assert_eq!(columns("p100"), Some(Statistic::Percentile(1_000)));
        assert_eq!(columns("p0.5"), Some(Statistic::Percentile(5)));
        assert_eq!(
            columns("p99.9-linear"),
            Some(Statistic::LinearPercentile(999))
        );
        assert_eq!(columns(" CV "), Some(Statistic::Variation));
        assert_eq!(columns("coeffvar"), Some(Statistic::Variation));
        assert_eq!(columns("stddev"), Some(Statistic::StdDev));
        assert_eq!(columns("amean"), Some(Statistic::Mean));
    }

    #[test]
    fn statistics_with_a_number_say_it_in_their_word() {
        for (statistic, word) in [
            (Statistic::BestMean(50), "best-50"),
            (Statistic::Percentile(950), "p95"),
            (Statistic::LinearPercentile(999), "p99.9-linear"),
            (Statistic::P50, "p50"),
            (Statistic::LONGEST, "max"),
            (Statistic::Max, "max"),
        ] {
            assert_eq!(statistic.to_string(), word);
        }
        assert_eq!(format!("{:>6}", Statistic::Mean), "  mean");
        assert_eq!(Statistic::Mean.help(), "The mean");
        let any = Statistic::BestMean(33).help();
        assert_eq!(any, "The mean of the best N percent");
    }
}
