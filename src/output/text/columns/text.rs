//! Writes a table of runs in the requested format: for people as aligned columns in blocks that fit the terminal, or as Markdown; for machines with
//! unrounded numbers, as CSV or as messages.

use std::io::{self, Write};

use super::content::{
    ColumnCell, ColumnGeometricMean, ColumnsLine, RunColumn, RunTable, ShownStatistics, ValueForm,
};
use crate::output::layout::{Cell, Column, Section, SectionRow, Table, TableFormat};
use crate::output::messages::{
    BenchmarkColumns, JsonMessage, LimitExceeded, unit_of_statistic, write_message,
};
use crate::output::terminal::TextRole;
use crate::output::text::status::write_warning_within;
use crate::output::view::{MessageFormat, wrap_prose};
use crate::output::words::remarks::describe_run_remark;
use crate::output::words::{analysis, remarks};
use crate::output::{terminal, units};
use crate::sanitize;
use perfcheck_analysis::compare::{Difference, column_label};
use perfcheck_analysis::findings::Method;
use perfcheck_analysis::model::{Metric, Statistic, Test, Verdict};

/// A label, and a cell for each run.
type TableLine = (String, Vec<Cell>);

/// Width of `( +8.00%)`: a change with up to two digits before the point.
const MARK: usize = 10;

/// Length to which a terminal shortens the name of a column.
const LONGEST_HEADING: usize = 24;

pub(super) fn write_text(writer: &mut dyn Write, found: &RunTable, room: usize) -> io::Result<()> {
    table(found, room).write(writer, room)?;
    writeln!(writer)?;
    write_notes(writer, found, room)?;
    for line in legend(found) {
        for line in units::wrap_words(&line, room.min(110)) {
            writeln!(writer, "{line}")?;
        }
    }
    for column in found.columns.iter().skip(1) {
        write_column_verdicts(writer, column, room)?;
    }
    Ok(())
}

/// Returns the table: the lines of each bench target below its name, and the geometric means at the end.
fn table(found: &RunTable, room: usize) -> Table {
    let mut sections: Vec<Section> = Vec::new();
    let mut lines: Vec<TableLine> = Vec::new();
    for line in &found.lines {
        let target = Some(format!("{}/{}", line.key.package, line.key.target));
        if sections.last().is_none_or(|last| last.title != target) {
            sections.push(Section {
                title: target,
                ..Section::default()
            });
        }
        let Some(section) = sections.last_mut() else {
            continue;
        };
        let id = format!("  {}", units::escape_id(&line.key.id));
        if found.shown == ShownStatistics::Block {
            section.rows.push(SectionRow::Title(id.clone()));
        }
        for (at, figure) in found.shown.statistics().into_iter().enumerate() {
            section.rows.push(SectionRow::At(lines.len()));
            let label = match found.shown {
                ShownStatistics::Block => format!("    {}", column_label(figure, &line.metric)),
                ShownStatistics::Judged | ShownStatistics::One(_) => id.clone(),
            };
            lines.push((label, marked_cells(found, line, (at, figure))));
        }
    }
    if let Some(line) = geometric_mean_line(found) {
        sections.push(Section {
            rows: vec![SectionRow::At(lines.len())],
            ..Section::default()
        });
        lines.push(line);
    }
    let labels = Column::name("", lines.iter().map(|(label, _)| label.clone()));
    let runs = found.columns.iter().enumerate().map(|(at, run)| {
        let cells = lines.iter().map(|(_, cells)| cells[at].clone());
        Column::number("", cells).with_heading(&heading_of(run, room))
    });
    let columns = std::iter::once(labels).chain(runs).collect();
    let table = Table::new(columns).in_blocks_after(1);
    if sections.is_empty() {
        table
    } else {
        table.in_sections(sections)
    }
}

/// Returns the heading of a run: its name, if it has one, and its number.
fn heading_of(run: &RunColumn, room: usize) -> Vec<Cell> {
    let number = format!("run {}", run.run);
    if !run.is_named() {
        return vec![Cell::with_ink(TextRole::Heading, number)];
    }
    let name = units::escape_id(&run.name);
    let name = match room {
        usize::MAX => name,
        _ => units::shorten_middle(&name, LONGEST_HEADING),
    };
    vec![Cell::with_ink(TextRole::Heading, name), Cell::faint(number)]
}

