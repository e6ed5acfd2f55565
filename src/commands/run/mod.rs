//! `cargo perfcheck [FILTER]...`: builds and measures benchmarks, alone or side by side with another build. Stores, judges and reports the run.

mod command;
mod options;

pub use command::run;
pub use options::{AgainstOptions, PossibleTypo, RunOptions};
