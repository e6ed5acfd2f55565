//! The machine and the checkout: clock, environment variables, git, what /proc and /sys tell.
//!
//! The only place that reads them. Must not interpret what it reads beyond putting it into the model's types.
//! Invariant: a fact that cannot be had is absent, never an error; only what a command cannot do without (a revision, its files) is an error.

mod clock;
mod commits;
mod control;
mod examine;
mod git;
mod git_error;
mod machine;
mod revisions;
mod variables;
mod viewer;

pub use clock::{ago, moment, now, suspended, to_rfc3339};
pub use control::ControlProbe;
pub use examine::{Activity, RealFiles, SystemFiles, last_level_cache, machine_state};
pub use git::{Checkout, HOOK_VARIABLES};
pub use git_error::GitError;
pub use machine::{detect, load};
pub use revisions::{PresentFiles, Revision};
pub use variables::{Variables, build_environment, fresh_seed};
pub use viewer::{open_in_viewer, temporary_page};
