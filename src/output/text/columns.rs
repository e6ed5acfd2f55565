//! Writes the table of `compare` with several runs, one column for each run. For people, it has aligned columns, in blocks that fit the terminal, or
//! it is written as Markdown. For programs, it is written as CSV or as messages, with numbers that are not rounded.

use std::io::{self, Write};

use crate::output::layout::{Cell, Column, Section, SectionRow, Table, TableFormat};
use crate::output::messages::{
    ColumnGeometricMean, ColumnsLine, JsonMessage, LimitExceeded, RunColumn, RunTable,
    ShownStatistics, write_message, write_messages,
};
use crate::output::terminal::TextRole;
use crate::output::text::status::{write_faint, write_warning_within};
use crate::output::view::{MessageFormat, ValueForm};
use crate::output::words::remarks::describe_run_remark;
use crate::output::words::{analysis, remarks};
use crate::output::{terminal, units};
use crate::sanitize;
use perfcheck_analysis::compare::{Difference, column_label};
use perfcheck_analysis::findings::Method;
use perfcheck_analysis::model::{FilterReport, Metric, RunId, Statistic, Test, Verdict};

/// A line of the table: a benchmark or one of its statistics, with a cell for each run.
struct TableLine {
    label: String,
    /// A cell for each run.
    cells: Vec<Cell>,
}

/// Width of a change with the characters around it, such as `(+100.00%)`, in columns. It has room for three digits before the point.
const MARK: usize = 10;

/// Maximum length of the name of a run above its column. In a terminal, longer names are shortened.
const LONGEST_HEADING: usize = 24;

