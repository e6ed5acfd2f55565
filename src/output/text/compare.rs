//! Writes four kinds of comparisons: benchmarks of one run with each other (`compare --group-by`), benchmarks of one build ranked by their speed
//! (`rank`), pivot tables (`compare --pivot`), and two runs in a table for a report, with change, adjusted p-value and effect sizes.

use std::io::{self, Write};

use super::bar::bar_column;
use super::columns::{describe_filter, run_title};
use super::status::write_warning_within;
use crate::output::layout::{Cell, Column, Section, SectionRow, Table, TableFormat};
use crate::output::messages::{
    GroupComparison, GroupedCell, GroupedRow, JsonMessage, PivotCell, PivotKind, PivotTable,
    RankFindings, RankedGroup, RankedRow, write_message, write_messages,
};
use crate::output::terminal::TextRole;
use crate::output::view::{MessageFormat, ValueForm, wrap_prose};
use crate::output::words::remarks::describe_run_remark;
use crate::output::words::{analysis, remarks, sentences};
use crate::output::{terminal, units};
use crate::sanitize;
use perfcheck_analysis::compare::{Contender, Estimate, Rank, Standing};
use perfcheck_analysis::findings::{ComparisonContext, Findings, Method, Row, is_large_start_up};
use perfcheck_analysis::model::{Correction, Metric, Observations, Side, Statistic, Verdict};

/// Writes the benchmarks of one run that are compared with each other. `format` applies to output for people, whose lines have at most `columns`
/// columns. JSON output has a message for each row and one about the whole table.
pub fn write_grouped(
    writer: &mut dyn Write,
    found: &GroupComparison,
    message_format: MessageFormat,
    format: TableFormat,
    columns: usize,
) -> io::Result<()> {
    if message_format == MessageFormat::Json {
        write_messages(writer, found.rows.iter().map(JsonMessage::GroupRow))?;
        return write_message(writer, JsonMessage::GroupFinished(found));
    }
    if format == TableFormat::Csv {
        return exact_table(found).write_as(writer, format, columns);
    }
    table(found).write_as(writer, format, columns)?;
    let legend = legend(found);
    if format == TableFormat::Markdown {
        return write_paragraphs(writer, legend);
    }
    writeln!(writer)?;
    for line in legend {
        let line = wrap_prose(&units::escape_line(&line), columns, "");
        writeln!(writer, "{line}")?;
    }
    Ok(())
}

/// Writes texts as paragraphs of Markdown, with their markup escaped.
fn write_paragraphs(
    writer: &mut dyn Write,
    texts: impl IntoIterator<Item = impl AsRef<str>>,
) -> io::Result<()> {
    let mut texts = texts.into_iter();
    texts.try_for_each(|text| writeln!(writer, "\n{}", sanitize::markdown(text.as_ref())))
}

fn table(found: &GroupComparison) -> Table {
    let targets = several_targets(found);
    let mut rows: Vec<Vec<Cell>> = found
        .rows
        .iter()
        .map(|row| {
            let label = if targets {
                format!("{}/{}: {}", row.package, row.target, row.name)
            } else {
                row.name.clone()
            };
            let cells = row
                .cells
                .iter()
                .map(|cell| cell_of(found, row, cell.as_ref()));
            std::iter::once(Cell::from(label)).chain(cells).collect()
        })
        .collect();
    if let Some(means) = &found.geometric_means {
        let label = Cell::from("geometric mean of ratios");
        let cells = means
            .iter()
            .map(|mean| Cell::number(*mean, format!("{mean:.2}")));
        rows.push(std::iter::once(label).chain(cells).collect());
    }
    Table::from_rows(1, &headings(found, "benchmark"), rows)
}

fn headings(found: &GroupComparison, first: &str) -> Vec<String> {
    let columns = found.columns.iter().map(|column| heading(column));
    std::iter::once(first.to_owned()).chain(columns).collect()
}

/// Returns the heading of a column: the captured text, or `(nothing)` if the text is empty.
fn heading(column: &str) -> String {
    if column.is_empty() {
        "(nothing)".to_owned()
    } else {
        column.to_owned()
    }
}

