//! Segments: stretches of history without a known change of level, as references are chosen from them.
//!
//! A segment begins with what was known when a run ended or what the user said since: its verdict, and `accept`. Change points that a longer
//! history shows later (`compare::Course`) do not count here: what a run was compared with must not change afterwards.
//!
//! Runs that were measured in turn are in no segment: they are sampled in another way, so that their numbers are no reference of a run alone. But what they
//! found ends segments like the rest.

use perfcheck_analysis::model::{Acceptance, Run, RunId, Verdict};
use perfcheck_engine::store::{History, PastMeasurement};

/// Runs without a known change of level between them, newest first; none where all of them were measured in turn.
#[derive(Debug, Clone)]
pub(in crate::app) struct Segment<'p> {
    pub(in crate::app) runs: Vec<&'p PastMeasurement>,
    /// Whether its oldest run begins it because the user accepted it: a level that is meant to be another one, on a host that is the same.
    is_accepted: bool,
}

impl Segment<'_> {
    /// Its runs, newest first.
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

/// The segments behind the one at `place` that tell of drift as well as it does itself: those that end where the user accepted a new level. At most
/// `most` runs.
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
