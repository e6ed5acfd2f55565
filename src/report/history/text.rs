//! Histories for people: a line a run with its value on a scale, time running downwards; or a line a benchmark with a row of bars.

use std::io::{self, Write};

use super::content::{BenchmarkHistory, HistoryPoint, LeftOut};
use crate::compare::{Difference, Level, Position};
use crate::model::GitState;
use crate::report::listing::write_columns;
use crate::report::sparkline::sparkline;
use crate::report::theme;
use crate::report::units::{self, Room};

/// Columns that the scale takes at least and at most.
const NARROWEST: usize = 16;
const WIDEST: usize = 48;
/// From this width of the terminal on, medians with their intervals have room, too.
const ROOM_FOR_MEDIANS: usize = 120;
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
    write_columns(writer, &header, &[1, 3], rows)
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

/// One benchmark, a line a run.
pub(super) fn detail(
    writer: &mut dyn Write,
    history: &BenchmarkHistory,
    which: &str,
) -> io::Result<()> {
    let key = &history.key;
    let runs = history.points.len();
    writeln!(
        writer,
        "{}  {}",
        theme::heading(format!(
            "{}/{}: {}",
            key.package,
            key.target,
            units::name(&key.id, Room::of_stdout())
        )),
        theme::faint(format!("{} {which}", counted(runs, "run")))
    )?;
    let cells: Vec<Vec<String>> = history
        .points
        .iter()
        .map(|point| cells(history, point))
        .collect();
    let width = units::terminal_width();
    let medians = width >= ROOM_FOR_MEDIANS;
    let columns = if medians { 6 } else { 5 };
    let mut header: Vec<String> = ["run", "when", "commit", "branch", "value", "median"]
        .map(str::to_owned)
        .to_vec();
    header.truncate(columns);
    let mut lines = vec![header.clone()];
    lines.extend(cells.iter().map(|line| line[..columns].to_vec()));
    let widths = units::widths(&lines);
    let marks: Vec<String> = (0..runs).map(|place| mark(history, place)).collect();
    let longest_mark = (history.points.iter().zip(&marks))
        .map(|(point, mark)| plain_mark(point, mark).chars().count())
        .max()
        .unwrap_or(0);
    let taken: usize = widths.iter().map(|width| width + 2).sum::<usize>() + longest_mark + 2;
    let scale = Scale::of(
        history,
        width.saturating_sub(taken).clamp(NARROWEST, WIDEST),
    );
    let left = |line: &[String]| {
        let padded = line
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, width))| units::padded(cell, *width, column == 0 || column == 4));
        padded.collect::<Vec<_>>().join("  ")
    };
    let ends = scale
        .as_ref()
        .map_or_else(String::new, |scale| scale.ends(history));
    writeln!(
        writer,
        "{}",
        theme::faint(format!("{}  {ends}", left(&header)).trim_end())
    )?;
    for (place, point) in history.points.iter().enumerate() {
        let plot = scale
            .as_ref()
            .map_or_else(String::new, |scale| scale.line(history, place));
        let verdict = point.verdict.map_or_else(String::new, theme::verdict);
        let mark = &marks[place];
        let end = match (verdict.is_empty(), mark.is_empty()) {
            (false, false) => format!("{verdict}, {mark}"),
            _ => format!("{verdict}{mark}"),
        };
        let line = format!("{}  {plot}  {end}", left(&cells[place][..columns]));
        writeln!(writer, "{}", line.trim_end())?;
    }
    conclusion(writer, history)
}

/// A verdict with a mark, without colours.
fn plain_mark(point: &HistoryPoint, mark: &str) -> String {
    let verdict = point.verdict.map_or("", |verdict| verdict.word());
    format!("{verdict}, {mark}")
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

/// What is remarkable about a run.
fn mark(history: &BenchmarkHistory, place: usize) -> String {
    let point = &history.points[place];
    let level = history.level_of(place);
    let step = level
        .filter(|level| history.counted[level.first] == place)
        .and_then(|level| level.step);
    match (step, point.accepted) {
        (Some(step), true) => format!("level {}, accepted", units::change(step.change.estimate)),
        (Some(step), false) => format!("level {}", units::change(step.change.estimate)),
        (None, true) => "accepted".to_owned(),
        (None, false) => String::new(),
    }
}

/// The scale on which values are drawn.
struct Scale {
    lowest: f64,
    highest: f64,
    columns: usize,
}

impl Scale {
    /// Over all values, the band, and at least five per cent; `None` without values.
    fn of(history: &BenchmarkHistory, columns: usize) -> Option<Self> {
        let band = history.course.band.into_iter();
        let drawn = (history.points.iter().filter_map(|point| point.value))
            .chain(band.flat_map(|band| [band.lower, band.upper]));
        let (lowest, highest) = drawn.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| {
            (low.min(y), high.max(y))
        });
        let missing = (0.05 * highest - (highest - lowest)).max(0.0);
        lowest.is_finite().then(|| Self {
            lowest: lowest - missing / 2.0,
            highest: highest + missing / 2.0,
            columns,
        })
    }

    fn column(&self, value: f64) -> usize {
        let part = (value - self.lowest) / (self.highest - self.lowest).max(f64::MIN_POSITIVE);
        (part * (self.columns - 1) as f64)
            .round()
            .clamp(0.0, (self.columns - 1) as f64) as usize
    }

    /// What its ends stand for.
    fn ends(&self, history: &BenchmarkHistory) -> String {
        let low = units::value(&history.metric, self.lowest);
        let high = units::value(&history.metric, self.highest);
        let between = self.columns.saturating_sub(low.chars().count());
        format!("{low}{}", units::padded(&high, between, true))
    }

    /// A run: its value, its level, the band where it is the newest level.
    fn line(&self, history: &BenchmarkHistory, place: usize) -> String {
        let mut columns = vec![' '; self.columns];
        if let Some(level) = history.level_of(place) {
            let is_present = history
                .present()
                .is_some_and(|present| present.first == level.first);
            if let (true, Some(band)) = (is_present, &history.course.band) {
                columns[self.column(band.lower)..=self.column(band.upper)].fill('░');
            }
            columns[self.column(level.value)] = '│';
        }
        let point = &history.points[place];
        if let Some(value) = point.value {
            columns[self.column(value)] = '●';
        }
        let before_and_after: Vec<String> = columns
            .split(|mark| *mark == '●')
            .map(|part| part.iter().collect::<String>())
            .map(|part| theme::faint(&part))
            .collect();
        let dot = point.verdict.map_or_else(
            || "●".to_owned(),
            |verdict| theme::in_colour_of(verdict, "●"),
        );
        before_and_after.join(&dot)
    }
}