fn write_text(writer: &mut dyn Write, found: &RunTable, room: usize) -> io::Result<()> {
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

/// Returns the table for a terminal: a section for each bench target, with its name as the title, and the geometric means at the end.
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
            let cells = marked_cells(found, line, at, figure);
            lines.push(TableLine { label, cells });
        }
    }
    if let Some(line) = geometric_mean_line(found) {
        sections.push(Section {
            rows: vec![SectionRow::At(lines.len())],
            ..Section::default()
        });
        lines.push(line);
    }
    let labels = Column::name("", lines.iter().map(|line| line.label.clone()));
    let runs = found.columns.iter().enumerate().map(|(at, run)| {
        let cells = lines.iter().map(|line| line.cells[at].clone());
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

/// Returns true if the user selected the run by a name, such as a branch or a baseline, and not by its number.
fn is_named(run: RunId, name: &str) -> bool {
    name != run.to_string()
}

/// Returns the title of a run: `main (run 3)`, or `run 3` if the user selected it by its number.
pub(super) fn run_title(run: RunId, name: &str) -> String {
    if is_named(run, name) {
        format!("{name} (run {run})")
    } else {
        format!("run {run}")
    }
}

/// Returns the lines of the heading of a run: the name by which the user selected it, if any, and its number.
fn heading_of(run: &RunColumn, room: usize) -> Vec<Cell> {
    let number = format!("run {}", run.run);
    if !is_named(run.run, &run.name) {
        return vec![Cell::with_ink(TextRole::Heading, number)];
    }
    let name = units::escape_id(&run.name);
    let name = match room {
        usize::MAX => name,
        _ => units::shorten_middle(&name, LONGEST_HEADING),
    };
    vec![Cell::with_ink(TextRole::Heading, name), Cell::faint(number)]
}

/// Returns the cells of one statistic of a benchmark, run by run, each with its value, its change and the mark of the verdict. `at` is the index of
/// the statistic `figure` in each cell.
fn marked_cells(found: &RunTable, line: &ColumnsLine, at: usize, figure: Statistic) -> Vec<Cell> {
    let cells = line.cells.iter().enumerate();
    cells
        .map(|(column, cell)| {
            let own = &cell.statistics[at];
            let Some(value) = own.value else {
                let failed = cell.verdict == Some(Verdict::Failed);
                return Cell::from(if failed { "failed" } else { "-" });
            };
            let value = match (found.terms, column, own.worse_by) {
                (ValueForm::Values, ..) => figure_text(figure, &line.metric, value),
                (ValueForm::Ratios, 0, _) => "1.000".to_owned(),
                (ValueForm::Ratios, _, Some(change)) => format!("{:.3}", 1.0 + change),
                (ValueForm::Ratios, _, None) => "-".to_owned(),
            };
            let verdict = cell.verdict.filter(|_| found.shown.has_mark(figure));
            let mark = match (column, own.worse_by, cell.verdict) {
                (0, ..) => enclose(['(', ')'], &percent(0.0)),
                (_, _, Some(Verdict::Incomparable)) => enclose(['(', ')'], "n/c"),
                (_, None, _) => return Cell::from(value),
                (_, Some(change), _) => {
                    enclose(marks_of(verdict), &percent(change)) + change_sign(verdict)
                }
            };
            let ink = verdict.map_or(TextRole::Plain, TextRole::Verdict);
            Cell::from(value).with_mark(ink, mark)
        })
        .collect()
}

/// Returns the line of geometric means. Returns `None` if no run has one.
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
    Some(TableLine {
        label: "geometric mean".to_owned(),
        cells: cells.collect(),
    })
}

/// Returns the two characters that enclose a change and so mark its verdict.
fn marks_of(verdict: Option<Verdict>) -> [char; 2] {
    match verdict {
        Some(Verdict::Regressed | Verdict::Improved) => ['*', '*'],
        Some(Verdict::Suspect) => ['?', '?'],
        _ => ['(', ')'],
    }
}

/// Returns the arrow of a verdict that reports a change. The arrow is needed because the number beside it may be another statistic, whose change may
/// have the opposite sign.
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

/// Formats a change as `+8.00%`, with a true minus sign and without a sign if it rounds to zero.
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

/// Writes the notes below the table: facts that differ between runs, reasons why benchmarks cannot be compared, and how many benchmarks the geometric
/// means leave out.
fn write_notes(writer: &mut dyn Write, found: &RunTable, room: usize) -> io::Result<()> {
    let differing = list_once(found, |at| found.columns[at].warnings.iter().collect());
    let blocking = list_once(found, |at| {
        let cells = found.lines.iter().map(|line| &line.cells[at]);
        cells.flat_map(|cell| &cell.differences).collect()
    });
    let differing = differing.map(|text| format!("environment differs: {text}"));
    let blocking = blocking.map(|text| format!("not comparable: {text}"));
    for warning in differing.chain(blocking) {
        write_warning_within(writer, &warning, room)?;
    }
    let remarks = found.columns.iter().flat_map(|column| &column.remarks);
    let mut shown: Vec<String> = Vec::new();
    for remark in remarks.map(describe_run_remark) {
        if !shown.contains(&remark) {
            write_warning_within(writer, &remark, room)?;
            shown.push(remark);
        }
    }
    for column in &found.columns {
        let title = units::escape_line(&run_title(column.run, &column.name));
        if let Some(left_out) = column.left_out {
            let text = format!("{title}: {}", describe_filter(&left_out));
            write_faint(writer, &text, room)?;
        }
        if let Some(ColumnGeometricMean { used, excluded, .. }) = column.together
            && excluded > 0
        {
            let text = format!(
                "the geometric mean of {title} covers {used} of {} benchmarks: the others have no ratio to the reference, or a ratio of zero",
                used + excluded
            );
            write_faint(writer, &text, room)?;
        }
    }
    Ok(())
}

/// Says how many samples a filter leaves out of the shown values, and that tests use them all the same.
pub(super) fn describe_filter(left_out: &FilterReport) -> String {
    format!(
        "{}. Only the shown values use this filter; tests use every sample that is not stored as warm-up.",
        left_out.describe()
    )
}

/// Returns a text for each distinct difference, with the names of all runs that differ in it. `of_column` returns the differences of the run with the
/// given index.
fn list_once<'f>(
    found: &'f RunTable,
    of_column: impl Fn(usize) -> Vec<&'f Difference>,
) -> impl Iterator<Item = String> {
    let mut texts: Vec<String> = Vec::new();
    let mut columns: Vec<Vec<String>> = Vec::new();
    for (at, column) in found.columns.iter().enumerate().skip(1) {
        let name = if is_named(column.run, &column.name) {
            column.name.clone()
        } else {
            format!("run {}", column.run)
        };
        for Difference {
            fact,
            candidate,
            base,
        } in of_column(at)
        {
            let text = format!("{fact} {base}->{candidate}");
            let place = texts.iter().position(|known| *known == text);
            let place = place.unwrap_or(texts.len());
            if place == texts.len() {
                texts.push(text);
                columns.push(Vec::new());
            }
            if columns[place].last() != Some(&name) {
                columns[place].push(name.clone());
            }
        }
    }
    let columns = columns.into_iter().map(|names| names.join(", "));
    texts
        .into_iter()
        .zip(columns)
        .map(|(text, columns)| format!("{text} in {columns}"))
}

