//! Choices between the statistics of published systems and the project's own: plain enums, each value with the word that people write.
//!
//! `compare::alternative` implements them; nothing here computes.

use serde::{Deserialize, Serialize};

use super::statistic::Statistic;
use perfcheck_stats::{Correction, MannWhitneyMethod, Quantile, TrimmedError, words};

words! {
    /// The test that decides about stored runs.
    Test {
        BootstrapT = "bootstrap-t": "The procedure of this tool: bootstrap t-score and prediction interval",
        TScore = "t-score": "The bootstrap t-score alone, without drift between runs (as --ignore-drift)",
        PooledT = "pooled-t": "The t-score of the means against resamples of both sides pooled (Criterion)",
        Welch = "welch": "Welch's t-test of the means (mmtests)",
        MannWhitney = "mann-whitney": "Mann and Whitney's test of ranks (NBenchmark, the serializer methodology)",
        Kruskal = "kruskal": "Kruskal and Wallis's test of ranks (NBenchmark, for three runs and more)",
        P95Ratio = "p95-ratio": "95th percentiles: faster up to 0.95, slower from 1.05 on (BenchForge)",
        Interval = "interval": "Intervals that do not overlap (mmtests' comparison script)",
    }
}

words! {
    /// The unit that counts as one observation.
    Observations {
        Launches = "launches": "One value a launch: processes are independent of each other",
        Samples = "samples": "Every sample, as NBenchmark and Criterion do: raises false alarms where launches differ",
        /// Samples that remain after the outlier policy, or, without a policy, after the filter of an import.
        Filtered = "filtered": "Every sample that `--outliers` leaves, or the filter of an import (serializers)",
    }
}

words! {
    /// The treatment of outliers in a summary. Tests use all samples unless `Observations::Filtered` is chosen.
    Outliers {
        Keep = "none": "All samples stay (Criterion, mmtests)",
        Top5 = "top5": "The largest 5 % go (NBenchmark)",
        Both5 = "both5": "The smallest and the largest 5 % go (NBenchmark)",
        Iqr = "iqr": "What lies beyond 1.5 IQR from the quartiles goes, from ten samples on and if these differ (serializers)",
        /// The fence is that of `NBenchmark`; thresholds do not change it.
        IqrUnguarded = "iqr-unguarded": "The same by nearest rank, of any number of samples and any spread (NBenchmark)",
        Mad = "mad": "What lies beyond 3 scaled MAD from the median goes (NBenchmark)",
        Winsorized = "winsorized": "Values beyond the 5 and 95 % quantiles become those (serializers)",
    }
}

/// The analysis of stored runs. Fields that are `None` follow from the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Analysis {
    /// The test that decides.
    pub test: Test,
    /// The unit that counts as one observation of the test.
    pub observations: Observations,
    /// The treatment of outliers before the summary.
    pub outliers: Outliers,
    /// Whether the summary leaves out the first sample of each process, before anything else.
    pub drop_first: bool,
    /// The standard error of a mean after outliers were removed.
    pub trimmed_error: TrimmedError,
    /// The value that represents a process, and a side in the summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub center: Option<Statistic>,
    /// The definition of quantiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantile: Option<Quantile>,
    /// The correction for many benchmarks.
    pub correction: Correction,
    /// The method for the p-value of rank tests.
    pub p: MannWhitneyMethod,
    /// The statistic that the verdicts are about.
    pub subject: Statistic,
}

impl Default for Analysis {
    fn default() -> Self {
        Self {
            test: Test::BootstrapT,
            observations: Observations::Launches,
            outliers: Outliers::Keep,
            drop_first: false,
            trimmed_error: TrimmedError::Winsorized,
            center: None,
            quantile: None,
            correction: Correction::Holm,
            p: MannWhitneyMethod::Automatic,
            subject: Statistic::Time,
        }
    }
}

impl Test {
    /// Reports whether the test comes from another system.
    pub fn is_foreign(self) -> bool {
        !matches!(self, Self::BootstrapT | Self::TScore)
    }
}

impl From<Test> for Analysis {
    /// Uses this test, with the project's defaults for everything else.
    fn from(test: Test) -> Self {
        Self {
            test,
            ..Self::default()
        }
    }
}

impl Analysis {
    /// Reports whether all choices are the project's defaults.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Reports whether samples are left out or replaced before they are described.
    pub fn leaves_out(&self) -> bool {
        self.outliers != Outliers::Keep || self.drop_first
    }

    /// Reports whether the user asked for another summary than the default.
    pub fn summarizes(&self) -> bool {
        self.leaves_out() || self.center.is_some() || self.quantile.is_some()
    }

    /// Reports whether a rank test reports the change of the means in place of the shift: it does for single samples that are summarized by their
    /// mean.
    pub fn reports_change_of_means(&self) -> bool {
        self.observations != Observations::Launches && self.center == Some(Statistic::Mean)
    }

    /// Returns the value that represents a process. By default, rank tests use the median and the other tests the mean, as the systems that they come
    /// from do.
    pub fn center_in_force(&self) -> Statistic {
        self.center.unwrap_or(match self.test {
            Test::MannWhitney | Test::Kruskal => Statistic::Median,
            _ => Statistic::Mean,
        })
    }

    /// Returns the definition of quantiles. The default is `Linear`, with which the median is the mean of the middle two; for the test of 95th
    /// percentiles it is the nearest rank.
    pub fn quantile_in_force(&self) -> Quantile {
        self.quantile.unwrap_or(match self.test {
            Test::P95Ratio => Quantile::InvertedCdf,
            _ => Quantile::Linear,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_analysis_is_the_default_until_one_of_its_parts_is_another() {
        assert!(Analysis::default().is_default());
        assert!(!Analysis::from(Test::Welch).is_default());
        let cleaned = Analysis {
            drop_first: true,
            ..Analysis::default()
        };
        assert!(!cleaned.is_default() && cleaned.leaves_out() && cleaned.summarizes());
    }

    #[test]
    fn a_word_is_read_as_it_is_written_and_another_one_names_those_there_are() {
        for test in Test::ALL {
            assert_eq!(test.word().parse(), Ok(*test));
        }
        let error = "anova".parse::<Test>().expect_err("unknown");
        assert!(
            error.contains("`anova` is none of bootstrap-t, t-score, pooled-t, welch,"),
            "{error}"
        );
    }
}
