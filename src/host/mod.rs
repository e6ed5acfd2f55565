//! The machine and the checkout: clock, environment variables, git, what /proc and /sys tell.
//!
//! The only place that reads them. Must not interpret what it reads beyond putting it into the model's types.
//! Invariant: a fact that cannot be had is absent, never an
//! error; only what a command cannot do without (a revision, its files) is.

mod clock;
mod git;
mod machine;
mod revisions;
mod variables;

pub use clock::{now, suspended, to_rfc3339};
pub use git::Checkout;
pub use machine::{detect, load};
pub use revisions::{GitError, PresentFiles, Revision};
pub use variables::{Variables, build_environment, fresh_seed};
