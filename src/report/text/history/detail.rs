//! Prints one benchmark's history: a line per run, oldest first, each value drawn on a scale.

use std::io::{self, Write};

use super::content::{BenchmarkHistory, HistoryPoint};
use super::scale::ValueColumns;
use super::words::write_conclusion;
use crate::report::layout::{Cell, Column, Table};
use crate::report::theme::{self, TextRole};
use crate::report::units;
use perfcheck_analysis::compare::Step;
use perfcheck_analysis::model::{GitState, shorten_hash};

/// Widths of the scale, in columns; the first that fits is used.
const SCALES: [usize; 9] = [48, 44, 40, 36, 32, 28, 24, 20, 16];
/// Terminal width from which medians with their intervals are shown.
const ROOM_FOR_MEDIANS: usize = 120;

/// Writes a history; `which` describes the selection of its runs.
pub(super) fn write_detail(
    writer: &mut dyn Write,
    history: &BenchmarkHistory,
    which: &str,
    width: usize,
) -> io::Result<()> {
    let key = &history.key;
    let runs = history.points.len();
    let name = units::id_in_prose(&key.id, width);
    let title = format!("{}/{}: {name}", key.package, key.target);
    let of_runs = format!("{} {which}", units::counted(runs, "run"));
    let fits = title.chars().count() + 2 + of_runs.chars().count() <= width;
    let between = if fits { "  " } else { "\n" };
    let (title, of_runs) = (theme::heading(title), theme::faint(of_runs));
    writeln!(writer, "{title}{between}{of_runs}")?;
    Table::new(columns(history, width)).write(writer, width)?;
    writeln!(writer)?;
    write_conclusion(writer, history, width)
}

/// A line of the table.
enum HistoryLine<'h> {
    /// A run, by its index
    Run(usize, &'h HistoryPoint),
    /// A step between two levels, by the index of the later one
    Step(usize, Step),
}

/// Returns the runs, with a step before the first run of each new level.
fn drawn_lines(history: &BenchmarkHistory) -> Vec<HistoryLine<'_>> {
    let levels = history.course.levels.iter().enumerate();
    let steps: Vec<(usize, usize, Step)> = levels
        .filter_map(|(at, level)| Some((history.counted[level.first], at, level.step?)))
        .collect();
    let points = history.points.iter().enumerate();
    let lines = points.flat_map(|(place, point)| {
        let step = steps.iter().find(|(first, ..)| *first == place);
        let step = step.map(|(_, level, step)| HistoryLine::Step(*level, *step));
        step.into_iter().chain([HistoryLine::Run(place, point)])
    });
    lines.collect()
}

/// Returns the columns: facts of each run, and its place on the scale.
fn columns(history: &BenchmarkHistory, width: usize) -> Vec<Column> {
    let points = &history.points;
    let lines = drawn_lines(history);
    // Step lines have a drawing only.
    let cells = |told: &dyn Fn(&HistoryPoint) -> String| -> Vec<Cell> {
        let of_line = |line: &HistoryLine<'_>| match line {
            HistoryLine::Run(_, point) => Cell::from(told(point)),
            HistoryLine::Step(..) => Cell::default(),
        };
        lines.iter().map(of_line).collect()
    };
    let day = |point: &HistoryPoint| point.started.get(..10).unwrap_or(&point.started).to_owned();
    let commit = |point: &HistoryPoint| point.git.as_ref().map_or("-".to_owned(), commit);
    let value = |point: &HistoryPoint| {
        let value = point.value;
        value.map_or("-".to_owned(), |value| units::value(&history.metric, value))
    };
    let mut columns = vec![
        Column::number("run", cells(&|point| point.run.to_string())),
        Column::fact("when", cells(&day)),
        Column::fact("commit", cells(&commit)).dispensable(2),
    ];
    if points
        .iter()
        .any(|point| branch(point) != branch(&points[0]))
    {
        columns.push(Column::fact("branch", cells(&branch)).dispensable(3));
    }
    columns.push(Column::number("value", cells(&value)));
    if width >= ROOM_FOR_MEDIANS {
        let median = |point: &HistoryPoint| median(history, point);
        columns.push(Column::fact("median", cells(&median)).dispensable(4));
    }
    let drawings = SCALES.iter().filter_map(|width| {
        let scale = ValueColumns::new(history, *width)?;
        let drawn = lines.iter().map(|line| match line {
            HistoryLine::Run(place, _) => scale.draw_run(history, *place),
            HistoryLine::Step(level, _) => scale.draw_step(history, *level),
        });
        Some(Column::fact(&scale.end_labels(history), drawn))
    });
    columns.extend(Column::from_drawings(drawings.collect()).map(|scale| scale.dispensable(1)));
    columns.push(Column::fact(
        "",
        lines.iter().map(|line| match line {
            HistoryLine::Run(place, _) => verdict_cell(history, *place),
            HistoryLine::Step(_, step) => {
                Cell::faint(format!("step {}", units::change(step.change.estimate)))
            }
        }),
    ));
    columns
}

/// Returns the verdict of a run and its marks.
fn verdict_cell(history: &BenchmarkHistory, place: usize) -> Cell {
    let verdict = history.points[place].verdict;
    let mark = run_marks(history, place);
    let comma = match verdict {
        Some(_) if !mark.is_empty() => ", ",
        _ => "",
    };
    let verdict = verdict.map(|verdict| (TextRole::Verdict(verdict), verdict.word().to_owned()));
    let mark = (TextRole::Plain, format!("{comma}{mark}"));
    Cell::from_pieces(verdict.into_iter().chain([mark]).collect())
}

/// Returns the marks of a run: `accepted`, `stray`.
fn run_marks(history: &BenchmarkHistory, place: usize) -> String {
    let accepted = history.points[place].accepted.then_some("accepted");
    let stray = history.is_stray(place).then_some("stray");
    let said: Vec<&str> = [accepted, stray].into_iter().flatten().collect();
    said.join(", ")
}

/// Formats the median of a run with its interval.
fn median(history: &BenchmarkHistory, point: &HistoryPoint) -> String {
    let metric = &history.metric;
    point.median.map_or_else(String::new, |median| {
        format!(
            "{} {}",
            units::value(metric, median.estimate),
            units::interval(metric, median.lower, median.upper)
        )
    })
}

fn branch(point: &HistoryPoint) -> String {
    let git = point.git.as_ref();
    let branch = git.and_then(|git| git.branch.as_deref());
    units::or_dash(branch.map(shorten_branch))
}

/// Formats `0123456*`; a star marks modified tracked files.
fn commit(git: &GitState) -> String {
    let hash = shorten_hash(&git.commit, 7);
    format!("{hash}{}", if git.dirty { "*" } else { "" })
}

/// Shortens a branch's name to twelve columns. The end is kept, since it says most.
fn shorten_branch(branch: &str) -> String {
    let name = units::escape_line(branch);
    let letters: Vec<char> = name.chars().collect();
    match letters.len().checked_sub(12) {
        None | Some(0) => name,
        Some(more) => std::iter::once('…')
            .chain(letters[more + 1..].iter().copied())
            .collect(),
    }
}
