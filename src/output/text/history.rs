//! Prints histories as text. A single benchmark is printed run by run, each value drawn on a scale. Of several benchmarks, each gets a line with a
//! sparkline. A summary with advice follows.
//!
//! This module must not decide anything: the histories that it prints already have their levels, steps and verdicts.

use std::cmp::Ordering;
use std::io::{self, Write};

use crate::output::layout::{Cell, ColoredText, Column, Table, cell_builder};
use crate::output::messages::{
    BenchmarkHistory, ExclusionReason, HistoryPoint, HistoryPointMessage, JsonMessage,
    ProcessorDisagreement, write_message,
};
use crate::output::scale::Scale;
use crate::output::terminal::TextRole;
use crate::output::text::bar::sparkline;
use crate::output::text::listing::write_keyed;
use crate::output::view::{MessageFormat, View};
use crate::output::{terminal, units};
use perfcheck_analysis::compare::{Difference, Estimate, Level, Position, Step};
use perfcheck_analysis::model::{BenchmarkKey, GitState, shorten_hash};

/// Widths of the scale on which values are drawn, in columns. The first width that fits the terminal is used.
const SCALES: [usize; 9] = [48, 44, 40, 36, 32, 28, 24, 20, 16];
/// Minimum width of a terminal, in columns, for the medians of all runs and their intervals to be shown.
const ROOM_FOR_MEDIANS: usize = 120;

/// Writes the history of a single benchmark, run by run. `which` says in words which runs were selected.
fn write_detail(
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
    let fits = units::width(&title) + 2 + units::width(&of_runs) <= width;
    let between = if fits { "  " } else { "\n" };
    let (title, of_runs) = (terminal::heading(title), terminal::faint(of_runs));
    writeln!(writer, "{title}{between}{of_runs}")?;
    Table::new(columns(history, width)).write(writer, width)?;
    writeln!(writer)?;
    write_conclusion(writer, history, width)
}

/// A line of the table of runs.
enum HistoryLine<'h> {
    /// A run, with its index among the points of the history.
    Run(usize, &'h HistoryPoint),
    /// A step between two levels, with the index of the later level.
    Step(usize, Step),
}

/// Returns the lines of the table: all runs, and a step before the first run of each new level.
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

/// Returns the columns of the table: facts about each run, and a drawing of its value on the scale.
fn columns(history: &BenchmarkHistory, width: usize) -> Vec<Column> {
    let points = &history.points;
    let lines = drawn_lines(history);
    // A line for a step has no facts, only a drawing and the size of the step.
    let cells = |text_of: &dyn Fn(&HistoryPoint) -> String| -> Vec<Cell> {
        let of_line = |line: &HistoryLine<'_>| match line {
            HistoryLine::Run(_, point) => Cell::from(text_of(point)),
            HistoryLine::Step(..) => Cell::default(),
        };
        lines.iter().map(of_line).collect()
    };
    let day = |point: &HistoryPoint| point.day().to_owned();
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

/// Returns the last cell of a run's line: its verdict and its marks, such as `accepted`.
fn verdict_cell(history: &BenchmarkHistory, place: usize) -> Cell {
    let verdict = history.points[place].verdict;
    let mark = run_marks(history, place);
    let comma = match verdict {
        Some(_) if !mark.is_empty() => ", ",
        _ => "",
    };
    let verdict =
        verdict.map(|verdict| ColoredText::new(TextRole::Verdict(verdict), verdict.word()));
    let mark = ColoredText::plain(format!("{comma}{mark}"));
    Cell::from_pieces(verdict.into_iter().chain([mark]))
}

