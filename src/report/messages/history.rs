//! A benchmark over runs (`history`).

use serde::Serialize;

use crate::report::text::history::{
    BenchmarkHistory, HistoryPoint, LeftOut, Processors, SinceBaseline, TrendOfRuns,
};
use perfcheck_analysis::compare::{Band, Location, Position, Step};
use perfcheck_analysis::model::{BenchmarkKey, Metric, RunId};

/// A benchmark in one of its runs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "HistoryPoint"))]
pub(crate) struct HistoryPointMessage<'a> {
    /// The benchmark.
    benchmark: &'a BenchmarkKey,
    #[serde(flatten)]
    point: &'a HistoryPoint,
    /// The value of the level that the run belongs to; null where it is left out.
    level: Option<f64>,
    /// How the level began, for the first run of a level but the first; else null.
    step: Option<Step>,
    /// Whether the value lies so far off its level that the level is taken without it.
    stray: bool,
    /// Why the run does not count; null where it does.
    left_out: Option<&'a LeftOut>,
}

/// The course that a benchmark takes; after its points.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "BenchmarkHistory"))]
pub(crate) struct HistoryCourse<'a> {
    /// The benchmark.
    benchmark: &'a BenchmarkKey,
    /// What its samples mean.
    metric: &'a Metric,
    /// What was taken of each launch; null without values.
    location: Option<Location>,
    /// Steps up to this are noise, a fraction.
    noise_threshold: f64,
    /// The level of all intervals.
    confidence_level: f64,
    /// How many points there are.
    runs: usize,
    /// How many of them have a value.
    counted: usize,
    /// The levels, oldest first.
    levels: Vec<HistoryLevel>,
    /// Where the newest run was to be expected, at 99.8 %; null before ten runs of its level are known.
    band: Option<Band>,
    /// Where the newest run lies.
    newest: Position,
    /// The standard deviation between the runs of a level, of logarithms; null if unknown.
    run_sd: Option<f64>,
    /// Levels whose runs go in one direction, by changes that no single run shows.
    trends: &'a [TrendOfRuns],
    /// What processors say otherwise than one another; null where they agree. Then the runs in turn on one of them alone count.
    processors: Option<&'a Processors>,
    /// How far the present level is from each baseline of the history.
    since_baselines: &'a [SinceBaseline],
}

/// Runs without a change between them.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct HistoryLevel {
    /// The number of its first run.
    first_run: RunId,
    /// The number of its last run.
    last_run: RunId,
    /// How many runs it has.
    runs: usize,
    /// The geometric mean of its values, nanoseconds per iteration or as the metric says.
    value: f64,
    /// How it began; null for the first level.
    step: Option<Step>,
}

impl<'a> HistoryPointMessage<'a> {
    /// The point at a place of the history.
    pub fn of(history: &'a BenchmarkHistory, place: usize) -> Self {
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

impl<'a> From<&'a BenchmarkHistory> for HistoryCourse<'a> {
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
