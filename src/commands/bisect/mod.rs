//! `cargo perfcheck bisect`: finds the first slow commit by measuring commits side by side with the good one.
//!
//! The search is pure, its state is saved to a file after each step, and every commit is built and measured as `--against` would. Invariant: a commit
//! without a clear outcome counts as neither fast nor slow.

mod command;
mod options;
mod search;
mod step;

pub use command::bisect;
pub use options::BisectOptions;
