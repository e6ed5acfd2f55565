//! Segments: stretches of history without a known change of level, from which references are chosen.
//!
//! Only facts known at the end of each run, and acceptances by the user, delimit segments. Change points found later in a longer history
//! (`compare::Course`) do not: the reference of an old run must not change.
//!
//! Segments exclude runs measured side by side, which are sampled differently, so that they cannot serve as references of single runs. But changes
//! found in such runs end segments as usual.

use perfcheck_analysis::model::{Acceptance, Run, RunId, Verdict};
use perfcheck_engine::store::{History, PastMeasurement};

/// Runs without a known change of level between them, newest first; empty if all were measured side by side.
#[derive(Debug, Clone)]
pub(in crate::app) struct Segment<'p> {
    pub(in crate::app) runs: Vec<&'p PastMeasurement>,
    /// Whether the oldest run begins the segment because the user accepted its level: an intended change on an unchanged host
    is_accepted: bool,
}

impl Segment<'_> {
    /// Returns its runs, newest first.
    pub(in crate::app) fn ids(&self) -> impl Iterator<Item = RunId> {
        self.runs.iter().map(|past| past.run)
    }
}

/// Splits runs, newest first, where the level of the benchmark is known to have changed.
pub(in crate::app) fn segments<'p>(
    past: &[&'p PastMeasurement],
    history: &History,
) -> Vec<Segment<'p>> {
    let mut segments = Vec::new();
    let mut runs = Vec::new();
    for measurement in past {
        let run = &history.runs[&measurement.run];
        if run.pair.is_none() {
            runs.push(*measurement);
        }
        if begins_segment(measurement, run) {
            segments.push(Segment {
                runs: std::mem::take(&mut runs),
                is_accepted: is_accepted(measurement, run),
            });
        }
    }
    if !runs.is_empty() {
        segments.push(Segment {
            runs,
            is_accepted: false,
        });
    }
    segments
}

/// Returns earlier segments that show the drift as well as the segment at `place`: those that end where the user accepted a new level. Returns at
/// most `most` runs.
pub(in crate::app) fn earlier_of_same_noise(
    segments: &[Segment<'_>],
    place: usize,
    most: usize,
) -> Vec<Vec<RunId>> {
    let mut earlier = Vec::new();
    let mut left = most;
    for pair in segments[place..].windows(2) {
        if !pair[0].is_accepted {
            break;
        }
        let runs: Vec<RunId> = pair[1].ids().take(left).collect();
        left -= runs.len();
        if !runs.is_empty() {
            earlier.push(runs);
        }
    }
    earlier
}

fn is_accepted(past: &PastMeasurement, run: &Run) -> bool {
    past.accepted || run.acceptance == Acceptance::ByCommand
}

fn begins_segment(past: &PastMeasurement, run: &Run) -> bool {
    let of_verdict = match past.verdict {
        None
        | Some(
            Verdict::New
            | Verdict::Incomparable
            | Verdict::Improved
            | Verdict::Regressed
            | Verdict::Failed
            | Verdict::Missing,
        ) => true,
        Some(Verdict::Unchanged | Verdict::Inconclusive | Verdict::Suspect) => false,
    };
    of_verdict || is_accepted(past, run)
}
