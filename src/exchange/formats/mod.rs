//! What other benchmark programs write, each format in a file of its own, read into plain runs.
//!
//! Owns how the formats look and how they are told apart. Must not trust them: every number is checked, sizes and depths are bounded, and what
//! cannot be read is an error with its place. What a format does not hold (raw samples, launches) is said as a caveat and never made up.

mod critcmp;
mod criterion_tree;
mod detect;
mod divan;
mod gathering;
mod hyperfine;
mod json;
mod libtest;
mod read;
#[cfg(test)]
mod tests;

pub use detect::{FileFormat, detect};
pub use gathering::ForeignRun;
pub use read::{Requested, read_foreign};
