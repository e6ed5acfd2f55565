//! Which of the published systems' statistics are wanted in place of the project's own: plain choices, each with the word that people write.
//!
//! What they mean is done in `compare::alternative`; nothing here computes.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

use super::gate::Statistic;

/// An enum whose variants are words.
macro_rules! words {
    ($(#[$doc:meta])+ $name:ident { $($(#[$variant_doc:meta])+ $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])+ #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The word.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                Self::ALL
                    .iter()
                    .copied()
                    .find(|one| one.word() == text)
                    .ok_or_else(|| {
                        let words: Vec<&str> = Self::ALL.iter().map(|one| one.word()).collect();
                        format!("`{text}` is none of {}", words.join(", "))
                    })
            }
        }
    };
}

words! {
    /// Which test decides about stored runs.
    Test {
        /// The project's own procedure.
        BootstrapT = "bootstrap-t",
        /// Welch's t-test of the means.
        Welch = "welch",
        /// Mann and Whitney's test of ranks.
        MannWhitney = "mann-whitney",
        /// Kruskal and Wallis's test of ranks.
        Kruskal = "kruskal",
        /// The ratio of 95th percentiles and two bounds.
        P95Ratio = "p95-ratio",
        /// Intervals that do not overlap.
        Interval = "interval",
    }
}

words! {
    /// What counts as one observation.
    Observations {
        /// One value a launch: launches are independent of each other.
        Launches = "launches",
        /// Each sample, as if samples of one process were independent.
        Samples = "samples",
    }
}

words! {
    /// What is done about outliers before a summary; no test is of what is left.
    Outliers {
        /// Nothing.
        Keep = "none",
        /// The largest 5 % go.
        Top5 = "top5",
        /// The smallest and the largest 5 % go.
        Both5 = "both5",
        /// What lies beyond fences at some interquartile ranges from the quartiles goes.
        Iqr = "iqr",
        /// What lies beyond some scaled MAD from the median goes.
        Mad = "mad",
        /// Values beyond the 5 and 95 % quantiles become those.
        Winsorized = "winsorized",
    }
}

words! {
    /// What stands for a set of samples.
    Center {
        /// The mean.
        Mean = "mean",
        /// The median.
        Median = "median",
        /// The 1 % quantile.
        Floor = "floor",
        /// The slope of the linear phase.
        Slope = "slope",
        /// The median of the means of 100 parts of 80 % of a launch, then the mean over launches.
        Subselection = "subselection",
        /// The mean of the best half.
        Best50 = "best-50",
        /// The mean of the best three quarters.
        Best75 = "best-75",
        /// The mean of the best 90 %.
        Best90 = "best-90",
        /// The mean of the best 95 %.
        Best95 = "best-95",
        /// The mean of the best 99 %.
        Best99 = "best-99",
    }
}

words! {
    /// A definition of the sample quantile.
    QuantileRule {
        /// Nearest rank.
        InvertedCdf = "inverted-cdf",
        /// Linear interpolation.
        Linear = "linear",
        /// The rank rounded down.
        FloorRank = "floor-rank",
    }
}

words! {
    /// What is kept at its level when many benchmarks are tested.
    FamilyRule {
        /// The chance of any false alarm.
        Holm = "holm",
        /// The share of false alarms among the alarms.
        BenjaminiHochberg = "bh",
        /// Nothing.
        Unadjusted = "none",
    }
}

words! {
    /// How the p of Mann and Whitney's test is found.
    RankP {
        /// Exact for up to 20 values without ties, else asymptotic with continuity correction.
        Automatic = "auto",
        /// From all orders of the values; without ties.
        Exact = "exact",
        /// Normal, corrected for ties.
        Asymptotic = "asymptotic",
        /// The same with continuity correction.
        AsymptoticCorrected = "asymptotic-cc",
    }
}

words! {
    /// What the verdicts are about.
    Subject {
        /// The time of an iteration.
        Time = "time",
        /// Allocations of an iteration.
        Allocations = "allocations",
        /// Bytes that an iteration allocates.
        Bytes = "bytes",
        /// Bytes alive at once.
        Peak = "peak",
        /// The median latency.
        P50 = "p50",
        /// The 95th percentile of the latencies.
        P95 = "p95",
        /// The 99th.
        P99 = "p99",
        /// The 99.9th.
        P999 = "p99.9",
        /// The longest latency.
        Max = "max",
    }
}

impl Subject {
    /// What a statistic beside the time is.
    pub fn of(statistic: Statistic) -> Option<Self> {
        match statistic {
            Statistic::Allocations => Some(Self::Allocations),
            Statistic::Bytes => Some(Self::Bytes),
            Statistic::Peak => Some(Self::Peak),
            Statistic::Latency(500) => Some(Self::P50),
            Statistic::Latency(950) => Some(Self::P95),
            Statistic::Latency(990) => Some(Self::P99),
            Statistic::Latency(999) => Some(Self::P999),
            Statistic::Latency(1000) => Some(Self::Max),
            _ => None,
        }
    }
}

/// How stored runs are analysed, where it is not as the project does it. What is `None` follows from the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Analysis {
    /// Which test decides.
    pub test: Test,
    /// What counts as one observation of it.
    pub observations: Observations,
    /// What is done about outliers before the summary.
    pub outliers: Outliers,
    /// Whether the first sample of each launch is left out of the summary, before anything else.
    pub drop_first: bool,
    /// What stands for a launch, and for a side in the summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub center: Option<Center>,
    /// The definition of quantiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantile: Option<QuantileRule>,
    /// What is done about many benchmarks.
    pub correction: FamilyRule,
    /// How the p of ranks is found.
    pub p: RankP,
    /// What the verdicts are about.
    pub subject: Subject,
}

impl Default for Analysis {
    fn default() -> Self {
        Self {
            test: Test::BootstrapT,
            observations: Observations::Launches,
            outliers: Outliers::Keep,
            drop_first: false,
            center: None,
            quantile: None,
            correction: FamilyRule::Holm,
            p: RankP::Automatic,
            subject: Subject::Time,
        }
    }
}

impl Analysis {
    /// Whether all is as the project does it.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a summary of its own was asked for.
    pub fn summarizes(&self) -> bool {
        self.outliers != Outliers::Keep
            || self.drop_first
            || self.center.is_some()
            || self.quantile.is_some()
    }

    /// What stands for a launch: tests of ranks come from a system that states medians, the others from ones that state means.
    pub fn center_in_force(&self) -> Center {
        self.center.unwrap_or(match self.test {
            Test::MannWhitney | Test::Kruskal => Center::Median,
            _ => Center::Mean,
        })
    }

    /// The definition of quantiles: the median of `Linear` is the mean of the middle two; percentiles are by nearest rank, as elsewhere.
    pub fn quantile_in_force(&self) -> QuantileRule {
        self.quantile.unwrap_or(match self.test {
            Test::P95Ratio => QuantileRule::InvertedCdf,
            _ => QuantileRule::Linear,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_as_it_is_written_and_another_one_names_those_there_are() {
        for test in Test::ALL {
            assert_eq!(test.word().parse(), Ok(*test));
        }
        let error = "anova".parse::<Test>().expect_err("unknown");
        assert!(
            error.contains("`anova` is none of bootstrap-t, welch,"),
            "{error}"
        );
        assert_eq!("p99.9".parse(), Ok(Subject::P999));
    }
}
