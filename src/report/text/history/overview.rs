//! Prints the history of several benchmarks: a line each, with a sparkline.

use std::io::{self, Write};

use super::content::BenchmarkHistory;
use crate::report::layout::{Column, cell_builder};
use crate::report::text::listing::write_keyed;
use crate::report::text::sparkline::sparkline;
use crate::report::view::View;
use crate::report::{theme, units};
use perfcheck_analysis::compare::{Level, Position};
use perfcheck_analysis::model::BenchmarkKey;

/// Width of a sparkline, in columns.
const BARS: usize = 24;

/// Writes a line for each benchmark and a summary.
pub(super) fn write_overview(
    writer: &mut dyn Write,
    histories: &[BenchmarkHistory],
    which: &str,
    view: &View,
) -> io::Result<()> {
    writeln!(
        writer,
        "{}",
        theme::faint(format!("runs {which}, oldest first"))
    )?;
    let keys: Vec<&BenchmarkKey> = histories.iter().map(|history| &history.key).collect();
    write_keyed(writer, &keys, columns(histories), view)?;
    let stepped = histories
        .iter()
        .filter(|history| history.present().is_some_and(|level| level.step.is_some()));
    let outside = histories
        .iter()
        .filter(|history| !matches!(history.course.newest, Position::Unknown | Position::Within));
    let outside = match outside.count() {
        0 => "no newest run is outside its expected range".to_owned(),
        1 => "1 newest run is outside its expected range".to_owned(),
        some => format!("{some} newest runs are outside their expected range"),
    };
    let words = format!(
        "{}: {} changed level; {outside}.",
        units::counted(histories.len(), "benchmark"),
        stepped.count(),
    );
    writeln!(writer, "\n{}", view.wrap_prose(&words, ""))?;
    writeln!(writer, "Run by run: cargo perfcheck history BENCH")
}

fn columns(histories: &[BenchmarkHistory]) -> Vec<Column> {
    let cells = cell_builder(histories);
    let trend = |history: &BenchmarkHistory| {
        let values: Vec<Option<f64>> = history.points.iter().map(|point| point.value).collect();
        sparkline(&values, BARS)
    };
    let level = |history: &BenchmarkHistory| {
        let level = history.present();
        units::or_dash(level.map(|level| units::value(&history.metric, level.value)))
    };
    let step = |history: &BenchmarkHistory| {
        let level = history.present();
        level.map_or_else(String::new, |level| last_step(history, level))
    };
    let newest = |history: &BenchmarkHistory| describe_position(history.course.newest).to_owned();
    vec![
        Column::number("runs", cells(&|history| history.points.len().to_string())).dispensable(3),
        Column::fact("trend", cells(&trend)).dispensable(2),
        Column::number("level", cells(&level)),
        Column::fact("last step", cells(&step)),
        Column::fact("newest run", cells(&newest)).dispensable(1),
    ]
}

fn last_step(history: &BenchmarkHistory, level: &Level) -> String {
    let run = history.counted_point(level.first).run;
    let of = |step: perfcheck_analysis::compare::Step| {
        let accepted = if step.accepted { ", accepted" } else { "" };
        format!(
            "{} at run {run}{accepted}",
            units::change(step.change.estimate)
        )
    };
    level.step.map_or_else(String::new, of)
}

fn describe_position(position: Position) -> &'static str {
    match position {
        Position::Unknown => "",
        Position::Within => "as expected",
        Position::AboveOnce => "above the band",
        Position::AboveTwice => "above the band, twice",
        Position::BelowOnce => "below the band",
        Position::BelowTwice => "below the band, twice",
    }
}
