//! Histories as messages: `history-point` for each run of a benchmark, then its `benchmark-history`.

use std::io::{self, Write};

use super::content::BenchmarkHistory;
use crate::report::messages::{HistoryPointMessage, JsonMessage, write_message};

pub(super) fn write(writer: &mut dyn Write, histories: &[BenchmarkHistory]) -> io::Result<()> {
    for history in histories {
        for place in 0..history.points.len() {
            let point = HistoryPointMessage::of(history, place);
            write_message(writer, JsonMessage::HistoryPoint(point))?;
        }
        write_message(writer, JsonMessage::BenchmarkHistory(history.into()))?;
    }
    Ok(())
}
