//! The JSON messages that docs/internals/src/messages.md describes: one type for each message, in a file for each family, with conversions from the
//! findings.
//!
//! Must not lay out text. Doc comments of members are for users: they become the descriptions in docs/internals/src/messages.schema.json. Invariant:
//! a member that is unknown or does not apply is `null`.

mod comparison;
mod doctor;
mod explanation;
mod history;
mod line;
mod measured;
mod run;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use comparison::GroupMessage;
pub(crate) use comparison::PivotRowMessage;
pub(crate) use comparison::{BenchmarkColumns, unit_of_statistic};
pub(crate) use comparison::{BenchmarkCompared, decided_by};
pub use comparison::{GroupComparison, GroupedCell, GroupedRow};
pub use comparison::{PivotCell, PivotFilter, PivotKind, PivotRow, PivotTable};
pub use doctor::{DoctorFinding, DoctorFindings, NoiseFindings, Resolvable, Severity};
pub use doctor::{Rate, SelfTestFindings, SelfTestRow, SkippedBenchmark};
pub(crate) use explanation::FlameGraphWritten;
pub(crate) use explanation::{DecisionNumbers, ExplanationMessage, Numbers, Statement};
pub use explanation::{MachineCode, MachineCodePair, MachineCodeRow};
pub(crate) use history::HistoryPointMessage;
pub use history::{BisectFindings, BisectOutcome, BisectStep, CommitFinding, CommitOutcome};
pub use line::SCHEMA;
pub(crate) use line::{JsonMessage, write_message};
pub(crate) use measured::BenchmarkMeasured;
pub use measured::BenchmarkStatistics;
pub(crate) use measured::BenchmarkStatisticsMessage;
pub(crate) use run::LimitExceeded;
pub use run::{MethodExplained, MethodSetting, SettingSource};
pub(crate) use store::BenchmarkFound;
pub(crate) use store::PruneFinished;
pub use store::{BaselineLine, BenchmarkLine, RunLine, WorkspaceLine};
pub(crate) use store::{BenchmarkImported, ExportFinished, PageFormat, ReportWritten};
pub use store::{ImportFindings, ImportedBenchmark, ImportedRun, PushResult};
pub use store::{PruneDecision, PruneLine};
