//! The course of a benchmark over runs: its levels, where they changed, and where the next value is to be expected.
//!
//! Pure: values in the order of their runs, no matter where they come from. It describes a history and decides no verdict. The method
//! stands in docs/STATISTICS.md, section 12.

use serde::Serialize;

use super::comparison::Estimate;
use crate::stats::{ChangePointRules, Stream, change_points, mean, student_t};

/// A band rests on at most so many runs of a level, the newest.
const MOST_RUNS: usize = 30;
/// There is none with fewer degrees of freedom: ten runs of one level.
const FEWEST_DF: usize = 9;
/// One-sided probability of a value beyond either side of the band.
const BAND_LEVEL: f64 = 0.001;

/// A run's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoursePoint {
    /// ln of nanoseconds per iteration, or of whatever the benchmark measures.
    pub value: f64,
    /// Whether the user accepted the run's level as a new one.
    pub accepted: bool,
}

/// How a course is described.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CourseRules {
    /// A step that is not larger does not matter, a fraction.
    pub noise_threshold: f64,
    /// Of the intervals of steps.
    pub confidence_level: f64,
    /// Of the permutations, together with a name.
    pub seed: u64,
}

/// Levels, band, and where the newest value stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Course {
    /// Oldest first; without gaps and never empty unless there are no values.
    pub levels: Vec<Level>,
    /// Where the newest value was to be expected; `None` before ten runs are known.
    pub band: Option<Band>,
    /// Where it is.
    pub newest: Position,
    /// Standard deviation between the runs of a level, of logarithms; `None` with one run in each level.
    pub run_sd: Option<f64>,
    #[serde(skip)]
    df: usize,
}

/// Runs without a change between them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Level {
    /// Place of its first value.
    pub first: usize,
    /// Place of its last value.
    pub last: usize,
    /// The geometric mean of its values.
    pub value: f64,
    /// How it began; `None`: with the first run.
    pub step: Option<Step>,
}

/// The beginning of a level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Step {
    /// Against the level before, a fraction with its interval.
    pub change: Estimate,
    /// p of the change point; `None` where the user accepted a step that the series does not show by itself.
    pub p_value: Option<f64>,
    /// Whether the user accepted it.
    pub accepted: bool,
}

/// Where a value is to be expected if nothing has changed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Band {
    /// The middle: the level's value without the run in question.
    pub value: f64,
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// Runs of the level that it rests on.
    pub runs: usize,
}

/// Where the newest value lies. Outside is only what is outside by more than the noise threshold, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Position {
    /// There is no band.
    Unknown,
    /// Within the band.
    Within,
    /// Above it, for the first time.
    AboveOnce,
    /// Above it, as the value before.
    AboveTwice,
    /// Below it, for the first time.
    BelowOnce,
    /// Below it, as the value before.
    BelowTwice,
}

/// A place at which a level begins.
#[derive(Debug, Clone, Copy)]
struct Border {
    at: usize,
    p_value: Option<f64>,
    accepted: bool,
}

impl Course {
    /// The course of `points`, oldest first; `name` keeps the random numbers of benchmarks apart. The time that it takes grows with the square of
    /// their number: a hundred are a tenth of a second at most.
    pub fn of(points: &[CoursePoint], rules: &CourseRules, name: &str) -> Self {
        let values: Vec<f64> = points.iter().map(|point| point.value).collect();
        let borders = borders(points, &values, rules, name);
        let spans = spans(&borders, values.len());
        let (variance, df) = pooled_variance(&values, &spans);
        let run_sd = variance.map(f64::sqrt);
        let step_interval = Noise { run_sd, df };
        let mut levels: Vec<Level> = Vec::new();
        for (place, (first, last)) in spans.iter().copied().enumerate() {
            let here = &values[first..=last];
            let step = borders.get(place.wrapping_sub(1)).map(|border| {
                let (from, to) = spans[place - 1];
                let before = &values[from..=to];
                let half = step_interval.half_width(
                    1.0 / before.len() as f64 + 1.0 / here.len() as f64,
                    (1.0 - rules.confidence_level) / 2.0,
                );
                Step {
                    change: change(level_of(here) - level_of(before), half),
                    p_value: border.p_value,
                    accepted: border.accepted,
                }
            });
            levels.push(Level {
                first,
                last,
                value: level_of(here).exp(),
                step,
            });
        }
        let (band, newest) = position(&values, &spans, rules.noise_threshold);
        Self {
            levels,
            band,
            newest,
            run_sd,
            df,
        }
    }

    /// How far the present level, the newest [`MOST_RUNS`] runs of it, is from the value of one run, such as a baseline's, with the interval at
    /// `confidence_level`: creeping change, which no single run shows. `points` are those that the course is of.
    pub fn change_since(
        &self,
        points: &[CoursePoint],
        place: usize,
        confidence_level: f64,
    ) -> Option<Estimate> {
        let present = self.levels.last()?;
        let then = points.get(place)?.value;
        let runs: Vec<f64> = (present.first..=present.last)
            .rev()
            .filter(|other| *other != place)
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
        Some(change(mean(&runs)? - then, half))
    }
}

/// The drift between runs, as far as it is known.
#[derive(Debug, Clone, Copy)]
struct Noise {
    run_sd: Option<f64>,
    df: usize,
}

