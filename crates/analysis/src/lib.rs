//! What `cargo perfcheck` makes of measurements.
//!
//! [`model`] holds the records: benchmarks, launches, runs, settings, verdicts. [`compare`] reaches a verdict on two measurements of a benchmark by
//! means of `perfcheck-stats`. [`findings`] puts together what is to be told of a whole run: rows, remarks, limits and the
//! [`exit_code`]. Nothing here reads a file, a clock or the environment: the same records give the same findings.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod compare;
pub mod exit_code;
pub mod findings;
pub mod model;
