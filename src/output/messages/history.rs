//! Messages of `history` about one benchmark over runs and about commits that it measures, and of `bisect`, which searches a history for the commit
//! that made a benchmark slower.

use serde::{Deserialize, Serialize};

use perfcheck_analysis::compare::{
    Band, Difference, Estimate, Level, Location, Position, Step, Trend,
};
use perfcheck_analysis::model::{
    Acceptance, BenchmarkKey, Commit, GitState, Metric, RunId, Side, Statistic, Timestamp, Verdict,
};

/// One value in the history of a benchmark: the value of the benchmark in one run.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "HistoryPoint"))]
pub(crate) struct HistoryPointMessage<'a> {
    /// The benchmark.
    benchmark: &'a BenchmarkKey,
    #[serde(flatten)]
    point: &'a HistoryPoint,
    /// Value of the level that the run belongs to, in the unit of `value`; null if the run is left out.
    level: Option<f64>,
    /// The change from the level before to the level of this run. It is given only for the first run of each level but the oldest; null for all other
    /// runs.
    step: Option<Step>,
    /// Whether the value is so far from the other values of its level that the level was estimated without it.
    stray: bool,
    /// Why the run does not count towards the levels; null if it counts.
    left_out: Option<&'a ExcludedRun>,
}

/// A summary of a benchmark's history. It follows the messages about the single runs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "BenchmarkHistory"))]
pub(crate) struct HistorySummary<'a> {
    /// The benchmark.
    benchmark: &'a BenchmarkKey,
    /// The word of `--metric`; `time` stands for whatever the samples measure.
    statistic: Statistic,
    /// Unit and meaning of the values.
    metric: &'a Metric,
    /// The statistic that stands for the samples of each process; null if no run has a value.
    location: Option<Location>,
    /// Noise threshold, as a fraction: smaller changes between runs are noise and begin no new level.
    noise_threshold: f64,
    /// Confidence level of all intervals but `band`, as a fraction.
    confidence_level: f64,
    /// Number of runs in the history.
    runs: usize,
    /// Number of these runs that have a value and so count towards the levels.
    counted: usize,
    /// The levels that the values form, oldest first.
    levels: Vec<HistoryLevel>,
    /// Range in which the newest run was expected, with a probability of 99.8 %. Null unless ten runs of its level are known.
    band: Option<Band>,
    /// Where the value of the newest run lies relative to `band`.
    newest: Position,
    /// Standard deviation of the natural logarithms of the values of runs at the same level; null if unknown.
    run_sd: Option<f64>,
    /// Levels whose values drift in one direction, by changes too small for a single run to show.
    trends: &'a [RunTrend],
    /// How processor models disagree about the same changes; null if they agree. If they disagree, only the side-by-side runs on one of them count.
    processors: Option<&'a ProcessorDisagreement>,
    /// How the current level changed against each baseline that names a run of the history.
    since_baselines: &'a [BaselineChange],
}

/// A level: consecutive runs between whose values no change was found.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct HistoryLevel {
    /// Number of the first run of the level.
    first_run: RunId,
    /// Number of the last run of the level.
    last_run: RunId,
    /// Number of runs that the level covers.
    runs: usize,
    /// Geometric mean of the values, in nanoseconds per iteration or in the unit of the metric.
    value: f64,
    /// The change from the level before to this one; null for the first level.
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
            statistic: history.statistic,
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

/// What the search found about one commit.
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

/// What the search found about one commit, with the numbers. It is part of the `bisect-step` message, and of the state from which an interrupted
/// search resumes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CommitOutcome {
    /// Whether the commit is slow.
    pub finding: CommitFinding,
    /// Verdict of the comparison with the good commit; null without a comparison.
    pub verdict: Option<Verdict>,
    /// Change against the good commit; null without a comparison.
    pub change: Option<Estimate>,
    /// Change beyond which the commit counts as slow, as a fraction; null without a comparison.
    pub threshold: Option<f64>,
    /// Why the commit was skipped or not measured, in words; null if it was measured.
    pub why: Option<String>,
    /// Number of the run that stores the measurement of this commit; null if nothing was stored.
    pub run: Option<RunId>,
    /// Duration of the comparison's rounds in seconds, even if an earlier, interrupted call measured them; null if the commit had no comparison of
    /// its own.
    pub seconds: Option<f64>,
}

