//! Shows progress while many benchmarks are read, analyzed or written.

use crate::output::Progress;
use crate::session::World;
use perfcheck_analysis::model::ProgressReporter;

/// Runs `work` while a bar or line shows the progress of `what` on this many benchmarks. Pass 0 if their number is unknown.
pub(crate) fn with_progress<T>(
    what: &str,
    benchmarks: usize,
    world: &mut World<'_>,
    work: impl FnOnce(&ProgressReporter<'_>) -> T,
) -> T {
    let progress = Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
    work(&ProgressReporter::begin(&progress, what, benchmarks))
}
