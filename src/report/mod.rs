//! What people and machines read: the table, the JSON messages, progress; one file per sink, the writer is passed in.
//!
//! Must not measure, decide or store, nor know where its input came from. Invariant: every number in the table is in the
//! JSON messages too; a reader that has gone away is no error.

mod analysis;
mod beside;
mod beside_record;
mod bisect;
mod charset;
mod charts;
mod columns;
mod doctor;
mod explanation;
mod github;
mod gitlab;
mod gitlab_metrics;
mod grouped;
mod history;
mod import;
mod json;
mod junit;
mod kind;
mod layout;
mod listing;
mod markdown;
mod messages;
mod page;
mod pivot;
mod progress;
mod prune;
mod remarks;
mod run_head;
mod self_test;
mod sentences;
mod source;
mod sparkline;
mod statistics;
mod status;
mod surroundings;
mod table;
mod theme;
mod transfer;
mod units;
mod versions;
mod view;

pub use bisect::{write_bisect, write_bisect_step};
pub use charset::{Charset, InCharset};
pub use charts::{Picture, write_picture};
pub use columns::{
    ColumnCell, ColumnsLine, RunColumn, Shown, SideBySide, Terms, Together, write_columns,
};
pub use doctor::write_doctor;
pub use explanation::{Explanation, MeasuredSide, explained, write_explanation};
pub use grouped::write_grouped;
pub use history::{BenchmarkHistory, HistoryPoint, LeftOut, SinceBaseline, write_histories};
pub use import::write_import;
pub use json::write_json;
pub use kind::{ReportKind, write_report};
pub use layout::TableFormat;
pub use listing::{
    write_announced, write_baselines, write_benchmarks, write_kept, write_older_runs, write_runs,
    write_workspaces,
};
pub use messages::{
    Advice, BaselineLine, BenchmarkLine, BenchmarkStatistics, BisectAnswer, BisectFindings,
    BisectStep, DoctorFinding, DoctorFindings, Grouped, GroupedCell, GroupedRow, ImportFindings,
    ImportedBenchmark, KeptLine, NoiseFindings, PivotCell, PivotKind, PivotRow, PivotTable,
    Progressed, PruneLine, Rate, Resolvable, RunFate, RunLine, SCHEMA, SelfTestFindings,
    SelfTestRow, Severity, TakenOver, WorkspaceLine,
};
pub use page::{Page, PageBenchmark, PageRun, PageSide, write_page, write_page_place};
pub use pivot::write_pivot;
pub use progress::{Progress, ProgressMode};
pub use prune::{PruneSummary, write_prune};
pub use remarks::run_remark;
pub use run_head::write_run_head;
pub use self_test::write_self_test;
pub use statistics::write_statistics;
pub use status::{write_build_event, write_error, write_warning};
pub use surroundings::Surroundings;
pub use table::write_table;
pub use theme::without_colours;
pub use transfer::{write_exported, write_taken_over};
pub use units::{change as percent_change, percent as in_percent};
pub use versions::{VersionDifference, write_versions};
pub use view::{Arrangement, MessageFormat, Verbosity, View};
