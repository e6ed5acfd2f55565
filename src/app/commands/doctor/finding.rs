//! Builders of findings: start with a good or unknown fact, then add a problem and its remedy.

use crate::report::{DoctorFinding, Severity};

/// Text for a fact that the system does not reveal.
pub(super) const NOT_TOLD: &str = "not readable here";

/// Creates a finding for a fact without problems.
pub(super) fn good_finding(topic: &'static str, found: String) -> DoctorFinding {
    DoctorFinding {
        topic,
        severity: Severity::Good,
        found,
        advice: None,
        commands: Vec::new(),
    }
}

/// Creates a finding for an unknown fact, with the reason.
pub(super) fn unknown_finding(topic: &'static str, why: &str) -> DoctorFinding {
    DoctorFinding {
        topic,
        severity: Severity::Unknown,
        found: why.to_owned(),
        advice: None,
        commands: Vec::new(),
    }
}

impl DoctorFinding {
    /// Adds a problem with this fact and commands against it.
    pub(super) fn with_problem(self, severity: Severity, what: &str, commands: &[&str]) -> Self {
        Self {
            severity,
            advice: Some(what.to_owned()),
            commands: commands.iter().map(|line| (*line).to_owned()).collect(),
            ..self
        }
    }
}
