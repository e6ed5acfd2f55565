//! Filters for descriptions of a run (statistics, pivots, columns, pictures). All samples are stored, and tests use all of them unless
//! `Observations::Filtered` is chosen.

use serde::{Deserialize, Serialize};

use super::{Outliers, Thresholds};

/// A filter that leaves samples out. The filter that an import was given belongs to its run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampleFilter {
    /// Whether the first sample of each process is left out, before anything else. A process with one sample keeps it.
    pub drop_first: bool,
    /// The definition of outliers, applied to the samples of all processes of a benchmark together.
    pub outliers: Outliers,
    /// Distance of the fence from the quartile or median, in interquartile ranges or scaled MADs; null if `outliers` has no fence.
    pub fence: Option<f64>,
    /// With fewer samples, no sample is beyond the fence of interquartile ranges.
    pub min_samples: u32,
    /// Whether a row with an outlier in one value is left out for all its values.
    pub paired: bool,
}

impl Default for SampleFilter {
    /// Returns a filter that keeps everything.
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
    /// Fills in the fence from these thresholds, unless the filter has its own.
    #[must_use]
    pub fn with_fence_from(self, thresholds: &Thresholds) -> Self {
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

    /// Reports whether the filter can leave samples out.
    pub fn leaves_out(&self) -> bool {
        self.drop_first || self.outliers != Outliers::Keep
    }

    /// Returns the serializer methodology's name of the policy, with its fence: `iqr_1.5`.
    pub fn policy_name(&self) -> String {
        let paired = if self.paired { ", paired" } else { "" };
        match self.fence {
            Some(fence) => format!("{}_{fence}{paired}", self.outliers),
            None => format!("{}{paired}", self.outliers),
        }
    }
}

/// Numbers of samples that were kept and left out: `runs_raw = runs + warmup_skipped + outliers_removed`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampleCounts {
    /// Samples before filtering.
    pub runs_raw: u64,
    /// Samples left out as warm-up: the first of each process.
    pub warmup_skipped: u64,
    /// Samples left out as outliers. They are stored, too.
    pub outliers_removed: u64,
    /// Samples that are left.
    pub runs: u64,
}

impl SampleCounts {
    /// Writes the counts as an equation.
    pub fn describe(&self) -> String {
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

/// A filter and the number of samples that it left out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilterReport {
    /// The filter.
    pub filter: SampleFilter,
    /// Numbers of samples that were kept and left out.
    pub counts: SampleCounts,
}

impl FilterReport {
    /// Writes the counts as an equation, with the name of the policy.
    pub fn describe(&self) -> String {
        format!("{} ({})", self.counts.describe(), self.filter.policy_name())
    }
}

/// The samples of a measurement that a filter keeps.
#[derive(Debug, Clone, PartialEq)]
pub struct FilteredSamples {
    /// The filter and its counts.
    pub left_out: FilterReport,
    /// Remaining values of each process, per iteration.
    pub launches: Vec<Vec<f64>>,
    /// Whether the import stored the first sample of each process as its warm-up, outside the samples that decide.
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
            filter.with_fence_from(&thresholds).fence
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