/// Returns the words that mark a run: `accepted` if the user accepted its level, `stray` if its value is far from its level.
fn run_marks(history: &BenchmarkHistory, place: usize) -> String {
    let accepted = history.points[place].accepted.then_some("accepted");
    let stray = history.is_stray(place).then_some("stray");
    let marks: Vec<&str> = [accepted, stray].into_iter().flatten().collect();
    marks.join(", ")
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

/// Formats a commit as `0123456*`. The star is shown if tracked files were modified.
fn commit(git: &GitState) -> String {
    let hash = shorten_hash(&git.commit, 7);
    format!("{hash}{}", if git.dirty { "*" } else { "" })
}

/// Shortens the name of a branch to twelve characters. The end of the name is kept, because it is the most informative part.
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

/// Width of a sparkline, in columns.
const BARS: usize = 24;

/// Writes a line for each of several benchmarks, and a summary.
fn write_overview(
    writer: &mut dyn Write,
    histories: &[BenchmarkHistory],
    which: &str,
    view: &View,
) -> io::Result<()> {
    writeln!(
        writer,
        "{}",
        terminal::faint(format!("runs {which}, oldest first"))
    )?;
    let keys: Vec<&BenchmarkKey> = histories.iter().map(|history| &history.key).collect();
    write_keyed(writer, &keys, overview_columns(histories), view)?;
    let stepped = histories
        .iter()
        .filter(|history| history.present().is_some_and(|level| level.step.is_some()));
    let outside = histories
        .iter()
        .filter(|history| !matches!(history.course.newest, Position::Unknown | Position::Within));
    let outside = match outside.count() {
        0 => "no newest run is outside the expected range".to_owned(),
        1 => "1 newest run is outside the expected range".to_owned(),
        some => format!("{some} newest runs are outside the expected range"),
    };
    let words = format!(
        "{}: {} changed level; {outside}.",
        units::counted(histories.len(), "benchmark"),
        stepped.count(),
    );
    writeln!(writer, "\n{}", view.wrap_prose(&words, ""))?;
    writeln!(writer, "Run by run: cargo perfcheck history ID")
}

fn overview_columns(histories: &[BenchmarkHistory]) -> Vec<Column> {
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
        Position::AboveOnce => "above the range",
        Position::AboveTwice => "2 in a row above the range",
        Position::BelowOnce => "below the range",
        Position::BelowTwice => "2 in a row below the range",
    }
}

/// Minimum distance between the labels at the two ends of a scale, in columns.
const BETWEEN_ENDS: usize = 2;

/// A scale on which values are drawn, and its width in columns.
struct ValueColumns {
    scale: Scale,
    columns: usize,
}

impl ValueColumns {
    /// Creates a scale for all values of the history and for the range in which the newest value was expected. It is at least `columns` wide. Returns
    /// `None` if there are no values.
    fn new(history: &BenchmarkHistory, columns: usize) -> Option<Self> {
        let band = history.course.band.into_iter();
        let values = history.points.iter().filter_map(|point| point.value);
        let scale = Scale::covering(values.chain(band.flat_map(|band| [band.lower, band.upper])))?;
        let (low, high) = scale.ends();
        let width = |end: f64| units::width(&units::value(&history.metric, end));
        Some(Self {
            scale,
            // The labels of both ends must fit beside each other.
            columns: columns.max(width(low) + BETWEEN_ENDS + width(high)),
        })
    }

    fn column_of(&self, value: f64) -> usize {
        let last = (self.columns - 1) as f64;
        (self.scale.position(value) * last).round().clamp(0.0, last) as usize
    }

    /// Returns the heading of the drawings: the values at the two ends of the scale.
    fn end_labels(&self, history: &BenchmarkHistory) -> String {
        let (low, high) = self.scale.ends();
        let low = units::value(&history.metric, low);
        let high = units::value(&history.metric, high);
        let between = self.columns - units::width(&low) - units::width(&high);
        format!("{low}{}{high}", " ".repeat(between))
    }

    /// Draws the line that leads from the level before to the level with index `level`.
    fn draw_step(&self, history: &BenchmarkHistory, level: usize) -> Cell {
        let levels = &history.course.levels;
        let Some(before) = level.checked_sub(1).and_then(|before| levels.get(before)) else {
            return Cell::default();
        };
        let (from, to) = (
            self.column_of(before.value),
            self.column_of(levels[level].value),
        );
        let mut columns = vec![' '; self.columns];
        columns[from.min(to)..=from.max(to)].fill('─');
        (columns[from], columns[to]) = match from.cmp(&to) {
            Ordering::Less => ('└', '┐'),
            Ordering::Equal => ('│', '│'),
            Ordering::Greater => ('┘', '┌'),
        };
        Cell::faint(columns.into_iter().collect::<String>())
    }