/// Returns the sentences that explain how to read the table.
fn legend(found: &RunTable) -> Vec<String> {
    let what = match found.shown {
        ShownStatistics::Judged if found.decision.analysis.subject != Statistic::Time => {
            "Medians, each with the change that decided the verdict.".to_owned()
        }
        ShownStatistics::Judged => "The compared value of each run, with the change that decided the verdict; medians where nothing was compared.".to_owned(),
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
        ShownStatistics::Block => "Each verdict is on the line of the mean.".to_owned(),
    };
    let methods: Vec<Method> = found
        .columns
        .iter()
        .filter_map(|column| column.method)
        .collect();
    let subject = found.decision.analysis.subject;
    let how = match methods.first() {
        Some(_) if subject != Statistic::Time => format!("verdicts follow the rules for {subject}"),
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
                "compared by different methods"
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
        "+ is worse than the first column (slower, more, a lower rate), − is better; *…* marks a change (▲ worse, ▼ better); {how}"
    );
    if verdicts(&[Verdict::Suspect]) {
        signs += "; ?…? marks a possible change";
    }
    if verdicts(&[Verdict::Incomparable]) {
        signs += "; n/c: not comparable (use --allow-different FACT to compare anyway)";
    }
    let mut lines = vec![what, signs + "."];
    if found.terms == ValueForm::Ratios {
        lines.push("Values are ratios to the first column.".to_owned());
    }
    if found.hidden > 0 {
        lines.push(format!(
            "{} not shown (--verdict); counts and geometric means include them.",
            units::counted(found.hidden, "benchmark")
        ));
    }
    if matches!(found.shown, ShownStatistics::One(_)) {
        lines.push(
            "The marks are the verdicts of `compare` without `--statistic`; the change in this statistic may point the other way.".to_owned(),
        );
    }
    if subject != Statistic::Time {
        lines.push(format!(
            "Changes and verdicts are about {subject} (`--metric`), not time."
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
            "For {closed} of {} benchmarks, the runs as a whole do not differ (Kruskal-Wallis), so differences between two runs do not count.",
            found.lines.len()
        ));
    }
    lines
}

fn describe_method(method: Method) -> &'static str {
    match method {
        Method::Stored(Test::BootstrapT) => "drift between runs included",
        Method::Stored(Test::TScore) => "drift between runs ignored",
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
    let title = units::escape_line(&run_title(column.run, &column.name));
    writeln!(writer, "{title}: {counts}.")?;
    remarks::write_limits(writer, &column.limits, room)
}

/// Returns the table for Markdown. It has a line for each statistic of a benchmark and a column for each run.
fn markdown_table(found: &RunTable) -> Table {
    let mut heading = vec!["benchmark".to_owned()];
    if found.shown == ShownStatistics::Block {
        heading.push("statistic".to_owned());
    }
    let labels = heading.len();
    let runs = found.columns.iter();
    heading.extend(runs.map(|run| run_title(run.run, &run.name)));
    let mut rows = Vec::new();
    for line in &found.lines {
        for (at, figure) in found.shown.statistics().into_iter().enumerate() {
            let key = &line.key;
            let mut row = vec![format!("{}/{} {}", key.package, key.target, key.id).into()];
            if found.shown == ShownStatistics::Block {
                row.push(column_label(figure, &line.metric).into());
            }
            row.extend(marked_cells(found, line, at, figure));
            rows.push(row);
        }
    }
    if let Some(TableLine { label, cells }) = geometric_mean_line(found) {
        let mut row = vec![Cell::from(label)];
        row.resize(labels, Cell::default());
        row.extend(cells);
        rows.push(row);
    }
    Table::from_rows(labels, &heading, rows)
}

/// Returns the table for CSV. It has the exact values and, for each run but the reference, its change, verdict and adjusted p-value.
fn exact_table(found: &RunTable) -> Table {
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
    for ColumnsLine { key, cells, .. } in &found.lines {
        for at in 0..found.shown.statistics().len() {
            let own = &cells[0].statistics[at];
            let labels = [
                &key.package,
                &key.target,
                &key.id,
                &own.statistic,
                &own.unit,
            ];
            let mut row = labels.map(|text| Cell::from(text.clone())).to_vec();
            for (column, cell) in cells.iter().enumerate() {
                let own = &cell.statistics[at];
                row.push(number(own.value));
                if column > 0 {
                    let verdict = cell.verdict.map(|verdict| Cell::from(verdict.word()));
                    row.push(number(own.worse_by));
                    row.push(verdict.unwrap_or_else(Cell::missing));
                    row.push(number(cell.p_value));
                }
            }
            rows.push(row);
        }
    }
    Table::from_rows(labels.len(), &heading, rows)
}

