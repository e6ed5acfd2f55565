//! What comes of a plain run whose time was up before all of its launches: fewer launches, and no verdict where they are too few.

use std::time::Duration;

use crate::findings::Row;
use crate::model::{MIN_LAUNCHES, Measurement, Verdict};

/// Takes back the verdicts that rest on too few launches because of `budget`, and says why.
pub(super) fn cut_short(rows: &mut [Row<'_>], budget: Option<Duration>) {
    if budget.is_none() {
        return;
    }
    for row in rows {
        let Some(launches) = row.measurement.and_then(too_few) else {
            continue;
        };
        let plural = if launches == 1 { "" } else { "es" };
        row.remarks.push(format!(
            "`--time-budget` left time for {launches} launch{plural}, and a verdict needs {MIN_LAUNCHES}: give it more time, or fewer benchmarks"
        ));
        if let Some(
            Verdict::Regressed | Verdict::Improved | Verdict::Unchanged | Verdict::Suspect,
        ) = row.verdict
        {
            row.verdict = Some(Verdict::Inconclusive);
            if let Some(comparison) = &mut row.comparison {
                comparison.verdict = Verdict::Inconclusive;
            }
        }
    }
}

/// How many launches there were, if more were wanted and none has failed.
fn too_few(measurement: &Measurement) -> Option<usize> {
    let launches = measurement.launches.len();
    let wanted = measurement.sampling.launches as usize;
    let few = launches < MIN_LAUNCHES.min(wanted) && measurement.failures.is_empty();
    few.then_some(launches)
}
