//! Several benchmarks over runs, a line each with a row of bars.

use std::io::{self, Write};

use super::content::BenchmarkHistory;
use super::words::counted;
use crate::compare::{Level, Position};
use crate::report::listing::write_columns;
use crate::report::sparkline::sparkline;
use crate::report::theme;
use crate::report::units::{self, Room};

/// Bars of an overview.
const BARS: usize = 24;

/// Several benchmarks, a line each.
pub(super) fn overview(
    writer: &mut dyn Write,
    histories: &[BenchmarkHistory],
    which: &str,
) -> io::Result<()> {
    writeln!(
        writer,
        "{}",
        theme::faint(format!("runs {which}, oldest first"))
    )?;
    let room = Room::of_stdout();
    let rows = histories.iter().map(|history| {
        let key = &history.key;
        let values: Vec<Option<f64>> = history.points.iter().map(|point| point.value).collect();
        let present = history.present();
        let level = present.map_or_else(
            || "-".to_owned(),
            |level| units::value(&history.metric, level.value),
        );
        vec![
            format!(
                "{}/{}: {}",
                key.package,
                key.target,
                units::name(&key.id, room)
            ),
            history.points.len().to_string(),
            sparkline(&values, BARS),
            level,
            present.map_or_else(String::new, |level| last_step(history, level)),
            newest(history.course.newest).to_owned(),
        ]
    });
    let header = [
        "benchmark",
        "runs",
        "course",
        "level",
        "last step",
        "newest run",
    ];
    write_columns(writer, &header, &[1, 3], rows)?;
    let stepped = histories
        .iter()
        .filter(|history| history.present().is_some_and(|level| level.step.is_some()));
    let outside = histories
        .iter()
        .filter(|history| !matches!(history.course.newest, Position::Unknown | Position::Within));
    writeln!(
        writer,
        "\n{}: {} at another level than before, the newest run of {} outside its band.",
        counted(histories.len(), "benchmark"),
        stepped.count(),
        outside.count()
    )?;
    writeln!(writer, "Run by run: cargo perfcheck history BENCH")
}

fn last_step(history: &BenchmarkHistory, level: &Level) -> String {
    let run = history.counted_point(level.first).run;
    let of = |step: crate::compare::Step| {
        let accepted = if step.accepted { ", accepted" } else { "" };
        format!(
            "{} at run {run}{accepted}",
            units::change(step.change.estimate)
        )
    };
    level.step.map_or_else(String::new, of)
}

fn newest(position: Position) -> &'static str {
    match position {
        Position::Unknown => "",
        Position::Within => "as expected",
        Position::AboveOnce => "above the band",
        Position::AboveTwice => "above the band, twice",
        Position::BelowOnce => "below the band",
        Position::BelowTwice => "below the band, twice",
    }
}
