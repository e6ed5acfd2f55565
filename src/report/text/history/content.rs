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
    /// How far the present level is from that of runs with a name.
    pub since_baselines: Vec<SinceBaseline>,
    /// The benchmark as an argument of `accept`, quoted for a shell.
    pub accept_words: String,
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
    /// The run value in nanoseconds per iteration, or as the metric says; null where it is left out.
    pub value: Option<f64>,
    /// The median over launches; null where several benchmarks are asked for.
    pub median: Option<Estimate>,
    /// Why the course is without it.
    #[serde(skip)]
    pub left_out: Option<LeftOut>,
}

/// Why a run does not count.
#[derive(Debug, Clone, PartialEq)]
pub enum LeftOut {
    /// It cannot be compared with the newest run: these differ.
    Incomparable(Vec<Difference>),
    /// The benchmark failed.
    Failed,
    /// It has no samples, or far fewer than the newest run has, or of another kind.
    OtherSamples,
    /// It is of another branch than the newest run: its code takes a course of its own.
    OtherBranch,
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
