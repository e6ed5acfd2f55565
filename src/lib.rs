//! `cargo perfcheck`: benchmarks with stored baselines, a trustworthy verdict and an exit code.
//!
//! The data flow: `cli` parses, `app` directs; `cargo` builds the bench targets, `measure` drives them through
//! `child`, `store` keeps every launch, `compare` reaches verdicts by means of the crate `perfcheck-stats`, `findings` puts together what is
//! to be told, `report` writes it down and
//! `exit_code` says what the process ends with. docs/ARCHITECTURE.md explains why it is so, and
//! tests/architecture.rs keeps the directions of the imports.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod app;
pub mod cli;
pub mod escape;
pub mod exchange;
pub mod report;
pub mod settings;
