//! Status lines in cargo's style: errors, warnings, and the steps of a build.

use std::io::{self, Write};

use crate::report::theme;
use crate::report::view::wrap_prose;

/// Writes an error, the last message of a command.
pub fn write_error(writer: &mut dyn Write, message: &str) -> io::Result<()> {
    writeln!(
        writer,
        "{}: {}",
        theme::error(),
        theme::escape_terminal_text(message)
    )
}

/// Writes a warning; the command goes on.
pub fn write_warning(writer: &mut dyn Write, message: &str) -> io::Result<()> {
    writeln!(
        writer,
        "{}: {}",
        theme::warning(),
        theme::escape_terminal_text(message)
    )
}

/// Like [`write_warning`], wrapped at `columns`.
pub(crate) fn write_warning_within(
    writer: &mut dyn Write,
    message: &str,
    columns: usize,
) -> io::Result<()> {
    let text = format!(
        "{}: {}",
        theme::warning(),
        theme::escape_terminal_text(message)
    );
    writeln!(writer, "{}", wrap_prose(&text, columns, "  "))
}

/// Writes a build step in cargo's style: a right-aligned verb, then its object.
pub fn write_build_event(writer: &mut dyn Write, event: &(&str, String)) -> io::Result<()> {
    writeln!(
        writer,
        "{} {}",
        theme::status(event.0),
        theme::escape_terminal_text(&event.1)
    )
}
