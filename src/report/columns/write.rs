//! Which form runs side by side are written in.

use std::io::{self, Write};

use super::content::SideBySide;
use super::{exact, text};
use crate::escape;
use crate::report::grid::TableFormat;
use crate::report::view::MessageFormat;

/// Writes them in lines of so many columns. `format`: for people as text, unless they want another form; JSON is one message a benchmark.
pub fn write_columns(
    writer: &mut dyn Write,
    found: &SideBySide,
    message_format: MessageFormat,
    format: TableFormat,
    columns: usize,
) -> io::Result<()> {
    match (message_format, format) {
        (MessageFormat::Json, _) => exact::write_json(writer, found),
        (MessageFormat::Human, TableFormat::Text) => text::write_text(writer, found, columns),
        (MessageFormat::Human, TableFormat::Markdown) => {
            text::markdown(found).write(writer, TableFormat::Markdown, columns)?;
            writeln!(writer)?;
            for line in text::legend(found) {
                writeln!(writer, "{}  ", escape::markdown(&line))?;
            }
            Ok(())
        }
        (MessageFormat::Human, TableFormat::Csv) => {
            exact::exact(found).write(writer, TableFormat::Csv, columns)
        }
    }
}