impl Noise {
    /// t s sqrt(`variances`), where those are in units of one run's; infinite where nothing is known.
    fn half_width(self, variances: f64, one_sided: f64) -> f64 {
        let t = student_t::critical(one_sided, self.df as f64);
        match (t, self.run_sd) {
            (Some(t), Some(sd)) => t * sd * variances.sqrt(),
            _ => f64::INFINITY,
        }
    }
}

fn change(difference: f64, half: f64) -> Estimate {
    Estimate::from_logarithms(difference, difference - half, difference + half)
}

fn level_of(values: &[f64]) -> f64 {
    mean(values).unwrap_or(f64::NAN)
}

/// Where levels begin: what the series shows by itself and what the user accepted, without steps that do not matter.
fn borders(points: &[CoursePoint], values: &[f64], rules: &CourseRules, name: &str) -> Vec<Border> {
    let search = ChangePointRules::default();
    let stream = Stream {
        seed: rules.seed,
        name,
    };
    let mut borders: Vec<Border> = change_points(values, &search, stream)
        .into_iter()
        .map(|found| Border {
            at: found.index,
            p_value: Some(found.p_value),
            accepted: false,
        })
        .collect();
    for (at, _) in points
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(_, point)| point.accepted)
    {
        // The place of a change point is uncertain by a run or two; the user knows better.
        let near = |border: &Border| border.at.abs_diff(at) < search.least;
        let p_value = borders
            .iter()
            .find(|border| near(border))
            .and_then(|border| border.p_value);
        borders.retain(|border| !near(border) || border.accepted);
        borders.push(Border {
            at,
            p_value,
            accepted: true,
        });
    }
    borders.sort_by_key(|border| border.at);
    let matters = rules.noise_threshold.ln_1p();
    loop {
        let spans = spans(&borders, values.len());
        let step = |place: usize| {
            let side = |(first, last): (usize, usize)| level_of(&values[first..=last]);
            (side(spans[place + 1]) - side(spans[place])).abs()
        };
        let smallest = (0..borders.len()).min_by(|a, b| step(*a).total_cmp(&step(*b)));
        match smallest.filter(|place| step(*place) <= matters) {
            None => return borders,
            Some(place) => {
                let gone = borders.remove(place);
                // A level that was accepted some runs after it had begun.
                if let (true, Some(before)) = (gone.accepted, place.checked_sub(1)) {
                    borders[before].accepted = true;
                }
            }
        }
    }
}

/// First and last place of each level.
fn spans(borders: &[Border], count: usize) -> Vec<(usize, usize)> {
    let firsts = std::iter::once(0).chain(borders.iter().map(|border| border.at));
    let ends = borders.iter().map(|border| border.at).chain([count]);
    firsts
        .zip(ends)
        .filter(|(first, end)| first < end)
        .map(|(first, end)| (first, end - 1))
        .collect()
}

/// The variance between runs of a level, pooled over all levels, and its degrees of freedom: a step leaves the noise what it was.
fn pooled_variance(values: &[f64], spans: &[(usize, usize)]) -> (Option<f64>, usize) {
    let (mut squares, mut df) = (0.0, 0);
    for (first, last) in spans {
        let level = level_of(&values[*first..=*last]);
        squares += values[*first..=*last]
            .iter()
            .map(|y| (y - level).powi(2))
            .sum::<f64>();
        df += last - first;
    }
    ((df > 0).then(|| squares / df as f64), df)
}

/// The band before the value at `place` from the runs before it: m +- t(df, .999) s sqrt(1 + 1 / runs), on logarithms.
fn band_at(place: usize, values: &[f64], spans: &[(usize, usize)]) -> Option<Band> {
    let before: Vec<(usize, usize)> = spans
        .iter()
        .filter(|(first, _)| *first < place)
        .map(|(first, last)| (*first, (*last).min(place - 1)))
        .collect();
    let (first, _) = *spans
        .iter()
        .find(|(first, last)| (*first..=*last).contains(&place))?;
    let runs = &values[first.max(place.saturating_sub(MOST_RUNS))..place];
    let (variance, df) = pooled_variance(values, &before);
    if df < FEWEST_DF {
        return None;
    }
    let noise = Noise {
        run_sd: variance.map(f64::sqrt),
        df,
    };
    let half = noise.half_width(1.0 + 1.0 / runs.len() as f64, BAND_LEVEL);
    let middle = mean(runs)?;
    Some(Band {
        value: middle.exp(),
        lower: (middle - half).exp(),
        upper: (middle + half).exp(),
        runs: runs.len(),
    })
}

/// The band of the newest value, and where that stands.
fn position(
    values: &[f64],
    spans: &[(usize, usize)],
    noise_threshold: f64,
) -> (Option<Band>, Position) {
    // 1 above, -1 below, 0 within.
    let side = |place: usize, band: &Band| {
        let value = values[place].exp();
        if value > band.upper.max(band.value * (1.0 + noise_threshold)) {
            1
        } else if value < band.lower.min(band.value / (1.0 + noise_threshold)) {
            -1
        } else {
            0
        }
    };
    let Some(newest) = values.len().checked_sub(1) else {
        return (None, Position::Unknown);
    };
    // The value before must not widen the band that it is outside of.
    let earlier = newest
        .checked_sub(1)
        .and_then(|before| band_at(before, values, spans));
    if let Some(band) = earlier {
        match (side(newest - 1, &band), side(newest, &band)) {
            (1, 1) => return (Some(band), Position::AboveTwice),
            (-1, -1) => return (Some(band), Position::BelowTwice),
            _ => {}
        }
    }
    match band_at(newest, values, spans) {
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
#[path = "course_tests.rs"]
mod tests;
