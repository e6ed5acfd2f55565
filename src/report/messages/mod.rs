//! The JSON messages of docs/MESSAGES.md as types, a file for each family, with the conversion from what a sink is given.
//!
//! Must not lay out text. Doc comments of members are for users: they are the descriptions in docs/messages.schema.json. Invariant: what is
//! not known or does not apply is `null`.

mod beside;
mod bisect;
mod columns;
mod compared;
mod doctor;
mod explanation;
mod grouped;
mod history;
mod import;
mod line;
mod listing;
mod measured;
mod pivot;
mod prune;
mod run;
mod self_test;
mod statistics;
#[cfg(test)]
mod tests;

pub use bisect::{BisectAnswer, BisectFindings, BisectStep, Progressed};
pub(in crate::report) use columns::{BenchmarkColumns, unit_of_statistic};
pub(in crate::report) use compared::{BenchmarkCompared, decided_by};
pub use doctor::{Advice, DoctorFinding, DoctorFindings, NoiseFindings, Resolvable, Severity};
pub(in crate::report) use explanation::{Decision, ExplanationMessage, Numbers, Statement};
pub(in crate::report) use grouped::GroupRow;
pub use grouped::{Grouped, GroupedCell, GroupedRow};
pub(in crate::report) use history::HistoryPointMessage;
pub(in crate::report) use import::{BenchmarkImported, ExportFinished, PageFormat, ReportWritten};
pub use import::{ImportFindings, ImportedBenchmark, TakenOver};
pub use line::SCHEMA;
pub(in crate::report) use line::{Message, write_message};
pub(in crate::report) use listing::BenchmarkFound;
pub use listing::{BaselineLine, BenchmarkLine, KeptLine, RunLine, WorkspaceLine};
pub(in crate::report) use measured::BenchmarkMeasured;
pub(in crate::report) use pivot::PivotRowMessage;
pub use pivot::{PivotCell, PivotKind, PivotRow, PivotTable};
pub(in crate::report) use prune::PruneFinished;
pub use prune::{PruneLine, RunFate};
pub(in crate::report) use run::RuleViolated;
pub use self_test::{Rate, SelfTestFindings, SelfTestRow};
pub use statistics::BenchmarkStatistics;
pub(in crate::report) use statistics::BenchmarkStatisticsMessage;
