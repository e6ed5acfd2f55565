//! `cargo perfcheck doctor`: what of this machine makes measurements unsteady, and which changes can be told on it.

mod command;
mod finding;
mod hardware;
mod judgement;
#[cfg(test)]
mod judgement_tests;
mod noise;
mod options;
mod system;
mod workloads;

pub use command::doctor;
pub use options::DoctorOptions;
pub use workloads::{WORKLOADS_ARGUMENT, run_workloads};
