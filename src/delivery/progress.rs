//! Progress display for reading, analyzing and writing many benchmarks, which takes long.

use crate::output::Progress;
use crate::session::World;
use perfcheck_analysis::model::ProgressReporter;

/// Runs `work` on this many benchmarks while a bar or line shows the progress of `what`. Pass 0 while their number is unknown.
pub(crate) fn with_progress<T>(
    what: &str,
    benchmarks: usize,
    world: &mut World<'_>,
    work: impl FnOnce(&ProgressReporter<'_>) -> T,
) -> T {
    let progress = Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
    work(&ProgressReporter::begin(&progress, what, benchmarks))
}
