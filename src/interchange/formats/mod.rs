//! Reads the output of other benchmark programs, one file per format.
//!
//! Owns the syntax of the formats and their detection. Must not trust them: every number is checked, sizes and depths are bounded, and
//! unreadable input is an error with its place. Data that a format lacks (raw samples, processes) becomes a caveat and is never made up.

mod critcmp;
mod criterion_tree;
mod divan;
mod gathering;
mod hyperfine;
mod json;
mod libtest;
mod read;
#[cfg(test)]
mod tests;

pub use gathering::ForeignRun;
pub use read::{FileFormat, ForeignInput, detect, read_runs};
