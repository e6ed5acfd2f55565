//! Output as text for people, in terminals and files: tables, detail views and progress. Most of these writers also write their content as JSON
//! messages if `MessageFormat::Json` is requested.

mod bar;
mod bisect;
mod columns;
pub(super) mod compare;
pub(super) mod coverage;
mod doctor;
pub(super) mod history;
mod listing;
mod method;
mod past;
mod progress;
pub(super) mod statistics;
pub(super) mod status;
mod table;
mod transfer;

pub use bisect::{write_bisect, write_bisect_step};
pub use columns::write_columns;
pub use compare::{VersionDifference, write_grouped, write_pivot, write_ranking, write_versions};
pub use coverage::{write_coverage, write_lcov};
pub use doctor::{write_doctor, write_self_test};
pub use history::write_histories;
pub use listing::{
    PruneScope, PruneSummary, write_baselines, write_benchmarks, write_discovered,
    write_older_runs, write_prune, write_runs, write_workspaces,
};
pub use method::write_method;
pub use past::{write_past_commit, write_past_finished, write_past_steps};
pub use progress::{Progress, ProgressMode, describe_plan};
pub use statistics::write_statistics;
pub use status::{write_build_event, write_error, write_run_head, write_warning};
pub use table::write_table;
pub use transfer::{write_exported, write_import, write_pushed, write_taken_over};
