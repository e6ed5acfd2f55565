//! Messages of `history` about one benchmark over runs, and of `bisect`, which searches a history for the commit that made a benchmark slower.

use serde::{Deserialize, Serialize};

use crate::output::text::history::{
    BaselineChange, BenchmarkHistory, ExcludedRun, HistoryPoint, ProcessorDisagreement, RunTrend,
};
use perfcheck_analysis::compare::{Band, Estimate, Location, Position, Step};
use perfcheck_analysis::model::{BenchmarkKey, Commit, Metric, RunId, Verdict};

/// A benchmark in one of its runs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "HistoryPoint"))]
pub(crate) struct HistoryPointMessage<'a> {
    /// The benchmark.
    benchmark: &'a BenchmarkKey,
    #[serde(flatten)]
    point: &'a HistoryPoint,
    /// Value of the level that the run belongs to; null if the run is left out.
    level: Option<f64>,
    /// The step up or down with which the level begins, given for the first run of each level but the first; else null.
    step: Option<Step>,
    /// Whether the value is so far from its level that the level was estimated without it.
    stray: bool,
    /// Reason why the run does not count; null if it counts.
    left_out: Option<&'a ExcludedRun>,
}

/// A summary of a benchmark's history. It follows the points.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "BenchmarkHistory"))]
pub(crate) struct HistorySummary<'a> {
    /// The benchmark.
    benchmark: &'a BenchmarkKey,
    /// Metric of the samples.
    metric: &'a Metric,
    /// Location statistic of each process; null without values.
    location: Option<Location>,
    /// Noise threshold, as a fraction: smaller steps are noise.
    noise_threshold: f64,
    /// Confidence level of all intervals.
    confidence_level: f64,
    /// Number of points.
    runs: usize,
    /// Number of points with a value.
    counted: usize,
    /// The levels, oldest first.
    levels: Vec<HistoryLevel>,
    /// Interval in which the newest run was expected, at 99.8 %; null unless ten runs of its level are known.
    band: Option<Band>,
    /// Position of the newest run relative to the interval.
    newest: Position,
    /// Standard deviation of logarithms between the runs of a level; null if unknown.
    run_sd: Option<f64>,
    /// Levels with a gradual trend, made of changes that are too small to show in any single run.
    trends: &'a [RunTrend],
    /// Disagreement between processor models; null if they agree. If they disagree, only the side-by-side runs on one of them count.
    processors: Option<&'a ProcessorDisagreement>,
    /// Change of the current level against each baseline in the history.
    since_baselines: &'a [BaselineChange],
}

/// A series of runs without a change between them.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct HistoryLevel {
    /// Number of the first run.
    first_run: RunId,
    /// Number of the last run.
    last_run: RunId,
    /// Number of runs.
    runs: usize,
    /// Geometric mean of the values, in nanoseconds per iteration or in the unit of the metric.
    value: f64,
    /// The step with which the level begins; null for the first level.
    step: Option<Step>,
}

impl<'a> HistoryPointMessage<'a> {
    /// Creates the message about the point at index `place` of the history.
    pub fn from_history(history: &'a BenchmarkHistory, place: usize) -> Self {
        let point = &history.points[place];
        let level = history.level_of(place);
        let begins = level.filter(|level| history.counted[level.first] == place);
        Self {
            benchmark: &history.key,
            point,
            level: level.map(|level| level.value),
            step: begins.and_then(|level| level.step),
            stray: history.is_stray(place),
            left_out: point.left_out.as_ref(),
        }
    }
}

impl<'a> From<&'a BenchmarkHistory> for HistorySummary<'a> {
    fn from(history: &'a BenchmarkHistory) -> Self {
        let course = &history.course;
        let levels = course.levels.iter().map(|level| HistoryLevel {
            first_run: history.counted_point(level.first).run,
            last_run: history.counted_point(level.last).run,
            runs: level.last - level.first + 1,
            value: level.value,
            step: level.step,
        });
        Self {
            benchmark: &history.key,
            metric: &history.metric,
            location: history.location,
            noise_threshold: history.noise_threshold,
            confidence_level: history.confidence_level,
            runs: history.points.len(),
            counted: history.counted.len(),
            levels: levels.collect(),
            band: course.band,
            newest: course.newest,
            run_sd: course.run_sd,
            trends: &history.trends,
            processors: history.processors.as_ref(),
            since_baselines: &history.since_baselines,
        }
    }
}

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
