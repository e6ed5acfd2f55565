//! Dispatches a table of runs to the writer of its format.

use std::io::{self, Write};

use super::content::RunTable;
use super::{exact, text};
use crate::escape;
use crate::report::layout::TableFormat;
use crate::report::view::MessageFormat;

/// Writes the runs in lines of at most `columns`. `format` applies to human output; JSON is one message per benchmark.
pub fn write_columns(
    writer: &mut dyn Write,
    found: &RunTable,
    message_format: MessageFormat,
    format: TableFormat,
    columns: usize,
) -> io::Result<()> {
    match (message_format, format) {
        (MessageFormat::Json, _) => exact::write_json(writer, found),
        (MessageFormat::Human, TableFormat::Text) => text::write_text(writer, found, columns),
        (MessageFormat::Human, TableFormat::Markdown) => {
            text::markdown_table(found).write_as(writer, format, columns)?;
            writeln!(writer)?;
            for line in text::legend(found) {
                writeln!(writer, "{}  ", escape::markdown(&line))?;
            }
            Ok(())
        }
        (MessageFormat::Human, TableFormat::Csv) => {
            exact::exact_table(found).write_as(writer, format, columns)
        }
    }
}
