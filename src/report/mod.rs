//! What people and machines read: the table, the JSON messages, progress; one file per sink, the writer is passed in.
//!
//! Must not measure, decide or store, nor know where its input came from. Invariant: every number in the table is in the
//! JSON messages too; a reader that has gone away is no error.

mod analysis;
mod beside;
mod beside_record;
mod bisect;
mod charts;
mod columns;
mod content;
mod doctor;
mod explanation;
mod grid;
mod import;
mod json;
mod listing;
mod pivot;
mod progress;
mod self_test;
mod source;
mod statistics;
mod table;
mod theme;
mod transfer;
mod units;
mod versions;

pub use bisect::{
    BisectAnswer, BisectFindings, BisectStep, Progressed, write_bisect, write_bisect_step,
};
pub use charts::{Sitter, write_portrait};
pub use columns::{Column, ColumnCell, ColumnsLine, Shown, SideBySide, Together, write_columns};
pub use content::{Findings, Gates, MessageFormat, Method, Row, Verdicts, Violation};
pub use doctor::{
    Advice, DoctorFindings, Finding, NoiseFindings, Resolvable, Severity, write_doctor,
};
pub use explanation::{Confirmed, Explanation, MeasuredSide, Replayed, write_explanation};
pub use grid::{TableFormat, without_colours};
pub use import::{ImportFindings, ImportedBenchmark, write_import};
pub use json::{SCHEMA, write_json};
pub use listing::{
    BaselineLine, BenchmarkLine, KeptLine, RunLine, WorkspaceLine, write_announced,
    write_baselines, write_benchmarks, write_kept, write_runs, write_workspaces,
};
pub use pivot::{PivotCell, PivotKind, PivotRow, PivotTable, write_pivot};
pub use progress::{Progress, ProgressMode};
pub use self_test::{Rate, SelfTestFindings, SelfTestRow, write_self_test};
pub use statistics::{BenchmarkStatistics, write_statistics};
pub use table::{write_build_event, write_error, write_run_head, write_table, write_warning};
pub use transfer::{TakenOver, write_exported, write_taken_over};
pub use units::{change as percent_change, percent as in_percent};
pub use versions::{VersionDifference, write_versions};
