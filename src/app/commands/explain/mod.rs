//! Explains a verdict: in sentences, with the machine code of both builds, or as flame graphs.

mod command;
mod flame_graph;
mod kept;
mod machine_code;

pub use command::{ExplainOptions, explain};
