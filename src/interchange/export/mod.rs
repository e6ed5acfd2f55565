//! Writes runs in the formats of other programs.
//!
//! Must not decide anything: numbers come from the samples, summaries follow the format. Names of benchmarks are not trusted: they become
//! file names only by the rules of `criterion`, which keep every file below the given directory.

mod criterion;
mod exported;
#[cfg(test)]
mod tests;
mod writers;

pub use criterion::{file_name, write_criterion};
pub use exported::ExportedRun;
pub use writers::{write_benchstat, write_bmf, write_csv};
