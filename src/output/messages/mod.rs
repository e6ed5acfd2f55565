//! The JSON messages that docs/internals/src/messages.md describes. Each message has a type, and each file has the types of one family of messages,
//! with conversions from the findings.
//!
//! This module must not lay out text. The doc comments of members are for users, because they become the descriptions in
//! docs/internals/src/messages.schema.json. Invariant: a member that is unknown or does not apply is `null`.

mod comparison;
mod coverage;
mod doctor;
mod explanation;
mod history;
mod line;
mod measured;
mod run;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use comparison::decided_by;
pub use comparison::{
    ColumnCell, ColumnGeometricMean, ColumnStatistic, ColumnsLine, GroupComparison, GroupedCell,
    GroupedRow, PivotCell, PivotFilter, PivotKind, PivotRow, PivotTable, RankFindings, RankedGroup,
    RankedRow, RunColumn, RunTable, ShownStatistics,
};
pub use coverage::{
    BenchmarkSensitivity, CoverageFindings, CoveredFunction, CoveredLine, FunctionExecution,
};
pub use doctor::{
    DoctorFinding, DoctorFindings, NoiseFindings, Rate, Resolvable, SelfTestFindings, SelfTestRow,
    Severity, SkippedBenchmark,
};
pub(crate) use explanation::{
    DecisionNumbers, ExplanationMessage, FlameGraphWritten, Numbers, Statement,
};
pub use explanation::{MachineCode, MachineCodePair, MachineCodeRow};
pub(crate) use history::HistoryPointMessage;
pub use history::{
    BaselineChange, BenchmarkHistory, BisectFindings, BisectOutcome, BisectStep, CommitFinding,
    CommitOutcome, ExcludedRun, ExclusionReason, HistoryPoint, PastChange, PastCommitMeasured,
    PastFinished, PastOutcome, PastStep, ProcessorChange, ProcessorDisagreement, RunTrend,
};
pub(crate) use line::{JsonMessage, write_message, write_messages};
pub use line::{SCHEMA, write_json};
pub use measured::BenchmarkStatistics;
pub(crate) use measured::BenchmarkStatisticsMessage;
pub(crate) use run::LimitExceeded;
pub use run::{MethodExplained, MethodSetting, SettingSource};
pub use store::{
    BaselineLine, BenchmarkLine, ImportFindings, ImportedBenchmark, ImportedRun, PruneDecision,
    PruneLine, PushResult, RunLine, WorkspaceLine,
};
pub(crate) use store::{
    BenchmarkFound, BenchmarkImported, ExportFinished, PageFormat, PruneFinished, ReportWritten,
};
