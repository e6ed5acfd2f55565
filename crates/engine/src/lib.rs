//! The side effects of `cargo perfcheck`: processes, files, the machine and the database.
//!
//! [`cargo`] builds bench targets, [`sides`] builds the two sides of a comparison, [`process`] owns child processes, [`child`] speaks the protocol of
//! bench executables, [`host`] examines the machine, [`link`] changes the code layout of executables, [`measure`] starts processes and records their
//! samples, and [`store`] keeps every run in a database.
//! The data model and the statistics belong to `perfcheck-analysis`.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

// Test code shared with other crates refers to this crate by its external name.
#[cfg(test)]
extern crate self as perfcheck_engine;

pub mod cargo;
pub mod child;
pub mod host;
pub mod link;
pub mod measure;
#[cfg(test)]
mod mutations;
pub mod process;
pub mod sides;
pub mod store;
