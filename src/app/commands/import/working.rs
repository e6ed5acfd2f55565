//! What a terminal shows while files are read and runs are stored, which takes long where there are many benchmarks.

use crate::app::context::World;
use crate::report::Progress;
use perfcheck_analysis::model::{Event, Observer};

/// Does the work, while a bar says `what` it is.
pub(super) fn working<T>(what: &str, world: &mut World<'_>, work: impl FnOnce() -> T) -> T {
    let progress = Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
    let tell = |done| progress.observe(&Event::Working { what, done, of: 1 });
    tell(0);
    let result = work();
    tell(1);
    result
}
