//! `cargo perfcheck [FILTER]...`: builds, measures, stores, concludes and reports; alone or side by side with another build.

mod command;
mod options;

pub use command::run;
pub use options::{AgainstOptions, PossibleTypo, RunOptions};
