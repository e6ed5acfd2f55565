//! The history of a benchmark over runs, as data for the page's script.

use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

use super::content::Page;
use super::quantized::{FirstOrAll, RoundedEstimate, Short, short_estimate};
use crate::escape::one_line;
use crate::report::text::history::{
    BenchmarkHistory, ExclusionReason, HistoryPoint, describe_side_by_side,
};
use perfcheck_analysis::model::{RunId, Verdict};

/// All runs in the histories of a page, oldest first.
pub(super) struct Timeline<'a> {
    points: Vec<&'a HistoryPoint>,
    places: HashMap<RunId, usize>,
}

impl<'a> Timeline<'a> {
    pub(super) fn from_page(page: &'a Page<'_>) -> Self {
        let histories = page.benchmarks.iter().filter_map(|one| one.history);
        let all = histories.flat_map(|history| &history.points);
        let runs: BTreeMap<(&str, RunId), &HistoryPoint> = all
            .map(|point| ((&*point.started, point.run), point))
            .collect();
        let points: Vec<&HistoryPoint> = runs.into_values().collect();
        let places = points.iter().enumerate();
        Self {
            places: places.map(|(place, point)| (point.run, place)).collect(),
            points,
        }
    }

    /// Returns number, day and commit of each run.
    pub(super) fn runs(&self) -> Vec<(RunId, Option<&'a str>, Option<&'a str>)> {
        let runs = self.points.iter().map(|point| {
            let commit = point.git.as_ref().and_then(|git| git.commit.get(..10));
            (point.run, point.started.get(..10), commit)
        });
        runs.collect()
    }

    /// Returns the positions of a history's runs in the timeline. If the positions are consecutive, the first one is enough.
    fn positions(&self, points: &[HistoryPoint]) -> FirstOrAll {
        let places: Vec<usize> = points
            .iter()
            .filter_map(|point| self.places.get(&point.run).copied())
            .collect();
        if places.windows(2).all(|pair| pair[0] + 1 == pair[1]) {
            return FirstOrAll::One(places.first().copied());
        }
        FirstOrAll::Each(places)
    }
}

/// A history as data for the page's script: points oldest first, levels by the indices of their points.
#[derive(Serialize)]
pub(super) struct HistoryData {
    runs: FirstOrAll,
    values: Vec<Option<Short>>,
    /// The verdict of each point as a letter.
    verdicts: String,
    levels: Vec<LevelData>,
    /// Prediction for the newest run: the expected value with both bounds.
    band: Option<RoundedEstimate>,
    /// Location statistic of each process.
    value: Option<String>,
    /// Conclusions from all side-by-side runs together, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    together: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    without: Vec<LeftOutData>,
}

/// First and last point of a level, its value, the step that it began with, and whether that step was accepted.
type LevelData = (
    Option<usize>,
    Option<usize>,
    Short,
    Option<RoundedEstimate>,
    bool,
);

/// Reason why points are left out, and the first and last point that it applies to.
type LeftOutData = (String, usize, usize);

impl HistoryData {
    pub(super) fn from_history(found: &BenchmarkHistory, timeline: &Timeline<'_>) -> Self {
        let place = |counted: usize| found.counted.get(counted).copied();
        let levels = found.course.levels.iter().map(|level| {
            let step = level.step.as_ref();
            (
                place(level.first),
                place(level.last),
                Short(level.value),
                step.map(|step| short_estimate(&step.change)),
                step.is_some_and(|step| step.accepted),
            )
        });
        let points = found.points.iter();
        let band = found.course.band.as_ref();
        Self {
            runs: timeline.positions(&found.points),
            values: points.clone().map(|point| point.value.map(Short)).collect(),
            verdicts: points.map(|point| verdict_letter(point.verdict)).collect(),
            levels: levels.collect(),
            band: band.map(|band| [band.value, band.lower, band.upper].map(Short)),
            value: found.location.map(|location| location.to_string()),
            together: describe_side_by_side(found),
            without: left_out_ranges(&found.points),
        }
    }
}

fn left_out_ranges(points: &[HistoryPoint]) -> Vec<LeftOutData> {
    let mut found: Vec<LeftOutData> = Vec::new();
    for (place, point) in points.iter().enumerate() {
        let Some(reason) = &point.left_out else {
            continue;
        };
        let why = match reason.why {
            ExclusionReason::Incomparable => {
                let differing = reason.differences.iter();
                let facts: Vec<String> = differing.map(ToString::to_string).collect();
                one_line(&facts.join(", "))
            }
            ExclusionReason::Failed => "failed".to_owned(),
            ExclusionReason::OtherSamples => "other samples".to_owned(),
            ExclusionReason::OtherProcessor => "another processor".to_owned(),
            ExclusionReason::OtherBranch => "another branch".to_owned(),
        };
        match found.last_mut() {
            Some((known, _, last)) if *known == why && *last + 1 == place => *last = place,
            _ => found.push((why, place, place)),
        }
    }
    found
}

/// Encodes a verdict as a letter by its index in `Verdict::ALL`; `-` without a verdict.
fn verdict_letter(verdict: Option<Verdict>) -> char {
    let place = verdict.and_then(|verdict| Verdict::ALL.iter().position(|known| *known == verdict));
    place.map_or('-', |place| {
        u8::try_from(place).map_or('-', |place| char::from(b'a' + place))
    })
}
