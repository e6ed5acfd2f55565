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
mod words;
mod workers;

pub use commands::{
    AcceptOptions, AgainstOptions, BaselineAction, BisectOptions, CiSystem, CompareOptions,
    CrateOrigin, CreateOptions, Dimension, DoctorOptions, ExplainOptions, ExportOptions,
    GroupPattern, HistoryOptions, ImportOptions, InitOptions, ListOptions, MergeOptions,
    PageOptions, PivotRequest, PivotValue, PruneOptions, PushOptions, RunOptions, SelfTestOptions,
    ShowOptions, Versus, WORKLOADS_ARGUMENT, accept, adopt, baseline, bisect, compare, create,
    doctor, explain, export, history, import, init, list, merge, prune, push, remove_runs, report,
    run, run_workloads, runs, self_test, show, then_push,
};
pub use context::World;
pub use deliver::{ReportOptions, WantedKind, WantedReport};
pub use error::AppError;
pub use measuring::Against;
pub use options::{
    AnalysisOptions, ComparisonOptions, Counting, Effort, FailOn, FailureOptions, OutputOptions,
    PairedOptions, StoreOptions,
};
pub use words::{OutlierWords, outliers, range, words};
pub use workers::start_workers;
