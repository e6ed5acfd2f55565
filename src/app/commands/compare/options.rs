//! What `compare` is asked for.

use super::grouping::GroupPattern;
use super::pivot::PivotRequest;
use crate::app::deliver::reports::ReportOptions;
use crate::app::options::ComparisonOptions;
use crate::report::{Shown, ValueTerms};
use perfcheck_engine::measure::Filter;

/// Compare stored runs.
#[derive(Debug, Clone)]
pub struct CompareOptions {
    /// The reference.
    pub base: String,
    /// What is compared with it, each by itself.
    pub candidates: Vec<String>,
    /// Which benchmarks.
    pub filter: Filter,
    /// How to compare.
    pub comparison: ComparisonOptions,
    /// What of it is shown.
    pub view: CompareView,
    /// In which terms columns are.
    pub terms: ValueTerms,
    /// What is written beside the table, or in its place.
    pub reports: ReportOptions,
}

/// What of a comparison is shown.
#[derive(Debug, Clone, PartialEq)]
pub enum CompareView {
    /// Verdicts of one candidate.
    Verdicts,
    /// All runs side by side.
    Columns(Shown),
    /// The measurements of all runs by dimensions.
    Pivot(PivotRequest),
    /// One run, by a part of the ids.
    GroupBy(GroupPattern),
}
