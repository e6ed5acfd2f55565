//! One visit: a benchmark warmed up and sampled in one launch.

use std::time::Duration;

use super::aside::{Aside, noted};
use super::schedule::{FlatSchedule, Layout, expected, lay_out, planned_iteration_ns};
use crate::child::{ChildError, Session, Started};
use crate::host;
use perfcheck_analysis::model::{Beside, SamplingSettings, Series, Throughput};

/// A machine that was suspended for longer than this during a visit has spoilt it.
const SUSPENDED: Duration = Duration::from_millis(100);

/// How a visit ended, if not with an error.
pub(super) enum Visited {
    Measured {
        series: Series,
        throughput: Throughput,
        beside: Box<Beside>,
    },
    Skipped(String),
}

/// How the benchmark is reached in its child.
#[derive(Clone, Copy)]
pub(super) enum Reach {
    /// By its id.
    Address,
    /// It was announced a moment ago.
    Announced,
}

/// Visits the benchmark `id`. The first visit of a run lays the schedule out; the others repeat it.
pub(super) fn visit(
    session: &mut Session<'_>,
    id: &str,
    reach: Reach,
    settings: &SamplingSettings,
    pinned: Option<FlatSchedule>,
    layout: &mut Option<Layout>,
) -> Result<Visited, ChildError> {
    let started = match reach {
        Reach::Address => session.start_benchmark(id)?,
        Reach::Announced => session.run_announced(id)?,
    };
    let ready = match started {
        Started::Ready(ready) => ready,
        Started::Skipped(reason) => return Ok(Visited::Skipped(reason)),
    };
    let suspended = host::suspended();
    let warm_up = session.warm_up(settings.warm_up)?;
    let total_ns = warm_up.total_per_iteration();
    let layout = layout.get_or_insert_with(|| {
        let planned_ns = planned_iteration_ns(warm_up.body.per_iteration(), total_ns);
        lay_out(settings, planned_ns, pinned)
    });
    let mut phase = |request: Vec<_>| {
        if request.is_empty() {
            return Ok(Vec::new());
        }
        session.sample(&request, expected(&request, total_ns))
    };
    let linear = phase(layout.linear_request())?;
    let flat = phase(layout.flat_request())?;
    let beside = noted(session, ready.kind, Aside::InFull, total_ns)?;
    session.finish(id)?;
    spoilt_by_sleep(suspended, host::suspended())?;
    Ok(Visited::Measured {
        series: Series {
            warm_up: warm_up.body,
            linear,
            flat,
        },
        throughput: ready.throughput,
        beside: Box::new(beside),
    })
}

/// Whether the machine slept between two readings of how long it has been suspended.
fn spoilt_by_sleep(before: Duration, after: Duration) -> Result<(), ChildError> {
    if after.saturating_sub(before) > SUSPENDED {
        let message = "the machine was suspended while this was measured".to_owned();
        return Err(ChildError::Bench { message });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d16_a_visit_in_which_the_machine_slept_is_discarded_and_the_launch_goes_on() {
        let slept = |millis| {
            let before = Duration::from_secs(9);
            spoilt_by_sleep(before, before + Duration::from_millis(millis))
        };
        assert!(slept(0).is_ok());
        assert!(slept(100).is_ok(), "the two clocks are not read at once");
        let error = slept(101).expect_err("it slept");
        assert!(error.child_goes_on());
        assert!(error.to_string().contains("suspended"), "{error}");
        assert!(spoilt_by_sleep(Duration::from_secs(1), Duration::ZERO).is_ok());
    }
}
