//! Why a verdict is what it is: in words, and as the machine code of both builds.

mod command;
mod machine_code;

pub use command::{ExplainOptions, explain};
