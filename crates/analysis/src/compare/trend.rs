//! Describes the history of a benchmark over runs: its values, its levels, where they changed, and the expected range of the next value.
//!
//! The values can come from any source. They must be in the order of their runs, and all must be computed in the same way, so that they can be
//! compared. No verdict depends on a history. docs/internals/src/statistics/history.md describes the method.

use serde::Serialize;
use std::ops::{Range, RangeInclusive};

use super::estimate::Estimate;
use super::process_values::{Location, MIN_SAMPLES_FOR_LOW_QUANTILE, RunTimes};
use super::run_level::RunValues;
use crate::model::{Measurement, RunPoint};
use perfcheck_stats::{ChangePointRules, Stream, TukeyFences, change_points, mean, student_t};

/// At most this many runs of a level, the newest ones, enter a band and the change since an earlier run.
const MOST_RUNS: usize = 30;
/// The fewest degrees of freedom for which there is a band. Ten runs of one level have this many.
const FEWEST_DF: usize = 9;
/// The fewest values of a level among which outliers are looked for.
const FEWEST_FOR_FENCES: usize = 8;
/// The probability that a value lies above the band if nothing has changed. It is the same below the band.
const BAND_LEVEL: f64 = 0.001;

/// The value of one run in a history, and what is known about it besides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrendPoint {
    /// The logarithm of the nanoseconds per iteration, or of the amount that the benchmark measures.
    pub value: f64,
    /// Whether the user accepted that a new level begins at this run.
    pub accepted: bool,
    /// Whether the value follows from side-by-side measurements of the run. The search for level changes ignores such values.
    pub is_placed: bool,
    /// Half the width of the interval of the change at this run, as a logarithm, if side-by-side measurements show that a level begins here.
    /// Otherwise `None`.
    pub shown: Option<f64>,
}

/// The rules for describing a history.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrendRules {
    /// The largest step between levels that does not count, as a fraction.
    pub noise_threshold: f64,
    /// The confidence level of the intervals of steps.
    pub confidence_level: f64,
    /// The seed of the permutations that test for change points. It is combined with the name of the benchmark.
    pub seed: u64,
}

/// The levels of a history, the expected range, and the position of the newest value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trend {
    /// The levels, oldest first. Each begins right after the one before. There is none only if there are no values.
    pub levels: Vec<Level>,
    /// The range in which the newest value was expected. `None` if fewer than ten runs came before the newest one (one more for each further level),
    /// or if the newest run itself begins a level.
    pub band: Option<Band>,
    /// The position of the newest value relative to the band.
    pub newest: Position,
    /// The indices of runs that were disturbed. Their values are so far from the other values of their level that level and noise are computed
    /// without them.
    pub strays: Vec<usize>,
    /// The standard deviation between runs of the same level, in logarithms. `None` if each level has only one run.
    pub run_sd: Option<f64>,
    #[serde(skip)]
    df: usize,
}

/// Consecutive runs without a change between them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Level {
    /// The index of the first value of the level.
    pub first: usize,
    /// The index of the last value of the level.
    pub last: usize,
    /// The geometric mean of the values of the level, without outliers.
    pub value: f64,
    /// The step from the level before. `None` for the first level.
    pub step: Option<Step>,
}

/// The step with which a level of a history begins.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Step {
    /// The change from the level before, as a fraction with its interval.
    pub change: Estimate,
    /// The p-value of the test that found the step in the values of the history. Null if a side-by-side measurement showed the step, or if the user
    /// accepted a step that the values alone do not show.
    pub p_value: Option<f64>,
    /// Whether the user accepted the new level.
    pub accepted: bool,
}

/// The range in which the value of a run is expected if nothing has changed. It is in nanoseconds per iteration, or in the unit of the metric.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Band {
    /// The middle of the range: the geometric mean of the runs of the level that came before the run that is judged.
    pub value: f64,
    /// The lower end of the range.
    pub lower: f64,
    /// The upper end of the range.
    pub upper: f64,
    /// Number of runs from which the middle of the range was computed.
    pub runs: usize,
}

