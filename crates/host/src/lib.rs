//! Reads the machine and the checkout: clock, environment variables, git, /proc and /sys. All code that depends on the operating system is in `os`.
//!
//! Other crates read these only where an `expect(clippy::disallowed_methods)` gives the reason. This crate must not interpret the values beyond
//! converting them to the types of the model. Invariant: a fact that cannot be determined is absent, not an error. An error is returned only if a
//! command requires the data (a revision, its files).

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod clock;
mod control;
mod examine;
mod git;
pub mod os;
pub mod process;
mod revisions;
mod variables;
mod viewer;

pub use clock::{format_ago, now, parse_moment, to_rfc3339};
pub use control::ControlProbe;
pub use examine::{
    ActivitySnapshot, RealFiles, SystemFiles, last_level_cache, machine_state, read_host_facts,
};
pub use git::{Checkout, GitError, HOOK_VARIABLES};
pub use os::{load_average, suspended_time};
pub use revisions::{CommitTime, PresentFiles, Revision};
pub use variables::{EnvironmentVariables, build_environment, fresh_seed};
pub use viewer::{open_in_viewer, temporary_page};