/// A commit that the search examined. The message is written as soon as its result is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BisectStep {
    /// The commit that was examined.
    pub commit: Commit,
    /// Position of the commit among those after the good one, oldest first, from 1.
    pub place: usize,
    /// Number of commits after the good one, up to the last one.
    pub of: usize,
    /// What was found about the commit.
    #[serde(flatten)]
    pub found: CommitOutcome,
    /// Whether the result was found by an earlier call of the command that was interrupted.
    pub remembered: bool,
}

/// What a search for the first slow commit found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BisectOutcome {
    /// The first slow commit is known.
    Found,
    /// The first slow commit is one of several, which could not be told apart.
    Narrowed,
    /// The last commit is not slower than the good one.
    NotSlower,
    /// It could not be shown whether the last commit is slower than the good one.
    Undecided,
}

/// The result of a search for the first commit that made a benchmark slower.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "BisectFinished"))]
pub struct BisectFindings {
    /// The benchmark that was measured.
    pub benchmark: BenchmarkKey,
    /// What the search found.
    pub outcome: BisectOutcome,
    /// The first slow commit, or all commits that may be the first slow one, oldest first; the last of these is known to be slow. If the outcome is
    /// `not-slower` or `undecided`, only the last commit.
    pub commits: Vec<BisectStep>,
    /// The commit that all others were compared with, which is not slow.
    pub good: Commit,
    /// The last commit of the searched range.
    pub bad: Commit,
    /// Number of commits after the good one.
    pub commits_in_all: usize,
    /// Number of comparisons that the search made.
    pub measurements: u32,
    /// Change of the last entry of `commits` against `good`, as a fraction with its interval; null without a comparison.
    pub change: Option<Estimate>,
    /// Change of `bad` against `good`, as a fraction with its interval; null without a comparison.
    pub total_change: Option<Estimate>,
    /// Exit code of the command.
    pub exit_code: u8,
    /// The name by which the user selected the commit `good`.
    #[serde(skip)]
    pub good_name: String,
    /// The name by which the user selected the commit `bad`.
    #[serde(skip)]
    pub bad_name: String,
}

/// The outcome for a commit of `history --measure`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PastOutcome {
    /// The commit was measured side by side with an older one.
    Measured,
    /// The commit runs the same code as the older one, so it was not measured.
    SameCode,
    /// The commit could not be measured.
    PassedOver,
}

/// A commit that `history --measure` examined. The message is written as soon as its result is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "CommitMeasured"))]
pub struct PastCommitMeasured {
    /// The commit.
    pub commit: Commit,
    /// The older commit that it was measured against; null if it was passed over.
    pub against: Option<Commit>,
    /// Position among the chosen commits, newest first, from 1. With `--refine`, other commits are examined afterwards: null for these.
    pub place: Option<usize>,
    /// Number of chosen commits.
    pub of: usize,
    /// Whether the commit was measured.
    pub outcome: PastOutcome,
    /// Why the commit was passed over; null otherwise.
    pub why: Option<String>,
    /// Whether an earlier call of the command found this.
    pub remembered: bool,
    /// Number of the run that stores the measurement of this commit; null if it was passed over.
    pub run: Option<RunId>,
    /// Number of benchmarks that both commits have.
    pub benchmarks: usize,
    /// The benchmarks that became slower or faster.
    pub changed: Vec<PastChange>,
    /// Duration of the builds and the measurement in seconds; null if an earlier call found the result.
    pub seconds: Option<f64>,
}