/// Returns the cells of one statistic of a benchmark, run by run.
fn marked_cells(found: &RunTable, line: &ColumnsLine, figure: (usize, Statistic)) -> Vec<Cell> {
    let cells = line.cells.iter().zip(0..);
    cells
        .map(|(cell, column)| marked_cell(found, line, cell, column, figure))
        .collect()
}

/// Returns the line of geometric means, if any run has one.
fn geometric_mean_line(found: &RunTable) -> Option<TableLine> {
    let mut columns = found.columns.iter();
    columns.find(|column| column.together.is_some())?;
    let of = |ratio: f64| {
        let change = enclose(['(', ')'], &percent(ratio - 1.0));
        Cell::from(format!("{ratio:.4}")).with_mark(TextRole::Plain, change)
    };
    let cells = found.columns.iter().zip(0..);
    let cells = cells.map(|(column, at)| match column.together {
        _ if at == 0 => of(1.0),
        Some(together) => of(together.ratio),
        None => Cell::from("-"),
    });
    Some(("geometric mean".to_owned(), cells.collect()))
}

fn marked_cell(
    found: &RunTable,
    line: &ColumnsLine,
    cell: &ColumnCell,
    column: usize,
    (at, figure): (usize, Statistic),
) -> Cell {
    let (value, change) = cell.figures.get(at).copied().unwrap_or_default();
    let Some(value) = value else {
        let failed = cell.verdict == Some(Verdict::Failed);
        return Cell::from(if failed { "failed" } else { "-" });
    };
    let value = match (found.terms, column, change) {
        (ValueForm::Values, ..) => figure_text(figure, &line.metric, value),
        (ValueForm::Ratios, 0, _) => "1.000".to_owned(),
        (ValueForm::Ratios, _, Some(change)) => format!("{:.3}", 1.0 + change),
        (ValueForm::Ratios, _, None) => "-".to_owned(),
    };
    let verdict = cell.verdict.filter(|_| found.shown.has_mark(figure));
    let mark = match (column, change, cell.verdict) {
        (0, ..) => enclose(['(', ')'], &percent(0.0)),
        (_, _, Some(Verdict::Incomparable)) => enclose(['(', ')'], "n/c"),
        (_, None, _) => return Cell::from(value),
        (_, Some(change), _) => enclose(marks_of(verdict), &percent(change)) + change_sign(verdict),
    };
    let ink = verdict.map_or(TextRole::Plain, TextRole::Verdict);
    Cell::from(value).with_mark(ink, mark)
}

/// Returns the characters around a change that mark its verdict.
fn marks_of(verdict: Option<Verdict>) -> [char; 2] {
    match verdict {
        Some(Verdict::Regressed | Verdict::Improved) => ['*', '*'],
        Some(Verdict::Suspect) => ['?', '?'],
        _ => ['(', ')'],
    }
}

/// Returns the sign of a called change. The number beside it may be of another statistic, and point the other way.
fn change_sign(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Regressed) => "▲",
        Some(Verdict::Improved) => "▼",
        _ => "",
    }
}

fn enclose([open, close]: [char; 2], text: &str) -> String {
    format!("{open}{text:>width$}{close}", width = MARK - 2)
}

/// Formats `+8.00%`, with a true minus sign and without a sign for zero.
fn percent(fraction: f64) -> String {
    let text = format!("{:+.2}%", fraction * 100.0);
    match &*text {
        "+0.00%" | "-0.00%" => "0.00%".to_owned(),
        _ => text.replace('-', "−"),
    }
}

fn figure_text(figure: Statistic, metric: &Metric, value: f64) -> String {
    if figure == Statistic::Variation {
        format!("{:.2} %", value * 100.0)
    } else {
        units::format_reading(metric, value)
    }
}

