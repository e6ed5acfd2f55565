//! Filters the samples of a run before they are described, and summarizes the values of an imported benchmark. The settings for outliers are
//! translated into policies of `perfcheck-stats`.
//!
//! Invariant: filtered samples never reach a test, unless `Observations::Filtered` is chosen.

use serde::Serialize;
use std::collections::BTreeMap;

use super::diagnostics::Diagnostic;
use super::summary::times_with_first;
use crate::model::{
    FilterReport, FilteredSamples, Measurement, Outliers, SampleCounts, SampleFilter, Source,
    Thresholds,
};
use perfcheck_stats::{
    CleanedSample, FirstSampleTreatment, Interval, IqrFence, OutlierPolicy, Quantile,
    ZeroSpreadTreatment,
};

/// Returns the outlier policy that a filter stands for. Quartiles are interpolated, as in the serializer benchmarks.
pub fn filter_policy(filter: &SampleFilter) -> OutlierPolicy {
    let usual = Thresholds::default();
    let thresholds = Thresholds {
        iqr_fence: filter.fence.unwrap_or(usual.iqr_fence),
        iqr_min_samples: f64::from(filter.min_samples),
        mad_fence: filter.fence.unwrap_or(usual.mad_fence),
        ..usual
    };
    to_outlier_policy(filter.outliers, Quantile::Linear, &thresholds)
}

/// Makes summaries of `measurements` describe only the samples that `filter` keeps. `measurements` must be all measurements of one run. Some imports
/// store the first repetition of each process as its warm-up. These repetitions are left out and counted even if the filter keeps first samples.
pub fn apply_filter(
    measurements: &mut [Measurement],
    source: Option<&Source>,
    filter: &SampleFilter,
) {
    let apart = source.is_some_and(|source| source.filter.drop_first);
    if !(apart || filter.leaves_out()) {
        for measurement in measurements {
            measurement.described = None;
        }
        return;
    }
    let cleaned = |measurement: &Measurement| clean_measurement(measurement, apart, filter);
    let mut cleaned: Vec<Option<CleanedSample>> = measurements.iter().map(cleaned).collect();
    let columns = source.filter(|_| filter.paired);
    for rows in columns.map_or_else(Vec::new, |source| group_rows(measurements, source)) {
        pair_columns(&mut cleaned, &rows);
    }
    for (measurement, cleaned) in measurements.iter_mut().zip(cleaned) {
        measurement.described = cleaned.map(|cleaned| FilteredSamples {
            left_out: FilterReport {
                filter: *filter,
                counts: sample_counts(&cleaned),
            },
            processes: cleaned.used_by_cluster(),
            first_apart: apart,
        });
    }
}

fn clean_measurement(
    measurement: &Measurement,
    apart: bool,
    filter: &SampleFilter,
) -> Option<CleanedSample> {
    let processes = measurement.processes.iter();
    let processes: Vec<Vec<f64>> = processes
        .map(|process| times_with_first(process, apart))
        .collect();
    let processes: Vec<&[f64]> = processes.iter().map(Vec::as_slice).collect();
    CleanedSample::clean(
        &processes,
        FirstSampleTreatment::dropped_if(filter.drop_first || apart),
        filter_policy(filter),
    )
}

/// Groups the benchmarks whose values were imported from different columns of the same rows. Their ids differ only in the label of the column at the
/// end. The groups hold indexes into `measurements`.
fn group_rows(measurements: &[Measurement], source: &Source) -> Vec<Vec<usize>> {
    let labels = source
        .values
        .iter()
        .filter_map(|value| value.label.as_ref());
    let ends: Vec<String> = labels.map(|label| format!("/{label}")).collect();
    let mut rows: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, measurement) in measurements.iter().enumerate() {
        let id = &measurement.benchmark.key.id;
        if let Some(row) = ends.iter().find_map(|end| id.strip_suffix(end.as_str())) {
            rows.entry(row).or_default().push(at);
        }
    }
    rows.into_values().filter(|row| row.len() > 1).collect()
}

