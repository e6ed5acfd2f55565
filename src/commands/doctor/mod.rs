//! `cargo perfcheck doctor`: shows what makes measurements on this machine unsteady, and the changes that it can resolve.

mod command;
mod judgement;
#[cfg(test)]
mod judgement_tests;
mod noise;
mod options;

pub use command::doctor;
pub use noise::{WORKLOADS_ARGUMENT, run_workloads};
pub use options::DoctorOptions;
