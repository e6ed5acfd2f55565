//! The history of a benchmark over runs, as all outputs receive it.

use serde::Serialize;

use perfcheck_analysis::compare::{Difference, Estimate, Level, Location, Trend};
use perfcheck_analysis::model::{Acceptance, BenchmarkKey, GitState, Metric, RunId, Verdict};

/// A benchmark over runs, with the levels of its values.
#[derive(Debug, Clone)]
pub struct BenchmarkHistory {
    /// The benchmark
    pub key: BenchmarkKey,
    /// Unit and meaning of its samples
    pub metric: Metric,
    /// The statistic that summarizes each process; `None` without values
    pub location: Option<Location>,
    /// Noise threshold, a fraction; smaller steps are ignored
    pub noise_threshold: f64,
    /// Confidence level of all intervals
    pub confidence_level: f64,
    /// Its runs, oldest first; never empty
    pub points: Vec<HistoryPoint>,
    /// Indices into `points` of the runs that `course` covers. Indices within `course` refer to this list.
    pub counted: Vec<usize>,
    /// Levels, expected range, and the position of the newest value
    pub course: Trend,
    /// Levels whose values drift in one direction
    pub trends: Vec<RunTrend>,
    /// Disagreement between processors, if there is any. Then only side-by-side runs on one of them count.
    pub processors: Option<ProcessorDisagreement>,
    /// The change from each baseline to the present level
    pub since_baselines: Vec<BaselineChange>,
    /// The command that accepts the present level
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
    /// Whether the user accepted this value as a new level, with its run or by itself.
    pub accepted: bool,
    /// Verdict at the time of the run; null if there was none.
    pub verdict: Option<Verdict>,
    /// Change at the time of the run, a fraction; null without a comparison.
    pub change: Option<f64>,
    /// Change since the first run that side-by-side measurements connect with the newest one; zero within the same level.
    /// Null for runs without such a connection.
    pub since_first: Option<Estimate>,
    /// Value of the run, in nanoseconds per iteration or in the unit of the metric; null if the run is left out.
    pub value: Option<f64>,
    /// Median over processes. Null if several benchmarks are listed, and for side-by-side runs among runs measured alone, because their
    /// scale differs.
    pub median: Option<Estimate>,
    /// Why the run is left out of the levels
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
    /// First run of the level's last version of the code.
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
    /// Processor whose side-by-side runs are shown: that of the newest run.
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
