//! Writes histories in the form that was asked for.

use std::io::{self, Write};

use super::content::BenchmarkHistory;
use super::detail::detail;
use super::exact;
use super::overview::overview;
use crate::report::view::{MessageFormat, View};

/// Writes histories as `view` lays them out; `which` says in words of which runs they are. One is shown run by run, several are a line each.
pub fn write_histories(
    writer: &mut dyn Write,
    histories: &[BenchmarkHistory],
    which: &str,
    format: MessageFormat,
    view: &View,
) -> io::Result<()> {
    match (format, histories) {
        (MessageFormat::Json, _) => exact::write(writer, histories),
        (MessageFormat::Human, []) => Ok(()),
        (MessageFormat::Human, [only]) => detail(writer, only, which, view.columns),
        (MessageFormat::Human, several) => overview(writer, several, which, view),
    }
}