/// Where the newest value of a history lies relative to the band, the range in which it was expected. A value counts as outside only if it also
/// differs from the middle of the band by more than the noise threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Position {
    /// The position is unknown, because too few runs are known for a band.
    Unknown,
    /// The newest value is within the band.
    Within,
    /// The newest value is above the band, but the value before it is not.
    AboveOnce,
    /// The newest value and the value before it are both above the band.
    AboveTwice,
    /// The newest value is below the band, but the value before it is not.
    BelowOnce,
    /// The newest value and the value before it are both below the band.
    BelowTwice,
}

/// The first value of a new level, while the levels of a history are searched for.
#[derive(Debug, Clone, Copy)]
struct Border {
    at: usize,
    p_value: Option<f64>,
    accepted: bool,
    shown: Option<f64>,
}

impl Trend {
    /// Computes the history of `points`, oldest first. `name` gives each benchmark its own random numbers. The time grows with the square of the
    /// number of points. A hundred points take a tenth of a second at most.
    pub fn from_points(points: &[TrendPoint], rules: &TrendRules, name: &str) -> Self {
        let values: Vec<f64> = points.iter().map(|point| point.value).collect();
        let borders = find_level_starts(points, &values, rules, name);
        let spans = level_spans(&borders, values.len());
        let tolerance = rules.noise_threshold.ln_1p();
        let noise = Noise::from_levels(spans.iter().map(|span| &values[span.clone()]), tolerance);
        let mut levels: Vec<Level> = Vec::new();
        for (place, span) in spans.iter().enumerate() {
            let here = without_outliers(&values[span.clone()], tolerance);
            let step = borders.get(place.wrapping_sub(1)).map(|border| {
                let before = without_outliers(&values[spans[place - 1].clone()], tolerance);
                let half = border.shown.unwrap_or_else(|| {
                    noise.half_width(
                        1.0 / before.len() as f64 + 1.0 / here.len() as f64,
                        (1.0 - rules.confidence_level) / 2.0,
                    )
                });
                Step {
                    change: change_with_margin(level_mean(&here) - level_mean(&before), half),
                    p_value: border.p_value,
                    accepted: border.accepted,
                }
            });
            levels.push(Level {
                first: span.start,
                last: span.end - 1,
                value: level_mean(&here).exp(),
                step,
            });
        }
        let (band, newest) = locate_newest(&values, &spans, tolerance);
        let mut strays = Vec::new();
        for span in &spans {
            let fences = outlier_fences(&values[span.clone()], tolerance);
            strays.extend(
                span.clone()
                    .filter(|place| !fences.contains(&values[*place])),
            );
        }
        Self {
            levels,
            band,
            newest,
            strays,
            run_sd: noise.run_sd,
            df: noise.df,
        }
    }

    /// Returns how far the present level has moved from the value of one earlier run, such as a baseline, with the interval at `confidence_level`.
    /// `place` is the index of the earlier run, and `points` must be the points of this history. The value of the present level is the mean of its
    /// newest 30 runs that came after the earlier run. So the result reveals a creeping change that no single run shows. Returns `None` if there is
    /// no run at `place`, or no later run of the level that counts.
    pub fn change_since(
        &self,
        points: &[TrendPoint],
        place: usize,
        confidence_level: f64,
    ) -> Option<Estimate> {
        let present = self.levels.last()?;
        let then = points.get(place)?.value;
        let runs: Vec<f64> = (present.first..=present.last)
            .rev()
            .filter(|other| *other > place && !self.strays.contains(other))
            .take(MOST_RUNS)
            .map(|other| points[other].value)
            .collect();
        let noise = Noise {
            run_sd: self.run_sd,
            df: self.df,
        };
        let half = noise.half_width(
            1.0 + 1.0 / runs.len() as f64,
            (1.0 - confidence_level) / 2.0,
        );
        Some(change_with_margin(mean(&runs)? - then, half))
    }
}

