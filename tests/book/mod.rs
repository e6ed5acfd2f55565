//! The book and README: every command line in them parses, blocks of a console that need no measurement say what the tool says, and the chapter on
//! commands is the command line's own help.

mod commands;
mod console;
mod documented;
pub mod pages;
pub mod workflows;
