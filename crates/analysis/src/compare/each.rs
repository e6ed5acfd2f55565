//! Parallel work on many benchmarks, with progress reports.

use rayon::prelude::*;

use crate::model::ProgressReporter;

/// Items that are worked on between two progress reports.
const AT_A_TIME: usize = 64;

/// Applies `work` to each item in parallel and returns the results in order. For the progress reports, the items are parts `before`, `before + 1`,
/// ... of the `of` parts of the whole work.
pub fn map_with_progress<'t, T: Sync, R: Send>(
    all: &'t [T],
    (before, of): (usize, usize),
    told: &ProgressReporter<'_>,
    work: impl Fn(&'t T) -> R + Sync,
) -> Vec<R> {
    let mut made = Vec::with_capacity(all.len());
    for some in all.chunks(AT_A_TIME) {
        told.report(before + made.len(), of);
        made.par_extend(some.par_iter().map(&work));
    }
    made
}
