//! How two of the five systems handle files: Criterion's own directories, and logs of the serializer methodology. Tests beside `perfcheck-stats`
//! cover the systems' formulas.

#![expect(clippy::unwrap_used, reason = "a test: what is not there fails it")]

mod criterion_files;
mod criterion_recorded;
mod serializer;
