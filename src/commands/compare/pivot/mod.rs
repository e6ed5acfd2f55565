//! `compare ... --pivot`: lays out stored measurements by dimensions of their ids and runs.
//!
//! Exploratory: makes no decisions, has no verdicts, and its exit status does not depend on its numbers.

mod cells;
mod command;
mod request;

pub(super) use command::show_pivot;
pub use request::{Dimension, PivotRequest, PivotValue, Versus};
