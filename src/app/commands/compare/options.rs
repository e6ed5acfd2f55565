//! What `compare` is asked for.

use std::path::PathBuf;

use super::grouping::GroupPattern;
use super::pivot::PivotRequest;
use crate::app::deliver::reports::ReportOptions;
use crate::app::options::ComparisonOptions;
use crate::report::{Shown, TableFormat, ValueTerms};
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
    /// The form of the table; `None`: text.
    pub format: Option<TableFormat>,
    /// Where it is written; `None` or `-`: to stdout.
    pub output: Option<PathBuf>,
    /// What is written beside the result.
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
    /// One run, by a part of the ids: as a table, or as a picture in this file.
    GroupBy(GroupPattern, Option<PathBuf>),
}