fn write_json(writer: &mut dyn Write, found: &RunTable) -> io::Result<()> {
    write_messages(
        writer,
        found.lines.iter().map(JsonMessage::BenchmarkColumns),
    )?;
    for column in &found.columns {
        let exceeded = column.limits.exceeded.iter();
        let exceeded = exceeded.map(|found| LimitExceeded::from_exceeded(column.run, found));
        write_messages(writer, exceeded.map(JsonMessage::LimitExceeded))?;
    }
    write_message(writer, JsonMessage::ColumnsFinished(found.into()))
}

/// Writes the table of runs. `format` applies to output for people, whose lines have at most `columns` columns. JSON output has a message for each
/// benchmark, then one for each exceeded limit, then one about all runs.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::messages::{ColumnCell, ColumnStatistic};
    use crate::output::terminal::strip_colors;
    use perfcheck_analysis::compare::{BLOCK, Fact};
    use perfcheck_analysis::findings::LimitReport;
    use perfcheck_analysis::model::{BenchmarkKey, DecisionSettings};

    fn column(run: i64, name: &str, verdicts: &[Verdict]) -> RunColumn {
        RunColumn {
            run: RunId(run),
            name: name.into(),
            method: (run > 1).then_some(Method::Stored(Test::BootstrapT)),
            tally: verdicts.iter().copied().collect(),
            warnings: Vec::new(),
            remarks: Vec::new(),
            left_out: None,
            limits: LimitReport::default(),
            together: None,
        }
    }

    fn cell(
        value: impl Into<Option<f64>>,
        change: Option<f64>,
        verdict: Option<Verdict>,
    ) -> ColumnCell {
        let mean = ShownStatistics::One(Statistic::Mean);
        let value = value.into();
        ColumnCell {
            run: RunId(1),
            statistics: vec![ColumnStatistic::new(
                mean,
                Statistic::Mean,
                &Metric::Time,
                value,
                change,
            )],
            verdict,
            change: None,
            p_value: None,
            differences: Vec::new(),
        }
    }

    fn line(id: &str, metric: Metric, cells: Vec<ColumnCell>) -> ColumnsLine {
        let key = BenchmarkKey {
            package: "crate".into(),
            target: "bench".into(),
            id: id.into(),
        };
        ColumnsLine {
            key,
            metric,
            gate: None,
            cells,
        }
    }

    /// Returns a table of a time and a rate in three runs.
    fn found(shown: ShownStatistics) -> RunTable {
        let verdicts = [Verdict::Regressed, Verdict::Suspect];
        let rate = Metric::Rate { unit: "req".into() };
        RunTable {
            shown,
            terms: ValueForm::Values,
            hidden: 0,
            columns: vec![
                column(1, "base", &[]),
                column(2, "new", &verdicts),
                column(3, "other", &[Verdict::Incomparable]),
            ],
            lines: vec![
                line(
                    "a",
                    Metric::Time,
                    vec![
                        cell(100.0, None, None),
                        cell(108.0, Some(0.08), Some(Verdict::Regressed)),
                        cell(50.0, None, Some(Verdict::Incomparable)),
                    ],
                ),
                line(
                    "b",
                    rate,
                    vec![
                        cell(100.0, None, None),
                        cell(92.0, Some(0.08), Some(Verdict::Suspect)),
                        cell(None, None, None),
                    ],
                ),
            ],
            decision: DecisionSettings::default(),
            exit_code: 1,
        }
    }

    fn text(found: &RunTable, room: usize) -> String {
        let mut bytes = Vec::new();
        write_text(&mut bytes, found, room).unwrap();
        String::from_utf8(strip_colors(&bytes)).unwrap()
    }

    #[test]
    fn m6_m7_m_x8_plus_is_worse_of_times_and_of_rates_and_a_change_has_stars() {
        let expected = "
    crate/bench                    base                      new                   other
                                  run 1                    run 2                   run 3
      a             100.0 ns (   0.00%)     108.0 ns *  +8.00%*▲    50.00 ns (     n/c)
      b          100.0 req/s (   0.00%)  92.00 req/s ?  +8.00%?           -
    ";
        let written = text(&found(ShownStatistics::One(Statistic::Mean)), usize::MAX);
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            squeezed(&written).starts_with(&squeezed(expected)),
            "{written}"
        );
        for words in [
            "Amean or Hmean of each run.",
            "+ is worse than the first column (slower, more, a lower rate), − is better",
            "*…* marks a change (▲ worse, ▼ better); at most 1 % chance of any false alarm in each column, drift between runs included",
            "?…? marks a possible change",
            "n/c: not comparable",
            "new (run 2): 1 regressed, 1 suspect.",
        ] {
            assert!(squeezed(&written).contains(words), "{words}: {written}");
        }
    }

    #[test]
    fn at_80_columns_what_does_not_fit_goes_into_a_block_of_its_own() {
        let mut found = found(ShownStatistics::One(Statistic::Mean));
        found.columns[1].name = "a-baseline-with-a-long-name".into();
        let written = text(&found, 70);
        let widest = written.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(70), "{written}");
        let headings = written.lines().filter(|line| line.contains("crate/bench"));
        assert_eq!(headings.count(), 2, "{written}");
        assert_eq!(text(&found, usize::MAX).matches("crate/bench").count(), 1);
    }

    #[test]
    fn m_x12_a_difference_is_told_once_with_the_columns_that_have_it() {
        let mut found = found(ShownStatistics::Judged);
        let governor = Difference {
            fact: Fact::Governor,
            candidate: "schedutil".into(),
            base: "performance".into(),
        };
        found.columns[1].warnings = vec![governor.clone()];
        let one = text(&found, usize::MAX);
        let warning = "environment differs: governor performance->schedutil in new\n";
        assert!(one.contains(warning), "{one}");
        found.columns[2].warnings = vec![governor];
        let both = text(&found, usize::MAX);
        assert!(both.contains("schedutil in new, other\n"), "{both}");
        assert_eq!(both.matches("environment differs").count(), 1);
        found.columns[1].warnings.clear();
        found.columns[2].warnings.clear();
        assert!(!text(&found, usize::MAX).contains("environment"));
    }

    #[test]
    fn a_block_has_a_line_for_each_figure_and_the_verdict_on_that_of_the_mean() {
        let mut found = found(ShownStatistics::Block);
        for line in &mut found.lines {
            for cell in &mut line.cells {
                cell.statistics = vec![cell.statistics[0].clone(); BLOCK.len()];
            }
        }
        let written = text(&found, usize::MAX);
        let starred: Vec<&str> = written
            .lines()
            .filter(|line| line.contains("*  +8.00%*"))
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        assert_eq!(starred, ["Amean"], "{written}");
        let mut bytes = Vec::new();
        markdown_table(&found)
            .write_as(&mut bytes, TableFormat::Markdown, usize::MAX)
            .unwrap();
        let table = String::from_utf8(bytes).unwrap();
        assert_eq!(table.lines().count(), 2 + 2 * BLOCK.len());
        assert!(table.contains("| crate/bench b | HStddev |"), "{table}");
    }

    /// Returns a table of `count` benchmarks in two runs, one of them with a long name.
    fn many(count: usize) -> RunTable {
        let row = |at: usize| {
            let id = match at {
                1 => "a group with a long name/a function whose name says everything about it/10"
                    .into(),
                _ => format!("group/{at}"),
            };
            let cells = vec![
                cell(100.0, None, None),
                cell(108.0, Some(0.08), Some(Verdict::Regressed)),
            ];
            line(&id, Metric::Time, cells)
        };
        RunTable {
            columns: vec![
                column(1, "a-baseline-whose-name-says-everything-about-it", &[]),
                column(2, "new", &vec![Verdict::Regressed; count]),
            ],
            lines: (0..count).map(row).collect(),
            ..found(ShownStatistics::One(Statistic::Mean))
        }
    }

    #[test]
    fn runs_side_by_side_fit_every_terminal() {
        insta::assert_snapshot!("columns_60", text(&many(3), 60));
        insta::assert_snapshot!("columns_100", text(&many(3), 100));
        for room in [60, 80, 100, 160] {
            for count in [0, 1, 3, 60] {
                for line in text(&many(count), room).lines() {
                    let width = crate::output::units::width(line);
                    assert!(width <= room, "{width} of {room}: {line}");
                }
            }
        }
        let piped = text(&many(3), usize::MAX);
        assert!(piped.contains("a function whose name says everything about it/10"));
        assert!(piped.contains("a-baseline-whose-name-says-everything-about-it"));
    }
}
