//! Turns findings into sentences: notes, limits, changes and the source of a run, for all outputs alike.

pub(super) mod analysis;
pub(super) mod extras;
pub(super) mod remarks;
pub(super) mod sentences;
pub(super) mod source;
