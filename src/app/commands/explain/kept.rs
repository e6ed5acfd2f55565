//! The error of `--asm` and `--flamegraph` if a build is not kept.

use crate::app::error::AppError;
use perfcheck_analysis::model::{BenchmarkKey, GitState, Run};

/// Returns the error for a missing build of `run`. `base` is the run whose commit can be built again.
pub(super) fn not_kept_error(run: &Run, key: &BenchmarkKey, base: &Run) -> AppError {
    let clean = base.begun.git.as_ref().filter(|git| !git.dirty);
    let against = clean.map(GitState::short);
    AppError::NothingToLookInto(format!(
        "no executable of the bench target `{}` is kept of run {}\n  help: `cargo perfcheck --against {}` builds and measures both sides again, and keeps them",
        key.target,
        run.id,
        against.unwrap_or("REV")
    ))
}
