//! The command line: clap's types, and their translation into the options of commands; a command whose options are its flags, as they are, says itself what they are.
//!
//! Must not do anything but parse. Invariant: cargo's flags are spelled and mean what they do in cargo.

mod against_flags;
mod arguments;
mod baseline_flags;
mod bisect_flags;
mod cargo_flags;
mod command;
mod completions;
mod doctor_flags;
mod help;
mod init_flags;
mod list_flags;
mod mistyped;
mod run_flags;
mod store_commands;
mod store_flags;

pub use arguments::{command_line, parse};
pub use command::{Command, Parsed};
pub use completions::{write_completions, write_manual_page};
