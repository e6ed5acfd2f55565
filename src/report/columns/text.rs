//! Runs side by side for people: aligned columns in blocks that fit into the terminal, or a Markdown table.

use std::io::{self, Write};

use super::content::{Column, ColumnCell, ColumnsLine, Shown, SideBySide, Terms, Together};
use crate::compare::{Decider, Difference, Figure};
use crate::findings::Method;
use crate::model::{Metric, Subject, Verdict};
use crate::report::analysis;
use crate::report::grid::{Grid, GridCell, folded, label_beside};
use crate::report::remarks::run_remark;
use crate::report::status::write_warning_within;
use crate::report::theme;
use crate::report::units::{self, Room};
use crate::report::view::prose;

/// What stands in a line of text: first the labels, then a cell for each column.
struct TextLine {
    label: String,
    cells: Vec<Marked>,
}

/// The text of a cell, and the verdict that colours its mark.
#[derive(Clone, Default)]
struct Marked {
    value: String,
    mark: String,
    verdict: Option<Verdict>,
}

/// Columns that `( +8.00%)` takes where a change has two digits.
const MARK: usize = 10;

/// In a terminal the name of a column is shortened to this.
const LONGEST_HEADING: usize = 24;

pub(super) fn write_text(
    writer: &mut dyn Write,
    found: &SideBySide,
    room: usize,
) -> io::Result<()> {
    let mut groups = text_groups(found, Room::within(room));
    let all: Vec<&TextLine> = groups.iter().flat_map(|(_, lines)| lines).collect();
    let widest = |texts: &mut dyn Iterator<Item = &String>| {
        let lines: Vec<Vec<String>> = texts.map(|text| vec![text.clone()]).collect();
        units::widths(&lines).first().copied().unwrap_or(0)
    };
    let headings: Vec<[String; 2]> = found
        .columns
        .iter()
        .map(|column| {
            let run = format!("run {}", column.run);
            if column.is_named() {
                [heading_within(&column.name, room), run]
            } else {
                [run, String::new()]
            }
        })
        .collect();
    let inner: Vec<[usize; 2]> = (0..found.columns.len())
        .map(|at| {
            [
                widest(&mut all.iter().map(|line| &line.cells[at].value)),
                widest(&mut all.iter().map(|line| &line.cells[at].mark)),
            ]
        })
        .collect();
    let of_columns = headings.iter().zip(&inner);
    let of_columns: Vec<usize> = of_columns
        .map(|(heading, [value, mark])| widest(&mut heading.iter()).max(value + 1 + mark))
        .collect();
    let label = widest(&mut all.iter().map(|line| &line.label));
    let label = label_beside(label, &of_columns, room);
    for line in groups.iter_mut().flat_map(|(_, lines)| lines) {
        line.label = units::in_the_middle(&line.label, label);
    }
    let widths: Vec<usize> = std::iter::once(label).chain(of_columns).collect();
    let blocks = folded(&widths, 1, room);
    for block in &blocks {
        let columns = &block[1..];
        let names = headings.iter().map(|[name, _]| name).collect::<Vec<_>>();
        writeln!(
            writer,
            "{}",
            theme::heading(heading_line(&names, columns, &widths))
        )?;
        let runs = headings.iter().map(|[_, run]| run).collect::<Vec<_>>();
        if columns.iter().any(|at| !runs[at - 1].is_empty()) {
            let line = heading_line(&runs, columns, &widths);
            writeln!(writer, "{}", theme::faint(line.trim_end()))?;
        }
        for (heading, lines) in &groups {
            if let Some(heading) = heading {
                writeln!(writer, "{}", theme::heading(heading))?;
            }
            for line in lines {
                let mut text = units::padded(&line.label, widths[0], false);
                for at in columns {
                    let cell = &line.cells[at - 1];
                    let [value, mark] = inner[at - 1];
                    let plain = format!(
                        "{} {}",
                        units::padded(&cell.value, value, true),
                        units::padded(&cell.mark, mark, false)
                    );
                    text += "  ";
                    let blank = units::padded(&plain, widths[*at], true);
                    let coloured = match cell.verdict {
                        Some(verdict) if !cell.mark.is_empty() => {
                            blank.replacen(&cell.mark, &theme::in_colour_of(verdict, &cell.mark), 1)
                        }
                        _ => blank,
                    };
                    text += &coloured;
                }
                writeln!(writer, "{}", text.trim_end())?;
            }
        }
        writeln!(writer)?;
    }
    write_notes(writer, found, room)?;
    for line in legend(found) {
        for line in units::filled(&line, room.min(110)) {
            writeln!(writer, "{line}")?;
        }
    }
    for column in found.columns.iter().skip(1) {
        write_column_sum(writer, column, room)?;
    }
    Ok(())
}

