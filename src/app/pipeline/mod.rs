//! The stages of a run, each called by every command that needs it: reference, pair, judge, record, publish. Building and measuring are in
//! `measuring`.
//!
//! Must not know which command calls. Invariant: each stage gets all that it needs as values and changes none of them.

pub(super) mod judge;
pub(super) mod pair;
pub(super) mod publish;
pub(super) mod record;
pub(super) mod reference;
