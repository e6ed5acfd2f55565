//! The kinds of harness that a bench executable can have. Discovery finds the kind, and each kind has a driver.

use std::mem::discriminant;
use std::sync::Arc;

use crate::child::{CriterionVersion, PrintedHarness};

/// The kind of harness in a bench executable.
///
/// Our own harness is driven by requests: two sides are alive at once and sample alternately, or run one after the other. Criterion is driven by
/// permissions: two sides are alive at once and measure benchmarks alternately. Harnesses that only print get one process for one benchmark: two
/// sides run one after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum HarnessKind {
    /// Our protocol: the bench carries out requests.
    #[default]
    Own,
    /// Criterion: the bench goes through its benchmarks and waits for our permission before each.
    Criterion(CriterionVersion),
    /// The bench only prints its results: one process for each benchmark.
    Printed(Arc<PrintedHarness>),
}

impl HarnessKind {
    /// Reports whether one driver can drive both executables.
    pub fn is_alike(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Printed(one), Self::Printed(two)) => one.printer() == two.printer(),
            _ => discriminant(self) == discriminant(other),
        }
    }
}