/// Writes the differences between runs, what cannot be compared, and what the geometric means leave out.
fn write_notes(writer: &mut dyn Write, found: &RunTable, room: usize) -> io::Result<()> {
    for (difference, columns) in
        group_by_difference(found, |column| found.columns[column].warnings.clone())
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
    for (difference, columns) in group_by_difference(found, blocking) {
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
        .map(describe_run_remark)
    {
        if !said.contains(&remark) {
            write_warning_within(writer, &remark, room)?;
            said.push(remark);
        }
    }
    for column in &found.columns {
        if let Some(left_out) = column.left_out {
            let title = units::escape_line(&column.title());
            let text = format!(
                "{title}: {}. This applies to the shown values; tests use every sample that is not stored as warm-up.",
                left_out.describe()
            );
            for line in wrap_prose(&text, room, "").split('\n') {
                writeln!(writer, "{}", terminal::faint(line))?;
            }
        }
        if let Some(ColumnGeometricMean { used, excluded, .. }) = column.together
            && excluded > 0
        {
            let text = format!(
                "the geometric mean of {} covers {used} of {} benchmarks: the others have no ratio to the reference, or a ratio of zero",
                units::escape_line(&column.title()),
                used + excluded
            );
            for line in wrap_prose(&text, room, "").split('\n') {
                writeln!(writer, "{}", terminal::faint(line))?;
            }
        }
    }
    Ok(())
}

/// Returns each difference once, with the columns that have it.
fn group_by_difference(
    found: &RunTable,
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

/// Explains how to read the table.
pub(super) fn legend(found: &RunTable) -> Vec<String> {
    let what = match found.shown {
        ShownStatistics::Judged if found.decision.analysis.subject != Statistic::Time => {
            "Medians, with the change that was judged.".to_owned()
        }
        ShownStatistics::Judged => "The compared value of the reference, and of each run with its judged change; medians where nothing was compared.".to_owned(),
        ShownStatistics::One(figure) => {
            let mut labels: Vec<String> = Vec::new();
            for line in &found.lines {
                let label = column_label(figure, &line.metric);
                if !labels.contains(&label) {
                    labels.push(label);
                }
            }
            format!("{} of each run.", labels.join(" or "))
        }
        ShownStatistics::Block => "Verdicts are marked on the line of the mean.".to_owned(),
    };
    let methods: Vec<Method> = found
        .columns
        .iter()
        .filter_map(|column| column.method)
        .collect();
    let subject = found.decision.analysis.subject;
    let how = match methods.first() {
        Some(_) if subject != Statistic::Time => format!("by the rules for {subject}"),
        Some(first @ Method::Stored(test))
            if test.is_foreign() && methods.iter().all(|method| method == first) =>
        {
            analysis::describe_method(&found.decision)
        }
        Some(first) => {
            let alike = methods.iter().all(|method| method == first);
            let words = if alike {
                describe_method(*first)
            } else {
                "each as it was measured"
            };
            format!(
                "{} in each column, {words}",
                analysis::describe_false_alarm_rate(&found.decision)
            )
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
        signs += "; ?…? looks like one, but is not certain";
    }
    if verdicts(&[Verdict::Incomparable]) {
        signs += "; n/c: not comparable (--allow-different FACT compares nevertheless)";
    }
    let mut lines = vec![what, signs + "."];
    if found.terms == ValueForm::Ratios {
        lines.push("Values are ratios to the first column.".to_owned());
    }
    if found.hidden > 0 {
        lines.push(format!(
            "{} not shown (--verdict); counts and geometric means are of all.",
            units::counted(found.hidden, "benchmark")
        ));
    }
    if matches!(found.shown, ShownStatistics::One(_)) {
        lines.push(
            "The marks are the verdicts of `compare` without `--statistic`, not of this statistic, whose change may point the other way.".to_owned(),
        );
    }
    if subject != Statistic::Time {
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
            "{closed} of {} benchmarks show no difference among all runs together (Kruskal-Wallis), so single differences do not count there.",
            found.lines.len()
        ));
    }
    lines
}

fn describe_method(method: Method) -> &'static str {
    match method {
        Method::Stored(Test::BootstrapT) => "drift between runs included",
        Method::Stored(Test::TScore) => "by the t-score alone",
        Method::Stored(test) => test.word(),
        Method::Paired => "both builds measured side by side",
    }
}

fn write_column_verdicts(
    writer: &mut dyn Write,
    column: &RunColumn,
    room: usize,
) -> io::Result<()> {
    let counts: Vec<String> = column
        .tally
        .iter()
        .map(|(verdict, count)| format!("{count} {}", terminal::verdict(verdict)))
        .collect();
    let counts = if counts.is_empty() {
        "nothing to compare".to_owned()
    } else {
        counts.join(", ")
    };
    writeln!(writer, "{}: {counts}.", units::escape_line(&column.title()))?;
    remarks::write_limits(writer, &column.limits, room)
}

