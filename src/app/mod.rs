//! One file per command: the only place that knows all adapters and puts them together.
//!
//! Must not parse arguments, speak SQL or format numbers. Invariant: whatever goes wrong ends in exactly one
//! [`ExitCode`](crate::exit_code::ExitCode), decided in `error.rs` alone.

mod accept;
mod adopt;
mod against;
mod baseline;
mod bisect;
mod budget;
mod cache_build;
mod columns;
mod compare;
mod confirm;
mod context;
mod doctor;
mod draw;
mod error;
mod explain;
mod export;
mod findings;
mod grouping;
mod history;
mod import;
mod imported;
mod job_summary;
mod kept;
mod list;
mod naming;
mod next_steps;
mod options;
mod page;
mod page_remarks;
mod paired;
mod pairing;
mod pins;
mod pivot;
mod prepare;
mod prune;
mod prune_references;
mod recorded;
mod reference;
mod replay;
mod report;
mod reports;
mod run;
mod runs;
mod segments;
mod self_test;
mod show;
mod transfer;
mod whole_file;

pub use accept::{AcceptOptions, accept};
pub use adopt::adopt;
pub use baseline::baseline;
pub use bisect::bisect;
pub use compare::compare;
pub use context::World;
pub use doctor::{DoctorOptions, WORKLOADS_ARGUMENT, doctor, run_workloads};
pub use error::AppError;
pub use explain::explain;
pub use export::{ExportFormat, ExportOptions, export};
pub use grouping::Pattern;
pub use history::{HistoryBranch, HistoryOptions, history};
pub use import::{Filter as ImportFilter, ImportOptions, StatedFact, import};
pub use list::list;
pub use naming::COMMANDS;
pub use options::{
    Against, AgainstOptions, BaselineAction, BisectOptions, CompareOptions, CompareView,
    ComparisonOptions, Effort, FailOn, Order, OutputOptions, PairedOptions, RunOptions,
    SelfTestOptions, StoreOptions,
};
pub use pivot::{Dimension, PivotRequest, PivotValue, Versus};
pub use prune::{PruneOptions, prune, remove_runs};
pub use report::{PageOptions, report};
pub use reports::{ReportOptions, WantedKind, WantedReport};
pub use run::run;
pub use runs::runs;
pub use self_test::self_test;
pub use show::{Detail, show};
