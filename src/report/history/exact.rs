//! Histories as messages: `history-point` for each run of a benchmark, then its `benchmark-history`.

use serde_json::{Value, json};
use std::io::{self, Write};

use super::content::{BenchmarkHistory, HistoryPoint, LeftOut};
use crate::compare::{Difference, Step};
use crate::report::json::{SCHEMA, estimate_json, key_json, write_object};

pub(super) fn write(writer: &mut dyn Write, histories: &[BenchmarkHistory]) -> io::Result<()> {
    for history in histories {
        for (place, point) in history.points.iter().enumerate() {
            write_object(writer, &of_point(history, place, point))?;
        }
        write_object(writer, &of_course(history))?;
    }
    Ok(())
}

fn of_point(history: &BenchmarkHistory, place: usize, point: &HistoryPoint) -> Value {
    let level = history.level_of(place);
    let step = level
        .filter(|level| history.counted[level.first] == place)
        .and_then(|level| level.step);
    json!({
        "reason": "history-point", "schema": SCHEMA, "benchmark": key_json(&history.key), "run": point.run,
        "started": point.started, "git": point.git, "acceptance": point.acceptance, "accepted": point.accepted,
        "verdict": point.verdict, "change": point.change, "value": point.value, "median": point.median,
        "level": level.map(|level| level.value), "step": step.map(|step| of_step(&step)),
        "stray": history.is_stray(place), "left_out": point.left_out.as_ref().map(of_left_out),
    })
}

fn of_left_out(reason: &LeftOut) -> Value {
    let (word, differences): (_, &[Difference]) = match reason {
        LeftOut::Incomparable(differences) => ("incomparable", differences),
        LeftOut::Failed => ("failed", &[]),
        LeftOut::OtherSamples => ("other-samples", &[]),
    };
    json!({"why": word, "differences": differences})
}

fn of_step(step: &Step) -> Value {
    json!({"change": estimate_json(&step.change), "p_value": step.p_value, "accepted": step.accepted})
}

fn of_course(history: &BenchmarkHistory) -> Value {
    let course = &history.course;
    let levels: Vec<Value> = course
        .levels
        .iter()
        .map(|level| {
            json!({
                "first_run": history.counted_point(level.first).run,
                "last_run": history.counted_point(level.last).run,
                "runs": level.last - level.first + 1, "value": level.value,
                "step": level.step.map(|step| of_step(&step)),
            })
        })
        .collect();
    let since: Vec<Value> = history
        .since_baselines
        .iter()
        .map(|since| json!({"baseline": since.name, "run": since.run, "change": estimate_json(&since.change)}))
        .collect();
    json!({
        "reason": "benchmark-history", "schema": SCHEMA, "benchmark": key_json(&history.key), "metric": history.metric,
        "location": history.location, "noise_threshold": history.noise_threshold,
        "confidence_level": history.confidence_level, "runs": history.points.len(), "counted": history.counted.len(),
        "levels": levels, "band": course.band, "newest": course.newest, "run_sd": course.run_sd,
        "since_baselines": since,
    })
}