/// The drift between runs of the same level, as far as it is known.
#[derive(Debug, Clone, Copy)]
struct Noise {
    run_sd: Option<f64>,
    df: usize,
}

impl Noise {
    /// Pools the drift over all levels, because a change of level does not change the noise.
    fn from_levels<'v>(levels: impl Iterator<Item = &'v [f64]>, tolerance: f64) -> Self {
        let (mut squares, mut df) = (0.0, 0);
        for level in levels {
            let values = without_outliers(level, tolerance);
            let middle = level_mean(&values);
            squares += values.iter().map(|y| (y - middle).powi(2)).sum::<f64>();
            df += values.len().saturating_sub(1);
        }
        Self {
            run_sd: (df > 0).then(|| (squares / df as f64).sqrt()),
            df,
        }
    }

    /// Returns half the width of an interval: t s sqrt(`variances`), where s is the standard deviation of one run, and `variances` is the variance of
    /// the value in units of s^2. The width is infinite if the drift is unknown.
    fn half_width(self, variances: f64, one_sided: f64) -> f64 {
        let t = student_t::upper_quantile(one_sided, self.df as f64);
        match (t, self.run_sd) {
            (Some(t), Some(sd)) => t * sd * variances.sqrt(),
            _ => f64::INFINITY,
        }
    }
}

fn change_with_margin(difference: f64, half: f64) -> Estimate {
    Estimate::from_logarithms(difference, difference - half, difference + half)
}

fn level_mean(values: &[f64]) -> f64 {
    mean(values).unwrap_or(f64::NAN)
}

/// Finds where levels begin: at steps that the values show, that the user accepted, or that side-by-side measurements show. Steps within the noise
/// threshold do not count.
fn find_level_starts(
    points: &[TrendPoint],
    values: &[f64],
    rules: &TrendRules,
    name: &str,
) -> Vec<Border> {
    let search = ChangePointRules::default();
    let stream = Stream {
        seed: rules.seed,
        name,
    };
    let alone: Vec<usize> = (0..points.len())
        .filter(|at| !points[*at].is_placed)
        .collect();
    let of_alone: Vec<f64> = alone.iter().map(|at| values[*at]).collect();
    let mut borders: Vec<Border> = change_points(&of_alone, &search, stream)
        .into_iter()
        .map(|found| Border {
            at: alone[found.index],
            p_value: Some(found.p_value),
            accepted: false,
            shown: None,
        })
        .collect();
    let known = |point: &TrendPoint| point.accepted || point.shown.is_some();
    for (at, point) in points
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(_, point)| known(point))
    {
        // The index of a change point is uncertain by a run or two. So if a level was accepted or shown by a side-by-side measurement near a change
        // point, that replaces the change point.
        let near = |border: &Border| border.at.abs_diff(at) < search.least;
        let p_value = borders
            .iter()
            .find(|border| near(border))
            .and_then(|border| border.p_value);
        borders.retain(|border| !near(border) || border.accepted || border.shown.is_some());
        borders.push(Border {
            at,
            p_value: p_value.filter(|_| point.shown.is_none()),
            accepted: point.accepted,
            shown: point.shown,
        });
    }
    borders.sort_by_key(|border| border.at);
    let tolerance = rules.noise_threshold.ln_1p();
    loop {
        let spans = level_spans(&borders, values.len());
        let level =
            |place: usize| level_mean(&without_outliers(&values[spans[place].clone()], tolerance));
        let step = |place: usize| (level(place + 1) - level(place)).abs();
        let smallest = (0..borders.len()).min_by(|a, b| step(*a).total_cmp(&step(*b)));
        match smallest.filter(|place| step(*place) <= tolerance) {
            None => return borders,
            Some(place) => {
                let gone = borders.remove(place);
                // If the user had accepted the removed step, the level had begun some runs earlier. So the acceptance belongs to the step before.
                if let (true, Some(before)) = (gone.accepted, place.checked_sub(1)) {
                    borders[before].accepted = true;
                }
            }
        }
    }
}