    /// Draws a run on the scale: its value, its level, and, if the level is the newest, the range in which the newest run was expected.
    fn draw_run(&self, history: &BenchmarkHistory, place: usize) -> Cell {
        let mut columns = vec![' '; self.columns];
        if let Some(level) = history.level_of(place) {
            let is_present = history
                .present()
                .is_some_and(|present| present.first == level.first);
            if let (true, Some(band)) = (is_present, &history.course.band) {
                columns[self.column_of(band.lower)..=self.column_of(band.upper)].fill('░');
            }
            columns[self.column_of(level.value)] = '│';
        }
        let point = &history.points[place];
        if let Some(value) = point.value {
            columns[self.column_of(value)] = '●';
        }
        let ink_of_dot = point.verdict.map_or(TextRole::Plain, TextRole::Verdict);
        let pieces = columns.chunk_by(|a, b| (*a == '●') == (*b == '●'));
        let pieces = pieces.map(|piece| {
            let ink = match piece[0] {
                '●' => ink_of_dot,
                _ => TextRole::Faint,
            };
            ColoredText::new(ink, piece.iter().collect::<String>())
        });
        Cell::from_pieces(pieces)
    }
}

/// Writes the sentences below the table. They are about levels, changes found side by side, how much runs vary, the newest run, baselines, runs that
/// do not count, and advice.
fn write_conclusion(
    writer: &mut dyn Write,
    history: &BenchmarkHistory,
    columns: usize,
) -> io::Result<()> {
    let mut say = |text: String| -> io::Result<()> {
        for line in units::wrap_if_needed(&text, columns.min(110)) {
            writeln!(writer, "{line}")?;
        }
        Ok(())
    };
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
            format!("{} ({first} to {last})", units::counted(runs, "run"))
        };
        let step = level.step.map_or_else(String::new, |step| {
            let how = match (step.p_value, step.accepted) {
                (_, true) => ", accepted".to_owned(),
                (Some(p), false) => format!(" (p {p:.4})"),
                (None, false) => String::new(),
            };
            format!(", {}{how}", format_change(step.change))
        });
        say(format!("Level {} in {here}{step}", value(level.value)))?;
    }
    for text in describe_side_by_side(history) {
        say(text)?;
    }
    // Leave out a standard deviation of 0. It is not an estimate, because no code was measured more than once.
    if let Some(sd) = history.course.run_sd.filter(|sd| *sd > 0.0) {
        let strays = match history.course.strays.len() {
            0 => String::new(),
            some => format!(", excluding {}", units::counted(some, "outlier")),
        };
        say(format!(
            "Runs at the same level vary by {} (SD){strays}.",
            units::rounded_percent(sd.exp_m1())
        ))?;
    }
    say(describe_newest_run(history))?;
    for since in &history.since_baselines {
        say(format!(
            "Since baseline `{}` (run {}): {}",
            since.name,
            since.run,
            if is_same_level(since.change) {
                "the same level".to_owned()
            } else {
                format_change(since.change)
            }
        ))?;
    }
    for text in describe_exclusions(history) {
        say(text)?;
    }
    advise_acceptance(history).map_or(Ok(()), say)
}

/// Describes what all side-by-side runs together show: the change from the first to the last of them, trends, and processors that disagree.
pub(crate) fn describe_side_by_side(history: &BenchmarkHistory) -> Vec<String> {
    let trends = history.trends.iter().map(|trend| {
        format!(
            "Runs {} to {} show a trend: {} in total, from changes too small to show in a single run",
            trend.first_run,
            trend.last_run,
            format_change(trend.change)
        )
    });
    let end_to_end = describe_total_change(history).into_iter();
    let processors = history.processors.as_ref().map(describe_disagreement);
    end_to_end.chain(trends).chain(processors).collect()
}

/// Describes the change from the first to the last run that side-by-side measurements connect. Returns `None` if the history has fewer than two
/// steps, because a single step says the same.
fn describe_total_change(history: &BenchmarkHistory) -> Option<String> {
    let mut known = history
        .points
        .iter()
        .filter(|point| point.since_first.is_some());
    let (first, last) = (known.clone().next()?, known.next_back()?);
    let steps = history
        .course
        .levels
        .iter()
        .filter(|level| level.step.is_some());
    let change = last.since_first.filter(|_| steps.count() > 1)?;
    Some(format!(
        "From run {} to run {}: {}",
        first.run,
        last.run,
        if is_same_level(change) {
            "the same level".to_owned()
        } else {
            format_change(change)
        }
    ))
}

