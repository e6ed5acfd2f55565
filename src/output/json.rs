//! The JSON output of a run, one object in each line. docs/internals/src/messages.md describes the format.

use std::io::{self, Write};

use super::messages::{
    BenchmarkCompared, BenchmarkMeasured, JsonMessage, LimitExceeded, write_message,
};
use perfcheck_analysis::compare::LatencySummary;
use perfcheck_analysis::findings::Findings;

/// Writes `benchmark-measured` and `benchmark-compared` for each benchmark, `limit-exceeded` for each limit that a benchmark exceeds, then
/// `run-finished`.
pub fn write_json(writer: &mut dyn Write, findings: &Findings<'_>) -> io::Result<()> {
    for row in &findings.rows {
        if let Some(measurement) = row.measurement {
            let latencies =
                LatencySummary::from_measurement(measurement, findings.confidence_level());
            let message =
                BenchmarkMeasured::from_measurement(findings, row, measurement, latencies.as_ref());
            write_message(writer, JsonMessage::BenchmarkMeasured(message))?;
        }
        if let (Some(verdict), Some(verdicts)) = (row.verdict, &findings.verdicts) {
            let message = BenchmarkCompared::from_row(findings, row, verdict, verdicts);
            write_message(writer, JsonMessage::BenchmarkCompared(message))?;
        }
    }
    let verdicts = findings.verdicts.as_ref();
    for exceeded in verdicts.map_or(&[][..], |verdicts| &verdicts.limits.exceeded) {
        let message = LimitExceeded::from_exceeded(findings.run.id, exceeded);
        write_message(writer, JsonMessage::LimitExceeded(message))?;
    }
    write_message(writer, JsonMessage::RunFinished(findings.into()))
}
