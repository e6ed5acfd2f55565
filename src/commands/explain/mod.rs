//! Explains a verdict: in sentences, with the machine code of both builds, or as flame graphs.

mod command;
mod kept_builds;

pub use command::{ExplainOptions, explain};