fn pair_columns(cleaned: &mut [Option<CleanedSample>], rows: &[usize]) {
    let columns: Option<Vec<CleanedSample>> = rows.iter().map(|at| cleaned[*at].clone()).collect();
    let Some(mut columns) = columns else { return };
    let counts = || columns.iter().map(|column| column.warm.len());
    if counts().min() == counts().max() {
        CleanedSample::remove_outlier_rows(&mut columns);
        for (at, column) in rows.iter().zip(columns) {
            cleaned[*at] = Some(column);
        }
    }
}

/// Returns how many samples the filter of a run left out, summed over `measurements`, which must be all measurements of that run. Returns `None` if
/// there is no filter.
pub fn sum_left_out<'m>(
    measurements: impl IntoIterator<Item = &'m Measurement>,
) -> Option<FilterReport> {
    let each = measurements.into_iter();
    let each: Vec<FilterReport> = each
        .filter_map(|one| Some(one.described.as_ref()?.left_out))
        .collect();
    Some(FilterReport {
        filter: each.first()?.filter,
        counts: each.iter().map(|one| one.counts).sum(),
    })
}

/// Returns how many samples there were, and how many of them were skipped, removed and used.
pub fn sample_counts(cleaned: &CleanedSample) -> SampleCounts {
    let counts = cleaned.counts;
    SampleCounts {
        runs_raw: counts.raw as u64,
        warmup_skipped: counts.warm_up_skipped as u64,
        outliers_removed: counts.outliers_removed as u64,
        runs: counts.used as u64,
    }
}

/// Translates `outliers` into a policy with these thresholds. `quartiles` says how the quartiles are computed.
pub fn to_outlier_policy(
    outliers: Outliers,
    quartiles: Quantile,
    thresholds: &Thresholds,
) -> OutlierPolicy {
    match outliers {
        Outliers::Keep => OutlierPolicy::Keep,
        Outliers::Top5 => OutlierPolicy::TopFivePercent,
        Outliers::Both5 => OutlierPolicy::BothFivePercent,
        Outliers::Iqr => OutlierPolicy::IqrFence(IqrFence {
            quartiles,
            multiple: thresholds.iqr_fence,
            fewest: thresholds.iqr_min_samples as usize,
            without_spread: ZeroSpreadTreatment::KeepAll,
        }),
        Outliers::IqrUnguarded => OutlierPolicy::IqrFence(IqrFence::NEAREST_RANK),
        Outliers::Mad => OutlierPolicy::Mad {
            multiple: thresholds.mad_fence,
        },
        Outliers::Winsorized => OutlierPolicy::Winsorise5To95,
    }
}

/// A summary of the values that an import read for one benchmark, from one column of a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValueSummary {
    /// How many values were read, skipped as warm-up, removed as outliers, and used in this summary. These counts are members of this object.
    #[serde(flatten)]
    pub counts: SampleCounts,
    /// How many values the outlier policy replaced by other values. They are among the used values.
    pub replaced: usize,
    /// The bounds beyond which values are outliers; null if the outlier policy has no bounds.
    #[serde(rename = "fences_ns")]
    pub fences: Option<ValueBounds>,
    /// The mean of the used values, per iteration: in nanoseconds, or in the unit of an amount.
    pub mean: f64,
    /// The percentile bootstrap interval of `mean`. The member `interval` of the `source` has its confidence level, resamples and seed. Null for
    /// fewer than five used values.
    pub mean_interval: Option<ValueBounds>,
    /// The median of the used values, in the unit of `mean`.
    pub median: f64,
    /// How many operations run per second, computed from the used values.
    pub per_second: PerSecond,
    /// Signs of absurd values: a mean far above the median, or a value that is implausibly long. The thresholds `mean-over-median` and
    /// `absurd-seconds` decide. Empty if there are none.
    pub absurd: Vec<Diagnostic>,
    /// How many of all values that were read are 0, which means that the clock could not resolve them.
    pub zeros: usize,
}

