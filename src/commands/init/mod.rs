//! `cargo perfcheck init`: reports which benches can be measured unchanged, adds a first bench if there is none, and writes a CI workflow.

mod command;
mod files;
mod harness;
mod manifest;
mod options;

pub use command::init;
pub use options::{CiSystem, CrateOrigin, InitOptions};
