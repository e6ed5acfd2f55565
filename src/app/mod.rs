//! Commands and everything they share. This module alone knows all adapters and wires them together.
//!
//! Must not parse arguments, speak SQL or format numbers. Invariant: every error ends in exactly one
//! [`ExitCode`](perfcheck_analysis::exit_code::ExitCode), decided in `error.rs` alone.

mod commands;
mod context;
mod deliver;
mod error;
mod measuring;
mod naming;
mod options;
mod pipeline;
mod stored;
mod workers;

pub use commands::{
    AcceptOptions, AgainstOptions, BaselineAction, BisectOptions, CiSystem, CompareOptions,
    CrateOrigin, Dimension, DoctorOptions, ExplainOptions, ExportOptions, GroupPattern,
    HistoryOptions, ImportOptions, InitOptions, ListOptions, MergeOptions, PivotRequest,
    PivotValue, PruneOptions, PushOptions, ReportCommandOptions, RunOptions, SelfTestOptions,
    ShowOptions, StoreInitOptions, Versus, WORKLOADS_ARGUMENT, accept, adopt, baseline, bisect,
    compare, create, doctor, explain, export, history, import, init, list, merge, prune, push,
    remove_runs, report, run, run_then_push, run_workloads, runs, self_test, show,
};
pub use context::World;
pub use deliver::{ReportOptions, ReportRequest, RequestedReportKind};
pub use error::AppError;
pub use measuring::Against;
pub use options::{
    AnalysisOptions, ComparisonOptions, CountingMode, Effort, FailOn, FailureOptions,
    OutputOptions, PairedOptions, StoreOptions,
};
pub use options::{OutlierWords, clap_range, parse_outliers, word_parser};
pub use workers::start_workers;
