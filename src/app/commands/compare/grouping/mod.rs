//! `compare RUN --group-by REGEX`: benchmarks of one run side by side, told apart by a part of their ids.
//!
//! Describes and decides nothing: there are no verdicts, and the exit status does not depend on the numbers.

mod command;
mod gathered;
mod pattern;
mod split;

pub(super) use command::group_by;
pub use pattern::GroupPattern;
