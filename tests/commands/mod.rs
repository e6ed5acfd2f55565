//! The commands as users call them: exit statuses, baselines, history, settings and flags, through real processes.
//!
//! Times come from the scripted clock, so that every verdict is exact. No test depends on the speed of the machine.

pub mod crates;
mod criterion_trees;
pub mod scripted;

mod accepting;
mod advice;
mod arithmetic;
mod baselines;
pub mod bisect;
mod columns;
mod comparability;
mod comparing;
mod degenerate;
mod describing;
mod doctor;
mod drawing;
mod exchanging;
mod exit_codes;
mod explaining;
mod extras;
mod failing_git;
mod families;
mod filters;
mod flags;
mod fleet;
mod help;
mod history;
mod host_signs;
mod imported_runs;
mod importing;
mod init;
mod latencies;
mod layout;
mod listing;
mod log;
pub mod measuring_loop;
mod merging;
mod methods;
mod other_systems;
mod past;
mod pivots;
mod progress;
mod pruning;
mod reporting;
mod repositories;
mod samples;
mod self_test;
mod serializer_log;
mod serializers;
mod settings;
mod signals;
mod statistics;
mod system_rows;
mod threads;
mod whole_nanoseconds;
