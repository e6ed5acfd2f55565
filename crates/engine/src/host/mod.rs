//! The machine and the checkout: clock, environment variables, git, what /proc and /sys tell, the secret of this user,
//! what an executable opens and loads.
//!
//! The only place that reads them. Must not interpret what it reads beyond putting it into the model's types.
//! Invariant: a fact that cannot be had is absent, never an error; only what a command cannot do without (a revision, its files)
//! and a secret that cannot be trusted are errors.

mod clock;
mod commits;
mod control;
mod examine;
mod git;
mod libraries;
mod machine;
mod opened;
mod revisions;
mod secret;
mod variables;
mod viewer;

pub use clock::{moment, now, suspended, to_rfc3339};
pub use control::ControlProbe;
pub use examine::{Activity, RealFiles, SystemFiles, machine_state};
pub use git::{Checkout, HOOK_VARIABLES};
pub use libraries::{Libraries, private_libraries};
pub use machine::{detect, load};
pub use opened::{FileChange, FileOpened, OpenedFiles, changed_files};
pub use revisions::{GitError, PresentFiles, Revision};
pub use secret::{SecretError, default_secret_path, secret};
pub use variables::{TerminalCharacters, Variables, build_environment, fresh_seed};
pub use viewer::{open_in_viewer, temporary_page};