/// Returns the indexes of the values of each level.
fn level_spans(borders: &[Border], count: usize) -> Vec<Range<usize>> {
    let firsts = std::iter::once(0).chain(borders.iter().map(|border| border.at));
    let ends = borders.iter().map(|border| border.at).chain([count]);
    firsts
        .zip(ends)
        .map(|(first, end)| first..end)
        .filter(|span| !span.is_empty())
        .collect()
}

/// Returns the range in which the values of a level are trusted. It is bounded by Tukey's outer fences (1977), which lie three interquartile ranges
/// beyond the quartiles, or `tolerance` beyond them if that is more. If there are fewer than [`FEWEST_FOR_FENCES`] values, all are trusted.
fn outlier_fences(values: &[f64], tolerance: f64) -> RangeInclusive<f64> {
    let outer = TukeyFences::from_samples(values).filter(|_| values.len() >= FEWEST_FOR_FENCES);
    outer.map_or(f64::NEG_INFINITY..=f64::INFINITY, |fences| {
        let beyond = (tolerance - (fences.high_severe - fences.low_severe) * 3.0 / 7.0).max(0.0);
        fences.low_severe - beyond..=fences.high_severe + beyond
    })
}

/// Returns the values of a level without outliers.
fn without_outliers(values: &[f64], tolerance: f64) -> Vec<f64> {
    let fences = outlier_fences(values, tolerance);
    let believed = values.iter().copied();
    believed.filter(|value| fences.contains(value)).collect()
}

/// Computes the band for the value at `place` from the runs before it. In logarithms, the band is m +- t(df, .999) s sqrt(1 + 1 / runs), where m is
/// the mean of the earlier runs of its level and s the standard deviation between runs.
fn compute_band(
    place: usize,
    values: &[f64],
    spans: &[Range<usize>],
    tolerance: f64,
) -> Option<Band> {
    let level = spans.iter().find(|span| span.contains(&place))?;
    let runs = without_outliers(
        &values[level.start.max(place.saturating_sub(MOST_RUNS))..place],
        tolerance,
    );
    let before = spans
        .iter()
        .filter(|span| span.start < place)
        .map(|span| &values[span.start..span.end.min(place)]);
    let noise = Noise::from_levels(before, tolerance);
    if noise.df < FEWEST_DF {
        return None;
    }
    let half = noise.half_width(1.0 + 1.0 / runs.len() as f64, BAND_LEVEL);
    let middle = mean(&runs)?;
    Some(Band {
        value: middle.exp(),
        lower: (middle - half).exp(),
        upper: (middle + half).exp(),
        runs: runs.len(),
    })
}

/// Returns the band in which the newest value was expected, and the position of the value relative to it.
fn locate_newest(
    values: &[f64],
    spans: &[Range<usize>],
    tolerance: f64,
) -> (Option<Band>, Position) {
    // Returns 1 above, -1 below and 0 within the band.
    let side = |place: usize, band: &Band| {
        let value = values[place].exp();
        if value > band.upper.max(band.value * tolerance.exp()) {
            1
        } else if value < band.lower.min(band.value / tolerance.exp()) {
            -1
        } else {
            0
        }
    };
    let Some(newest) = values.len().checked_sub(1) else {
        return (None, Position::Unknown);
    };
    let band_at = |place| compute_band(place, values, spans, tolerance);
    // If the value before the newest one lies outside of its own band, it must not widen the band of the newest value. So both values are first
    // compared with the band of the older one.
    if let Some(band) = newest.checked_sub(1).and_then(band_at) {
        match (side(newest - 1, &band), side(newest, &band)) {
            (1, 1) => return (Some(band), Position::AboveTwice),
            (-1, -1) => return (Some(band), Position::BelowTwice),
            _ => {}
        }
    }
    match band_at(newest) {
        None => (None, Position::Unknown),
        Some(band) => {
            let position = match side(newest, &band) {
                1 => Position::AboveOnce,
                -1 => Position::BelowOnce,
                _ => Position::Within,
            };
            (Some(band), position)
        }
    }
}

