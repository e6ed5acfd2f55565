//! `cargo perfcheck [FILTER]...`: build, measure, store, conclude, report; alone or in turn with another build.

mod command;
mod earlier_builds;
mod interrupted;
mod next_run;
mod options;
mod team;

pub use command::run;
pub use options::{AgainstOptions, RunOptions};
