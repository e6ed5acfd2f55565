//! The store: runs, processes, series and baselines in one SQLite file of the user, or in a shared PostgreSQL
//! database.
//!
//! This crate owns the schema (docs/internals/src/store.md), its migrations and every statement. No other crate uses SQLite. It must not read the
//! clock, the checkout or the environment, apart from PostgreSQL's variables and the user's directories: times and facts are passed in.
//!
//! Invariants: once a function has reported data as recorded, they survive if the program is killed. A process is stored as a whole or not at all.
//! Samples are read back as the same integers or as an error. A file that belongs to another program, or that a newer version of this program wrote,
//! is never written to.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
// Test code that is shared with other crates uses the external name of this crate.
#[cfg(test)]
extern crate self as perfcheck_store;

mod conditions;
mod encoding;
mod error;
mod history;
mod measurements;
mod open;
mod processes;
mod pruning;
mod runs;
mod schema;
#[cfg(feature = "postgres")]
mod server;
mod sql;
mod steps;
mod transfer;
mod workspaces;

#[cfg(test)]
mod tests;

pub use conditions::Conditions;
pub use error::StoreError;
pub use history::{
    BenchmarkSummary, BranchFilter, History, HistoryQuery, MeasuredCode, PastMeasurement,
    RunFilter, RunLink, RunLinks,
};
pub use open::{OpenOptions, Store, default_path, is_address, public_location};
pub use pruning::{RemovedRuns, StoredRun};
pub use runs::RunSummary;
pub use schema::ExistingStore;
pub use transfer::{KnownRun, RunEndFn, TransferredPair, TransferredRun};
pub use workspaces::{
    AdoptionSummary, Baseline, WorkspaceId, WorkspaceSummary, check_baseline_name,
};