/// A lower and an upper bound of values, in the unit of the values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValueBounds {
    /// The lower bound.
    pub lower: f64,
    /// The upper bound.
    pub upper: f64,
}

impl From<Interval> for ValueBounds {
    fn from(interval: Interval) -> Self {
        Self {
            lower: interval.lower,
            upper: interval.upper,
        }
    }
}

/// Operations per second: 1e9 divided by a time in nanoseconds. If the time is 0, the clock could not resolve it, and the rate is given as 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PerSecond {
    /// Operations per second at the mean time.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub mean: f64,
    /// Operations per second at the longest time, so the lowest rate.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub min: f64,
    /// Operations per second at the shortest time, so the highest rate. It is 0 if the shortest time is 0.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub max: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{flat_process, measurement};
    use crate::model::{Outliers, SourceValue};
    use perfcheck_stats::{IqrFence, ZeroSpreadTreatment};

    #[test]
    fn a_fence_is_that_of_its_policy() {
        let policy = |outliers, fence| {
            filter_policy(&SampleFilter {
                outliers,
                fence,
                min_samples: 7,
                ..SampleFilter::default()
            })
        };
        let iqr = |multiple| {
            OutlierPolicy::IqrFence(IqrFence {
                quartiles: Quantile::Linear,
                multiple,
                fewest: 7,
                without_spread: ZeroSpreadTreatment::KeepAll,
            })
        };
        assert_eq!(policy(Outliers::Iqr, Some(3.0)), iqr(3.0));
        assert_eq!(policy(Outliers::Iqr, None), iqr(1.5));
        let mad = |multiple| OutlierPolicy::Mad { multiple };
        assert_eq!(policy(Outliers::Mad, Some(5.0)), mad(5.0));
        assert_eq!(policy(Outliers::Mad, None), mad(3.0));
        assert_eq!(policy(Outliers::Keep, Some(5.0)), OutlierPolicy::Keep);
    }

    #[test]
    fn a_row_with_an_outlier_in_one_column_is_left_out_of_all_its_columns() {
        let column = |id: &str, times: [f64; 6]| {
            let mut found = measurement(vec![flat_process(0, 1, &times)]);
            found.benchmark.key.id = id.to_owned();
            found
        };
        let mut run = [
            column("parse/user", [10.0, 11.0, 12.0, 99.0, 13.0, 14.0]),
            column("parse/system", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
            column("parse/wall", [90.0, 21.0, 22.0, 23.0, 24.0, 25.0]),
            column("print/wall", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        ];
        let values = ["user", "system", "wall"].map(|label| SourceValue {
            label: Some(label.to_owned()),
            ..SourceValue::default()
        });
        let source = Source {
            values: values.to_vec(),
            ..Source::default()
        };
        assert_eq!(group_rows(&run, &source), [[0, 1, 2]]);
        let filter = SampleFilter {
            outliers: Outliers::Mad,
            paired: true,
            ..SampleFilter::default()
        };
        apply_filter(&mut run, Some(&source), &filter);
        let left = run.each_ref().map(|column| {
            let described = column.described.as_ref().expect("a filter");
            described.processes.concat()
        });
        assert_eq!(left[0], [11.0, 12.0, 13.0, 14.0]);
        assert_eq!(left[1], [2.0, 3.0, 5.0, 6.0]);
        assert_eq!(left[2], [21.0, 22.0, 24.0, 25.0]);
        assert_eq!(left[3], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let sum = sum_left_out(&run).expect("a filter");
        assert_eq!(sum.filter, filter);
        let counts = SampleCounts {
            runs_raw: 24,
            warmup_skipped: 0,
            outliers_removed: 6,
            runs: 18,
        };
        assert_eq!(sum.counts, counts);
        // Without a filter, no samples are left out.
        apply_filter(&mut run, Some(&source), &SampleFilter::default());
        assert_eq!(sum_left_out(&run), None);
    }
}
