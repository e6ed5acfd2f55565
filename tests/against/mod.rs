//! Side-by-side measurements, from the command line to the exit code: revisions, executables, baselines that are measured again, and failures on one
//! side.
//!
//! Benchmarks report made-up times, so that every verdict is exact even on a busy machine.

mod assembly;
mod baselines;
mod benchmarks;
mod build_times;
mod counted_crates;
mod coverage;
mod criterion_harness;
mod documented_parts;
mod exchanging;
mod executables;
mod explaining;
mod extras;
mod flame_graphs;
mod histories;
mod hosts;
mod instructions;
mod layouts;
mod machine_code;
mod mixing;
mod one_at_a_time;
pub mod parts;
mod printed;
#[cfg(target_os = "linux")]
mod program_costs;
mod programs;
pub mod project;
mod ranking;
mod revisions;
mod sampled_time;
mod sides;
mod stopping;
mod threads;
