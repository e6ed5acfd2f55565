//! How a verdict came about, in sentences: what was measured, what was taken of it, which condition decided, what would have made it another.
//!
//! Every sentence carries its numbers, exact, for the JSON message. Must not decide: the numbers are those that the decision left behind
//! ([`Grounds`](perfcheck_analysis::compare::Grounds)).

mod alternative;
mod content;
mod effects;
mod extras;
mod machine_code;
mod measured;
mod paired;
mod stored;
mod summary;
mod unmeasured;
mod write;

pub use content::{BenchmarkArguments, Explanation, MeasuredSide};
pub use machine_code::{CodeShown, write_machine_code};
pub use write::{Depth, explained, write_explanation};
