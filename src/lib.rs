//! `cargo perfcheck`: benchmarks with stored baselines, a trustworthy verdict and an exit code.
//!
//! The data flow: `cli` parses, `app` directs. The crate `perfcheck-engine` builds the bench targets, drives them and stores every launch.
//! The crate `perfcheck-analysis` reaches the verdicts, puts together what is to be told, and says what the process ends with. `report`
//! writes it down. docs/src/architecture.md explains why it is so, and tests/architecture.rs keeps the directions of the imports.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod app;
pub mod cli;
pub mod escape;
pub mod exchange;
pub mod report;
pub mod settings;
