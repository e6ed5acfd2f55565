//! Writes runs in the formats of other programs, exactly as those programs write them.
//!
//! Must not decide anything: numbers come from the samples, summaries follow the format. Names of benchmarks are not trusted: they become
//! file names only by the rules of `criterion`, which keep every file below the given directory.

mod benchstat;
mod bmf;
mod criterion;
mod csv;
mod exported;
#[cfg(test)]
mod tests;

pub use benchstat::write_benchstat;
pub use bmf::write_bmf;
pub use criterion::{file_name, write_criterion};
pub use csv::write_csv;
pub use exported::ExportedRun;
