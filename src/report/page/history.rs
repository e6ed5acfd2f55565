//! The course of a benchmark over runs, as the page's script reads it.

use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

use super::content::Page;
use super::quantized::{estimate, short, short_or_null};
use crate::escape::one_line;
use crate::report::text::history::{BenchmarkHistory, HistoryPoint, LeftOut};
use perfcheck_analysis::model::{RunId, Verdict};

/// All runs that the histories of a page have, oldest first.
pub(super) struct Timeline<'a> {
    points: Vec<&'a HistoryPoint>,
    places: HashMap<RunId, usize>,
}

impl<'a> Timeline<'a> {
    pub(super) fn of(page: &'a Page<'_>) -> Self {
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

    /// Number, day and commit of each run.
    pub(super) fn value(&self) -> Value {
        let lines = self.points.iter().map(|point| {
            let commit = point.git.as_ref().and_then(|git| git.commit.get(..10));
            json!([point.run, point.started.get(..10), commit])
        });
        lines.collect()
    }

    /// Where the runs of a history stand: the first place alone where no run between them is without the benchmark.
    fn places(&self, points: &[HistoryPoint]) -> Value {
        let places: Vec<usize> = points
            .iter()
            .filter_map(|point| self.places.get(&point.run).copied())
            .collect();
        if places.windows(2).all(|pair| pair[0] + 1 == pair[1]) {
            return json!(places.first());
        }
        json!(places)
    }
}

/// Points oldest first, levels by the places of their points, and the band of the newest run.
pub(super) fn history(found: &BenchmarkHistory, timeline: &Timeline<'_>) -> Value {
    let place = |counted: usize| found.counted.get(counted).copied();
    let levels: Vec<Value> = found
        .course
        .levels
        .iter()
        .map(|level| {
            let step = level.step.as_ref();
            json!([
                place(level.first),
                place(level.last),
                short(level.value),
                step.map(|step| estimate(&step.change)),
                step.is_some_and(|step| step.accepted),
            ])
        })
        .collect();
    let band = found.course.band.as_ref();
    let verdicts = found.points.iter().map(|point| letter(point.verdict));
    let mut object = json!({
        "runs": timeline.places(&found.points),
        "values": found.points.iter().map(|point| short_or_null(point.value)).collect::<Vec<_>>(),
        "verdicts": verdicts.collect::<String>(),
        "levels": levels,
        "band": band.map(|band| json!([short(band.value), short(band.lower), short(band.upper)])),
        "value": found.location.map(|location| location.to_string()),
    });
    let without = left_out(&found.points);
    if let Some(members) = object.as_object_mut().filter(|_| !without.is_empty()) {
        members.insert("without".to_owned(), without.into());
    }
    object
}

/// Why the course is without points, and the first and last of those that one reason holds for.
fn left_out(points: &[HistoryPoint]) -> Vec<Value> {
    let mut found: Vec<(String, usize, usize)> = Vec::new();
    for (place, point) in points.iter().enumerate() {
        let Some(why) = &point.left_out else { continue };
        let why = match why {
            LeftOut::Incomparable(differing) => {
                let facts: Vec<String> = differing.iter().map(ToString::to_string).collect();
                one_line(&facts.join(", "))
            }
            LeftOut::Failed => "failed".to_owned(),
            LeftOut::OtherSamples => "other samples".to_owned(),
        };
        match found.last_mut() {
            Some((known, _, last)) if *known == why && *last + 1 == place => *last = place,
            _ => found.push((why, place, place)),
        }
    }
    let found = found.into_iter();
    found
        .map(|(why, first, last)| json!([why, first, last]))
        .collect()
}

/// The place of a verdict among all as a letter, `-` without one.
fn letter(verdict: Option<Verdict>) -> char {
    let place = verdict.and_then(|verdict| Verdict::ALL.iter().position(|known| *known == verdict));
    place.map_or('-', |place| {
        u8::try_from(place).map_or('-', |place| char::from(b'a' + place))
    })
}