fn several_targets(found: &GroupComparison) -> bool {
    let target = |row: &GroupedRow| (row.package.clone(), row.target.clone());
    let first = found.rows.first().map(target);
    found.rows.iter().any(|row| Some(target(row)) != first)
}

/// Formats a cell as `112.3 ns  1.26 ~`: the value, its ratio to the fastest of the row, and a mark, which is `*` for the fastest and `~` for a
/// benchmark that may be as fast.
fn cell_of(found: &GroupComparison, row: &GroupedRow, cell: Option<&GroupedCell>) -> Cell {
    let Some(cell) = cell else {
        return Cell::missing();
    };
    let Contender {
        value_ns,
        ratio,
        rank,
        ..
    } = cell.contender;
    let shown = match found.terms {
        ValueForm::Values => {
            let value = units::value(&row.metric, value_ns);
            Cell::number(value_ns, format!("{value}  {ratio:.2}"))
        }
        ValueForm::Ratios => Cell::number(ratio, format!("{ratio:.2}")),
    };
    match rank {
        Rank::Fastest => shown.with_mark(TextRole::Plain, "*"),
        Rank::Open => shown.with_mark(TextRole::Plain, "~"),
        Rank::Slower => shown,
    }
}

/// Returns the sentences that explain how to read the table, and how far it can be trusted.
fn legend(found: &GroupComparison) -> Vec<String> {
    let all = || found.rows.iter().flat_map(|row| row.cells.iter().flatten());
    let mut wins: Vec<(&String, usize)> = found
        .columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let cells = found.rows.iter().filter_map(|row| row.cells[at].as_ref());
            let fastest = cells.filter(|cell| cell.contender.rank == Rank::Fastest);
            (column, fastest.count())
        })
        .filter(|(_, count)| *count > 0)
        .collect();
    wins.sort_by_key(|(_, count)| usize::MAX - count);
    let wins: Vec<String> = wins
        .into_iter()
        .map(|(column, count)| format!("{} in {}", heading(column), units::counted(count, "row")))
        .collect();
    let run = run_title(found.run, &found.name);
    let mut lines = vec![
        format!(
            "{run}, grouped by `{}`: each value is the geometric mean of the process medians, with its ratio to the fastest in the row.",
            found.pattern
        ),
        format!(
            "* fastest in its row ({}); ~ may be as fast. In each row, the fastest is among those marked, with {} confidence.",
            wins.join(", "),
            units::percent(1.0 - found.level)
        ),
        "Exploratory: one run shows neither drift between runs nor how code layout or other inputs would change the order. No verdict uses this table.".to_owned(),
    ];
    let values = |row: &GroupedRow| row.cells.iter().flatten().count();
    if found.rows.iter().all(|row| values(row) < 2) {
        lines.push(
            "No row has two benchmarks to compare. The column is the text that the expression captures; the row is the rest of the id."
                .to_owned(),
        );
    }
    let whole = found
        .rows
        .iter()
        .filter(|row| values(row) == found.columns.len());
    let whole = whole.count();
    if found.geometric_means.is_some() && whole < found.rows.len() {
        lines.push(format!(
            "Geometric means cover only the rows with a value in every column: {whole} of {}.",
            found.rows.len()
        ));
    }
    if all().any(|cell| cell.processes < 2) {
        lines.push("One process is not enough to tell which is faster.".to_owned());
    }
    if found.left_out > 0 {
        lines.push(format!(
            "{} left out: the expression does not match their ids.",
            units::counted(found.left_out, "benchmark")
        ));
    }
    if let Some(left_out) = &found.filtered {
        lines.push(describe_filter(left_out));
    }
    if found.without_value > 0 {
        lines.push(format!(
            "{} without a value here: the measured value is zero, or of a different kind than the first in the row.",
            units::counted(found.without_value, "benchmark")
        ));
    }
    lines
}

