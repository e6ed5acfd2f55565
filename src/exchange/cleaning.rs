//! The summary of an import: warm-up kept apart, outliers counted by a named policy, mean with its bootstrap interval.
//!
//! Nothing here changes what is stored, but for the filter itself: the run is described by it from then on. Resamples, seed and level of
//! the interval are no thresholds and cannot be set: no decision rests on it, and the same file gives the same digits everywhere.

use super::groups::{GroupRow, IdGroup};
use perfcheck_analysis::compare::{counts_of, policy_of};
use perfcheck_analysis::model::{Sample, SampleCounts, SampleFilter};
use perfcheck_stats::{
    CleanedSample, ClusterMean, Description, FirstSample, OperationRates, Resampling, Stream,
    derived_seed, percentile_interval,
};

/// Resamples and seed of the interval of a mean, as the serializer methodology has them.
const RESAMPLES: usize = 2_000;
const SEED: u64 = 42;
const CONFIDENCE_LEVEL: f64 = 0.95;
/// Of fewer values there is no interval.
const FEWEST_FOR_INTERVAL: usize = 5;

/// What one column of a group comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueSummary {
    /// Where its values went.
    pub counts: SampleCounts,
    /// Values that the policy replaced.
    pub replaced: usize,
    /// Bounds beyond which values are outliers, where the policy drew any; per iteration.
    pub fences: Option<(f64, f64)>,
    /// Mean of the values left, per iteration.
    pub mean: f64,
    /// Percentile bootstrap interval of that mean, at 95 %, unless there are too few values.
    pub interval: Option<(f64, f64)>,
    /// Median of the values left.
    pub median: f64,
    /// 1e9 over mean, longest and shortest.
    pub per_second: OperationRates,
    /// How many medians the mean is, before the policy: what it removes may be what is absurd. `None` where the median is 0.
    pub mean_over_median: Option<f64>,
    /// Values of 0.
    pub zeros: usize,
}

/// What becomes of the first row of each launch.
fn first_of(filter: &SampleFilter) -> FirstSample {
    if filter.drop_first {
        FirstSample::Dropped
    } else {
        FirstSample::Used
    }
}

/// Which rows are warm-up: the first of each launch that has more than one.
pub fn warm_up_rows(group: &IdGroup, filter: &SampleFilter) -> Vec<bool> {
    let (launches, first) = (launches(group), first_of(filter));
    launches
        .flat_map(|rows| (0..rows.len()).map(move |at| at < first.skipped(rows.len())))
        .collect()
}

fn launches(group: &IdGroup) -> impl Iterator<Item = &[GroupRow]> {
    group.rows.chunk_by(|one, next| one.launch == next.launch)
}

/// Cleans `group` and describes each column.
pub fn clean(group: &IdGroup, filter: &SampleFilter) -> Vec<ValueSummary> {
    let columns = (0..group.metrics.len()).map(|column| cleaned(group, column, filter));
    let mut columns: Vec<CleanedSample> = columns.collect::<Option<_>>().unwrap_or_default();
    if filter.paired {
        CleanedSample::pair(&mut columns);
    }
    columns
        .iter()
        .zip(0..)
        .filter_map(|(cleaned, column)| described(group, column, cleaned))
        .collect()
}

fn cleaned(group: &IdGroup, column: usize, filter: &SampleFilter) -> Option<CleanedSample> {
    let values = |rows: &[GroupRow]| -> Vec<f64> {
        let samples = rows.iter().map(|row| row.samples[column]);
        samples.map(Sample::per_iteration).collect()
    };
    let values: Vec<Vec<f64>> = launches(group).map(values).collect();
    let values: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
    CleanedSample::of(&values, first_of(filter), policy_of(filter))
}

fn described(group: &IdGroup, column: usize, cleaned: &CleanedSample) -> Option<ValueSummary> {
    let description = Description::of(&cleaned.used)?;
    let before = Description::of(&cleaned.warm)?;
    let clusters: Vec<&[f64]> = cleaned.used.chunks(1).collect();
    // A seed of its own for each group and column: one for all would make their intervals alike.
    let seed = derived_seed(SEED, &format!("{}/{column}", group.id));
    let resampling = Resampling {
        resamples: RESAMPLES,
        stream: Stream { seed, name: "mean" },
    };
    let interval = (clusters.len() >= FEWEST_FOR_INTERVAL)
        .then(|| percentile_interval(&ClusterMean::new(&clusters), CONFIDENCE_LEVEL, resampling))
        .flatten();
    Some(ValueSummary {
        counts: counts_of(cleaned),
        replaced: cleaned.replaced,
        fences: cleaned.bounds,
        mean: description.mean,
        interval: interval.map(|found| (found.lower, found.upper)),
        median: description.median,
        per_second: OperationRates::of(&cleaned.used)?,
        mean_over_median: before.mean_over_median(),
        zeros: (group.rows.iter())
            .filter(|row| row.samples[column].elapsed.0 == 0)
            .count(),
    })
}