/// What it comes to, and what to do next.
fn conclusion(writer: &mut dyn Write, history: &BenchmarkHistory) -> io::Result<()> {
    let mut say = |text: String| -> io::Result<()> {
        for line in units::fitted(&text, units::terminal_width().min(110)) {
            writeln!(writer, "{line}")?;
        }
        Ok(())
    };
    say(String::new())?;
    let value = |ns: f64| units::value(&history.metric, ns);
    for level in &history.course.levels {
        let (first, last) = (
            history.counted_point(level.first).run,
            history.counted_point(level.last).run,
        );
        let runs = level.last - level.first + 1;
        let here = if runs == 1 {
            format!("run {first}")
        } else {
            format!("runs {first} to {last} ({runs})")
        };
        let step = level.step.map_or_else(String::new, |step| {
            let how = match (step.p_value, step.accepted) {
                (_, true) => "accepted".to_owned(),
                (Some(p), false) => format!("p {p:.4}"),
                (None, false) => String::new(),
            };
            format!(", {} {how}", change_in_words(step.change))
        });
        say(format!("Level {} in {here}{step}", value(level.value)))?;
    }
    if let Some(sd) = history.course.run_sd {
        say(format!(
            "Runs of one level differ by {} (SD).",
            units::rounded_percent(sd.exp_m1())
        ))?;
    }
    say(newest_in_words(history))?;
    for since in &history.since_baselines {
        say(format!(
            "Since baseline `{}` (run {}): {}",
            since.name,
            since.run,
            change_in_words(since.change)
        ))?;
    }
    for text in left_out(history) {
        say(text)?;
    }
    advice(history).map_or(Ok(()), say)
}

/// `+5.1 % [+4.4 %, +5.8 %]`, without bounds that the data do not give.
fn change_in_words(change: crate::compare::Estimate) -> String {
    if change.lower.is_finite() && change.upper.is_finite() {
        format!(
            "{} [{}, {}]",
            units::change(change.estimate),
            units::change(change.lower),
            units::change(change.upper)
        )
    } else {
        units::change(change.estimate)
    }
}

fn newest_in_words(history: &BenchmarkHistory) -> String {
    let Some(band) = history.course.band else {
        return "Ten runs of one level are needed to say what the next one should be.".to_owned();
    };
    let expected = format!(
        "{} to {}, as {} before it let expect",
        units::value(&history.metric, band.lower.min(band.upper)),
        units::value(&history.metric, band.upper.max(band.lower)),
        counted(band.runs, "run")
    );
    match history.course.newest {
        Position::Unknown | Position::Within => {
            format!("The newest run lies within {expected} (░).")
        }
        Position::AboveOnce => {
            format!("The newest run lies above {expected} (░); one run says little: measure again.")
        }
        Position::AboveTwice => format!(
            "The two newest runs lie above {expected} (░): a new level begins, or the host has changed."
        ),
        Position::BelowOnce => {
            format!("The newest run lies below {expected} (░); one run says little: measure again.")
        }
        Position::BelowTwice => format!(
            "The two newest runs lie below {expected} (░): a new level begins, or the host has changed."
        ),
    }
}

/// Which runs do not count, and why.
fn left_out(history: &BenchmarkHistory) -> Vec<String> {
    let mut reasons: Vec<(String, usize)> = Vec::new();
    for reason in history
        .points
        .iter()
        .filter_map(|point| point.left_out.as_ref())
    {
        let words = match reason {
            LeftOut::Incomparable(differences) => {
                let differences: Vec<String> =
                    differences.iter().map(Difference::to_string).collect();
                differences.join("; ")
            }
            LeftOut::Failed => "the benchmark failed".to_owned(),
            LeftOut::OtherSamples => {
                "too few samples, or of another kind, to be set beside the newest run".to_owned()
            }
        };
        match reasons.iter_mut().find(|(known, _)| *known == words) {
            Some((_, count)) => *count += 1,
            None => reasons.push((words, 1)),
        }
    }
    let said = reasons.into_iter().map(|(words, count)| {
        format!(
            "{} without a value here: {}",
            counted(count, "run"),
            units::on_one_line(&words)
        )
    });
    said.collect()
}

/// A step that nobody has accepted is a question.
fn advice(history: &BenchmarkHistory) -> Option<String> {
    let step = history.present()?.step?;
    let is_open = !step.accepted && step.change.estimate > 0.0;
    is_open.then(|| {
        format!(
            "If the present level is meant: cargo perfcheck accept {}",
            history.accept_words
        )
    })
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