/// Returns the table for CSV. It has a line for each benchmark, with all its numbers unrounded.
fn exact_table(found: &GroupComparison) -> Table {
    let text = |text: &str| Cell::from(text);
    let number = |value: f64| Cell::number(value, value.to_string());
    let mut rows = Vec::new();
    for row in &found.rows {
        for (column, cell) in found.columns.iter().zip(&row.cells) {
            let Some(cell) = cell else {
                continue;
            };
            let contender = cell.contender;
            rows.push(vec![
                text(&row.package),
                text(&row.target),
                text(&row.name),
                text(column),
                text(&cell.id),
                number(contender.value_ns),
                number(contender.ratio),
                text(contender.rank.word()),
                contender.p_value.map_or_else(Cell::missing, number),
            ]);
        }
    }
    let heading = [
        "package", "target", "row", "column", "id", "value_ns", "ratio", "rank", "p_value",
    ];
    Table::from_rows(5, &heading.map(str::to_owned), rows)
}

/// Writes rankings of benchmarks. `format` applies to output for people, whose lines have at most `columns` columns. JSON output has a message for
/// each benchmark and one about all groups.
pub fn write_ranking(
    writer: &mut dyn Write,
    found: &RankFindings,
    message_format: MessageFormat,
    format: TableFormat,
    columns: usize,
) -> io::Result<()> {
    if message_format == MessageFormat::Json {
        let rows = found.groups.iter().flat_map(|group| &group.rows);
        write_messages(writer, rows.map(JsonMessage::BenchmarkRanked))?;
        return write_message(writer, JsonMessage::RankFinished(found));
    }
    ranking_table(found, format, columns).write_as(writer, format, columns)?;
    match format {
        TableFormat::Csv => return Ok(()),
        TableFormat::Markdown => {
            let remarks = found.remarks.iter().cloned();
            return write_paragraphs(writer, describe_ranking(found).into_iter().chain(remarks));
        }
        TableFormat::Text => writeln!(writer)?,
    }
    for line in describe_ranking(found) {
        let line = wrap_prose(&units::escape_line(&line), columns, "");
        writeln!(writer, "{line}")?;
    }
    let mut remarks = found.remarks.iter();
    remarks.try_for_each(|remark| write_warning_within(writer, remark, columns))
}

/// Returns the table of all groups. As text, each group is a section; otherwise its name is in a column.
fn ranking_table(found: &RankFindings, format: TableFormat, columns: usize) -> Table {
    let rows: Vec<&RankedRow> = found.groups.iter().flat_map(|group| &group.rows).collect();
    let is_text = format == TableFormat::Text;
    let has_groups = found.groups.iter().any(|group| !group.name.is_empty());
    let cells = |cell: &dyn Fn(&RankedRow) -> Cell| -> Vec<Cell> {
        rows.iter().map(|row| cell(row)).collect()
    };
    let mut all = Vec::new();
    if has_groups && !is_text {
        all.push(Column::name(
            "group",
            cells(&|row| Cell::from(row.group.clone())),
        ));
    }
    let indent = if is_text && has_groups { "  " } else { "" };
    let label = |row: &RankedRow| Cell::from(format!("{indent}{}", row.label));
    all.push(Column::name("benchmark", cells(&label)));
    all.push(Column::number("rank", cells(&rank_cell)));
    all.push(Column::number("time", cells(&ranked_value_cell)));
    all.push(Column::number("difference", cells(&difference_cell)));
    if is_text {
        let drawn = rows.iter();
        let drawn = drawn.filter_map(|row| Some((row.change?, row.noise_threshold?)));
        let changes: Vec<(Estimate, f64)> = drawn.collect();
        all.extend(bar_column(&changes, columns, |scale| {
            cells(&|row| match (row.change, row.noise_threshold) {
                (Some(change), Some(noise)) => scale.cell(&change, noise, choose_color(row)),
                _ => Cell::default(),
            })
        }));
    }
    let interval = |row: &RankedRow| match row.change {
        Some(change) => Cell::from(units::change_interval(change.lower, change.upper)),
        None => Cell::missing(),
    };
    all.push(Column::number("interval", cells(&interval)).dispensable(5));
    all.push(Column::fact(
        "result",
        cells(&|row| standing_cell(row, format)),
    ));
    let table = Table::new(all);
    if !is_text {
        return table;
    }
    let mut next = 0;
    let sections = found.groups.iter().map(|group| {
        let first = next;
        next += group.rows.len();
        Section {
            title: Some(group.name.clone()).filter(|name| !name.is_empty()),
            rows: (first..next).map(SectionRow::At).collect(),
            remarks: Vec::new(),
        }
    });
    table.in_sections(sections.collect())
}

