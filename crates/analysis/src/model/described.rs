//! Descriptions of a run (statistics, pivots, columns, pictures) may leave samples out. All samples are stored, and tests use all of them unless
//! `Observations::Filtered` is chosen.

use serde::{Deserialize, Serialize};

use super::{Outliers, Thresholds};

/// What is left out. A filter that an import was given belongs to its run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampleFilter {
    /// Whether the first sample of each launch goes, before anything else. Of a launch of one sample it stays.
    pub drop_first: bool,
    /// Which samples are outliers, among those of all launches of a benchmark.
    pub outliers: Outliers,
    /// How many interquartile ranges or scaled MAD lie between quartile or median and the fence; null where `outliers` draws none.
    pub fence: Option<f64>,
    /// Of fewer samples none is beyond the fence of interquartile ranges.
    pub min_samples: u32,
    /// Whether a row that is an outlier in one of its values is one in all.
    pub paired: bool,
}

impl Default for SampleFilter {
    /// Leaves everything.
    fn default() -> Self {
        Self {
            drop_first: false,
            outliers: Outliers::Keep,
            fence: None,
            min_samples: 1,
            paired: false,
        }
    }
}

impl SampleFilter {
    /// The same at these thresholds, where it does not say its fence itself.
    #[must_use]
    pub fn at(self, thresholds: &Thresholds) -> Self {
        Self {
            fence: match self.outliers {
                Outliers::Iqr => Some(self.fence.unwrap_or(thresholds.iqr_fence)),
                Outliers::Mad => Some(self.fence.unwrap_or(thresholds.mad_fence)),
                _ => None,
            },
            min_samples: thresholds.iqr_min_samples as u32,
            ..self
        }
    }

    /// Whether it leaves anything out of anything.
    pub fn leaves_out(&self) -> bool {
        self.drop_first || self.outliers != Outliers::Keep
    }

    /// The serializer methodology's name of the policy, with its fence: `iqr_1.5`.
    pub fn name(&self) -> String {
        let paired = if self.paired { ", paired" } else { "" };
        match self.fence {
            Some(fence) => format!("{}_{fence}{paired}", self.outliers),
            None => format!("{}{paired}", self.outliers),
        }
    }
}

/// Where samples went: `runs_raw = runs + warmup_skipped + outliers_removed`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampleCounts {
    /// How many there are.
    pub runs_raw: u64,
    /// How many were left out as warm-up: the first of their launches.
    pub warmup_skipped: u64,
    /// How many were left out as outliers. They are stored, too.
    pub outliers_removed: u64,
    /// How many are left.
    pub runs: u64,
}

impl SampleCounts {
    /// The identity, in words.
    pub fn in_words(&self) -> String {
        format!(
            "runs_raw {} = runs {} + warmup_skipped {} + outliers_removed {}",
            self.runs_raw, self.runs, self.warmup_skipped, self.outliers_removed
        )
    }
}

impl std::iter::Sum for SampleCounts {
    fn sum<I: Iterator<Item = Self>>(each: I) -> Self {
        each.fold(Self::default(), |sum, one| Self {
            runs_raw: sum.runs_raw + one.runs_raw,
            warmup_skipped: sum.warmup_skipped + one.warmup_skipped,
            outliers_removed: sum.outliers_removed + one.outliers_removed,
            runs: sum.runs + one.runs,
        })
    }
}

/// A filter, and what it did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOutSamples {
    /// The filter.
    pub filter: SampleFilter,
    /// Where the samples went.
    pub counts: SampleCounts,
}

impl LeftOutSamples {
    /// The identity with the name of the policy.
    pub fn in_words(&self) -> String {
        format!("{} ({})", self.counts.in_words(), self.filter.name())
    }
}

/// What a filter leaves of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribedSamples {
    /// What it left out.
    pub left_out: LeftOutSamples,
    /// What is left of each launch, per iteration.
    pub launches: Vec<Vec<f64>>,
    /// Whether the import stored the first sample of each launch as its warm-up, so that it is none of those that decide.
    pub first_apart: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn a_filter_has_the_fence_of_its_kind_of_outliers_unless_it_says_its_own() {
        let mut thresholds = Thresholds::default();
        for (name, value) in [("iqr-fence", 2.0), ("mad-fence", 4.0)] {
            thresholds.set(name, value).expect("in range");
        }
        let fence = |outliers, fence| {
            let filter = SampleFilter {
                outliers,
                fence,
                ..SampleFilter::default()
            };
            filter.at(&thresholds).fence
        };
        assert_eq!(fence(Outliers::Iqr, None), Some(2.0));
        assert_eq!(fence(Outliers::Mad, None), Some(4.0));
        assert_eq!(fence(Outliers::Iqr, Some(3.0)), Some(3.0));
        assert_eq!(fence(Outliers::Mad, Some(3.0)), Some(3.0));
        assert_eq!(fence(Outliers::Keep, Some(3.0)), None);
    }

    #[test]
    fn counts_of_samples_add_up() {
        let counts = |runs_raw, warmup_skipped, outliers_removed, runs| SampleCounts {
            runs_raw,
            warmup_skipped,
            outliers_removed,
            runs,
        };
        let sum: SampleCounts = [counts(10, 1, 2, 7), counts(30, 3, 5, 22)]
            .into_iter()
            .sum();
        assert_eq!(sum, counts(40, 4, 7, 29));
    }
}
