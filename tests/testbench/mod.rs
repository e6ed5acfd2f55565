//! The whole program against the bench crates of testbench/: the real command, real cargo, real processes.
//!
//! No test depends on the duration of anything: if a time matters, it comes from the scripted clock.

mod criterion;
mod environment;
pub mod interruption;
mod printed;
mod programs;
mod selection;
mod settings;
mod situation;
mod situations;
mod sudden_death;
mod verdicts;
