//! `cargo perfcheck doctor`: shows what makes measurements on this machine unsteady, and the changes that it can resolve.

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
