//! The same work on each of many benchmarks, in parallel.

use rayon::prelude::*;

use crate::model::Work;

/// So many are worked on together before progress is told.
const AT_A_TIME: usize = 64;

/// What `work` makes of each, in their order. They are the parts from `before` on of the `of` parts that `told` has in all.
pub fn each<'t, T: Sync, R: Send>(
    all: &'t [T],
    (before, of): (usize, usize),
    told: &Work<'_>,
    work: impl Fn(&'t T) -> R + Sync,
) -> Vec<R> {
    let mut made = Vec::with_capacity(all.len());
    for some in all.chunks(AT_A_TIME) {
        told.reached(before + made.len(), of);
        made.par_extend(some.par_iter().map(&work));
    }
    made
}