/// Says by how much processors disagree about the same changes, and on which processor the shown runs were measured.
fn describe_disagreement(found: &ProcessorDisagreement) -> String {
    let changes = found.changes.iter().map(|one| {
        let processor = units::escape_line(&one.processor);
        format!("{} on `{processor}`", format_change(one.change))
    });
    let changes: Vec<String> = changes.collect();
    let step = found.run.map_or_else(String::new, |run| {
        format!(", most at run {run}: {}", changes.join(", "))
    });
    format!(
        "Changes differ between processors (p {:.4}){step}. This history uses only side-by-side runs on `{}`",
        found.p_value,
        units::escape_line(&found.shown)
    )
}

/// Returns true if a change is between runs at the same level. The change and both bounds are then exactly 0.
fn is_same_level(change: Estimate) -> bool {
    [change.lower, change.estimate, change.upper] == [0.0; 3]
}

/// Formats a change with its interval: `+5.10 % [+4.40 %, +5.80 %]`. The interval is left out if a bound is unknown.
fn format_change(change: Estimate) -> String {
    if change.lower.is_finite() && change.upper.is_finite() {
        units::change_with_interval(&change)
    } else {
        units::change(change.estimate)
    }
}

fn describe_newest_run(history: &BenchmarkHistory) -> String {
    let Some(band) = history.course.band else {
        return "No expected range yet: it needs ten runs at the same level.".to_owned();
    };
    let expected = format!(
        "the range expected from {}, {} to {} (░)",
        units::counted(band.runs, "earlier run"),
        units::value(&history.metric, band.lower.min(band.upper)),
        units::value(&history.metric, band.upper.max(band.lower))
    );
    match history.course.newest {
        Position::Unknown | Position::Within => {
            format!("The newest run is within {expected}.")
        }
        Position::AboveOnce => {
            format!("The newest run is above {expected}. One run says little: measure again.")
        }
        Position::AboveTwice => format!(
            "The two newest runs are above {expected}: the benchmark or the host has changed."
        ),
        Position::BelowOnce => {
            format!("The newest run is below {expected}. One run says little: measure again.")
        }
        Position::BelowTwice => format!(
            "The two newest runs are below {expected}: the benchmark or the host has changed."
        ),
    }
}

/// Says how many runs do not count towards the levels, and why. There is a sentence for each reason.
fn describe_exclusions(history: &BenchmarkHistory) -> Vec<String> {
    let mut reasons: Vec<(String, usize)> = Vec::new();
    for reason in history
        .points
        .iter()
        .filter_map(|point| point.left_out.as_ref())
    {
        let words = match reason.why {
            ExclusionReason::Incomparable => {
                let differences = reason.differences.iter().map(Difference::to_string);
                differences.collect::<Vec<_>>().join("; ")
            }
            ExclusionReason::OtherBranch => continue,
            ExclusionReason::OtherProcessor => {
                "measured on another processor, where changes differ".to_owned()
            }
            ExclusionReason::Failed => "the benchmark failed".to_owned(),
            ExclusionReason::OtherSamples => {
                "too few samples, or samples of a different kind than in the newest run".to_owned()
            }
        };
        match reasons.iter_mut().find(|(known, _)| *known == words) {
            Some((_, count)) => *count += 1,
            None => reasons.push((words, 1)),
        }
    }
    let sentences = reasons.into_iter().map(|(words, count)| {
        format!(
            "{} without a value here: {}",
            units::counted(count, "run"),
            units::escape_line(&words)
        )
    });
    let elsewhere = history.points.iter();
    let reasons = elsewhere.filter_map(|point| point.left_out.as_ref());
    let elsewhere = reasons.filter(|reason| reason.why == ExclusionReason::OtherBranch);
    let elsewhere = match elsewhere.count() {
        0 => None,
        runs => Some(format!(
            "{} left out: on a different branch than the newest run (use `--branch NAME` to show another branch)",
            units::counted(runs, "run")
        )),
    };
    sentences.chain(elsewhere).collect()
}

/// Returns a sentence with the command that accepts the present level. Returns `None` unless the level began with a slowdown that nobody has
/// accepted and that can be accepted.
fn advise_acceptance(history: &BenchmarkHistory) -> Option<String> {
    let step = history.present()?.step?;
    let is_open = !step.accepted && step.change.estimate > 0.0;
    let accept = history.accept.as_ref().filter(|_| is_open)?;
    Some(format!("If the change is intended: {accept}"))
}

