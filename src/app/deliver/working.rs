//! What is shown while benchmarks are read, worked on and written, which takes long where there are many.

use crate::app::context::World;
use crate::report::Progress;
use perfcheck_analysis::model::Work;

/// Does the work on so many benchmarks, while a bar or a line says `what` it is and how far; 0: nobody knows yet how many there are.
pub(in crate::app) fn working<T>(
    what: &str,
    benchmarks: usize,
    world: &mut World<'_>,
    work: impl FnOnce(&Work<'_>) -> T,
) -> T {
    let progress = Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
    work(&Work::begin(&progress, what, benchmarks))
}
