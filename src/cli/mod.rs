//! The command line: clap's types, and their translation into the options of commands.
//! Options of a single command are defined next to the command and derive clap's traits there.
//!
//! This module must only parse. Invariant: cargo's flags have the spelling and meaning that they have in cargo.

mod arguments;
mod command;
mod flags;
mod help;
mod subcommands;

pub use arguments::{command_line, parse, write_completions, write_manual_page};
pub use command::{Command, ParsedCommand};