/// Writes histories in the layout of `view`. A single history is written run by run, several histories as a line each. `which` says in words which
/// runs were selected.
pub fn write_histories(
    writer: &mut dyn Write,
    histories: &[BenchmarkHistory],
    which: &str,
    format: MessageFormat,
    view: &View,
) -> io::Result<()> {
    match (format, histories) {
        (MessageFormat::Json, _) => write_messages(writer, histories),
        (MessageFormat::Human, []) => Ok(()),
        (MessageFormat::Human, [only]) => write_detail(writer, only, which, view.columns),
        (MessageFormat::Human, several) => write_overview(writer, several, which, view),
    }
}

/// Writes a `history-point` message for each run of each benchmark, and after the runs of a benchmark its `benchmark-history` message.
fn write_messages(writer: &mut dyn Write, histories: &[BenchmarkHistory]) -> io::Result<()> {
    for history in histories {
        for place in 0..history.points.len() {
            let point = HistoryPointMessage::from_history(history, place);
            write_message(writer, JsonMessage::HistoryPoint(point))?;
        }
        write_message(writer, JsonMessage::BenchmarkHistory(history.into()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::messages::BaselineChange;
    use crate::output::terminal::strip_colors;
    use crate::output::view::{MessageFormat, View};
    use perfcheck_analysis::compare::{Estimate, Location, Trend, TrendPoint, TrendRules};
    use perfcheck_analysis::model::{
        Acceptance, BenchmarkKey, GitState, Metric, RunId, Statistic, Timestamp, Verdict,
    };

    const RULES: TrendRules = TrendRules {
        noise_threshold: 0.02,
        confidence_level: 0.95,
        seed: 0,
    };

    /// Creates a history with these values. The user has accepted the levels of the runs `accepted`, and the run `left_out` has no value.
    fn history(
        id: &str,
        values: &[f64],
        accepted: &[usize],
        left_out: Option<usize>,
    ) -> BenchmarkHistory {
        let counted: Vec<usize> = (0..values.len())
            .filter(|place| Some(*place) != left_out)
            .collect();
        let course_points: Vec<TrendPoint> = counted
            .iter()
            .map(|place| TrendPoint {
                is_placed: false,
                shown: None,
                value: values[*place].ln(),
                accepted: accepted.contains(place),
            })
            .collect();
        let course = Trend::from_points(&course_points, &RULES, id);
        let point = |(place, value): (usize, &f64)| HistoryPoint {
            run: RunId(i64::try_from(place + 1).expect("few")),
            started: format!("2026-11-{:02}T10:00:00Z", place % 28 + 1),
            committed: None,
            at: Timestamp::default(),
            git: Some(GitState {
                commit: "0123456789abcdef0123456789abcdef01234567".into(),
                branch: Some("main\u{1b}[31m".into()),
                dirty: place == 1,
            }),
            acceptance: Acceptance::Automatic,
            accepted: accepted.contains(&place),
            verdict: Some(if place == 0 {
                Verdict::New
            } else {
                Verdict::Unchanged
            }),
            change: None,
            since_first: None,
            value: (Some(place) != left_out).then_some(*value),
            median: None,
            left_out: (Some(place) == left_out).then(|| ExclusionReason::OtherSamples.into()),
        };
        BenchmarkHistory {
            key: BenchmarkKey {
                package: "crate".into(),
                target: "bench".into(),
                id: id.into(),
            },
            statistic: Statistic::Time,
            metric: Metric::Time,
            location: Some(Location::LowQuantile),
            noise_threshold: 0.02,
            confidence_level: 0.95,
            points: values.iter().enumerate().map(point).collect(),
            counted,
            trends: Vec::new(),
            processors: None,
            since_baselines: vec![BaselineChange {
                name: "v1".into(),
                run: RunId(1),
                change: Estimate {
                    estimate: 0.051,
                    lower: 0.04,
                    upper: f64::INFINITY,
                },
            }],
            course,
            accept: Some("cargo perfcheck accept 'it is'".into()),
        }
    }

    /// Returns a level of twelve runs, then one of eight runs that is 10 % higher.
    fn stepped() -> Vec<f64> {
        let strays = [0.4, -0.7, 0.9, 0.0, -0.3];
        let factors = [[1.0; 12].as_slice(), &[1.1; 8]].concat();
        factors
            .iter()
            .zip(strays.iter().cycle())
            .map(|(factor, stray)| 100.0 * factor + stray)
            .collect()
    }

    fn raw(histories: &[BenchmarkHistory], format: MessageFormat) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_histories(
            &mut bytes,
            histories,
            "of branch `main`",
            format,
            &View::for_terminal(usize::MAX),
        )
        .unwrap();
        bytes
    }

    fn written(histories: &[BenchmarkHistory], format: MessageFormat) -> String {
        String::from_utf8(strip_colors(&raw(histories, format))).unwrap()
    }

    #[test]
    fn one_benchmark_is_drawn_run_by_run() {
        let history = history("a/b", &stepped(), &[], Some(3));
        insta::assert_snapshot!(written(&[history], MessageFormat::Human));
    }

    #[test]
    fn several_are_a_line_each() {
        let values = stepped();
        let histories = [
            history("a/b", &values, &[], None),
            history("c\u{1b}[2J", &values[..12], &[], None),
            history("accepted", &values[..14], &[12], None),
        ];
        insta::assert_snapshot!(written(&histories, MessageFormat::Human));
    }

    #[test]
    fn a_level_that_nobody_accepted_is_a_question_and_an_accepted_one_is_not() {
        let question = "accept 'it is'";
        let open = written(&[history("a", &stepped(), &[], None)], MessageFormat::Human);
        assert!(open.contains(question), "{open}");
        let closed = written(
            &[history("a", &stepped(), &[12], None)],
            MessageFormat::Human,
        );
        assert!(
            !closed.contains(question) && closed.contains("accepted"),
            "{closed}"
        );
    }

    #[test]
    fn what_has_no_values_is_told_without_a_scale() {
        let nothing = history("a", &[1.0], &[], Some(0));
        let text = written(&[nothing], MessageFormat::Human);
        assert!(text.contains("1 run without a value here"), "{text}");
        assert_eq!(written(&[], MessageFormat::Human), "");
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_written_and_bounds_that_are_missing_are_null() {
        let hostile = history("\u{1b}[2J", &stepped(), &[], None);
        let text = raw(std::slice::from_ref(&hostile), MessageFormat::Human);
        let text = String::from_utf8(text).unwrap();
        // Unescaped, the id would clear the screen and the branch would color the rest.
        assert!(
            !text.contains("\u{1b}[2J") && !text.contains("main\u{1b}"),
            "{text}"
        );
        let json = written(&[hostile], MessageFormat::Json);
        let last = json.lines().last().unwrap();
        let message: serde_json::Value = serde_json::from_str(last).unwrap();
        let change = &message["since_baselines"][0]["change"];
        assert_eq!(
            (change["lower"].as_f64(), change["upper"].as_f64()),
            (Some(0.04), None)
        );
    }

    /// Writes an overview of three benchmarks, one with a long name, in a terminal with this many columns.
    fn overview_in(columns: usize) -> String {
        let name = "a group with a long name/a function whose name says everything about it/parameter=1000000";
        let histories = [
            history(name, &stepped(), &[], None),
            history("sort/10", &stepped()[..12], &[], None),
            history("sort/1000", &stepped()[..14], &[12], None),
        ];
        let mut bytes = Vec::new();
        write_histories(
            &mut bytes,
            &histories,
            "of branch `main`",
            MessageFormat::Human,
            &View::for_terminal(columns),
        )
        .unwrap();
        String::from_utf8(strip_colors(&bytes)).unwrap()
    }

    #[test]
    fn narrow_terminals_have_fewer_columns_and_whole_numbers() {
        insta::assert_snapshot!("overview_60", overview_in(60));
        insta::assert_snapshot!("overview_80", overview_in(80));
        insta::assert_snapshot!("overview_160", overview_in(160));
    }

    #[test]
    fn of_no_benchmark_there_is_nothing_to_say() {
        assert_eq!(written(&[], MessageFormat::Human), "");
    }

    #[test]
    fn five_hundred_benchmarks_are_a_line_each() {
        let many: Vec<BenchmarkHistory> = (0..500)
            .map(|at| {
                history(
                    &format!("group{:02}/{at}", at % 50),
                    &stepped()[..6],
                    &[],
                    None,
                )
            })
            .collect();
        let mut bytes = Vec::new();
        write_histories(
            &mut bytes,
            &many,
            "of branch `main`",
            MessageFormat::Human,
            &View::for_terminal(80),
        )
        .unwrap();
        let text = String::from_utf8(strip_colors(&bytes)).unwrap();
        let rows = text.lines().filter(|line| line.starts_with("    "));
        assert_eq!(rows.count(), 500);
        assert!(
            text.lines()
                .all(|line| crate::output::units::width(line) <= 80),
            "{text}"
        );
    }
}
