//! Builds both sides of a comparison, from git and cargo to executables that can run side by side.
//!
//! Owns the cache directory: a folder for each workspace with a copy of the sources, a target directory and the kept builds, and a lock for
//! measurements. The sides are built one after the other in the *same* path, whose files are replaced, so that equal sources give equal bytes. Must
//! not touch the user's repository, checkout or target directory. Invariant: a process may die at any moment, and the next one still finds a usable
//! folder.

mod build;
mod build_time;
mod cache;
mod configuration;
mod criterion;
mod kept;
mod key;
mod lock_file;
mod mirror;
mod outcome;
mod overlay;
mod request;
mod sources;
mod stage;
mod state;
mod workbench;

pub use build::{
    build_commit, build_sides, build_work_tree, find_kept_build, find_kept_builds,
    read_kept_executables,
};
pub use build_time::{TimedSides, prepare_timed_sides};
pub use cache::{MeasuringLock, default_cache};
pub use criterion::CriterionBuild;
pub use outcome::{BuildOrigin, BuiltSide, Dependency, PreparedSides, SideTarget, TargetPair};
pub use perfcheck_analysis::model::BenchesFrom;
pub use request::{BuildEvent, SidesError, SidesRequest, UncopiedFile, UncopiedReason};
pub use stage::StagedExecutables;
