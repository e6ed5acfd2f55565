//! Generates shell completions and manual pages from the command line.

use clap_complete::Shell;
use std::io::{self, Write};

use super::arguments::command_line;

/// The executable that cargo starts for `cargo perfcheck`. Shells complete the arguments of this executable.
const EXECUTABLE: &str = "cargo-perfcheck";

/// Writes the completions for `shell`.
pub fn write_completions(shell: Shell, writer: &mut dyn Write) -> io::Result<()> {
    // `generate` panics if it cannot write, for example because the reader has closed the pipe. Therefore it writes into memory.
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command_line(), EXECUTABLE, &mut text);
    writer.write_all(&text)
}

/// Writes the manual page of the command that `words` name, or of the whole program. Returns `false` if there is no such command.
pub fn write_manual_page(words: &[String], writer: &mut dyn Write) -> io::Result<bool> {
    let mut line = command_line();
    line.build();
    let mut command = &line;
    for word in words {
        match command.find_subcommand(word) {
            Some(found) => command = found,
            None => return Ok(false),
        }
    }
    let name = [&[EXECUTABLE.to_owned()], words].concat().join("-");
    let page = clap_mangen::Man::new(command.clone().display_name(name));
    let mut text = Vec::new();
    page.render(&mut text)?;
    writer.write_all(&text)?;
    Ok(true)
}
