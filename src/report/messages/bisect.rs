//! Messages of `bisect`, which searches a history for the commit that made a benchmark slower.

use serde::{Deserialize, Serialize};

use perfcheck_analysis::compare::Estimate;
use perfcheck_analysis::model::{BenchmarkKey, Commit, RunId, Verdict};

/// The finding about one commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CommitFinding {
    /// The commit is not slower than the good one.
    Fast,
    /// The commit is slower than the good one.
    Slow,
    /// The commit could not be judged.
    Skipped,
}

/// The result for one commit. It is part of the `bisect-step` message and of the state that an interrupted search resumes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CommitOutcome {
    /// The finding.
    pub finding: CommitFinding,
    /// Verdict of the comparison with the good commit; null without a comparison.
    pub verdict: Option<Verdict>,
    /// Change against the good commit; null without a comparison.
    pub change: Option<Estimate>,
    /// Change beyond which the commit counts as slow, as a fraction; null without a comparison.
    pub threshold: Option<f64>,
    /// Reason why the commit was skipped or not measured; null if it was measured.
    pub why: Option<String>,
    /// Stored run of this commit's side of the comparison; null if nothing was stored.
    pub run: Option<RunId>,
    /// Duration of the rounds in seconds; null if the commit was not measured by this call.
    pub seconds: Option<f64>,
}

/// A commit that the search examined. The message is written as soon as its result is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BisectStep {
    /// The commit.
    pub commit: Commit,
    /// Position of the commit after the good one, from 1.
    pub place: usize,
    /// Number of commits after the good one.
    pub of: usize,
    /// The result.
    #[serde(flatten)]
    pub found: CommitOutcome,
    /// Whether the result is from an earlier, interrupted call.
    pub remembered: bool,
}

/// The outcome of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BisectOutcome {
    /// The first slow commit is known.
    Found,
    /// The first slow commit is one of several.
    Narrowed,
    /// The last commit is not slower than the good one.
    NotSlower,
    /// The last commit could not be shown to be slower, or not slower.
    Undecided,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "BisectFinished"))]
pub struct BisectFindings {
    /// The benchmark that was measured.
    pub benchmark: BenchmarkKey,
    /// The outcome.
    pub outcome: BisectOutcome,
    /// The first slow commit, or all candidates for it, oldest first; the last of them is known to be slow. If the outcome is `not-slower` or
    /// `undecided`, the last commit.
    pub commits: Vec<BisectStep>,
    /// The commit that all others were compared with.
    pub good: Commit,
    /// The last commit.
    pub bad: Commit,
    /// Number of commits after the good one.
    pub commits_in_all: usize,
    /// Number of comparisons that the search made.
    pub measurements: u32,
    /// Change of the last of `commits` against the good one; null without a comparison.
    pub change: Option<Estimate>,
    /// Change of `bad` against `good`; null without a comparison.
    pub total_change: Option<Estimate>,
    /// Exit code of the command.
    pub exit_code: u8,
    /// The user's name for `good`.
    #[serde(skip)]
    pub good_name: String,
    /// The user's name for `bad`.
    #[serde(skip)]
    pub bad_name: String,
}
