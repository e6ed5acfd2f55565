//! Human-readable output for terminals and files: tables, detail views and progress.
//! Most of these writers also write their content as JSON messages if `MessageFormat::Json` is requested.

mod bisect;
pub(super) mod columns;
mod described_samples;
mod doctor;
pub(super) mod extras_record;
mod grouped;
pub(super) mod history;
mod import;
mod listing;
mod method;
mod pivot;
mod progress;
mod prune;
mod run_head;
mod self_test;
mod sparkline;
mod statistics;
pub(super) mod status;
pub(super) mod table;
mod transfer;
mod versions;

pub use bisect::{write_bisect, write_bisect_step};
pub use columns::{
    ColumnCell, ColumnGeometricMean, ColumnsLine, RunColumn, RunTable, ShownStatistics, ValueForm,
    write_columns,
};
pub use doctor::write_doctor;
pub use grouped::write_grouped;
pub use history::{
    BaselineChange, BenchmarkHistory, ExcludedRun, ExclusionReason, HistoryPoint, ProcessorChange,
    ProcessorDisagreement, RunTrend, write_histories,
};
pub use import::write_import;
pub use listing::{
    write_baselines, write_benchmarks, write_discovered, write_older_runs, write_runs,
    write_workspaces,
};
pub use method::write_method;
pub use pivot::write_pivot;
pub use progress::{Progress, ProgressMode, describe_plan};
pub use prune::{PruneScope, PruneSummary, write_prune};
pub use run_head::write_run_head;
pub use self_test::write_self_test;
pub use statistics::write_statistics;
pub use status::{write_build_event, write_error, write_warning};
pub use table::write_table;
pub use transfer::{write_exported, write_pushed, write_taken_over};
pub use versions::{VersionDifference, write_versions};
