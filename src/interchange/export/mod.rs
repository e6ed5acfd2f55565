//! Writes runs in the formats of other programs.
//!
//! This module decides nothing: it takes numbers from the samples, and summarizes them as each format demands. It does not trust the names of
//! benchmarks. They become file names only by the rules of the module `criterion`, which keep every file below the directory that the user named.

mod criterion;
mod exported;
#[cfg(test)]
mod tests;
mod writers;

pub use criterion::{file_name, write_criterion};
pub use exported::ExportedRun;
pub use writers::{write_benchstat, write_bmf, write_csv};
