//! What pruning takes and what it leaves.

use serde::Serialize;

use perfcheck_analysis::model::RunId;

/// What becomes of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RunFate {
    /// The run goes.
    Goes,
    /// A rule of the policy keeps it. There is no message about such a run.
    Kept,
    /// It stays because a baseline names it.
    Named,
    /// It stays because later runs are compared with it.
    Reference,
    /// It stays because it may still be measuring.
    UnderWay,
    /// It stays because it belongs to a run that stays.
    Together,
}

/// A run that goes, or that only a protection keeps (`store prune`, `store remove`).
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PruneLine {
    /// The number of the run.
    pub run: RunId,
    /// When it began, RFC 3339.
    pub started: String,
    /// The branch that it measured; null for a detached `HEAD` or outside of a repository.
    pub branch: Option<String>,
    /// The full hash of the commit that it measured; null outside of a repository.
    pub commit: Option<String>,
    /// The names of the baselines that point to it.
    pub baselines: Vec<String>,
    /// How many benchmarks it launched.
    pub benchmarks: usize,
    /// How many bytes its samples take.
    pub bytes: u64,
    /// What becomes of it.
    pub fate: RunFate,
}

/// What pruning did, or would do.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PruneFinished {
    /// Whether runs were removed; otherwise this is what would happen.
    pub executed: bool,
    /// Whether the samples of runs go and the runs stay.
    pub samples_only: bool,
    /// How many runs go.
    pub going: usize,
    /// How many runs stay.
    pub staying: usize,
    /// How many bytes the samples of the going runs take.
    pub bytes: u64,
    /// How many runs were removed; null where nothing was done.
    pub removed: Option<usize>,
    /// How many bytes the disk has got back; null where nothing was done.
    pub freed_bytes: Option<u64>,
}
