//! `compare RUN --group-by REGEX`: compares benchmarks of one run that differ in a part of their ids.
//!
//! Exploratory: makes no decisions, has no verdicts, and its exit status does not depend on the numbers.

mod command;
mod pattern;

pub(super) use command::group_by;
pub use pattern::GroupPattern;
