//! The interface of the drivers. Each kind of harness has a driver, which runs its processes.

use super::benchmark::TimePrecision;
use super::process::Interrupted;
use super::round::TargetRound;

/// Drives the processes of a bench target. Holds the state that only its kind of harness needs.
pub(super) trait BenchDriver {
    /// Returns how exactly the harness accepts times.
    fn time_precision(&self) -> TimePrecision {
        TimePrecision::Exactly
    }

    /// Explains why the harness measures for longer than requested, or returns `None` if it does not.
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

    /// Prepares for the first process of the target. For example, Criterion's driver finds out how long iterations
    /// take.
    fn prepare(&mut self, _round: &mut TargetRound<'_, '_>) {}

    /// Runs one process of each side, for as many of the unvisited benchmarks as possible.
    fn run_processes(&mut self, round: &mut TargetRound<'_, '_>) -> Result<(), Interrupted>;
}
