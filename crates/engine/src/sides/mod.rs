//! Builds both sides of a comparison, from git and cargo to executables that can run side by side.
//!
//! Owns the cache directory: a folder for each workspace with a copy of the sources, a target directory and the kept builds, and a lock for
//! measurements. The sides are built one after the other in the *same* path, whose files are replaced, so that equal sources give equal bytes. Must
//! not touch the user's repository, checkout or target directory. Invariant: a process may die at any moment, and the next one still finds a usable
//! folder.

mod build;
mod configuration;
mod confined;
mod dev_dependencies;
mod error;
mod folder;
mod kept;
mod layout;
mod lock_file;
mod measuring_lock;
mod mirror;
mod outcome;
mod overlay;
mod path_text;
mod recipe;
mod request;
mod shelf;
mod sources;
mod stage;
mod state;
mod workbench;

pub use build::{
    build_commit, build_sides, build_work_tree, find_kept_build, find_kept_builds,
    read_kept_executables,
};
pub use error::SidesError;
pub use folder::default_cache;
pub use measuring_lock::MeasuringLock;
pub use outcome::{BuildOrigin, BuiltSide, Dependency, PreparedSides, SideTarget, TargetPair};
pub use perfcheck_analysis::model::BenchesFrom;
pub use request::{BuildEvent, SidesRequest, UncopiedFile, UncopiedReason};
pub use stage::StagedExecutables;
