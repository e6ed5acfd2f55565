//! Reasons why a side-by-side comparison is impossible.

use super::series::{PairedSeries, UsableRounds};
use crate::compare::note::Note;
use crate::compare::sample_length::{ASSUMED_CLOCK_STEP_NS, shortest_sample_ns};
use crate::model::Side;

/// Returns the reason why a series cannot be tested, or `None` if it can.
pub(super) fn find_refusal(series: &PairedSeries<'_>, usable: &UsableRounds) -> Option<Note> {
    for side in [Side::Candidate, Side::Base] {
        if series
            .rounds
            .iter()
            .all(|round| round.samples(side).is_empty())
        {
            return Some(Note::NoSamples { side });
        }
    }
    if !usable.rounds.is_empty() {
        return None;
    }
    Some(match usable.too_short {
        Some(side) => Note::SamplesTooShort {
            side,
            needed_ns: shortest_sample_ns(ASSUMED_CLOCK_STEP_NS),
        },
        None => Note::NoSamples {
            side: Side::Candidate,
        },
    })
}