/// A change of a benchmark from one measured commit to the next.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PastChange {
    /// The benchmark.
    pub benchmark: BenchmarkKey,
    /// `regressed` or `improved`.
    pub verdict: Verdict,
    /// The change, as a fraction with its interval.
    pub change: Option<Estimate>,
    /// The side that takes a slow path, a cost that only some samples have. Null if none was found.
    pub slow_side: Option<Side>,
}

/// A step of a benchmark in the commits that `history --measure` measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "StepFound"))]
pub struct PastStep {
    /// The benchmark and its change.
    #[serde(flatten)]
    pub change: PastChange,
    /// The commit that changed the benchmark; null if several commits may have done it.
    pub commit: Option<Commit>,
    /// The newest commit that is known to be before the change.
    pub after: Commit,
    /// The oldest commit that is known to have the change.
    pub until: Commit,
    /// Number of commits that may have changed the benchmark.
    pub commits: usize,
    /// Why several commits may have done it; null if one is known.
    pub why: Option<String>,
}

/// The end of a series of measurements of the past.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "MeasureFinished"))]
pub struct PastFinished {
    /// Number of commits that this call measured.
    pub measured: usize,
    /// Number of commits that run the same code as the older one.
    pub same_code: usize,
    /// Number of commits that were measured by an earlier call.
    pub remembered: usize,
    /// Number of commits that could not be measured.
    pub passed_over: usize,
    /// Number of commits that the time budget left unmeasured: chosen ones, and with `--refine` those among which a step may be.
    pub left: usize,
    /// Duration of the command in seconds.
    pub seconds: f64,
}

/// The values of a benchmark in all its runs, and the levels that they form.
#[derive(Debug, Clone)]
pub struct BenchmarkHistory {
    /// The benchmark.
    pub key: BenchmarkKey,
    /// The metric that the values are about. `Time` stands for whatever the samples measure.
    pub statistic: Statistic,
    /// Unit and meaning of the values.
    pub metric: Metric,
    /// The statistic that stands for the samples of each process; `None` if no run has a value.
    pub location: Option<Location>,
    /// Noise threshold, as a fraction. Smaller changes between runs begin no new level.
    pub noise_threshold: f64,
    /// Confidence level of all intervals but the expected range.
    pub confidence_level: f64,
    /// The runs that measured the benchmark, oldest first. There is at least one.
    pub points: Vec<HistoryPoint>,
    /// Indices into `points` of the runs that count towards the levels. `course` covers only these runs, and its indices are positions in this list.
    pub counted: Vec<usize>,
    /// The levels, the range in which the newest value was expected, and where that value lies.
    pub course: Trend,
    /// Levels whose values drift in one direction.
    pub trends: Vec<RunTrend>,
    /// How processors disagree about the same changes, if they do. Then only the side-by-side runs on one of them count.
    pub processors: Option<ProcessorDisagreement>,
    /// How the present level changed against each baseline that names a run of the history.
    pub since_baselines: Vec<BaselineChange>,
    /// The command that accepts the present level; null if the newest run cannot be accepted, because it measured a commit of the past.
    pub accept: Option<String>,
}

/// A run of a benchmark's history, with the value of the benchmark.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "RunOfHistory"))]
pub struct HistoryPoint {
    /// Number of the run.
    pub run: RunId,
    /// Start of the run, RFC 3339.
    pub started: String,
    /// Time of the commit if `history --measure` measured it later, RFC 3339. The run then stands at this time. Null for all other runs, which stand at
    /// their start.
    pub committed: Option<String>,
    /// Time at which the run stands in the history.
    #[serde(skip)]
    pub at: Timestamp,
    /// Checkout that the run measured; null outside of a repository.
    pub git: Option<GitState>,
    /// Whether later runs may use this run as a reference by default.
    pub acceptance: Acceptance,
    /// Whether the user accepted this value as a new level, for this benchmark alone or together with the whole run.
    pub accepted: bool,
    /// Verdict that the run itself gave; null if it gave none.
    pub verdict: Option<Verdict>,
    /// Change that the run itself found against its reference, as a fraction; null without a comparison.
    pub change: Option<f64>,
    /// Change from an earlier run to this one, as a fraction with its interval. The earlier run is the first one of the history that side-by-side
    /// measurements connect with the newest one, directly or through other runs. The change and both bounds are 0 if the two runs are at the same
    /// level. Null if side-by-side measurements do not connect them, or if this run is left out.
    pub since_first: Option<Estimate>,
    /// Value of the run, in nanoseconds per iteration or in the unit of the metric; null if the run is left out.
    pub value: Option<f64>,
    /// Median time or amount of all processes, with its interval. Null if several benchmarks are listed. Also null for a side-by-side run if the
    /// history has runs measured alone, because its samples have another length than theirs.
    pub median: Option<Estimate>,
    /// Why the run does not count towards the levels; `None` if it counts.
    #[serde(skip)]
    pub left_out: Option<ExcludedRun>,
}

