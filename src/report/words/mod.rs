//! What the findings say, in words: remarks, limits, changes and the source of a run, for all sinks alike.

pub(super) mod analysis;
pub(super) mod extras;
pub(super) mod limits;
pub(super) mod outcome;
pub(super) mod remarks;
pub(super) mod sentences;
pub(super) mod source;
