//! Runs in the formats of other programs: what each can hold of them, written as that program writes it.
//!
//! Must not decide anything: numbers are those of the samples, summaries those that the format asks for. Names of benchmarks are not trusted:
//! they become names of files only by the rules of `criterion`, which lead nowhere but below the directory that was given.

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
