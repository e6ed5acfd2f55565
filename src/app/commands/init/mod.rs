//! `cargo perfcheck init`: reports what can be measured as it is, adds a first bench if there is none, and writes a CI workflow.

mod automation;
mod command;
mod first_bench;
mod manifest;
mod options;
mod origin;
mod planned;
mod recognised;

pub use command::init;
pub use options::{CiSystem, InitOptions};
pub use origin::CrateOrigin;
