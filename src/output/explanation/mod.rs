//! Explains a verdict in sentences: how the benchmark was measured, the estimates, the condition that decided, and what would have led to another
//! verdict.
//!
//! Each sentence comes with its exact numbers, which the JSON message shows. This module must not decide anything: all numbers come from the stored
//! decision ([`Decision`](perfcheck_analysis::compare::Decision)).

mod machine_code;
mod measured;
mod paired;
mod unpaired;
mod write;

pub use machine_code::{CodeExtent, write_machine_code};
pub use measured::{BenchmarkSelector, Explanation, MeasuredSide};
pub use write::{ExplanationDepth, LabeledSentence, labeled_sentences, write_explanation};
