//! `cargo perfcheck`: benchmarks with stored baselines, a trustworthy verdict and an exit code.
//!
//! `cli` parses the command line and `app` carries out the command. The crate `perfcheck-engine` builds the bench targets, drives them and stores
//! every process. The crate `perfcheck-analysis` reaches the verdicts, collects the findings and decides the exit code. `report` writes the output.
//! The chapter *Architecture* of the project's book explains this design, and tests/architecture.rs checks the directions of the imports.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod app;
pub mod cli;
pub mod escape;
pub mod exchange;
pub mod report;
pub mod settings;
