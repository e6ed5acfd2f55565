//! A search through a history (`bisect`).

use serde::{Deserialize, Serialize};

use perfcheck_analysis::compare::Estimate;
use perfcheck_analysis::model::{BenchmarkKey, Commit, RunId, Verdict};

/// Whether a commit is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// It is no slower than the good one.
    Fast,
    /// It is slower than the good one.
    Slow,
    /// Nothing was found about it.
    Skipped,
}

/// What was found about a commit, as messages have it and as a search remembers it from call to call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CommitOutcome {
    /// What was found about it.
    pub finding: Finding,
    /// The verdict of the comparison with the good commit; null without one.
    pub verdict: Option<Verdict>,
    /// The change against the good commit; null without a comparison.
    pub change: Option<Estimate>,
    /// The change, a fraction, beyond which the commit is slow; null without a comparison.
    pub threshold: Option<f64>,
    /// Why it was skipped or not measured; null where it was measured.
    pub why: Option<String>,
    /// The stored run of the commit's side; null where nothing is stored.
    pub run: Option<RunId>,
    /// How many seconds its rounds took; null where it was not measured now.
    pub seconds: Option<f64>,
}

/// A commit that was looked at; written as soon as something is known of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BisectStep {
    /// The commit.
    pub commit: Commit,
    /// Which of the commits after the good one it is, from 1.
    pub place: usize,
    /// How many commits there are after the good one.
    pub of: usize,
    /// What was found about it.
    #[serde(flatten)]
    pub found: CommitOutcome,
    /// Whether an earlier, interrupted call found it.
    pub remembered: bool,
}

/// What the search came to.
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
    /// Whether the last commit is slower could not be told.
    Undecided,
}

/// The answer of the search.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "BisectFinished"))]
pub struct BisectFindings {
    /// The benchmark that was measured.
    pub benchmark: BenchmarkKey,
    /// What the search came to.
    pub outcome: BisectOutcome,
    /// The first slow commit, or all that it can be, oldest first; the last of them is known to be slow. Where the outcome is `not-slower` or
    /// `undecided`, the last commit.
    pub commits: Vec<BisectStep>,
    /// The commit that everything was compared with.
    pub good: Commit,
    /// The last commit.
    pub bad: Commit,
    /// How many commits there are after the good one.
    pub commits_in_all: usize,
    /// How many comparisons the search took.
    pub measurements: u32,
    /// The change of the last of `commits` against the good one; null without a comparison.
    pub change: Option<Estimate>,
    /// The change of `bad` against `good`; null without a comparison.
    pub total_change: Option<Estimate>,
    /// The status that the process ends with.
    pub exit_code: u8,
    /// What the user calls `good`.
    #[serde(skip)]
    pub good_name: String,
    /// What the user calls `bad`.
    #[serde(skip)]
    pub bad_name: String,
}
