//! The kinds of harness that a bench executable can have, and the interface of their drivers. Discovery finds the kind, and each kind has a driver.

use std::mem::discriminant;
use std::sync::Arc;

use super::benchmark::TimePrecision;
use super::process::Interrupted;
use super::round::TargetRound;
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

/// Drives the processes of a bench target. Holds the state that only its kind of harness needs.
pub(super) trait BenchDriver {
    /// Returns how exactly the harness accepts times.
    fn time_precision(&self) -> TimePrecision {
        TimePrecision::Exactly
    }

    /// Explains why the harness measures for longer than requested; `None` if it does not.
    fn explain_rounding(&self) -> Option<String> {
        None
    }

    /// Reports whether later rounds sample for longer than the first ones.
    fn lengthens_rounds(&self) -> bool {
        false
    }

    /// Reports whether the two sides can be alive at the same time.
    fn runs_sides_together(&self) -> bool {
        true
    }

    /// Learns about the benchmarks before the first process of the target.
    fn prepare(&mut self, _round: &mut TargetRound<'_, '_>) {}

    /// Runs one process of each side, for as many of the unvisited benchmarks as possible.
    fn run_processes(&mut self, round: &mut TargetRound<'_, '_>) -> Result<(), Interrupted>;
}
