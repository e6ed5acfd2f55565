//! The course of a benchmark over runs, as the page's script reads it.

use serde_json::{Value, json};
use std::collections::BTreeMap;

use super::benchmark::estimate;
use super::content::Page;
use super::quantized::{short, short_or_null};
use crate::escape::one_line;
use crate::model::{RunId, Verdict};
use crate::report::history::{BenchmarkHistory, HistoryPoint, LeftOut};

/// Points oldest first, levels by the places of their points, and the band of the newest run.
pub(super) fn history(found: &BenchmarkHistory) -> Value {
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
    json!({
        "points": found.points.iter().map(point).collect::<Vec<_>>(),
        "levels": levels,
        "band": band.map(|band| json!([short(band.value), short(band.lower), short(band.upper)])),
        "value": found.location.map(|location| location.to_string()),
    })
}

/// Run, value, verdict, and why the course is without it; what is behind the last that is known is left out.
fn point(point: &HistoryPoint) -> Value {
    let why = point.left_out.as_ref().map(|why| match why {
        LeftOut::Incomparable(differing) => {
            let facts: Vec<String> = differing.iter().map(ToString::to_string).collect();
            one_line(&facts.join(", "))
        }
        LeftOut::Failed => "failed".to_owned(),
        LeftOut::OtherSamples => "other samples".to_owned(),
    });
    let verdict = point.verdict.and_then(place_of);
    let mut members = vec![
        json!(point.run),
        short_or_null(point.value),
        json!(verdict),
        json!(why),
    ];
    while members.last().is_some_and(Value::is_null) {
        members.pop();
    }
    members.into()
}

/// The place of a verdict among all.
fn place_of(verdict: Verdict) -> Option<usize> {
    Verdict::ALL.iter().position(|known| *known == verdict)
}

/// Day and commit of all runs that histories have, by number.
pub(super) fn runs_of_histories(page: &Page<'_>) -> Value {
    let histories = page.benchmarks.iter().filter_map(|one| one.history);
    let points = histories.flat_map(|history| &history.points);
    let runs: BTreeMap<RunId, &HistoryPoint> = points.map(|point| (point.run, point)).collect();
    let lines = runs.into_iter().map(|(run, point)| {
        let commit = point.git.as_ref().and_then(|git| git.commit.get(..10));
        let day = point.started.get(..10);
        (run.to_string(), json!([day, commit]))
    });
    Value::Object(lines.collect())
}