fn rank_cell(row: &RankedRow) -> Cell {
    row.rank.map_or_else(Cell::missing, |rank| {
        Cell::number(rank as f64, rank.to_string())
    })
}

fn ranked_value_cell(row: &RankedRow) -> Cell {
    row.value_ns.map_or_else(Cell::missing, |value| {
        Cell::number(value, units::value(&row.metric, value))
    })
}

fn difference_cell(row: &RankedRow) -> Cell {
    match row.change {
        Some(change) => Cell::number(change.estimate, units::change(change.estimate)),
        None => Cell::missing(),
    }
}

/// Returns the verdict whose color a benchmark has. A reference that is not the fastest needs no attention, nor do benchmarks that are as fast or
/// were skipped.
pub(crate) fn choose_color(row: &RankedRow) -> Verdict {
    match row.standing {
        Standing::Reference if row.rank == Some(1) => Verdict::Improved,
        Standing::Reference | Standing::AsFast | Standing::Skipped => Verdict::Unchanged,
        Standing::Faster => Verdict::Improved,
        Standing::Open => Verdict::Inconclusive,
        Standing::Slower => Verdict::Regressed,
        Standing::Failed => Verdict::Failed,
    }
}

fn standing_cell(row: &RankedRow, format: TableFormat) -> Cell {
    if format == TableFormat::Csv {
        return Cell::from(row.standing.word());
    }
    Cell::colored_by_verdict(choose_color(row), describe_standing(row))
}

/// Says how a benchmark compares with the reference of its group.
pub(crate) fn describe_standing(row: &RankedRow) -> String {
    let words = match row.standing {
        Standing::Reference if row.rank == Some(1) => "fastest",
        Standing::Reference => "reference",
        Standing::Faster => "faster",
        Standing::AsFast => "about as fast",
        Standing::Open => "cannot tell",
        Standing::Slower => "slower",
        Standing::Failed => "failed",
        Standing::Skipped => "skipped",
    };
    let path = match (row.standing, row.slow_side) {
        (Standing::Slower, Some(Side::Candidate)) => " (slow path)",
        (Standing::Faster, Some(Side::Base)) => " (no slow path)",
        _ => "",
    };
    format!("{words}{path}")
}

/// Returns the sentences that say how benchmarks were ranked, and how far the ranks can be trusted.
pub(crate) fn describe_ranking(found: &RankFindings) -> Vec<String> {
    let rows = || found.groups.iter().flat_map(|group| &group.rows);
    let thresholds = rows().filter_map(|row| row.noise_threshold);
    let threshold = thresholds.fold(0.0, f64::max);
    let of_group = if found.groups.len() > 1 {
        " of its group"
    } else {
        ""
    };
    let mut lines = vec![
        format!(
            "Each benchmark was measured side by side with the reference{of_group}, and the differences are relative to it. Differences up to {} are noise; benchmarks with the same rank could not be told apart.",
            units::percent(threshold)
        ),
        format!(
            "The chance that any two equally fast benchmarks are told apart is at most {}.",
            units::percent(found.significance_level)
        ),
    ];
    for group in &found.groups {
        if let Some(replaced) = &group.replaced {
            lines.push(format!(
                "`{}` looked fastest at first, but `{}` is faster, so all others were measured again beside it.",
                replaced.id, group.reference.id
            ));
        }
    }
    lines.extend(found.groups.iter().filter_map(describe_group_start_up));
    if rows().any(|row| row.layouts == Some(0)) {
        lines.push(
            "The code layout was not varied, so differences of a few percent may come from the places of functions in memory.".to_owned(),
        );
    }
    lines.extend(rows().filter_map(describe_doubt));
    if found.left_out > 0 {
        lines.push(format!(
            "{} left out, because no other benchmark belongs to the same group.",
            units::counted(found.left_out, "benchmark")
        ));
    }
    lines
}