#[cfg(test)]
#[path = "trend_tests.rs"]
mod trend_tests;

/// The values of one benchmark in each of its runs, all computed in the same way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunSeries {
    /// The statistic that gives the value of each process. `None` if no run has usable samples.
    pub location: Option<Location>,
    /// The logarithm of the nanoseconds per iteration of each run, in order. `None` for a run without usable samples, and for a run that cannot be
    /// compared with the newest run. That is a run that was measured with a flat phase if the newest was not, or the other way round. It is also a
    /// run with less than half as many samples per process, because a low quantile depends on their number.
    pub values: Vec<Option<f64>>,
}

impl RunSeries {
    /// Computes the values of `runs`, which are ordered from the oldest to the newest. The newest run with usable samples determines how all values
    /// are computed.
    pub fn from_runs(runs: &[Option<&Measurement>]) -> Self {
        let runs: Vec<Option<RunEvidence>> = runs
            .iter()
            .map(|run| run.and_then(RunEvidence::from_measurement))
            .collect();
        let Some(newest) = runs.iter().rev().flatten().next() else {
            return Self {
                location: None,
                values: vec![None; runs.len()],
            };
        };
        let from_ramp = newest.is_from_ramp();
        let most = newest.fewest_samples();
        let fits = |run: &&RunEvidence| {
            run.is_from_ramp() == from_ramp && run.fewest_samples() * 2 >= most
        };
        let fitting = runs.iter().flatten().filter(fits);
        let count = fitting.map(RunEvidence::fewest_samples).min();
        let count = count.unwrap_or(most);
        let location = if from_ramp || count * newest.processes() < MIN_SAMPLES_FOR_LOW_QUANTILE {
            Location::Median
        } else {
            Location::LowQuantile
        };
        let value = |run: &RunEvidence| run.value(location, count);
        Self {
            location: Some(location),
            values: runs
                .iter()
                .map(|run| run.as_ref().filter(fits).and_then(value))
                .collect(),
        }
    }
}

/// The data of a run from which its value is computed: samples, or what was kept of them.
enum RunEvidence {
    /// The usable samples of the run.
    Samples(RunTimes),
    /// The values that were computed when the run still had its samples. They were kept when the samples were removed.
    Point(RunPoint),
}

impl RunEvidence {
    /// Collects the usable samples of a run, or else the values that were kept when its samples were removed. Returns `None` if there are neither.
    fn from_measurement(measurement: &Measurement) -> Option<Self> {
        let samples = RunTimes::from_measurement(measurement);
        if samples.takes_time() {
            return Some(Self::Samples(samples));
        }
        let point = measurement.expired.filter(|point| point.processes > 0);
        point.map(Self::Point)
    }

    fn processes(&self) -> usize {
        match self {
            Self::Samples(run) => run.processes.len(),
            Self::Point(point) => point.processes,
        }
    }

    fn fewest_samples(&self) -> usize {
        match self {
            Self::Samples(run) => run.fewest_samples().unwrap_or(0),
            Self::Point(point) => point.samples,
        }
    }

    fn is_from_ramp(&self) -> bool {
        match self {
            Self::Samples(run) => run.processes.iter().any(|process| process.from_ramp),
            Self::Point(point) => point.from_ramp,
        }
    }

    /// Returns the value of the run. If there are samples, it is computed from the first `count` samples of each process.
    fn value(&self, location: Location, count: usize) -> Option<f64> {
        match self {
            Self::Samples(run) => {
                let processes = run.values(location, count);
                RunValues { processes }.value(location.run_value())
            }
            Self::Point(point) => match location {
                Location::Median => point.median,
                Location::LowQuantile | Location::SecondFastest => point.low_quantile,
            },
        }
    }
}

