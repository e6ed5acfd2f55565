//! Tests how the tool handles the files of two other benchmark systems: Criterion's own directories, and logs of the serializer methodology. The
//! formulas of all five supported systems are tested beside `perfcheck-stats`.

#![expect(clippy::unwrap_used, reason = "a test: what is not there fails it")]

mod criterion_files;
mod criterion_recorded;
mod serializer;
