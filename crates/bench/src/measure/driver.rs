//! The interface of the drivers, one for each kind of harness.

use super::benchmark::TimePrecision;
use super::process::Interrupted;
use super::round::TargetRound;

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
