//! `cargo perfcheck bisect`: finds the first slow commit by measuring commits side by side with the good one.
//!
//! A pure function chooses the next commit. Each commit is built and measured as in a run with `--against`, and the state of the search is then saved
//! to a file. Invariant: a commit without a clear outcome counts as neither fast nor slow.

mod command;
mod options;
mod search;
mod step;

pub use command::bisect;
pub use options::BisectOptions;