/// Returns the table for Markdown: a line for each statistic, a column for each run.
pub(super) fn markdown_table(found: &RunTable) -> Table {
    let mut heading = vec!["benchmark".to_owned()];
    if found.shown == ShownStatistics::Block {
        heading.push("statistic".to_owned());
    }
    let labels = heading.len();
    heading.extend(found.columns.iter().map(RunColumn::title));
    let mut rows = Vec::new();
    for line in &found.lines {
        for (at, figure) in found.shown.statistics().into_iter().enumerate() {
            let key = &line.key;
            let mut row = vec![format!("{}/{} {}", key.package, key.target, key.id).into()];
            if found.shown == ShownStatistics::Block {
                row.push(column_label(figure, &line.metric).into());
            }
            row.extend(marked_cells(found, line, (at, figure)));
            rows.push(row);
        }
    }
    if let Some((label, cells)) = geometric_mean_line(found) {
        let mut row = vec![Cell::from(label)];
        row.resize(labels, Cell::default());
        row.extend(cells);
        rows.push(row);
    }
    Table::from_rows(labels, &heading, rows)
}

/// Returns the table with exact values and, for each run, change, verdict and adjusted p.
pub(super) fn exact_table(found: &RunTable) -> Table {
    let number = |value: Option<f64>| {
        value.map_or_else(Cell::missing, |value| {
            Cell::number(value, value.to_string())
        })
    };
    let labels = ["package", "target", "id", "statistic", "unit"];
    let mut heading: Vec<String> = labels.map(str::to_owned).to_vec();
    for (column, at) in found.columns.iter().zip(0..) {
        let name = format!("{} (run {})", column.name, column.run);
        heading.push(name.clone());
        if at > 0 {
            heading
                .extend(["worse by", "verdict", "adjusted p"].map(|what| format!("{name} {what}")));
        }
    }
    let mut rows = Vec::new();
    for line in &found.lines {
        for (at, figure) in found.shown.statistics().into_iter().enumerate() {
            let key = &line.key;
            let name = found.shown.name_of(figure);
            let mut row: Vec<Cell> = [&key.package, &key.target, &key.id, &name]
                .map(|text| Cell::from(text.clone()))
                .to_vec();
            row.push(Cell::from(unit_of_statistic(figure, &line.metric)));
            for (cell, column) in line.cells.iter().zip(0..) {
                let (value, change) = cell.figures.get(at).copied().unwrap_or_default();
                row.push(number(value));
                if column > 0 {
                    row.push(number(change));
                    let verdict = cell.verdict.map(|verdict| Cell::from(verdict.word()));
                    row.push(verdict.unwrap_or_else(Cell::missing));
                    row.push(number(cell.p_value));
                }
            }
            rows.push(row);
        }
    }
    Table::from_rows(labels.len(), &heading, rows)
}

pub(super) fn write_json(writer: &mut dyn Write, found: &RunTable) -> io::Result<()> {
    for line in &found.lines {
        let message = BenchmarkColumns::from_line(found, line);
        write_message(writer, JsonMessage::BenchmarkColumns(message))?;
    }
    for column in &found.columns {
        for exceeded in &column.limits.exceeded {
            let message = LimitExceeded::from_exceeded(column.run, exceeded);
            write_message(writer, JsonMessage::LimitExceeded(message))?;
        }
    }
    write_message(writer, JsonMessage::ColumnsFinished(found.into()))
}

/// Writes the runs in lines of at most `columns`. `format` applies to human output; JSON is one message per benchmark.
pub fn write_columns(
    writer: &mut dyn Write,
    found: &RunTable,
    message_format: MessageFormat,
    format: TableFormat,
    columns: usize,
) -> io::Result<()> {
    match (message_format, format) {
        (MessageFormat::Json, _) => write_json(writer, found),
        (MessageFormat::Human, TableFormat::Text) => write_text(writer, found, columns),
        (MessageFormat::Human, TableFormat::Markdown) => {
            markdown_table(found).write_as(writer, format, columns)?;
            writeln!(writer)?;
            for line in legend(found) {
                writeln!(writer, "{}  ", sanitize::markdown(&line))?;
            }
            Ok(())
        }
        (MessageFormat::Human, TableFormat::Csv) => {
            exact_table(found).write_as(writer, format, columns)
        }
    }
}
