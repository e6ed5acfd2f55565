//! Which of the forms it is.

use std::io::{self, Write};

use super::content::BenchmarkHistory;
use super::{exact, text};
use crate::report::content::MessageFormat;

/// Writes histories; `which` says in words of which runs they are. One is shown run by run, several are a line each.
pub fn write_histories(
    writer: &mut dyn Write,
    histories: &[BenchmarkHistory],
    which: &str,
    format: MessageFormat,
) -> io::Result<()> {
    match (format, histories) {
        (MessageFormat::Json, _) => exact::write(writer, histories),
        (MessageFormat::Human, []) => Ok(()),
        (MessageFormat::Human, [only]) => text::detail(writer, only, which),
        (MessageFormat::Human, several) => text::overview(writer, several, which),
    }
}
