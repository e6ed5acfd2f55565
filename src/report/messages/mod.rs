//! The JSON messages that docs/internals/src/messages.md describes: one type for each message, in a file for each family, with conversions from the
//! findings.
//!
//! Must not lay out text. Doc comments of members are for users: they become the descriptions in docs/internals/src/messages.schema.json. Invariant:
//! a member that is unknown or does not apply is `null`.

mod bisect;
mod columns;
mod compared;
mod doctor;
mod explanation;
mod extras;
mod flame_graph;
mod grouped;
mod history;
mod import;
mod line;
mod listing;
mod machine_code;
mod measured;
mod method;
mod pivot;
mod prune;
mod run;
mod self_test;
mod statistics;
#[cfg(test)]
mod tests;

pub use bisect::{BisectFindings, BisectOutcome, BisectStep, CommitFinding, CommitOutcome};
pub(crate) use columns::{BenchmarkColumns, unit_of_statistic};
pub(crate) use compared::{BenchmarkCompared, decided_by};
pub use doctor::{DoctorFinding, DoctorFindings, NoiseFindings, Resolvable, Severity};
pub(crate) use explanation::{DecisionNumbers, ExplanationMessage, Numbers, Statement};
pub(crate) use flame_graph::FlameGraphWritten;
pub(crate) use grouped::GroupMessage;
pub use grouped::{GroupComparison, GroupedCell, GroupedRow};
pub(crate) use history::HistoryPointMessage;
pub(crate) use import::{BenchmarkImported, ExportFinished, PageFormat, ReportWritten};
pub use import::{ImportFindings, ImportedBenchmark, ImportedRun, PushResult};
pub use line::SCHEMA;
pub(crate) use line::{JsonMessage, write_message};
pub(crate) use listing::BenchmarkFound;
pub use listing::{BaselineLine, BenchmarkLine, RunLine, WorkspaceLine};
pub use machine_code::{MachineCode, MachineCodePair, MachineCodeRow};
pub(crate) use measured::BenchmarkMeasured;
pub use method::{MethodExplained, MethodSetting, SettingSource};
pub(crate) use pivot::PivotRowMessage;
pub use pivot::{PivotCell, PivotFilter, PivotKind, PivotRow, PivotTable};
pub(crate) use prune::PruneFinished;
pub use prune::{PruneDecision, PruneLine};
pub(crate) use run::LimitExceeded;
pub use self_test::{Rate, SelfTestFindings, SelfTestRow, SkippedBenchmark};
pub use statistics::BenchmarkStatistics;
pub(crate) use statistics::BenchmarkStatisticsMessage;
