//! Reads the output of other benchmark programs, one file per format.
//!
//! This module knows the syntax of the formats, and detects which format a file has. It does not trust files: it checks every number, and bounds
//! sizes and depths. Input that cannot be read is an error that names the position. If a format lacks data such as raw samples or processes, the
//! imported run gets a caveat that says so. Missing data are never made up.

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
