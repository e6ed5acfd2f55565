//! One benchmark, a line a run, time running downwards, each value on a scale.

use std::io::{self, Write};

use super::content::{BenchmarkHistory, HistoryPoint};
use super::scale::Scale;
use super::words::conclusion;
use crate::model::GitState;
use crate::report::theme;
use crate::report::units;

/// Columns that the scale takes at least and at most.
const NARROWEST: usize = 16;
const WIDEST: usize = 48;
/// From this width of the terminal on, medians with their intervals have room, too.
const ROOM_FOR_MEDIANS: usize = 120;

/// What is told of a run besides its place on the scale.
const COLUMNS: [&str; 6] = ["run", "when", "commit", "branch", "value", "median"];
const BRANCH: usize = 3;
const MEDIAN: usize = 5;
const RIGHT_ALIGNED: [usize; 2] = [0, 4];

/// Writes a history; `which` says in words of which runs it is.
pub(super) fn detail(
    writer: &mut dyn Write,
    history: &BenchmarkHistory,
    which: &str,
    width: usize,
) -> io::Result<()> {
    let key = &history.key;
    let runs = history.points.len();
    let name = units::name_in_prose(&key.id, width);
    let title = theme::heading(format!("{}/{}: {name}", key.package, key.target));
    let of_runs = format!("{runs} run{} {which}", if runs == 1 { "" } else { "s" });
    writeln!(writer, "{title}  {}", theme::faint(of_runs))?;
    let rows = Rows::of(history, width);
    let ends: Vec<(String, usize)> = (0..runs).map(|place| end(history, place)).collect();
    let longest_end = ends.iter().map(|(_, columns)| *columns).max().unwrap_or(0);
    let left = width.saturating_sub(rows.columns + longest_end + 2);
    let scale = Scale::of(history, left.clamp(NARROWEST, WIDEST));
    let scaled = |line: &dyn Fn(&Scale) -> String| scale.as_ref().map_or_else(String::new, line);
    let heading = format!(
        "{}{}",
        rows.line(&rows.header),
        scaled(&|scale| scale.ends(history))
    );
    writeln!(writer, "{}", theme::faint(heading.trim_end()))?;
    for (place, (end, _)) in ends.iter().enumerate() {
        let plot = scaled(&|scale| scale.line(history, place));
        let line = format!("{}{plot}  {end}", rows.line(&rows.cells[place]));
        writeln!(writer, "{}", line.trim_end())?;
    }
    writeln!(writer)?;
    conclusion(writer, history, width)
}

/// Cells of all runs, of those columns that say something.
struct Rows {
    header: Vec<String>,
    cells: Vec<Vec<String>>,
    widths: Vec<(usize, bool)>,
    /// What they take together, gaps included.
    columns: usize,
}

impl Rows {
    fn of(history: &BenchmarkHistory, width: usize) -> Self {
        let all: Vec<Vec<String>> = history
            .points
            .iter()
            .map(|point| cells(history, point))
            .collect();
        let is_told = |column: usize| match column {
            BRANCH => all.iter().any(|row| row[BRANCH] != all[0][BRANCH]),
            MEDIAN => width >= ROOM_FOR_MEDIANS && all.iter().any(|row| !row[MEDIAN].is_empty()),
            _ => true,
        };
        let told: Vec<usize> = (0..COLUMNS.len())
            .filter(|column| is_told(*column))
            .collect();
        let header: Vec<String> = told
            .iter()
            .map(|column| COLUMNS[*column].to_owned())
            .collect();
        let cells: Vec<Vec<String>> = all
            .iter()
            .map(|row| told.iter().map(|column| row[*column].clone()).collect())
            .collect();
        let mut lines = cells.clone();
        lines.push(header.clone());
        let widths: Vec<(usize, bool)> = (units::widths(&lines).into_iter())
            .zip(&told)
            .map(|(width, column)| (width, RIGHT_ALIGNED.contains(column)))
            .collect();
        Self {
            columns: widths.iter().map(|(width, _)| width + 2).sum(),
            header,
            cells,
            widths,
        }
    }

    fn line(&self, cells: &[String]) -> String {
        let padded = cells.iter().zip(&self.widths);
        padded
            .map(|(cell, (width, right))| units::padded(cell, *width, *right) + "  ")
            .collect()
    }
}

/// The verdict of a run and what is remarkable about it, with the columns that this takes.
fn end(history: &BenchmarkHistory, place: usize) -> (String, usize) {
    let verdict = history.points[place].verdict;
    let mark = mark(history, place);
    let plain = verdict.map_or("", |verdict| verdict.word());
    let comma = if plain.is_empty() || mark.is_empty() {
        ""
    } else {
        ", "
    };
    let text = format!(
        "{}{comma}{mark}",
        verdict.map_or_else(String::new, theme::verdict)
    );
    (text, format!("{plain}{comma}{mark}").chars().count())
}

/// What is remarkable about a run.
fn mark(history: &BenchmarkHistory, place: usize) -> String {
    let begun = history
        .level_of(place)
        .filter(|level| history.counted[level.first] == place);
    let step = begun
        .and_then(|level| level.step)
        .map(|step| format!("level {}", units::change(step.change.estimate)));
    let accepted = history.points[place]
        .accepted
        .then(|| "accepted".to_owned());
    let stray = history.is_stray(place).then(|| "stray".to_owned());
    let said: Vec<String> = [step, accepted, stray].into_iter().flatten().collect();
    said.join(", ")
}

/// Run, day, commit, branch, value, median.
fn cells(history: &BenchmarkHistory, point: &HistoryPoint) -> Vec<String> {
    let git = point.git.as_ref();
    let value = point.value.map_or_else(
        || "-".to_owned(),
        |value| units::value(&history.metric, value),
    );
    let median = point.median.map_or_else(String::new, |median| {
        format!(
            "{} {}",
            units::value(&history.metric, median.estimate),
            units::interval(&history.metric, median.lower, median.upper)
        )
    });
    vec![
        point.run.to_string(),
        point.started.get(..10).unwrap_or(&point.started).to_owned(),
        git.map_or_else(|| "-".to_owned(), commit),
        git.and_then(|git| git.branch.as_deref())
            .map_or_else(|| "-".to_owned(), shortened),
        value,
        median,
    ]
}

/// `0123456*`: a star where tracked files differed.
fn commit(git: &GitState) -> String {
    let hash = git.commit.get(..7).unwrap_or(&git.commit);
    format!("{hash}{}", if git.dirty { "*" } else { "" })
}

/// A branch's name in at most twelve columns: its end tells most.
fn shortened(branch: &str) -> String {
    let name = units::on_one_line(branch);
    let letters: Vec<char> = name.chars().collect();
    match letters.len().checked_sub(12) {
        None | Some(0) => name,
        Some(more) => std::iter::once('…')
            .chain(letters[more + 1..].iter().copied())
            .collect(),
    }
}
