//! Dispatches histories to the writer of their format.

use std::io::{self, Write};

use super::content::BenchmarkHistory;
use super::detail::write_detail;
use super::overview::write_overview;
use crate::report::messages::{HistoryPointMessage, JsonMessage, write_message};
use crate::report::view::{MessageFormat, View};

/// Writes histories in the layout of `view`: a single one run by run, several as a line each. `which` describes the selection of runs.
pub fn write_histories(
    writer: &mut dyn Write,
    histories: &[BenchmarkHistory],
    which: &str,
    format: MessageFormat,
    view: &View,
) -> io::Result<()> {
    match (format, histories) {
        (MessageFormat::Json, _) => write_messages(writer, histories),
        (MessageFormat::Human, []) => Ok(()),
        (MessageFormat::Human, [only]) => write_detail(writer, only, which, view.columns),
        (MessageFormat::Human, several) => write_overview(writer, several, which, view),
    }
}

/// Writes a `history-point` message for each run of a benchmark, then its `benchmark-history` message.
fn write_messages(writer: &mut dyn Write, histories: &[BenchmarkHistory]) -> io::Result<()> {
    for history in histories {
        for place in 0..history.points.len() {
            let point = HistoryPointMessage::from_history(history, place);
            write_message(writer, JsonMessage::HistoryPoint(point))?;
        }
        write_message(writer, JsonMessage::BenchmarkHistory(history.into()))?;
    }
    Ok(())
}