/// Says why a benchmark was not measured, or could not be told apart from the reference. Returns `None` if the table shows all that is known.
fn describe_doubt(row: &RankedRow) -> Option<String> {
    let id = &row.key.id;
    if let Some(reason) = &row.skipped {
        return Some(format!("`{id}` was skipped: {reason}"));
    }
    if let Some(failure) = &row.failure {
        return Some(format!("`{id}`: {failure}"));
    }
    let notes = row
        .notes
        .iter()
        .filter(|note| row.standing == Standing::Open && remarks::asks_to_act(note));
    // Both sides are of one run, so its name would not distinguish them.
    let name = Side::Candidate.to_string();
    let notes: Vec<String> = notes
        .map(|note| note.to_string().replace(&name, "this benchmark"))
        .collect();
    (!notes.is_empty()).then(|| format!("`{id}`: {}", notes.join("; ")))
}

/// Says how much of the time of the fastest program is the start of its process. Returns `None` if that is little or unknown.
fn describe_group_start_up(group: &RankedGroup) -> Option<String> {
    let fastest = group.rows.first()?;
    let (empty_ns, time_ns) = group.start_up_ns.zip(fastest.value_ns)?;
    is_large_start_up(empty_ns, time_ns).then(|| {
        format!(
            "`{}`: {}. It is not subtracted.",
            fastest.key.id,
            remarks::describe_start_up(empty_ns, time_ns)
        )
    })
}

/// Writes a pivot table. `format` applies to output for people, whose lines have at most `columns` columns. JSON output has a message for each row
/// and one about the whole table.
pub fn write_pivot(
    writer: &mut dyn Write,
    table: &PivotTable,
    message_format: MessageFormat,
    format: TableFormat,
    columns: usize,
) -> io::Result<()> {
    if message_format == MessageFormat::Json {
        write_messages(writer, table.rows.iter().map(JsonMessage::PivotRow))?;
        return write_message(writer, JsonMessage::PivotFinished(table));
    }
    build_table(table).write_as(writer, format, columns)?;
    let all = table.notes.iter().chain(&table.warnings);
    match format {
        TableFormat::Csv => return Ok(()),
        TableFormat::Markdown => return write_paragraphs(writer, all),
        TableFormat::Text if all.count() == 0 => return Ok(()),
        TableFormat::Text => writeln!(writer)?,
    }
    for note in &table.notes {
        for line in units::wrap_words(&terminal::escape_terminal_text(note), columns.min(110)) {
            writeln!(writer, "{line}")?;
        }
    }
    let mut warnings = table.warnings.iter();
    warnings.try_for_each(|warning| write_warning_within(writer, warning, columns))
}

fn build_table(table: &PivotTable) -> Table {
    let mut heading = table.row_names.clone();
    for labels in &table.columns {
        for value in &table.values {
            let column = labels.join(" / ");
            heading.push(match (&*column, table.values.len()) {
                ("", _) => value.clone(),
                (_, 1) => column,
                _ => format!("{column} {value}"),
            });
        }
    }
    let rows = table.rows.iter().map(|row| {
        let labels = row.labels.iter().map(|label| Cell::from(label.clone()));
        labels.chain(row.cells.iter().map(pivot_cell)).collect()
    });
    Table::from_rows(table.row_names.len(), &heading, rows.collect())
}

fn pivot_cell(cell: &PivotCell) -> Cell {
    let Some(number) = cell.number else {
        return if cell.is_incomparable {
            Cell::from("n/c")
        } else {
            Cell::missing()
        };
    };
    let mut text = format_number(&cell.kind, number);
    let word = if cell.is_reference {
        Some("reference")
    } else {
        cell.word
    };
    if let Some(word) = word {
        text = format!("{text} {word}");
    }
    Cell::number(number, text)
}

/// Formats `number` in the unit of `kind`.
fn format_number(kind: &PivotKind, number: f64) -> String {
    match kind {
        PivotKind::Metric(metric) => units::format_reading(metric, number),
        PivotKind::OperationRate => units::format_reading(
            &Metric::Rate {
                unit: "ops".to_owned(),
            },
            number,
        ),
        PivotKind::Count => format!("{number:.0}"),
        PivotKind::Share => format!("{:.2} %", number * 100.0),
        PivotKind::Change => units::change(number),
        PivotKind::Ratio => format!("{number:.4}"),
        PivotKind::Effect => units::effect(number),
        PivotKind::PValue => units::p_value(number),
    }
}

