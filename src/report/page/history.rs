//! The course of a benchmark over runs, as the page's script reads it.

use serde_json::{Value, json};

use super::benchmark::estimate;
use super::quantized::{short, short_or_null};
use crate::escape::one_line;
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

/// Run, day, commit, value, verdict, and why the course is without it.
fn point(point: &HistoryPoint) -> Value {
    let commit = point.git.as_ref().and_then(|git| git.commit.get(..10));
    let why = point.left_out.as_ref().map(|why| match why {
        LeftOut::Incomparable(differing) => {
            let facts: Vec<String> = differing.iter().map(ToString::to_string).collect();
            one_line(&facts.join(", "))
        }
        LeftOut::Failed => "failed".to_owned(),
        LeftOut::OtherSamples => "other samples".to_owned(),
    });
    json!([
        point.run,
        point.started.get(..10),
        commit,
        short_or_null(point.value),
        point.verdict,
        why,
    ])
}
