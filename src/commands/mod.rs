//! One module per command: its options and its work. A large command has further files in the folder of its name.
//!
//! A command may use every layer below, but no other command's module.

mod accept;
mod baseline;
mod bisect;
mod compare;
mod coverage;
mod doctor;
mod explain;
mod export;
mod history;
mod import;
mod init;
mod list;
mod merge;
mod prune;
mod push;
mod rank;
mod report;
mod run;
mod self_test;
mod show;
mod store;

pub use accept::{AcceptOptions, accept};
pub use baseline::{BaselineAction, baseline};
pub use bisect::{BisectOptions, bisect};
pub use compare::{CompareOptions, GroupPattern, PivotRequest, PivotValue, Versus, compare};
pub use coverage::{CoverageOptions, coverage};
pub use doctor::{DoctorOptions, WORKLOADS_ARGUMENT, doctor, run_workloads};
pub use explain::{ExplainOptions, explain};
pub use export::{ExportOptions, export};
pub use history::{HistoryOptions, history};
pub use import::{ImportOptions, import};
pub use init::{CiSystem, CrateOrigin, InitOptions, init};
pub use list::{ListOptions, list};
pub use merge::{MergeOptions, merge};
pub use prune::{PruneOptions, prune, remove_runs};
pub use push::{PushOptions, StoreInitOptions, create, push};
pub use rank::{RankOptions, rank};
pub use report::{ReportCommandOptions, report};
pub use run::{AgainstOptions, PossibleTypo, RunOptions, run};
pub use self_test::{SelfTestOptions, self_test};
pub use show::{ShowOptions, show};
pub use store::{adopt, runs};
