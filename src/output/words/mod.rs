//! Turns findings into sentences: notes, limits, changes and the source of a run. All outputs take their sentences from here, so that they say the
//! same.

pub(super) mod analysis;
pub(super) mod extras;
pub(super) mod remarks;
pub(super) mod sentences;
pub(super) mod source;
