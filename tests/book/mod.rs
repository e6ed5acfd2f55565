//! The books and README: every command line in them parses, console blocks that need no measurement show the tool's real output, and the chapter on
//! commands equals the command line's own help.

mod commands;
mod console;
mod documented;
pub mod pages;
pub mod workflows;
