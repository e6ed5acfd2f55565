//! Why a verdict is what it is: in words, as the machine code of both builds, and as flame graphs of them.

mod command;
mod flame_graph;
mod kept;
mod machine_code;

pub use command::{ExplainOptions, explain};
