//! Where `cargo perfcheck` touches the world.
//!
//! [`cargo`] builds bench targets, [`sides`] the two sides of a comparison, [`process`] owns the processes that are started, [`child`] talks with a bench
//! executable, [`host`] examines the machine, [`link`] lays the code of executables out anew, [`measure`] is the loop that launches and records, and
//! [`store`] keeps every run in a database.
//! What is measured, and what it means, is defined by `perfcheck-analysis`.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

// What the tests of other crates share with those here has its names from outside.
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
