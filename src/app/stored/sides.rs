//! The sides of a stored comparison: the run with the verdicts, and summaries of measurements.

use crate::report::MeasuredSide;
use perfcheck_analysis::model::{BenchmarkKey, Measurement, Run, RunId, Side};
use perfcheck_engine::host;
use perfcheck_engine::store::{Store, StoreError};

/// Returns the run with the verdicts: the candidate if `run` is the base of a pair, else `run` itself.
pub(in crate::app) fn run_with_verdicts(store: &Store, run: RunId) -> Result<Run, StoreError> {
    let head = store.run(run)?;
    match head.pair.filter(|pair| pair.side == Side::Base) {
        Some(pair) => store.run(pair.partner),
        None => Ok(head),
    }
}

/// Summarizes a run's measurement of a benchmark, if it is still stored.
pub(in crate::app) fn read_side(
    store: &Store,
    run: RunId,
    key: &BenchmarkKey,
) -> Result<Option<MeasuredSide>, StoreError> {
    // The run may have been deleted since.
    let Ok(head) = store.run(run) else {
        return Ok(None);
    };
    let measurements = store.measurements(run, Some(std::slice::from_ref(key)))?;
    Ok(measurements
        .first()
        .map(|found| summarize_side(&head, found)))
}

/// Summarizes a measurement of a run.
pub(in crate::app) fn summarize_side(head: &Run, measurement: &Measurement) -> MeasuredSide {
    let launches = measurement.launches.iter();
    let samples = launches.map(|launch| launch.series.deciding_samples().len());
    let counts: Vec<usize> = samples.filter(|samples| *samples > 0).collect();
    MeasuredSide {
        run: head.id,
        started: host::to_rfc3339(head.begun.started),
        git: head.begun.git.clone(),
        launches: counts.len(),
        samples: counts.iter().sum(),
    }
}
