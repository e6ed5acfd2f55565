//! Parallel work on many benchmarks, with progress reports.

use rayon::prelude::*;

use crate::model::ProgressReporter;

/// Number of items that are processed between two progress reports.
const AT_A_TIME: usize = 64;

/// Where a stage begins within the whole work, for progress reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkStage {
    /// Number of parts of the work that were done before the stage.
    pub done: usize,
    /// Number of parts of the whole work.
    pub total: usize,
}

impl WorkStage {
    /// Returns the only stage of work with `total` parts.
    pub fn whole(total: usize) -> Self {
        Self { done: 0, total }
    }
}

/// Applies `work` to each item in parallel and returns the results in order. Each item is one part of the work for the progress reports.
pub fn map_with_progress<'t, T: Sync, R: Send>(
    all: &'t [T],
    stage: WorkStage,
    progress: &ProgressReporter<'_>,
    work: impl Fn(&'t T) -> R + Sync,
) -> Vec<R> {
    let mut results = Vec::with_capacity(all.len());
    for some in all.chunks(AT_A_TIME) {
        progress.report(stage.done + results.len(), stage.total);
        results.par_extend(some.par_iter().map(&work));
    }
    results
}
