//! The command line: clap's types, and their translation into the options of commands.
//! Options that are the flags of a single command derive clap's traits themselves, next to the command.
//!
//! Must only parse. Invariant: cargo's flags have the spelling and meaning that they have in cargo.

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
pub use command::{Command, ParsedCommand};
pub use completions::{write_completions, write_manual_page};
