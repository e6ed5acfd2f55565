//! `cargo perfcheck`: benchmarks with stored baselines, a trustworthy verdict and an exit code.
//!
//! `cli` parses the command line, and a function of `commands` carries out the command. `session` holds the workspace, its settings and the store.
//! `pipeline` has the stages of a run: build, reference, pair, measure, judge, record, publish. `stored` reads what earlier runs left in the store.
//! `output` writes results for people and programs. The crate `perfcheck-build` builds bench targets, `perfcheck-bench` drives them, and
//! `perfcheck-store` keeps the results of every process. `perfcheck-analysis` reaches the verdicts and decides the exit code. The chapter
//! *Architecture* explains this design, and tests/architecture.rs checks which module may import which.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod cli;
mod commands;
pub mod config;
mod delivery;
mod diagnostics;
mod error;
pub mod interchange;
mod naming;
mod options;
pub mod output;
mod pipeline;
pub mod sanitize;
mod session;
mod stored;
mod workers;

pub use commands::{
    AcceptOptions, AgainstOptions, BaselineAction, BisectOptions, CiSystem, CompareOptions,
    CoverageOptions, CrateOrigin, DoctorOptions, ExplainOptions, ExportOptions, GroupPattern,
    HistoryOptions, ImportOptions, InitOptions, ListOptions, MergeOptions, PivotRequest,
    PivotValue, PruneOptions, PushOptions, RankOptions, ReportCommandOptions, RunOptions,
    SelfTestOptions, ShowOptions, StoreInitOptions, Versus, WORKLOADS_ARGUMENT, accept, adopt,
    baseline, bisect, compare, coverage, create, doctor, explain, export, history, import, init,
    list, merge, prune, push, rank, remove_runs, report, run, run_workloads, runs, self_test, show,
};
pub use delivery::{ReportOptions, ReportRequest, RequestedReportKind};
pub use diagnostics::start_log;
pub use error::AppError;
pub use naming::Dimension;
pub use options::{
    AnalysisOptions, CommonOptions, ComparisonOptions, CountingMode, Effort, FailOn,
    FailureOptions, OutlierWords, OutputOptions, PairedOptions, clap_range, parse_outliers,
    word_parser,
};
pub use pipeline::Against;
pub use session::World;
pub use workers::start_workers;