/// The reason why a run does not count towards the levels of a history.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExcludedRun {
    /// The kind of the reason.
    pub why: ExclusionReason,
    /// Facts that differ from the newest run, if they are the reason; otherwise empty.
    pub differences: Vec<Difference>,
}

/// The kinds of reasons why a run does not count towards the levels of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ExclusionReason {
    /// The run cannot be compared with the newest run.
    Incomparable,
    /// The benchmark failed in the run.
    Failed,
    /// The run has no samples, far fewer samples than the newest run, or samples of another kind.
    OtherSamples,
    /// The run was measured on another processor than the newest run, and these processors disagree about the same changes.
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
    /// First run of the level, by its number.
    pub first_run: RunId,
    /// First run of the newest version of the code at this level.
    pub last_run: RunId,
    /// Change from `first_run` to `last_run`, as a fraction with its interval.
    pub change: Estimate,
}

/// Processors that measured different changes between the same versions of the code.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProcessorDisagreement {
    /// P-value of the test whether the processors agree. A small one means that they do not.
    pub p_value: f64,
    /// First run after the step that the processors disagree about most; null if no step was measured on two processors.
    pub run: Option<RunId>,
    /// The change at this step, as each processor measured it.
    pub changes: Vec<ProcessorChange>,
    /// Processor of the newest run. Only side-by-side runs on this processor are shown.
    pub shown: String,
}

/// A change between two levels, as one processor measured it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProcessorChange {
    /// Model of the processor.
    pub processor: String,
    /// The change, as a fraction with its interval.
    pub change: Estimate,
}

/// How the present level changed against a baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BaselineChange {
    /// Name of the baseline.
    #[serde(rename = "baseline")]
    pub name: String,
    /// Run that the baseline names.
    pub run: RunId,
    /// Change from that run to the present level, as a fraction with its interval.
    pub change: Estimate,
}

impl HistoryPoint {
    /// Returns the day at which the run stands in the history.
    pub fn day(&self) -> &str {
        let time = self.committed.as_ref().unwrap_or(&self.started);
        time.get(..10).unwrap_or(time)
    }
}

impl BenchmarkHistory {
    /// Returns the point of a run that counts. `place` is an index of `course`, which covers only such runs.
    pub fn counted_point(&self, place: usize) -> &HistoryPoint {
        &self.points[self.counted[place]]
    }

    /// Returns the level that a point belongs to. Returns `None` if the point does not count towards the levels.
    pub fn level_of(&self, point: usize) -> Option<&Level> {
        let place = self.counted.iter().position(|counted| *counted == point)?;
        let mut levels = self.course.levels.iter();
        levels.find(|level| (level.first..=level.last).contains(&place))
    }

    /// Returns true if the value of a point is so far from the others of its level that the level was estimated without it.
    pub fn is_stray(&self, point: usize) -> bool {
        let mut strays = self.course.strays.iter();
        strays.any(|stray| self.counted[*stray] == point)
    }

    /// Returns the level of the newest run. Returns `None` if no run has a value.
    pub fn present(&self) -> Option<&Level> {
        self.course.levels.last()
    }
}
