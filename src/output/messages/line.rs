//! The lines of `--message-format json`: the envelope of each, which holds the name of the message and the version of the format, and the lines about
//! a run.

use serde::Serialize;
use std::io::{self, Write};

use super::comparison::{
    BenchmarkCompared, ColumnsFinished, ColumnsLine, GroupComparison, GroupedRow, PivotRow,
    PivotTable, RankFindings, RankedRow,
};
use super::coverage::{CoverageFindings, CoveredFunction};
use super::doctor::{
    DoctorFinding, DoctorFindings, NoiseFindings, SelfTestBenchmark, SelfTestFindings,
};
use super::explanation::{ExplanationMessage, FlameGraphWritten, MachineCode};
use super::history::{
    BisectFindings, BisectStep, HistoryPointMessage, HistorySummary, PastCommitMeasured,
    PastFinished, PastStep,
};
use super::measured::{BenchmarkMeasured, BenchmarkStatisticsMessage};
use super::run::{LimitExceeded, MethodExplained, RunFinished};
use super::store::{
    BaselineLine, BenchmarkFound, BenchmarkImported, BenchmarkLine, ExportFinished, ImportFinished,
    ImportedRun, ListedRun, PruneFinished, PruneLine, PushResult, ReportWritten, WorkspaceLine,
};
use crate::sanitize;
use perfcheck_analysis::compare::LatencySummary;
use perfcheck_analysis::findings::Findings;

/// Version of the message format. It must grow when a member is removed or changes its meaning, unit or type. It stays the same when a member is
/// added, because readers ignore members that they do not know.
pub const SCHEMA: u32 = 1;

/// One line of `--message-format json`. Readers must ignore members that they do not know: new ones may be added at any time. Times are in
/// nanoseconds. Changes and levels are fractions (0.05 is 5 %, slower). Counts are integers. Null means unknown or not applicable.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Line<'a> {
    /// Version of the message format. It grows when a member is removed or changes its meaning, unit or type.
    schema: u32,
    #[serde(flatten)]
    message: JsonMessage<'a>,
}

/// All messages that the program writes. The member `reason` has the name of the message.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "reason", rename_all = "kebab-case")]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one at a time, and it is written at once"
)]
pub(crate) enum JsonMessage<'a> {
    BenchmarkMeasured(BenchmarkMeasured<'a>),
    BenchmarkCompared(BenchmarkCompared<'a>),
    LimitExceeded(LimitExceeded<'a>),
    RunFinished(RunFinished<'a>),
    BenchmarkColumns(&'a ColumnsLine),
    ColumnsFinished(ColumnsFinished<'a>),
    PivotRow(&'a PivotRow),
    PivotFinished(&'a PivotTable),
    GroupRow(&'a GroupedRow),
    GroupFinished(&'a GroupComparison),
    BenchmarkRanked(&'a RankedRow),
    RankFinished(&'a RankFindings),
    FunctionCovered(&'a CoveredFunction),
    CoverageFinished(&'a CoverageFindings),
    BenchmarkStatistics(BenchmarkStatisticsMessage<'a>),
    Explanation(ExplanationMessage<'a>),
    MachineCode(&'a MachineCode),
    FlameGraphWritten(FlameGraphWritten<'a>),
    BisectStep(&'a BisectStep),
    BisectFinished(&'a BisectFindings),
    SelfTestBenchmark(SelfTestBenchmark<'a>),
    SelfTestFinished(&'a SelfTestFindings),
    HistoryPoint(HistoryPointMessage<'a>),
    BenchmarkHistory(HistorySummary<'a>),
    CommitMeasured(&'a PastCommitMeasured),
    StepFound(&'a PastStep),
    MeasureFinished(&'a PastFinished),
    RunPruned(&'a PruneLine),
    PruneFinished(PruneFinished),
    DoctorFinding(&'a DoctorFinding),
    DoctorNoise(&'a NoiseFindings),
    DoctorFinished(&'a DoctorFindings),
    BenchmarkImported(BenchmarkImported<'a>),
    ImportFinished(ImportFinished<'a>),
    RunImported(&'a ImportedRun),
    ExportFinished(ExportFinished<'a>),
    RunsPushed(&'a PushResult),
    ReportWritten(ReportWritten<'a>),
    BenchmarkFound(BenchmarkFound<'a>),
    Benchmark(&'a BenchmarkLine),
    Run(ListedRun<'a>),
    Baseline(&'a BaselineLine),
    Workspace(&'a WorkspaceLine),
    MethodExplained(&'a MethodExplained),
}

/// Writes a message on a line of its own. Escapes all characters that could control a terminal or the log of a CI system.
pub(crate) fn write_message(writer: &mut dyn Write, message: JsonMessage<'_>) -> io::Result<()> {
    let line = Line {
        schema: SCHEMA,
        message,
    };
    let text = serde_json::to_string(&line)?;
    writeln!(writer, "{}", sanitize::json(&text))
}

/// Writes messages, each on a line of its own.
pub(crate) fn write_messages<'m>(
    writer: &mut dyn Write,
    messages: impl IntoIterator<Item = JsonMessage<'m>>,
) -> io::Result<()> {
    let mut messages = messages.into_iter();
    messages.try_for_each(|message| write_message(writer, message))
}

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