/// A heading above each of `columns`.
fn heading_line(texts: &[&String], columns: &[usize], widths: &[usize]) -> String {
    let mut line = " ".repeat(widths[0]);
    for at in columns {
        line += "  ";
        line += &units::padded(texts[at - 1], widths[*at], true);
    }
    line
}

/// A column's name where lines have so many columns: whole where they are endless.
fn heading_within(name: &str, room: usize) -> String {
    match room {
        usize::MAX => units::whole_name(name),
        _ => units::in_the_middle(&units::whole_name(name), LONGEST_HEADING),
    }
}

/// The lines of each bench target with its name, and of all together at the end.
fn text_groups(found: &SideBySide, room: Room) -> Vec<(Option<String>, Vec<TextLine>)> {
    let mut groups: Vec<(Option<String>, Vec<TextLine>)> = Vec::new();
    for line in &found.lines {
        let target = Some(units::on_one_line(&format!(
            "{}/{}",
            line.key.package, line.key.target
        )));
        if groups.last().is_none_or(|(last, _)| *last != target) {
            groups.push((target, Vec::new()));
        }
        let Some((_, lines)) = groups.last_mut() else {
            continue;
        };
        let id = format!("  {}", units::name(&line.key.id, room));
        let blank = vec![Marked::default(); found.columns.len()];
        if found.shown == Shown::Block {
            lines.push(TextLine {
                label: id.clone(),
                cells: blank,
            });
        }
        for (at, figure) in found.shown.figures().into_iter().enumerate() {
            let cells = line.cells.iter().zip(0..);
            lines.push(TextLine {
                label: match found.shown {
                    Shown::Block => format!("    {}", figure.label(&line.metric)),
                    Shown::Judged | Shown::One(_) => id.clone(),
                },
                cells: cells
                    .map(|(cell, column)| marked(found, line, cell, column, (at, figure)))
                    .collect(),
            });
        }
    }
    if found.columns.iter().any(|column| column.together.is_some()) {
        let cells = found
            .columns
            .iter()
            .zip(0..)
            .map(|(column, at)| match column.together {
                _ if at == 0 => Marked {
                    value: "1.0000".to_owned(),
                    mark: bracketed(['(', ')'], &percent(0.0)),
                    verdict: None,
                },
                Some(together) => Marked {
                    value: format!("{:.4}", together.ratio),
                    mark: bracketed(['(', ')'], &percent(together.ratio - 1.0)),
                    verdict: None,
                },
                None => Marked {
                    value: "-".to_owned(),
                    ..Marked::default()
                },
            });
        let line = TextLine {
            label: "geometric mean".to_owned(),
            cells: cells.collect(),
        };
        groups.push((None, vec![line]));
    }
    groups
}

fn marked(
    found: &SideBySide,
    line: &ColumnsLine,
    cell: &ColumnCell,
    column: usize,
    (at, figure): (usize, Figure),
) -> Marked {
    let (value, change) = cell.figures.get(at).copied().unwrap_or_default();
    let Some(value) = value else {
        let failed = cell.verdict == Some(Verdict::Failed);
        return Marked {
            value: if failed { "failed" } else { "-" }.to_owned(),
            ..Marked::default()
        };
    };
    let value = match (found.terms, column, change) {
        (Terms::Values, ..) => figure_text(figure, &line.metric, value),
        (Terms::Ratios, 0, _) => "1.000".to_owned(),
        (Terms::Ratios, _, Some(change)) => format!("{:.3}", 1.0 + change),
        (Terms::Ratios, _, None) => "-".to_owned(),
    };
    let verdict = cell.verdict.filter(|_| found.shown.marks(figure));
    let mark = match (column, change, cell.verdict) {
        (0, ..) => bracketed(['(', ')'], &percent(0.0)),
        (_, _, Some(Verdict::Incomparable)) => bracketed(['(', ')'], "n/c"),
        (_, None, _) => String::new(),
        (_, Some(change), _) => bracketed(marks_of(verdict), &percent(change)) + direction(verdict),
    };
    Marked {
        value,
        mark,
        verdict,
    }
}