/// Computes the values of a run that are kept when the samples of `measurement` are removed.
pub fn run_point(measurement: &Measurement) -> RunPoint {
    match RunEvidence::from_measurement(measurement) {
        Some(RunEvidence::Point(point)) => point,
        Some(run @ RunEvidence::Samples(_)) => RunPoint {
            processes: run.processes(),
            samples: run.fewest_samples(),
            from_ramp: run.is_from_ramp(),
            low_quantile: run.value(Location::LowQuantile, run.fewest_samples()),
            median: run.value(Location::Median, run.fewest_samples()),
        },
        None => RunPoint {
            processes: 0,
            samples: 0,
            from_ramp: false,
            low_quantile: None,
            median: None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{floors, measurement};

    #[test]
    fn the_value_of_a_run_is_its_floor_and_runs_without_samples_have_none() {
        let runs = [
            floors(&[100.0, 110.0, 105.0], 120),
            floors(&[200.0; 3], 120),
        ];
        let nothing = measurement(vec![]);
        let series = RunSeries::from_runs(&[Some(&runs[0]), None, Some(&nothing), Some(&runs[1])]);
        assert_eq!(series.location, Some(Location::LowQuantile));
        let ns: Vec<Option<f64>> = (series.values.iter())
            .map(|value| value.map(|value| value.exp().round()))
            .collect();
        assert_eq!(ns, [Some(100.0), None, None, Some(200.0)]);
    }

    #[test]
    fn a_run_with_far_fewer_samples_does_not_count_and_one_with_a_few_less_shortens_all() {
        let run = |samples| floors(&[100.0; 3], samples);
        let series = RunSeries::from_runs(&[Some(&run(40)), Some(&run(90)), Some(&run(120))]);
        let counts: Vec<bool> = series.values.iter().map(Option::is_some).collect();
        assert_eq!(counts, [false, true, true]);
    }

    #[test]
    fn what_is_left_of_removed_samples_gives_the_value_that_they_gave() {
        for (samples, floor) in [(120, 100.0), (10, 100.0)] {
            let old = floors(&[floor, 110.0, 105.0], samples);
            let new = floors(&[200.0; 3], samples);
            let mut removed = measurement(vec![]);
            removed.expired = Some(run_point(&old));
            let whole = RunSeries::from_runs(&[Some(&old), Some(&new)]);
            assert!(whole.values[0].is_some());
            assert_eq!(RunSeries::from_runs(&[Some(&removed), Some(&new)]), whole);
            assert_eq!(run_point(&removed), run_point(&old));
        }
    }

    #[test]
    fn what_is_left_of_no_samples_gives_no_value() {
        let nothing = run_point(&measurement(vec![]));
        assert_eq!((nothing.processes, nothing.samples), (0, 0));
        assert_eq!((nothing.low_quantile, nothing.median), (None, None));
        let mut removed = measurement(vec![]);
        removed.expired = Some(nothing);
        let series = RunSeries::from_runs(&[Some(&removed)]);
        assert_eq!((series.location, series.values), (None, vec![None]));
    }

    #[test]
    fn of_few_samples_the_median_is_taken_and_of_none_nothing() {
        let run = floors(&[100.0; 3], 10);
        assert_eq!(
            RunSeries::from_runs(&[Some(&run)]).location,
            Some(Location::Median)
        );
        let empty = RunSeries::from_runs(&[None, None]);
        assert_eq!((empty.location, empty.values.len()), (None, 2));
    }

    #[test]
    fn a_hundred_samples_in_all_processes_together_are_enough_for_a_low_quantile() {
        let location =
            |samples| RunSeries::from_runs(&[Some(&floors(&[100.0; 5], samples))]).location;
        assert_eq!(location(20), Some(Location::LowQuantile));
        assert_eq!(location(19), Some(Location::Median));
    }
}
