//! Untimed measurements of a benchmark after its samples: the allocations of iterations, and the latencies of single operations.

use std::time::Duration;

use crate::child::{ChildError, RequestKind, Session};
use perfcheck_analysis::model::Extras;

/// Number of iterations in a process whose allocations are counted.
const COUNTED: u64 = 16;
/// Time after which a child stops counting. The current iteration is still completed.
const COUNTING: Duration = Duration::from_millis(10);
/// Number of single latencies that are kept from a process.
const RESERVOIR: u64 = 10_000;

/// The amount of untimed measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UntimedScope {
    /// Everything the benchmark offers.
    InFull,
    /// As in the many rounds of a side-by-side measurement: no single latencies, and allocations only with `count`.
    InRounds { count: bool },
}

/// Takes the untimed measurements of the current benchmark after its samples. `iteration_ns` is the time of an iteration, including setup and drops.
pub(super) fn take_untimed(
    session: &mut Session<'_>,
    kind: RequestKind,
    aside: UntimedScope,
    iteration_ns: f64,
) -> Result<Extras, ChildError> {
    let mut extras = Extras::default();
    // Latencies come before counting, which runs operations that are not samples.
    if kind == RequestKind::Latency {
        let reservoir = match aside {
            UntimedScope::InFull => RESERVOIR,
            UntimedScope::InRounds { .. } => 0,
        };
        extras.latencies = Some(session.latencies(reservoir)?);
    }
    let count = !matches!(aside, UntimedScope::InRounds { count: false });
    if count && session.hello().counts_allocations() {
        extras.allocations = session.count(
            COUNTED,
            COUNTING + Duration::from_nanos(iteration_ns as u64),
        )?;
    }
    Ok(extras)
}
