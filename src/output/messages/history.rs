//! Messages of `history` about one benchmark over runs, and of `bisect`, which searches a history for the commit that made a benchmark slower.

use serde::{Deserialize, Serialize};

use perfcheck_analysis::compare::{
    Band, Difference, Estimate, Level, Location, Position, Step, Trend,
};
use perfcheck_analysis::model::{
    Acceptance, BenchmarkKey, Commit, GitState, Metric, RunId, Verdict,
};

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
    /// The step that begins the level, in the first run of each level but the oldest; null in all other runs.
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
    /// Levels whose values drift in one direction, by changes too small for a single run to show.
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
    /// The step that begins the level; null for the first level.
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
    /// Duration of the comparison's rounds in seconds, even if an earlier, interrupted call measured them; null if the commit had no comparison of
    /// its own.
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
    /// The first slow commit, or all commits that may be the first slow one, oldest first; the last of these is known to be slow. If the outcome is
    /// `not-slower` or `undecided`, only the last commit.
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

/// A benchmark over runs, with the levels of its values.
#[derive(Debug, Clone)]
pub struct BenchmarkHistory {
    /// The benchmark.
    pub key: BenchmarkKey,
    /// Unit and meaning of its samples.
    pub metric: Metric,
    /// The statistic that summarizes each process; `None` without values.
    pub location: Option<Location>,
    /// Noise threshold, a fraction; smaller steps are ignored.
    pub noise_threshold: f64,
    /// Confidence level of all intervals.
    pub confidence_level: f64,
    /// Its runs, oldest first; never empty.
    pub points: Vec<HistoryPoint>,
    /// Indices into `points` of the runs that `course` covers. Indices within `course` refer to this list.
    pub counted: Vec<usize>,
    /// Levels, expected range, and the position of the newest value.
    pub course: Trend,
    /// Levels whose values drift in one direction.
    pub trends: Vec<RunTrend>,
    /// Disagreement between processors, if there is any. Then only side-by-side runs on one of them count.
    pub processors: Option<ProcessorDisagreement>,
    /// The change from each baseline to the present level.
    pub since_baselines: Vec<BaselineChange>,
    /// The command that accepts the present level.
    pub accept: String,
}

/// A benchmark in one of its runs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "RunOfHistory"))]
pub struct HistoryPoint {
    /// Number of the run.
    pub run: RunId,
    /// Start of the run, RFC 3339.
    pub started: String,
    /// Checkout that the run measured; null outside of a repository.
    pub git: Option<GitState>,
    /// Whether later runs may use this run as a reference by default.
    pub acceptance: Acceptance,
    /// Whether the user accepted this value as a new level, alone or together with the whole run.
    pub accepted: bool,
    /// Verdict at the time of the run; null if there was none.
    pub verdict: Option<Verdict>,
    /// Change at the time of the run, a fraction; null without a comparison.
    pub change: Option<f64>,
    /// Change since the first run that side-by-side measurements connect with the newest one; zero if both runs are at the same level. Null if the
    /// run has no such connection.
    pub since_first: Option<Estimate>,
    /// Value of the run, in nanoseconds per iteration or in the unit of the metric; null if the run is left out.
    pub value: Option<f64>,
    /// Median over processes. Null if several benchmarks are listed. Also null for a side-by-side run if the history has runs measured alone, because
    /// its samples have another length than theirs.
    pub median: Option<Estimate>,
    /// Reason for leaving the run out of the levels.
    #[serde(skip)]
    pub left_out: Option<ExcludedRun>,
}

/// The reason for leaving a run out of the levels.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExcludedRun {
    /// The reason.
    pub why: ExclusionReason,
    /// Differences from the newest run, if they are the reason.
    pub differences: Vec<Difference>,
}

/// The kinds of reasons for leaving a run out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ExclusionReason {
    /// The run cannot be compared with the newest run.
    Incomparable,
    /// The benchmark failed.
    Failed,
    /// The run has no samples, far fewer samples than the newest run, or samples of another kind.
    OtherSamples,
    /// The run was measured on another processor, and the processors disagree.
    OtherProcessor,
    /// The run belongs to another branch than the newest run.
    OtherBranch,
}

impl From<ExclusionReason> for ExcludedRun {
    fn from(why: ExclusionReason) -> Self {
        let differences = Vec::new();
        Self { why, differences }
    }
}

/// A level whose values drift in one direction, by changes too small for a single run to show.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunTrend {
    /// First run of the level.
    pub first_run: RunId,
    /// First run of the last version of the code in the level.
    pub last_run: RunId,
    /// Change from the first to the last of these runs, a fraction.
    pub change: Estimate,
}

/// Processors that measured different changes of the same code.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProcessorDisagreement {
    /// p-value of the test that the processors agree.
    pub p_value: f64,
    /// First run of the step with the largest disagreement; null if no step was measured on two processors.
    pub run: Option<RunId>,
    /// The change at that step on each processor.
    pub changes: Vec<ProcessorChange>,
    /// Processor of the newest run. Only side-by-side runs on this processor are shown.
    pub shown: String,
}

/// A step as measured on one processor.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProcessorChange {
    /// The processor.
    pub processor: String,
    /// The change, a fraction.
    pub change: Estimate,
}

/// The change from a baseline to the present level.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BaselineChange {
    /// Name of the baseline.
    #[serde(rename = "baseline")]
    pub name: String,
    /// Run that the baseline names.
    pub run: RunId,
    /// Change since that run, a fraction.
    pub change: Estimate,
}

impl BenchmarkHistory {
    /// Returns the point at an index of `course`.
    pub fn counted_point(&self, place: usize) -> &HistoryPoint {
        &self.points[self.counted[place]]
    }

    /// Returns the level of a point; `None` if the point is left out.
    pub fn level_of(&self, point: usize) -> Option<&Level> {
        let place = self.counted.iter().position(|counted| *counted == point)?;
        let mut levels = self.course.levels.iter();
        levels.find(|level| (level.first..=level.last).contains(&place))
    }

    /// Reports whether a point is an outlier of its level.
    pub fn is_stray(&self, point: usize) -> bool {
        let mut strays = self.course.strays.iter();
        strays.any(|stray| self.counted[*stray] == point)
    }

    /// Returns the present level.
    pub fn present(&self) -> Option<&Level> {
        self.course.levels.last()
    }
}
