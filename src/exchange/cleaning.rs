//! Summarizes an import: separates warm-up, applies the outlier policy, and computes the mean with its bootstrap interval.
//!
//! Does not change the stored samples; the filter is stored with the run, and later descriptions of the run use it.
//! No verdict depends on the interval.

use super::groups::{GroupRow, IdGroup};
use perfcheck_analysis::compare::{
    PerSecond, ValueBounds, ValueSummary, filter_policy, find_absurd, sample_counts,
};
use perfcheck_analysis::model::{Sample, SampleFilter, SourceInterval, Thresholds};
use perfcheck_stats::{
    CleanedSample, ClusterMean, Description, FirstSampleTreatment, OperationRates, Resampling,
    Stream, derived_seed, percentile_interval,
};

/// Minimum number of values for an interval.
const FEWEST_FOR_INTERVAL: usize = 5;

/// Returns for each row whether it is warm-up: with `drop_first`, the first row of each process that has more than one.
pub fn warm_up_rows(group: &IdGroup, filter: &SampleFilter) -> Vec<bool> {
    let (launches, first) = (
        rows_by_process(group),
        FirstSampleTreatment::dropped_if(filter.drop_first),
    );
    launches
        .flat_map(|rows| (0..rows.len()).map(move |at| at < first.skip_count(rows.len())))
        .collect()
}

fn rows_by_process(group: &IdGroup) -> impl Iterator<Item = &[GroupRow]> {
    group.rows.chunk_by(|one, next| one.launch == next.launch)
}

/// Applies the filter to `group` and summarizes each column.
pub fn clean(
    group: &IdGroup,
    filter: &SampleFilter,
    interval: &SourceInterval,
    thresholds: &Thresholds,
) -> Vec<ValueSummary> {
    let columns = (0..group.metrics.len()).map(|column| clean_column(group, column, filter));
    let mut columns: Vec<CleanedSample> = columns.collect::<Option<_>>().unwrap_or_default();
    if filter.paired {
        CleanedSample::remove_outlier_rows(&mut columns);
    }
    columns
        .iter()
        .zip(0..)
        .filter_map(|(cleaned, column)| {
            summarize_column(group, column, cleaned, interval, thresholds)
        })
        .collect()
}

fn clean_column(group: &IdGroup, column: usize, filter: &SampleFilter) -> Option<CleanedSample> {
    let values = |rows: &[GroupRow]| -> Vec<f64> {
        let samples = rows.iter().map(|row| row.samples[column]);
        samples.map(Sample::per_iteration).collect()
    };
    let values: Vec<Vec<f64>> = rows_by_process(group).map(values).collect();
    let values: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
    CleanedSample::clean(
        &values,
        FirstSampleTreatment::dropped_if(filter.drop_first),
        filter_policy(filter),
    )
}

fn summarize_column(
    group: &IdGroup,
    column: usize,
    cleaned: &CleanedSample,
    interval: &SourceInterval,
    thresholds: &Thresholds,
) -> Option<ValueSummary> {
    let description = Description::compute(&cleaned.used)?;
    let clusters: Vec<&[f64]> = cleaned.used.chunks(1).collect();
    // Each group and column has its own seed; a shared one would correlate their intervals.
    let seed = derived_seed(interval.seed, &format!("{}/{column}", group.id));
    let resampling = Resampling {
        resamples: interval.resamples as usize,
        stream: Stream { seed, name: "mean" },
    };
    let interval = (clusters.len() >= FEWEST_FOR_INTERVAL)
        .then(|| {
            let mean = ClusterMean::new(&clusters);
            percentile_interval(&mean, interval.confidence_level, resampling)
        })
        .flatten();
    let rates = OperationRates::from_times(&cleaned.used)?;
    Some(ValueSummary {
        counts: sample_counts(cleaned),
        replaced: cleaned.replaced,
        fences: (cleaned.bounds).map(|(lower, upper)| ValueBounds { lower, upper }),
        mean: description.mean,
        mean_interval: interval.map(|found| ValueBounds {
            lower: found.lower,
            upper: found.upper,
        }),
        median: description.median,
        per_second: PerSecond {
            mean: rates.mean,
            min: rates.least,
            max: rates.most,
        },
        absurd: find_absurd(&cleaned.warm, &group.metrics[column], thresholds),
        zeros: (group.rows.iter())
            .filter(|row| row.samples[column].elapsed.0 == 0)
            .count(),
    })
}
