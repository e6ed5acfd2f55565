//! The command line: clap's types, and their translation into the options of commands; a command whose options are its flags, as they are, says itself what they are.
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
mod history_flags;
mod import_flags;
mod paired_flags;
mod reporting_flags;
mod run_flags;
mod self_test_flags;
mod show_flags;
mod store_flags;

pub use arguments::{command_line, parse};
pub use command::{Command, Parsed};
