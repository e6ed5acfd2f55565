//! Sampling schedules of a run's references, which the run follows, and their duration.

use std::time::Duration;

use perfcheck_analysis::findings::{ReferenceChoice, References};
use perfcheck_analysis::model::{BenchmarkKey, Series};
use perfcheck_engine::measure::FlatSchedule;
use perfcheck_engine::store::{Store, StoreError};

/// The sampling schedule of a benchmark's reference.
pub(in crate::app) struct PinnedSchedule {
    pub(in crate::app) key: BenchmarkKey,
    pub(in crate::app) flat: Option<FlatSchedule>,
    pub(in crate::app) samples: u32,
    /// Duration of one process with its warm-up; `None` if amounts were measured instead of times
    pub(in crate::app) visit: Option<Duration>,
}

/// Returns the schedules of the reference runs. The new run follows them so that the samples are comparable.
pub(in crate::app) fn pinned_schedules(
    store: &Store,
    references: &References,
) -> Result<Vec<PinnedSchedule>, StoreError> {
    let mut pins = Vec::new();
    for (key, choice) in &references.chosen {
        let ReferenceChoice::Runs { averaged, .. } = choice else {
            continue;
        };
        let Some(newest) = averaged.first() else {
            continue;
        };
        let measured = store.measurements(*newest, Some(std::slice::from_ref(key)))?;
        let Some(measured) = measured.first() else {
            continue;
        };
        let Some(series) = measured.launches.first().map(|launch| &launch.series) else {
            continue;
        };
        pins.push(PinnedSchedule {
            key: key.clone(),
            flat: series.flat.first().map(|sample| FlatSchedule {
                iterations: sample.iterations,
                samples: series.flat.len() as u64,
            }),
            samples: u32::try_from(series.deciding_samples().len()).unwrap_or(u32::MAX),
            visit: (measured.benchmark.metric.is_timed()).then(|| total_time(series)),
        });
    }
    Ok(pins)
}

/// Sums up the time of all samples and of the warm-up.
fn total_time(series: &Series) -> Duration {
    let samples = series.linear.iter().chain(&series.flat);
    let nanoseconds = samples
        .chain([&series.warm_up])
        .map(|sample| sample.elapsed.0);
    Duration::from_nanos(nanoseconds.fold(0, u64::saturating_add))
}
