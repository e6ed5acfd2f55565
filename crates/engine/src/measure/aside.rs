//! What is asked of a benchmark after its samples: what its iterations allocate, what its operations took. None of it is timed.

use std::time::Duration;

use crate::child::{ChildError, RequestKind, Session};
use perfcheck_analysis::model::Extras;

/// Iterations that are counted in a launch.
const COUNTED: u64 = 16;
/// After this long a child stops counting; the iteration under way is not cut short.
const COUNTING: Duration = Duration::from_millis(10);
/// Single times that are kept of a launch.
const RESERVOIR: u64 = 10_000;

/// How much is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aside {
    /// All there is.
    InFull,
    /// As in the many rounds of an A/B measurement: no single times, and allocations only where they are still wanted.
    InRounds { count: bool },
}

/// Asks the benchmark under way, whose samples have been taken and whose iterations take so many nanoseconds, set-up and drops included.
pub(super) fn noted(
    session: &mut Session<'_>,
    kind: RequestKind,
    aside: Aside,
    iteration_ns: f64,
) -> Result<Extras, ChildError> {
    let mut extras = Extras::default();
    // Before counting, which runs operations that are no samples.
    if kind == RequestKind::Latency {
        let reservoir = match aside {
            Aside::InFull => RESERVOIR,
            Aside::InRounds { .. } => 0,
        };
        extras.latencies = Some(session.latencies(reservoir)?);
    }
    let count = !matches!(aside, Aside::InRounds { count: false });
    if count && session.hello().counts_allocations() {
        extras.allocations = session.count(
            COUNTED,
            COUNTING + Duration::from_nanos(iteration_ns as u64),
        )?;
    }
    Ok(extras)
}