/// What stands around a change.
fn marks_of(verdict: Option<Verdict>) -> [char; 2] {
    match verdict {
        Some(Verdict::Regressed | Verdict::Improved) => ['*', '*'],
        Some(Verdict::Suspect) => ['?', '?'],
        _ => ['(', ')'],
    }
}

/// The sign of a called change. The number beside it may be of another statistic, and point the other way.
fn direction(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Regressed) => "▲",
        Some(Verdict::Improved) => "▼",
        _ => "",
    }
}

fn bracketed([open, close]: [char; 2], text: &str) -> String {
    format!("{open}{}{close}", units::padded(text, MARK - 2, true))
}

/// `+8.00%` with a true minus. Not -0: nothing did not become better.
fn percent(fraction: f64) -> String {
    let text = format!("{:+.2}%", fraction * 100.0);
    match &*text {
        "+0.00%" | "-0.00%" => "0.00%".to_owned(),
        _ => text.replace('-', "−"),
    }
}

fn figure_text(figure: Figure, metric: &Metric, value: f64) -> String {
    if figure == Figure::Variation {
        format!("{:.2} %", value * 100.0)
    } else {
        units::reading(metric, value)
    }
}

/// What readers must know of columns: what differs, what cannot be compared, what is not in the geometric mean.
fn write_notes(writer: &mut dyn Write, found: &SideBySide, room: usize) -> io::Result<()> {
    for (difference, columns) in
        by_difference(found, |column| found.columns[column].warnings.clone())
    {
        write_warning_within(
            writer,
            &format!("environment differs: {difference} in {columns}"),
            room,
        )?;
    }
    let blocking = |column: usize| {
        let mut all: Vec<Difference> = Vec::new();
        for difference in found
            .lines
            .iter()
            .flat_map(|line| &line.cells[column].blocking)
        {
            if !all.contains(difference) {
                all.push(difference.clone());
            }
        }
        all
    };
    for (difference, columns) in by_difference(found, blocking) {
        write_warning_within(
            writer,
            &format!("not comparable: {difference} in {columns}"),
            room,
        )?;
    }
    let mut said: Vec<String> = Vec::new();
    for remark in found
        .columns
        .iter()
        .flat_map(|column| &column.remarks)
        .map(run_remark)
    {
        if !said.contains(&remark) {
            write_warning_within(writer, &remark, room)?;
            said.push(remark);
        }
    }
    for column in &found.columns {
        if let Some(Together { used, excluded, .. }) = column.together
            && excluded > 0
        {
            let text = format!(
                "the geometric mean of {} is of {used} of {} benchmarks: the others have no ratio to the reference, or one of zero",
                units::on_one_line(&column.title()),
                used + excluded
            );
            for line in prose(&text, room, "").split('\n') {
                writeln!(writer, "{}", theme::faint(line))?;
            }
        }
    }
    Ok(())
}

/// Each difference once, with the columns that have it.
fn by_difference(
    found: &SideBySide,
    of_column: impl Fn(usize) -> Vec<Difference>,
) -> Vec<(String, String)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for (at, column) in found.columns.iter().enumerate().skip(1) {
        for Difference {
            fact,
            candidate,
            base,
        } in of_column(at)
        {
            let text = format!("{fact} {base}->{candidate}");
            match all.iter_mut().find(|(known, _)| *known == text) {
                Some((_, columns)) => columns.push(column.short()),
                None => all.push((text, vec![column.short()])),
            }
        }
    }
    all.into_iter()
        .map(|(text, columns)| (text, columns.join(", ")))
        .collect()
}

