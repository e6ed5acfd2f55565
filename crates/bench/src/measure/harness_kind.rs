//! The kinds of harness that an executable can have. Discovery finds the kind, and each kind has a driver.

use std::mem::discriminant;
use std::sync::Arc;

use crate::child::{ChildError, CriterionVersion, PrintedHarness};
use perfcheck_analysis::model::ProgramBenchmark;

/// The kind of harness in an executable.
///
/// Our own harness is driven by requests: two sides are alive at once and sample alternately, or run one after the other. Criterion is driven by
/// permissions: two sides are alive at once and measure benchmarks alternately. Harnesses that only print get one process for one benchmark: two
/// sides run one after the other. Programs are run again and again, with the sides in alternation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum HarnessKind {
    /// Our protocol: the bench carries out requests.
    #[default]
    Own,
    /// Criterion: the bench goes through its benchmarks and waits for our permission before each.
    Criterion(CriterionVersion),
    /// The bench only prints its results: one process for each benchmark.
    Printed(Arc<PrintedHarness>),
    /// There is no harness: each run of the program is an iteration.
    Program(Arc<[ProgramBenchmark]>),
}

/// Finds the program whose benchmark has this id.
pub(super) fn find_program<'p>(
    programs: &'p [ProgramBenchmark],
    id: &str,
) -> Result<&'p ProgramBenchmark, ChildError> {
    let program = programs.iter().find(|program| program.id == id);
    program.ok_or_else(|| ChildError::bench("the program is no longer in Cargo.toml"))
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
