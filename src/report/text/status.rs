//! Lines as cargo writes them: errors, warnings, and what a build is about.

use std::io::{self, Write};

use crate::report::theme;
use crate::report::view::prose;

/// Writes a message after which nothing follows, as cargo does.
pub fn write_error(writer: &mut dyn Write, message: &str) -> io::Result<()> {
    writeln!(writer, "{}: {}", theme::error(), theme::printable(message))
}

/// Writes a message after which the work goes on.
pub fn write_warning(writer: &mut dyn Write, message: &str) -> io::Result<()> {
    writeln!(
        writer,
        "{}: {}",
        theme::warning(),
        theme::printable(message)
    )
}

/// [`write_warning`] in lines of so many columns.
pub(crate) fn write_warning_within(
    writer: &mut dyn Write,
    message: &str,
    columns: usize,
) -> io::Result<()> {
    let text = format!("{}: {}", theme::warning(), theme::printable(message));
    writeln!(writer, "{}", prose(&text, columns, "  "))
}

/// Writes what a build is about: a verb as cargo writes it, and the rest.
pub fn write_build_event(writer: &mut dyn Write, event: &(&str, String)) -> io::Result<()> {
    writeln!(
        writer,
        "{} {}",
        theme::status(event.0),
        theme::printable(&event.1)
    )
}