/// How the table is to be read.
pub(super) fn legend(found: &SideBySide) -> Vec<String> {
    let what = match found.shown {
        Shown::Judged => "Medians, with the change that was judged.".to_owned(),
        Shown::One(figure) => {
            let mut labels: Vec<String> = Vec::new();
            for line in &found.lines {
                let label = figure.label(&line.metric);
                if !labels.contains(&label) {
                    labels.push(label);
                }
            }
            format!("{} of each run.", labels.join(" or "))
        }
        Shown::Block => "Verdicts are marked on the line of the mean.".to_owned(),
    };
    let methods: Vec<Method> = found
        .columns
        .iter()
        .filter_map(|column| column.method)
        .collect();
    let subject = found.decision.analysis.subject;
    let how = match methods.first() {
        Some(_) if subject != Subject::Time => format!("by the rules for {subject}"),
        Some(first @ Method::Stored(Decider::Test(_)))
            if methods.iter().all(|method| method == first) =>
        {
            analysis::method(&found.decision)
        }
        Some(first) => {
            let alike = methods.iter().all(|method| method == first);
            let level = units::percent(found.decision.significance_level);
            let words = if alike {
                method_words(*first)
            } else {
                "each as it was measured"
            };
            format!("{level} family-wise in each column, {words}")
        }
        None => "nothing was compared".to_owned(),
    };
    let verdicts = |wanted: &[Verdict]| {
        let mut columns = found.columns.iter();
        columns.any(|column| {
            wanted
                .iter()
                .any(|verdict| column.tally.count(*verdict) > 0)
        })
    };
    let mut signs = format!(
        "+ is worse (slower, more, a lower rate), − is better than the first column; *…* is called a change, ▲ for the worse, ▼ for the better: {how}"
    );
    if verdicts(&[Verdict::Suspect]) {
        signs += "; ?…? looks like one, but cannot be called";
    }
    if verdicts(&[Verdict::Incomparable]) {
        signs += "; n/c: not comparable (--allow-different FACT compares all the same)";
    }
    let mut lines = vec![what, signs + "."];
    if found.terms == Terms::Ratios {
        lines.push("Values are ratios to the first column.".to_owned());
    }
    if found.hidden > 0 {
        let plural = if found.hidden == 1 { "" } else { "s" };
        lines.push(format!(
            "{} benchmark{plural} not shown (--only); counts and geometric means are of all.",
            found.hidden
        ));
    }
    if matches!(found.shown, Shown::One(_)) {
        lines.push(
            "The marks are the verdicts of `compare` without `--statistic`: they are not about this statistic, whose change may point the other way.".to_owned(),
        );
    }
    if subject != Subject::Time {
        lines.push(format!(
            "Judged changes and verdicts are about {subject} (`--metric`), not about the time."
        ));
    }
    let closed = found
        .lines
        .iter()
        .filter_map(|line| line.gate.as_ref())
        .filter(|gate| !gate.open)
        .count();
    if closed > 0 {
        lines.push(format!(
            "{closed} of {} benchmarks show no difference among all runs together (Kruskal and Wallis): single differences do not count there.",
            found.lines.len()
        ));
    }
    lines
}

fn method_words(method: Method) -> &'static str {
    match method {
        Method::Stored(Decider::RunLevel) => "drift between runs included",
        Method::Stored(Decider::Screen) => "by the t-score alone",
        Method::Stored(Decider::Test(test)) => test.word(),
        Method::Paired => "both sides measured in turn",
    }
}

fn write_column_sum(writer: &mut dyn Write, column: &Column, room: usize) -> io::Result<()> {
    let counts: Vec<String> = column
        .tally
        .iter()
        .map(|(verdict, count)| format!("{count} {}", theme::verdict(verdict)))
        .collect();
    let counts = if counts.is_empty() {
        "nothing to compare".to_owned()
    } else {
        counts.join(", ")
    };
    writeln!(writer, "{}: {counts}.", units::on_one_line(&column.title()))?;
    analysis::write_gates(writer, &column.gates, room)
}

/// The table for Markdown: a line for each figure, a column for each run.
pub(super) fn markdown(found: &SideBySide) -> Grid {
    let text = |text: &str| GridCell::Text(text.to_owned());
    let mut heading = vec!["benchmark".to_owned()];
    if found.shown == Shown::Block {
        heading.push("statistic".to_owned());
    }
    let labels = heading.len();
    heading.extend(found.columns.iter().map(Column::title));
    let cell = |marked: Marked| {
        let mark = marked.mark.replace(' ', "");
        text(format!("{} {mark}", marked.value).trim_end())
    };
    let mut rows = Vec::new();
    for line in &found.lines {
        for (at, figure) in found.shown.figures().into_iter().enumerate() {
            let key = &line.key;
            let mut row = vec![text(&format!("{}/{} {}", key.package, key.target, key.id))];
            if found.shown == Shown::Block {
                row.push(text(&figure.label(&line.metric)));
            }
            let cells = line.cells.iter().zip(0..);
            row.extend(
                cells.map(|(each, column)| cell(marked(found, line, each, column, (at, figure)))),
            );
            rows.push(row);
        }
    }
    if let Some((_, lines)) = text_groups(found, Room::Unlimited)
        .pop()
        .filter(|(heading, _)| heading.is_none())
    {
        for line in lines {
            let mut row = vec![text(&line.label)];
            row.resize(labels, text(""));
            row.extend(line.cells.into_iter().map(cell));
            rows.push(row);
        }
    }
    Grid {
        labels,
        heading,
        rows,
    }
}