/// Effect sizes of a benchmark's change, which do not depend on whether the change is significant. A positive number means slower. `None` means that
/// the effect size is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct VersionDifference {
    /// Cliff's delta: how much more often a value of the candidate is slower than one of the base than faster, between -1 and 1.
    pub cliffs_delta: Option<f64>,
    /// How large Cliff's delta is, as a word.
    pub size: Option<&'static str>,
    /// Hedges' g: the difference of the means in standard deviations.
    pub hedges_g: Option<f64>,
}

/// Writes a table of all benchmarks of `findings` with their changes, p-values and effect sizes, as Markdown or CSV. `difference` returns the effect
/// sizes of a row.
pub fn write_versions(
    writer: &mut dyn Write,
    findings: &Findings<'_>,
    difference: &dyn Fn(&Row<'_>) -> VersionDifference,
    format: TableFormat,
) -> io::Result<()> {
    let Some(verdicts) = &findings.verdicts else {
        return Ok(());
    };
    let level = units::percent(analysis::interval_level(&verdicts.decision));
    let bounds = ["from", "to"].map(|end| format!("{level} {end}"));
    let heading = [
        "benchmark",
        "verdict",
        "before",
        "after",
        "change",
        &bounds[0],
        &bounds[1],
    ];
    let heading = heading
        .into_iter()
        .chain(["adjusted p", "Cliff's delta", "Hedges' g"]);
    let heading: Vec<String> = heading.map(str::to_owned).collect();
    let number = |value: Option<f64>, text: &dyn Fn(f64) -> String| match value {
        Some(value) if value.is_finite() => Cell::number(value, text(value)),
        _ => Cell::missing(),
    };
    let mut rows = Vec::new();
    for row in &findings.rows {
        let found = difference(row);
        let comparison = row.comparison.as_ref();
        let change = comparison.and_then(|found| found.change);
        let values = comparison.and_then(|found| found.compared);
        let texts = sentences::format_compared_values(row, findings);
        let value = |side: Side| match (&values, &texts) {
            (Some(values), Some(texts)) => Cell::number(*values.get(side), texts.get(side).clone()),
            _ => Cell::missing(),
        };
        let verdict = row.verdict.map_or("-", Verdict::word);
        let key = &row.key;
        rows.push(vec![
            Cell::from(format!("{}/{} {}", key.package, key.target, key.id)),
            Cell::from(verdict),
            value(Side::Base),
            value(Side::Candidate),
            number(change.map(|change| change.estimate), &units::change),
            number(change.map(|change| change.lower), &units::change),
            number(change.map(|change| change.upper), &units::change),
            number(comparison.and_then(|found| found.p_value), &units::p_value),
            number(found.cliffs_delta, &|delta| {
                format!("{} {}", units::effect(delta), found.size.unwrap_or(""))
            }),
            number(found.hedges_g, &units::effect),
        ]);
    }
    let table = Table::from_rows(2, &heading, rows);
    match format {
        TableFormat::Csv => return table.write_as(writer, TableFormat::Csv, usize::MAX),
        TableFormat::Text | TableFormat::Markdown => {
            table.write_as(writer, TableFormat::Markdown, usize::MAX)?;
        }
    }
    let counts: Vec<String> = findings
        .tally()
        .iter()
        .map(|(verdict, count)| format!("{count} {}", verdict.word()))
        .collect();
    let subject = verdicts.decision.analysis.subject;
    let how = match verdicts.method {
        _ if subject != Statistic::Time => {
            format!("Changes and verdicts are about {subject}, not time")
        }
        Method::Stored(test) if test.is_foreign() => {
            format!("Decided {}", analysis::describe_method(&verdicts.decision))
        }
        Method::Stored(_) | Method::Paired => {
            let level = analysis::describe_false_alarm_rate(&verdicts.decision);
            let by = match verdicts.decision.analysis.correction {
                Correction::Holm => "adjusted for all benchmarks together (Holm)",
                Correction::BenjaminiHochberg => {
                    "adjusted for all benchmarks together (Benjamini and Hochberg)"
                }
                Correction::Unadjusted => "not adjusted for the number of benchmarks",
            };
            format!("p is {by}: {level}")
        }
    };
    let observations = match (verdicts.method, verdicts.decision.analysis.observations) {
        (Method::Stored(_), Observations::Processes) => "processes",
        (Method::Stored(_), Observations::Filtered) => "the samples that the filter keeps",
        (Method::Paired, _) | (_, Observations::Samples) => "all samples",
    };
    writeln!(
        writer,
        "\nRun {} compared with {}: {}. + means slower. {how}; effect sizes use {observations}.",
        findings.run.id,
        sanitize::markdown(&verdicts.reference.replace('`', "")),
        counts.join(", "),
    )?;
    write_remarks(writer, verdicts)
}

/// Writes exceeded limits, remarks and warnings as Markdown, with a paragraph for each.
fn write_remarks(writer: &mut dyn Write, verdicts: &ComparisonContext) -> io::Result<()> {
    let limits = &verdicts.limits;
    let exceeded = limits.exceeded.iter().map(remarks::describe_exceeded);
    let undecided = limits.remarks.iter().map(remarks::describe_limit_remark);
    let remarks = verdicts.remarks.iter().map(describe_run_remark);
    write_paragraphs(writer, exceeded.chain(undecided).chain(remarks))?;
    for warning in &verdicts.warnings {
        let warning = sanitize::markdown(&warning.to_string());
        writeln!(writer, "\nThe sides differ in {warning}.")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::terminal::strip_colors;
    use perfcheck_analysis::model::{Metric, RunId};

    /// A table of `rows` rows, each with a fast and a slow function.
    fn grouped(rows: usize) -> GroupComparison {
        let cell = |id: String, value_ns, ratio, rank| {
            Some(GroupedCell {
                column: String::new(),
                id,
                processes: 5,
                contender: Contender {
                    value_ns,
                    ratio,
                    rank,
                    p_value: (ratio > 1.0).then_some(0.000_1),
                },
            })
        };
        let row = |at: usize| {
            GroupedRow {
            package: "algorithms".into(),
            target: "sorting".into(),
            name: match at {
                1 => "a group with a long name/*/a parameter whose name says everything about it=1000000".into(),
                _ => format!("sort/*/{at}"),
            },
            metric: Metric::Time,
            cells: vec![
                cell(format!("sort/heap/{at}"), 120.0, 1.2, Rank::Slower),
                cell(format!("sort/quick/{at}"), 100.0, 1.0, Rank::Fastest),
                None,
            ],
        }
        };
        GroupComparison {
            run: RunId(12),
            name: "latest".into(),
            pattern: "sort/([^/]+)".into(),
            columns: vec![
                "heap".into(),
                "quick".into(),
                "a function with a name".into(),
            ],
            rows: (0..rows).map(row).collect(),
            geometric_means: None,
            left_out: 0,
            without_value: 0,
            filtered: None,
            level: 0.05,
            terms: ValueForm::Values,
        }
    }

    fn shown(rows: usize, columns: usize) -> String {
        let mut bytes = Vec::new();
        let found = grouped(rows);
        write_grouped(
            &mut bytes,
            &found,
            MessageFormat::Human,
            TableFormat::Text,
            columns,
        )
        .expect("memory takes everything");
        String::from_utf8(strip_colors(&bytes)).expect("text")
    }

    #[test]
    fn functions_side_by_side_fit_every_terminal_and_columns_go_on_below() {
        insta::assert_snapshot!("grouped_60", shown(3, 60));
        insta::assert_snapshot!("grouped_100", shown(3, 100));
        for columns in [60, 80, 100, 160] {
            for rows in [0, 1, 3, 500] {
                for line in shown(rows, columns).lines() {
                    assert!(units::width(line) <= columns, "{columns}: {line}");
                }
            }
        }
        let piped = shown(3, usize::MAX);
        assert!(
            piped.contains("a parameter whose name says everything about it"),
            "{piped}"
        );
        let many = shown(500, 80);
        assert_eq!(many.matches("sort/*/").count() % 499, 0, "{many}");
    }
}
