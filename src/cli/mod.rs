//! The command line: clap's types, and their translation into plain option structs.
//!
//! Must not do anything but parse. Invariant: cargo's flags are spelled and mean what they do in cargo.

mod against_flags;
mod analysis_flags;
mod arguments;
mod bisect_flags;
mod cargo_flags;
mod command;
mod compare_flags;
mod doctor_flags;
mod export_flags;
mod history_flags;
mod import_flags;
mod paired_flags;
mod report_flags;
mod reporting_flags;
mod run_flags;
mod self_test_flags;
mod store_flags;
mod stored_flags;

pub use arguments::{command_line, parse};
pub use command::{Command, Parsed};
