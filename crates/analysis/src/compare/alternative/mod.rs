//! The methods of published benchmark systems for comparing two stored runs. Their tests replace the project's own procedure if the user asks for
//! one. Their effect sizes and summaries are shown in addition to the procedure's result.
//!
//! Observations come from all samples, and an outlier policy affects only the summary, unless `Observations::Filtered` is chosen. A change counts if
//! its test shows it *and* its interval is entirely beyond the noise threshold. Formulas and sources: docs/internals/src/statistics/other-tests.md.

mod decide;
mod effects;
mod procedures;
mod subject;

pub use decide::{AcrossRuns, GateGroup, compare_across_runs};
pub use effects::{Centers, Effects, SideCenter};
pub use procedures::PublishedDecision;
pub use subject::estimate_metric;

pub(super) use decide::compare;
pub(super) use effects::{compute_centers, compute_effects};

#[cfg(test)]
mod tests;
