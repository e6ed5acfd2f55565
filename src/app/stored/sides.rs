//! The sides of a stored comparison: the run that has the verdicts, and what a run measured of a benchmark in short.

use crate::report::MeasuredSide;
use perfcheck_analysis::model::{BenchmarkKey, Measurement, Run, RunId, Side};
use perfcheck_engine::host;
use perfcheck_engine::store::{Store, StoreError};

/// The run whose verdicts are meant: of an A/B measurement the candidate has them.
pub(in crate::app) fn run_with_verdicts(store: &Store, run: RunId) -> Result<Run, StoreError> {
    let head = store.run(run)?;
    match head.pair.filter(|pair| pair.side == Side::Base) {
        Some(pair) => store.run(pair.partner),
        None => Ok(head),
    }
}

/// What a run measured of a benchmark, as far as it is still there.
pub(in crate::app) fn side_of(
    store: &Store,
    run: RunId,
    key: &BenchmarkKey,
) -> Result<Option<MeasuredSide>, StoreError> {
    // It may have been deleted since.
    let Ok(head) = store.run(run) else {
        return Ok(None);
    };
    let measurements = store.measurements(run, Some(std::slice::from_ref(key)))?;
    Ok(measurements
        .first()
        .map(|found| measured_side(&head, found)))
}

/// What a run measured of a benchmark, in short.
pub(in crate::app) fn measured_side(head: &Run, measurement: &Measurement) -> MeasuredSide {
    let launches = measurement.launches.iter();
    let samples = launches.map(|launch| launch.series.deciding().len());
    let counts: Vec<usize> = samples.filter(|samples| *samples > 0).collect();
    MeasuredSide {
        run: head.id,
        started: host::to_rfc3339(head.begun.started),
        git: head.begun.git.clone(),
        launches: counts.len(),
        samples: counts.iter().sum(),
    }
}
