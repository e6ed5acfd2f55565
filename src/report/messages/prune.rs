//! Messages of `store prune` and `store remove`.

use serde::Serialize;

use perfcheck_analysis::model::RunId;

/// The effect of pruning on a run, with the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PruneDecision {
    /// The run is removed.
    Goes,
    /// A rule of the policy keeps the run. There is no message about such a run.
    Kept,
    /// The run stays because a baseline names it.
    Named,
    /// The run stays because later runs are compared with it.
    Reference,
    /// The run stays because it may still be measuring.
    UnderWay,
    /// The run stays because it belongs to a run that stays.
    Together,
}

/// A run that is removed, or that stays although no rule keeps it (`store prune`, `store remove`).
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PruneLine {
    /// Number of the run.
    pub run: RunId,
    /// Start of the run, RFC 3339.
    pub started: String,
    /// Branch that was measured; null for a detached `HEAD` or outside a repository.
    pub branch: Option<String>,
    /// Full hash of the commit that was measured; null outside a repository.
    pub commit: Option<String>,
    /// Names of the baselines that point to the run.
    pub baselines: Vec<String>,
    /// Number of benchmarks that the run started.
    pub benchmarks: usize,
    /// Size of the samples in bytes.
    pub bytes: u64,
    /// Effect of pruning on the run.
    pub fate: PruneDecision,
}

/// A summary of what pruning did, or would do.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PruneFinished {
    /// Whether the removal was carried out; if not, this message describes what would happen.
    pub executed: bool,
    /// Whether only the samples are removed and the runs stay.
    pub samples_only: bool,
    /// Number of runs to remove.
    pub going: usize,
    /// Number of runs that stay.
    pub staying: usize,
    /// Size of the samples of the runs to remove, in bytes.
    pub bytes: u64,
    /// Number of runs that were removed, or that lost their samples; null if nothing was done.
    pub removed: Option<usize>,
    /// Disk space that was freed, in bytes; null if nothing was done.
    pub freed_bytes: Option<u64>,
}
