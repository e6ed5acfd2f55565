//! All output for people and programs: the table, the JSON messages, reports, pictures and progress. Each function writes to a writer that its caller
//! passes.
//!
//! This module must not measure, decide or store anything, and its output must not depend on where the findings came from. Invariants: every number
//! in the table is in the JSON messages too. If the reader of a stream closes it, that is no error.

mod charts;
mod ci;
mod explanation;
mod layout;
mod messages;
mod page;
mod scale;
mod terminal;
mod text;
mod units;
mod view;
mod words;

pub use charts::{
    FlameGraph, Picture, SplitPicture, SplitRow, write_flame_graph, write_flame_graph_written,
    write_picture, write_split,
};
pub use ci::{ReportContext, ReportKind, SourcePlace, write_report};
pub use explanation::{
    BenchmarkSelector, CodeExtent, Explanation, ExplanationDepth, LabeledSentence, MeasuredSide,
    labeled_sentences, write_explanation, write_machine_code,
};
pub use layout::TableFormat;
pub use messages::{
    BaselineChange, BaselineLine, BenchmarkHistory, BenchmarkLine, BenchmarkSensitivity,
    BenchmarkStatistics, BisectFindings, BisectOutcome, BisectStep, ColumnCell,
    ColumnGeometricMean, ColumnStatistic, ColumnsLine, CommitFinding, CommitOutcome,
    CoverageFindings, CoveredFunction, CoveredLine, DoctorFinding, DoctorFindings, ExcludedRun,
    ExclusionReason, FunctionExecution, GroupComparison, GroupedCell, GroupedRow, HistoryPoint,
    ImportFindings, ImportedBenchmark, ImportedRun, MachineCode, MachineCodePair, MachineCodeRow,
    MethodExplained, MethodSetting, NoiseFindings, PastChange, PastCommitMeasured, PastFinished,
    PastOutcome, PastStep, PivotCell, PivotFilter, PivotKind, PivotRow, PivotTable,
    ProcessorChange, ProcessorDisagreement, PruneDecision, PruneLine, PushResult, RankFindings,
    RankedGroup, RankedRow, Rate, Resolvable, RunColumn, RunLine, RunTable, RunTrend, SCHEMA,
    SelfTestFindings, SelfTestRow, SettingSource, Severity, ShownStatistics, SkippedBenchmark,
    WorkspaceLine, write_json,
};
pub use page::{
    CoveragePage, Page, PageBenchmark, PageRun, PageSide, page_file_name, write_coverage_page,
    write_page, write_page_written, write_ranking_page, write_run_index,
};
pub use terminal::{Charset, CharsetWriter, strip_colors};
pub use text::{
    Progress, ProgressMode, PruneScope, PruneSummary, VersionDifference, describe_plan,
    write_baselines, write_benchmarks, write_bisect, write_bisect_step, write_build_event,
    write_columns, write_coverage, write_discovered, write_doctor, write_error, write_exported,
    write_grouped, write_histories, write_import, write_lcov, write_method, write_older_runs,
    write_past_commit, write_past_finished, write_past_steps, write_pivot, write_prune,
    write_pushed, write_ranking, write_run_head, write_runs, write_self_test, write_statistics,
    write_table, write_taken_over, write_versions, write_warning, write_workspaces,
};
pub use units::{
    change as percent_change, counted, missing_features, percent as in_percent, terminal_width,
};
pub use view::{MessageFormat, RowOrder, ValueForm, Verbosity, View};
pub use words::remarks::describe_run_remark;
pub use words::sentences::{describe_failure, write_outcome_of_run};
