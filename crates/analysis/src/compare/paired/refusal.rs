//! What makes an A/B comparison impossible.

use super::series::{PairedSeries, UsableRounds, typical_length};
use crate::compare::launch_values::needed_ns;
use crate::compare::note::Note;
use crate::model::Side;

/// Clocks that are coarser show by samples that fall on few values.
const ASSUMED_CLOCK_STEP_NS: f64 = 50.0;

/// Why a series cannot be tested, if so.
pub(super) fn refusal(series: &PairedSeries<'_>, usable: &UsableRounds) -> Option<Note> {
    let of_side = |side| {
        series.rounds.iter().flat_map(move |round| match side {
            Side::Base => &round.base,
            Side::Candidate => &round.candidate,
        })
    };
    for side in [Side::Candidate, Side::Base] {
        if of_side(side).next().is_none() {
            return Some(Note::NoSamples { side });
        }
    }
    let needed_ns = needed_ns(ASSUMED_CLOCK_STEP_NS);
    for side in [Side::Candidate, Side::Base] {
        if typical_length(of_side(side)).is_some_and(|length| length < needed_ns) {
            return Some(Note::SamplesTooShort { side, needed_ns });
        }
    }
    usable.rounds.is_empty().then_some(Note::NoSamples {
        side: Side::Candidate,
    })
}
