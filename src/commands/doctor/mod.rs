//! `cargo perfcheck doctor`: shows what makes measurements on this machine unsteady, and which slowdowns they can detect.

mod command;
mod judgement;
#[cfg(test)]
mod judgement_tests;
mod noise;

pub use command::doctor;
pub use noise::{DoctorOptions, WORKLOADS_ARGUMENT, run_workloads};
