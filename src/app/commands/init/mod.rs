//! `cargo perfcheck init`: what of a workspace can be measured as it is, a first bench where there is none, and the workflow of a CI system.

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
