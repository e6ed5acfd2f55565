//! `cargo perfcheck init`: reports what can be measured as it is, adds a first bench if there is none, and writes a CI workflow.

mod command;
mod files;
mod harness;
mod manifest;
mod options;

pub use command::init;
pub use options::{CiSystem, CrateOrigin, InitOptions};
