//! What the published systems would make of two stored runs: their tests in place of the project's procedure, their effect sizes and their
//! summaries beside it.
//!
//! Observations are of all samples; an outlier policy touches the summary alone. A change counts if its test says so *and* its interval lies
//! wholly beyond the noise threshold. Formulas and sources: docs/src/statistics/other-tests.md.

mod centers;
mod decide;
mod effects;
mod gate;
mod observations;
mod procedures;
mod subject;

pub use centers::{Centers, SideCenter};
pub use effects::Effects;
pub use gate::{AcrossRuns, GateGroup, across_runs};
pub use procedures::Tested;
pub use subject::value_of;

pub(super) use centers::centers;
pub(super) use decide::compare;
pub(super) use effects::effects;

#[cfg(test)]
mod tests;
