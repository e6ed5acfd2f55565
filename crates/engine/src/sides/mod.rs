//! Both sides of an A/B comparison, from git and cargo to executables that can be launched beside one another.
//!
//! Owns the cache directory: one folder per workspace with a copy of the sources, a target directory and the executables that
//! were kept, and a lock for whoever measures. Both sides are built in turn from the *same* path, whose files are switched, so that equal sources give equal bytes.
//! Must not touch the user's repository, checkout or target directory. Invariant: whatever moment a process dies at, the next one finds a
//! folder that it can use.

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
    build_commit, build_sides, build_work_tree, kept_build, kept_builds, kept_executables,
};
pub use error::SidesError;
pub use folder::default_cache;
pub use measuring_lock::MeasuringLock;
pub use outcome::{BuiltSide, Dependency, PreparedSides, Provenance, SideTarget, TargetPair};
pub use perfcheck_analysis::model::BenchesFrom;
pub use request::{BuildEvent, SidesRequest, UncopiedFile, UncopiedReason};
pub use stage::Stage;
