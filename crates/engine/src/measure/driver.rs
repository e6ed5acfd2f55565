//! How a bench executable is driven: by our protocol, as a Criterion bench, or by what it prints.

use std::mem::discriminant;
use std::sync::Arc;

use crate::child::{CriterionVersion, PrintedHarness, Printer};
use perfcheck_analysis::model::{Harness, Nanos};

/// How a bench executable is driven, which what it is written against decides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Driver {
    /// Our protocol: it does what it is asked.
    #[default]
    Own,
    /// Criterion: it goes from benchmark to benchmark at our leave.
    Criterion(CriterionVersion),
    /// It prints its results, or writes them to files: one process for each benchmark.
    Printed(Arc<PrintedHarness>),
}

impl Driver {
    /// Whether two executables are driven in the same way.
    pub fn is_alike(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Printed(one), Self::Printed(two)) => one.printer() == two.printer(),
            _ => discriminant(self) == discriminant(other),
        }
    }

    /// The version of Criterion, where that is what it is written against.
    pub(super) fn criterion(&self) -> Option<CriterionVersion> {
        match self {
            Self::Criterion(version) => Some(*version),
            Self::Own | Self::Printed(_) => None,
        }
    }

    /// Whether it is told times in whole seconds alone.
    pub(super) fn takes_whole_seconds(&self) -> bool {
        match self {
            Self::Own => false,
            Self::Criterion(version) => version.takes_whole_seconds(),
            Self::Printed(harness) => harness.printer() == Printer::Criterion,
        }
    }

    /// What is known of the harness before a launch. One of ours tells it itself.
    pub(super) fn harness(&self) -> Option<Harness> {
        match self {
            Self::Own => None,
            // Its clock is the system's; nobody tells its step.
            Self::Criterion(version) => Some(Harness {
                name: "criterion".to_owned(),
                version: version.to_string(),
                quantum: Nanos(1),
            }),
            // No clock is known of those that print alone: every value of theirs counts.
            Self::Printed(harness) => Some(Harness {
                name: harness.printer().name().to_owned(),
                version: String::new(),
                quantum: match harness.printer() {
                    Printer::Criterion => Nanos(1),
                    Printer::Libtest | Printer::Divan => Nanos(0),
                },
            }),
        }
    }
}
