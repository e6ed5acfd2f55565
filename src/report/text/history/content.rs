//! A benchmark over runs, as sinks are given it.

use serde::Serialize;

use perfcheck_analysis::compare::{Course, Difference, Estimate, Level, Location};
use perfcheck_analysis::model::{Acceptance, BenchmarkKey, GitState, Metric, RunId, Verdict};

/// A benchmark over runs, with the course that its values take.
#[derive(Debug, Clone)]
pub struct BenchmarkHistory {
    /// The benchmark.
    pub key: BenchmarkKey,
    /// What its samples mean.
    pub metric: Metric,
    /// What was taken of each launch; `None` without values.
    pub location: Option<Location>,
    /// A step that is not larger does not matter, a fraction.
    pub noise_threshold: f64,
    /// The level of all intervals.
    pub confidence_level: f64,
    /// Its runs, oldest first; never empty.
    pub points: Vec<HistoryPoint>,
    /// The places of the `points` that the course is of. The places in `course` are places in here.
    pub counted: Vec<usize>,
    /// Levels, band, and where the newest value stands.
    pub course: Course,
    /// Levels whose runs go in one direction.
    pub trends: Vec<TrendOfRuns>,
    /// What processors say otherwise than one another, if they do; then runs in turn on one of them alone count.
    pub processors: Option<Processors>,
    /// How far the present level is from that of runs with a name.
    pub since_baselines: Vec<SinceBaseline>,
    /// The command that accepts its present level.
    pub accept: String,
}

/// A benchmark in one of its runs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "RunOfHistory"))]
pub struct HistoryPoint {
    /// The number of the run.
    pub run: RunId,
    /// When the run began, RFC 3339.
    pub started: String,
    /// The checkout that the run measured; null outside of a repository.
    pub git: Option<GitState>,
    /// Whether the run may serve as a reference by itself.
    pub acceptance: Acceptance,
    /// Whether the user accepted this value as a new level, with the whole run or by itself.
    pub accepted: bool,
    /// The verdict as the run found it; null where it has none.
    pub verdict: Option<Verdict>,
    /// The change as the run found it, a fraction; null without a comparison.
    pub change: Option<f64>,
    /// The change since the first run that measurements in turn connect with the newest one; nothing within its level. Null where none connect them.
    pub since_first: Option<Estimate>,
    /// The run value in nanoseconds per iteration, or as the metric says; null where it is left out.
    pub value: Option<f64>,
    /// The median over launches; null where several benchmarks are asked for, and of a run in turn among runs measured alone, whose scale is another.
    pub median: Option<Estimate>,
    /// Why the course is without it.
    #[serde(skip)]
    pub left_out: Option<LeftOut>,
}

/// Why a run does not count.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// The reason.
    pub why: LeftOutReason,
    /// The facts that differ from the newest run, where that is the reason.
    pub differences: Vec<Difference>,
}

/// The reason for which a run does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LeftOutReason {
    /// It cannot be compared with the newest run.
    Incomparable,
    /// The benchmark failed.
    Failed,
    /// It has no samples, or far fewer than the newest run, or samples of another kind.
    OtherSamples,
    /// It was measured on another processor, and the processors disagree.
    OtherProcessor,
    /// It is of another branch than the newest run: its code takes a course of its own.
    OtherBranch,
}

impl From<LeftOutReason> for LeftOut {
    fn from(why: LeftOutReason) -> Self {
        let differences = Vec::new();
        Self { why, differences }
    }
}

/// A level whose runs go in one direction, by changes that no single run shows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TrendOfRuns {
    /// Its first run.
    pub first_run: RunId,
    /// The first run of its last code.
    pub last_run: RunId,
    /// The change from the one to the other, a fraction.
    pub change: Estimate,
}

/// Processors that measured different changes of the same code.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Processors {
    /// p of the test that they agree.
    pub p_value: f64,
    /// The first run of the step that they disagree about most; null where no step was measured on two of them.
    pub run: Option<RunId>,
    /// What each processor says of that step.
    pub changes: Vec<ProcessorChange>,
    /// The processor whose runs in turn count here: that of the newest run.
    pub shown: String,
}

/// A step as it was measured on one processor.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProcessorChange {
    /// The processor.
    pub processor: String,
    /// The change, a fraction.
    pub change: Estimate,
}

/// How far the present level is from a baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SinceBaseline {
    /// The name of the baseline.
    #[serde(rename = "baseline")]
    pub name: String,
    /// The run that it names.
    pub run: RunId,
    /// The change since then, a fraction.
    pub change: Estimate,
}

impl BenchmarkHistory {
    /// The point that stands at a place of the course.
    pub fn counted_point(&self, place: usize) -> &HistoryPoint {
        &self.points[self.counted[place]]
    }

    /// The level that a point belongs to; `None` where it does not count.
    pub fn level_of(&self, point: usize) -> Option<&Level> {
        let place = self.counted.iter().position(|counted| *counted == point)?;
        let mut levels = self.course.levels.iter();
        levels.find(|level| (level.first..=level.last).contains(&place))
    }

    /// Whether a point lies far off its level.
    pub fn is_stray(&self, point: usize) -> bool {
        let mut strays = self.course.strays.iter();
        strays.any(|stray| self.counted[*stray] == point)
    }

    /// The present level.
    pub fn present(&self) -> Option<&Level> {
        self.course.levels.last()
    }
}
