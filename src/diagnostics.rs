//! The log of what the tool itself does: its stages, the programs that it starts, and its statements to the database.

use std::io;

use perfcheck_host::EnvironmentVariables;
use tracing_subscriber::filter::{ParseError, Targets};
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::fmt::time::uptime;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::error::AppError;

/// Writes the log to `stream` from now on, if `PERFCHECK_LOG` asks for it. Times in the log count from this call. Call it once per process.
///
/// Nothing is logged between a request for samples and its answer, so the log does not disturb what is measured.
pub fn start_log<W: io::Write + 'static>(
    variables: &EnvironmentVariables,
    stream: fn() -> W,
) -> Result<(), AppError> {
    let Some(filter) = &variables.log else {
        return Ok(());
    };
    let filter: Targets = filter
        .parse()
        .map_err(|error: ParseError| AppError::Usage(format!(
            "PERFCHECK_LOG: {error}\n  help: set it to a level (`info`, `debug`), or to a level for each crate (`perfcheck_store=debug,info`)"
        )))?;
    let lines = tracing_subscriber::fmt::layer()
        .with_span_events(FmtSpan::CLOSE)
        .with_timer(uptime())
        .with_ansi(false)
        .with_writer(stream);
    // This fails only if a log exists already.
    let _ = tracing_subscriber::registry()
        .with(lines)
        .with(filter)
        .try_init();
    Ok(())
}
