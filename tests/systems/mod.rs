//! What two of the five systems make of files: directories of Criterion's own, and logs as the serializer methodology reads them. Their formulas
//! are tested beside `perfcheck-stats`.

#![expect(clippy::unwrap_used, reason = "a test: what is not there fails it")]

mod criterion_files;
mod criterion_recorded;
mod serializer;
