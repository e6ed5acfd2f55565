//! The analysis of measurements for `cargo perfcheck`.
//!
//! [`model`] holds the records: benchmarks, processes, runs, settings, verdicts. [`compare`] reaches a verdict on two measurements of a benchmark
//! with the statistics of `perfcheck-stats`. [`findings`] collects the results of a whole run: rows, remarks, limits and the [`exit_code`]. Nothing
//! here reads a file, a clock or the environment: equal records give equal findings.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod compare;
pub mod exit_code;
pub mod findings;
pub mod model;
