//! What `history` is asked for.

use perfcheck_analysis::compare::Fact;
use perfcheck_engine::measure::Filter;

/// Runs of which branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HistoryBranch {
    /// Of the present one; where it has none, of the one that it forked from.
    Present,
    /// Of this one.
    Named(String),
    /// Of all.
    All,
}

/// What `history` is asked for.
#[derive(Debug, Clone)]
pub struct HistoryOptions {
    /// Which benchmarks.
    pub filter: Filter,
    /// Of which branch.
    pub branch: HistoryBranch,
    /// At most so many runs of each, the newest.
    pub limit: usize,
    /// Only runs since this date, or for this long.
    pub since: Option<String>,
    /// Facts that may differ among runs of one history.
    pub allow_different: Vec<Fact>,
}
