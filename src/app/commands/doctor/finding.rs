//! How a finding begins: with a fact that is good or unknown, to which comes what is wrong about it.

use crate::report::{DoctorFinding, Severity};

/// What is said of a fact that the system does not tell.
pub(super) const NOT_TOLD: &str = "not readable here";

/// A fact that is as it should be.
pub(super) fn good(topic: &'static str, found: String) -> DoctorFinding {
    DoctorFinding {
        topic,
        severity: Severity::Good,
        found,
        advice: None,
        commands: Vec::new(),
    }
}

/// A fact that is not known, and why.
pub(super) fn unknown(topic: &'static str, why: &str) -> DoctorFinding {
    DoctorFinding {
        topic,
        severity: Severity::Unknown,
        found: why.to_owned(),
        advice: None,
        commands: Vec::new(),
    }
}

impl DoctorFinding {
    /// The same fact, with what is wrong about it and commands against that.
    pub(super) fn but(self, severity: Severity, what: &str, commands: &[&str]) -> Self {
        Self {
            severity,
            advice: Some(what.to_owned()),
            commands: commands.iter().map(|line| (*line).to_owned()).collect(),
            ..self
        }
    }
}
