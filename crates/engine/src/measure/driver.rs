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

/// How exactly a bench can be told how long to warm up and to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimesTold {
    Exactly,
    InWholeSeconds,
    NotAtAll,
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

    /// How it is told times.
    pub(super) fn times_told(&self) -> TimesTold {
        match self {
            Self::Criterion(version) if version.takes_whole_seconds() => TimesTold::InWholeSeconds,
            Self::Printed(harness) if harness.takes_no_settings() => TimesTold::NotAtAll,
            Self::Printed(harness) if harness.printer() == Printer::Criterion => {
                TimesTold::InWholeSeconds
            }
            Self::Own | Self::Criterion(_) | Self::Printed(_) => TimesTold::Exactly,
        }
    }

    /// Why its times are longer than was wanted, where they are.
    pub(super) fn why_rounded_up(&self) -> Option<String> {
        let who = match self {
            Self::Criterion(version) => format!("Criterion {version}"),
            // Without a runner nobody tells the version.
            Self::Own | Self::Printed(_) => {
                "its Criterion (without a connection, as all before 0.3.3)".to_owned()
            }
        };
        match self.times_told() {
            TimesTold::Exactly => None,
            TimesTold::InWholeSeconds => Some(format!("{who} takes times in whole seconds alone")),
            TimesTold::NotAtAll => Some(format!("{who} keeps to its own times")),
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
                name: harness.printer().word().to_owned(),
                version: String::new(),
                quantum: match harness.printer() {
                    Printer::Criterion => Nanos(1),
                    Printer::Libtest | Printer::Divan => Nanos(0),
                },
            }),
        }
    }
}
