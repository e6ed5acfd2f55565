//! `cargo perfcheck show RUN BENCH --report svg[=FILE]`: draws one benchmark.

use std::path::Path;

use crate::app::context::World;
use crate::app::deliver::place::write_result;
use crate::app::error::AppError;
use crate::app::naming::unambiguous_word;
use crate::escape::{shell_command, shell_quoted};
use crate::report::{Picture, write_picture};
use perfcheck_analysis::compare::{LatencySummary, Shape, ShapeDetail};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::summarize_all;
use perfcheck_analysis::model::{Measurement, ProgressReporter, Run};

/// Draws the single element of `measurements` into `file`, or to stdout if it is `None`.
pub(in crate::app) fn draw(
    run: &Run,
    measurements: &[Measurement],
    file: Option<&Path>,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let [measurement] = measurements else {
        let mut keys = measurements.iter().map(|found| &found.benchmark.key);
        let word = keys
            .next()
            .map_or_else(|| "ID".to_owned(), |first| unambiguous_word(first, keys));
        let file = file.map_or_else(String::new, |file| {
            format!("={}", shell_quoted(&file.display().to_string()))
        });
        let show = shell_command(
            "cargo perfcheck show",
            &[&run.id.to_string(), &word],
            &format!(" --report svg{file}"),
        );
        return Err(AppError::Usage(format!(
            "a picture is of one benchmark, and run {} has {}\n  help: name one, e.g. {show}",
            run.id,
            measurements.len(),
        )));
    };
    let key = &measurement.benchmark.key;
    let summary = summarize_all(
        measurements,
        &run.begun.decision,
        run.begun.seed,
        &ProgressReporter::silent(),
    )
    .pop();
    let drawn = summary
        .flatten()
        .zip(Shape::from_measurement(measurement, &ShapeDetail::FULL));
    let Some((summary, shape)) = drawn else {
        return Err(AppError::Usage(format!(
            "run {} has no samples of `{}`: there is nothing to draw\n  help: `cargo perfcheck show {}` says what happened",
            run.id,
            key.id.escape_debug(),
            run.id
        )));
    };
    let latencies =
        LatencySummary::from_measurement(measurement, run.begun.decision.confidence_level);
    let picture = Picture {
        key,
        metric: &measurement.benchmark.metric,
        run: run.id,
        confidence_level: run.begun.decision.confidence_level,
        summary: &summary,
        shape: &shape,
        operations: latencies
            .as_ref()
            .and_then(|found| found.course.distribution.as_ref()),
    };
    write_result(file, world, |writer| write_picture(writer, &picture))?;
    Ok(ExitCode::Clean)
}
