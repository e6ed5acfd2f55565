//! The ways to drive a bench executable: by our protocol, as a Criterion bench, or by its printed results.

use std::mem::discriminant;
use std::sync::Arc;

use crate::child::{CriterionVersion, PrintedHarness};
use perfcheck_analysis::model::{Harness, Nanos};

/// The way to drive a bench executable, which depends on its harness.
///
/// Our own harness is driven by requests: two sides are alive at once and sample alternately, or run one after the other. Criterion is driven by
/// permissions: two sides are alive at once and measure benchmarks alternately. Harnesses that only print get one process for one benchmark: two
/// sides run one after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Driver {
    /// Our protocol: the bench carries out requests.
    #[default]
    Own,
    /// Criterion: the bench goes through its benchmarks and waits for our permission before each.
    Criterion(CriterionVersion),
    /// The bench prints its results: one process for each benchmark.
    Printed(Arc<PrintedHarness>),
}

/// How exactly a harness accepts times for warm-up and measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimePrecision {
    Exactly,
    InWholeSeconds,
}

impl Driver {
    /// Reports whether two executables are driven in the same way.
    pub fn is_alike(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Printed(one), Self::Printed(two)) => one.printer() == two.printer(),
            _ => discriminant(self) == discriminant(other),
        }
    }

    /// Returns the version of Criterion, if the bench uses Criterion.
    pub(super) fn criterion_version(&self) -> Option<CriterionVersion> {
        match self {
            Self::Criterion(version) => Some(*version),
            Self::Own | Self::Printed(_) => None,
        }
    }

    /// Returns how exactly the harness accepts times.
    pub(super) fn time_precision(&self) -> TimePrecision {
        match self {
            Self::Criterion(version) if version.takes_whole_seconds() => {
                TimePrecision::InWholeSeconds
            }
            Self::Own | Self::Criterion(_) | Self::Printed(_) => TimePrecision::Exactly,
        }
    }

    /// Explains why its times are longer than requested. Returns `None` if they are not.
    pub(super) fn explain_rounding(&self) -> Option<String> {
        let version = self.criterion_version()?;
        (version.takes_whole_seconds())
            .then(|| format!("Criterion {version} takes times in whole seconds alone"))
    }

    /// Returns the facts known about the harness before its process starts. Our own harness reports them itself.
    pub(super) fn harness(&self) -> Option<Harness> {
        match self {
            Self::Own => None,
            // It uses the system's clock, whose resolution is not reported.
            Self::Criterion(version) => Some(Harness {
                name: "criterion".to_owned(),
                version: version.to_string(),
                quantum: Nanos(1),
            }),
            // Nothing is known about the clock of harnesses that only print, so every value counts.
            Self::Printed(harness) => Some(Harness {
                name: harness.printer().word().to_owned(),
                version: String::new(),
                quantum: Nanos(0),
            }),
        }
    }
}
