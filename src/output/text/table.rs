//! Writes the table of results of a run or comparison: the rows that the user wants to see, notes on single benchmarks, and below them text about the
//! two sides, the method, warnings, advice and the outcome.
//!
//! Invariant: a note that applies to several benchmarks is written once.

use std::io::{self, Write};

use super::bar::{ChangeBars, bar_column};
use crate::output::layout::{Cell, Column, Table};
use crate::output::text::status::{write_faint, write_warning_within};
use crate::output::view::{RowOrder, Verbosity, View};
use crate::output::words::remarks::describe_run_remark;
use crate::output::words::sentences::{RunOutcome, write_outcome};
use crate::output::words::{analysis, extras, remarks, sentences};
use crate::output::{terminal, units};
use perfcheck_analysis::compare::{
    AllocationSummary, Comparison, Estimate, InstructionSummary, LatencySummary, Note, UsageSummary,
};
use perfcheck_analysis::findings::{ComparisonContext, Findings, Method, Order, Row, RunNote};
use perfcheck_analysis::model::{
    BenchmarkKey, Measurement, Metric, Side, Statistic, Test, Verdict,
};

/// Writes the table of results with a section for each bench target, then the notes and the conclusion.
pub fn write_table(writer: &mut dyn Write, findings: &Findings<'_>, view: &View) -> io::Result<()> {
    let mut shown: Vec<&Row<'_>> = select_rows(findings, view);
    let mut arrangement = view.arrangement;
    if findings.verdicts.is_some() && shown.len() > view.screenful {
        shown.sort_by(|a, b| Order::WorstFirst.compare(&a.sort_key(), &b.sort_key()));
        arrangement = RowOrder::List;
    }
    if view.verbosity != Verbosity::Quiet && view.only.is_none() {
        for sentence in sentences::describe_called_changes(findings, view.columns) {
            writeln!(
                writer,
                "{}",
                view.wrap_prose(&terminal::escape_terminal_text(&sentence), "")
            )?;
        }
    }
    let keys: Vec<&BenchmarkKey> = shown.iter().map(|row| &row.key).collect();
    Table::from_benchmarks(&keys, arrangement, columns(&shown, findings, view))
        .with_remarks(|places| {
            let rows: Vec<&Row<'_>> = places.iter().map(|at| shown[*at]).collect();
            notes(&rows, view)
        })
        .write(writer, view.columns)?;
    if !shown.is_empty() {
        writeln!(writer)?;
    }
    write_caveat(writer, &shown, view)?;
    match &findings.verdicts {
        Some(verdicts) => {
            let summaries = findings.rows.iter().filter(|row| is_summarized(row, view));
            let hidden = findings.rows.len() - shown.len() - summaries.count();
            write_conclusion(writer, findings, verdicts, hidden, view)
        }
        None => analysis::write_thresholds(writer, &findings.thresholds(), view.columns),
    }
}

/// Returns true if the table has no row for this benchmark because a sentence below the table counts it among those with unchanged code.
fn is_summarized(row: &Row<'_>, view: &View) -> bool {
    view.verbosity != Verbosity::Verbose && view.only.is_none() && row.is_same_code()
}

/// Returns the rows that the view shows: those with certain verdicts, those that need attention, or all.
fn select_rows<'f>(findings: &'f Findings<'_>, view: &View) -> Vec<&'f Row<'f>> {
    let results_alone = findings.rows.iter().all(|row| row.comparison.is_none());
    let is_shown = |row: &&Row<'_>| match (&view.only, row.verdict, view.verbosity) {
        (Some(only), verdict, _) => verdict.is_some_and(|verdict| only.contains(&verdict)),
        (None, Some(verdict), Verbosity::Quiet) => results_alone || needs_attention(verdict),
        (None, ..) => true,
    };
    let rows = findings.rows.iter().filter(|row| !is_summarized(row, view));
    rows.filter(is_shown).collect()
}

/// Returns true if a benchmark with this verdict needs attention, so that it is shown even with `--quiet`.
fn needs_attention(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Regressed
        | Verdict::Suspect
        | Verdict::Failed
        | Verdict::Incomparable
        | Verdict::Missing
        | Verdict::Improved => true,
        Verdict::Inconclusive | Verdict::New | Verdict::Unchanged => false,
    }
}

/// Writes how latencies were measured and how far they can be trusted, if any of the rows has latencies.
fn write_caveat(writer: &mut dyn Write, rows: &[&Row<'_>], view: &View) -> io::Result<()> {
    let measurements: Vec<&Measurement> = rows.iter().filter_map(|row| row.measurement).collect();
    extras::latency_caveat(&measurements)
        .map_or(Ok(()), |caveat| write_faint(writer, &caveat, view.columns))
}

/// Maximum number of notes below a section of the table without `--verbose`.
const MOST_NOTES: usize = 6;

/// A note, and the rows it applies to.
struct GroupedNote {
    text: String,
    rows: Vec<usize>,
    /// The worst verdict of these rows, by which notes are sorted.
    verdict: Option<Verdict>,
}

/// Returns the notes on `rows`. Notes on benchmarks with the worst verdicts come first.
fn notes(rows: &[&Row<'_>], view: &View) -> Vec<String> {
    let mut notes: Vec<GroupedNote> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        for text in notes_on_row(row, view.verbosity) {
            match notes.iter_mut().find(|known| known.text == text) {
                Some(known) => {
                    known.rows.push(at);
                    known.verdict = known.verdict.min(row.verdict);
                }
                None => notes.push(GroupedNote {
                    text,
                    rows: vec![at],
                    verdict: row.verdict,
                }),
            }
        }
    }
    let most = match view.verbosity {
        Verbosity::Verbose => usize::MAX,
        Verbosity::Quiet | Verbosity::Usual => MOST_NOTES,
    };
    // The sort is stable: rows keep their order if there are no verdicts.
    notes.sort_by_key(|note| note.verdict);
    let shown = notes.iter().take(most).map(|note| {
        let text = terminal::escape_terminal_text(&note.text);
        format!("{}: {text}", subject(&note.rows, rows, view))
    });
    let hidden = notes.len().saturating_sub(most);
    let more = (hidden > 0).then(|| {
        format!(
            "{hidden} more {} with --verbose",
            units::plural(hidden, "remark")
        )
    });
    shown.chain(more).collect()
}

/// Names the benchmarks that a note applies to: a single id, an id and the number of others, or `all`. `some` has the indices of these benchmarks in
/// `rows`.
fn subject(some: &[usize], rows: &[&Row<'_>], view: &View) -> String {
    let id = |at: usize| units::id_in_prose(&rows[at].key.id, view.columns);
    match some {
        [at] => id(*at),
        some if some.len() == rows.len() => "all".to_owned(),
        [first, others @ ..] => format!("{} and {} more", id(*first), others.len()),
        [] => String::new(),
    }
}

/// Returns the notes on a benchmark. Without `--verbose`, notes on the comparison are left out unless they call for an action and the benchmark has a
/// problem.
fn notes_on_row(row: &Row<'_>, verbosity: Verbosity) -> Vec<String> {
    let is_told = |note: &Note| match verbosity {
        Verbosity::Quiet => false,
        Verbosity::Usual => !sentences::is_fine(row) && remarks::asks_to_act(note),
        Verbosity::Verbose => true,
    };
    let moved = row.comparison.iter();
    let moved = moved.flat_map(|found| extras::describe_changes(found, sentences::metric(row)));
    let outliers = (row.summary.as_ref())
        .filter(|_| verbosity == Verbosity::Verbose)
        .and_then(analysis::describe_outliers);
    moved
        .chain(row.blocking.iter().map(ToString::to_string))
        .chain(sentences::remarks_on(row, is_told, sentences::metric(row)))
        .chain(sentences::describe_failures(
            row,
            sentences::format_processes,
        ))
        .chain(outliers)
        .collect()
}

/// Writes the text below the table. `hidden` is the number of benchmarks that an option such as `--quiet` hides.
fn write_conclusion(
    writer: &mut dyn Write,
    findings: &Findings<'_>,
    verdicts: &ComparisonContext,
    hidden: usize,
    view: &View,
) -> io::Result<()> {
    let compared = findings.rows.iter().any(|row| row.comparison.is_some());
    let line =
        |writer: &mut dyn Write, text: &str| writeln!(writer, "{}", view.wrap_prose(text, ""));
    if compared && view.verbosity != Verbosity::Quiet {
        if let Some(together) = sentences::describe_geometric_mean(findings) {
            line(writer, &together)?;
        }
        line(writer, &describe_comparison(verdicts))?;
        let rates = findings
            .rows
            .iter()
            .any(|row| matches!(sentences::metric(row), Metric::Rate { .. }));
        if rates {
            line(
                writer,
                "Rate changes are shown as changes in time per unit, so + always means slower. Mean rates are harmonic means.",
            )?;
        }
    }
    if let (Some(sentence), true) = (
        sentences::describe_references(findings),
        view.verbosity != Verbosity::Quiet,
    ) {
        line(writer, &terminal::escape_terminal_text(&sentence))?;
    }
    analysis::write_thresholds(writer, &findings.thresholds(), view.columns)?;
    for warning in &verdicts.warnings {
        let text = format!("the sides differ in {warning}");
        write_warning_within(writer, &text, view.columns)?;
    }
    for remark in &verdicts.remarks {
        // Write a remark about settings in the code of benches only with `--verbose`: nobody changes that code because of the remark.
        if matches!(remark, RunNote::NotForRounds { flags, keys, .. } if flags.is_empty() && keys.is_empty())
            && view.verbosity != Verbosity::Verbose
        {
            continue;
        }
        let text = describe_run_remark(remark);
        match remark {
            RunNote::CodeDiffers(_) | RunNote::Size(_) => {
                line(
                    writer,
                    &terminal::escape_terminal_text(&sentences::capitalize(&text)),
                )?;
            }
            _ => write_warning_within(writer, &text, view.columns)?,
        }
    }
    if let Some(sentence) = sentences::summarize_unmeasured(findings) {
        line(writer, &sentence)?;
    }
    if sentences::count_looking_slower(&findings.rows) > 0 {
        line(
            writer,
            &sentences::summarize_undecided(findings).unwrap_or_default(),
        )?;
    }
    let has_gaps = |remark: &RunNote| matches!(remark, RunNote::PartsMissing { .. });
    // The remark about missing parts already explains an incomplete run.
    let incomplete = sentences::describe_incomplete_run(findings.run);
    if let Some(sentence) = incomplete.filter(|_| !verdicts.remarks.iter().any(has_gaps)) {
        write_warning_within(writer, &sentence, view.columns)?;
    }
    if hidden > 0 {
        let reason = match view.only {
            Some(_) => "--verdict",
            None => "--quiet",
        };
        let text = format!(
            "{} not shown ({reason}).",
            units::counted(hidden, "benchmark")
        );
        writeln!(writer, "{}", terminal::faint(text))?;
    }
    remarks::write_limits(writer, &verdicts.limits, view.columns)?;
    for advice in &verdicts.advice {
        line(writer, &terminal::escape_terminal_text(advice))?;
    }
    write_outcome(writer, &RunOutcome::from_findings(findings), view.columns)
}

/// Returns a sentence that names the reference and says how both sides were compared.
fn describe_comparison(verdicts: &ComparisonContext) -> String {
    let decision = &verdicts.decision;
    let subject = decision.analysis.subject;
    let reference = terminal::escape_terminal_text(&verdicts.reference);
    if subject != Statistic::Time {
        return format!(
            "Compared with {reference}; changes and verdicts are about {subject} (`--metric`), not time."
        );
    }
    let (how, drift) = match verdicts.method {
        Method::Stored(Test::BootstrapT) => {
            (", using stored numbers", ", drift between runs included")
        }
        Method::Stored(Test::TScore) => (
            ", using stored numbers",
            ", drift between runs ignored (--ignore-drift)",
        ),
        Method::Stored(_) => {
            return format!(
                "Compared with {reference} {}.",
                analysis::describe_method(decision)
            );
        }
        Method::Paired => (", measured side by side", ""),
    };
    let alarms = analysis::describe_false_alarm_rate(decision);
    format!("Compared with {reference}{how}; {alarms}{drift}.")
}

/// A function that formats a cell. It returns `None` if the row has no such value.
type OptionalCell = fn(&Row<'_>) -> Option<String>;

/// Returns all columns of the table but the names, from left to right.
fn columns(rows: &[&Row<'_>], findings: &Findings<'_>, view: &View) -> Vec<Column> {
    let compared = findings.rows.iter().any(|row| row.comparison.is_some());
    let is_verbose = view.verbosity == Verbosity::Verbose;
    // A comparison shows only what changed. The measured values are shown if there is no comparison, or with `--verbose`.
    let in_full = !compared || is_verbose;
    let mut columns = Vec::new();
    if in_full && findings.rows.iter().any(|row| row.summary.is_some()) {
        columns.extend(results(rows, findings, compared));
    }
    if let (true, Some(verdicts)) = (compared, &findings.verdicts) {
        let level = units::percent(analysis::interval_level(&verdicts.decision));
        let heading = format!("{level} interval");
        for (heading, side) in [("before", Side::Base), ("after", Side::Candidate)] {
            let values = cells(rows, |row| compared_cell(row, findings, side));
            let column = Column::number(heading, values);
            columns.push(match side {
                // For an undecided change, the bar is more informative than the value of the base. So leave out the base's column first.
                Side::Base if rows.iter().any(|row| is_open(row)) => column.dispensable(2),
                Side::Base | Side::Candidate => column,
            });
        }
        columns.push(Column::number("change", cells(rows, change_cell)));
        columns.extend(bar_column(&changes(rows), view.columns, |scale| {
            cells(rows, |row| bar_cell(row, scale))
        }));
        let intervals = cells(rows, change_interval_cell);
        columns.push(Column::number(&heading, intervals).dispensable(5));
        if is_verbose {
            columns.push(Column::number("p", cells(rows, p_cell)).dispensable(7));
        }
    }
    if findings.rows.iter().any(|row| row.verdict.is_some()) && findings.verdicts.is_some() {
        columns.push(Column::fact("verdict", cells(rows, verdict_cell)));
        if is_verbose {
            let values = cells(rows, |row| {
                let smallest = smallest_callable(row);
                Cell::faint(smallest.map_or_else(String::new, units::change))
            });
            columns.push(Column::number("detects ≥", values).dispensable(4));
        }
    }
    columns
}

/// Returns the columns with measured values, such as median and throughput, without those of the comparison.
fn results(rows: &[&Row<'_>], findings: &Findings<'_>, compared: bool) -> Vec<Column> {
    let interval = format!("{} interval", units::percent(findings.confidence_level()));
    let median = Column::number("median", cells(rows, median_cell));
    let median = if compared {
        median.dispensable(3)
    } else {
        median
    };
    let mut columns = vec![
        median,
        Column::number(&interval, cells(rows, interval_cell)).dispensable(6),
    ];
    let of_some_rows: [(&str, u8, OptionalCell); 6] = [
        ("throughput", 2, throughput_cell),
        ("p50, p99", 4, latency_cell),
        ("allocations", 4, allocations_cell),
        ("instructions", 4, instructions_cell),
        ("CPU time", 4, cpu_cell),
        ("peak memory", 4, memory_cell),
    ];
    for (heading, dispensable, cell) in of_some_rows {
        let values = cells(rows, |row| cell(row).unwrap_or_default());
        columns.push(Column::number(heading, values).dispensable(dispensable));
    }
    let values = cells(rows, |row| Cell::faint(outlier_cell(row)));
    columns.push(Column::number("outliers", values).dispensable(8));
    columns
}

fn cells<C: Into<Cell>>(rows: &[&Row<'_>], cell: impl Fn(&Row<'_>) -> C) -> Vec<Cell> {
    rows.iter().map(|row| cell(row).into()).collect()
}

/// Returns the changes to draw as bars, each with its noise threshold.
fn changes(rows: &[&Row<'_>]) -> Vec<(Estimate, f64)> {
    let drawn = rows.iter().filter_map(|row| row.comparison.as_ref());
    drawn
        .filter_map(|found| Some((found.change?, found.noise_threshold)))
        .collect()
}

fn median_cell(row: &Row<'_>) -> String {
    units::or_dash(sentences::median(row))
}

fn interval_cell(row: &Row<'_>) -> String {
    let shown = sentences::median_interval(row);
    or_dash_if(row.summary.is_some(), shown)
}

fn throughput_cell(row: &Row<'_>) -> Option<String> {
    let median = row.summary.as_ref()?.median.estimate;
    units::throughput(&row.measurement?.benchmark, median)
}

/// Formats two percentiles of the latencies. The confidence level does not matter here, because the cell shows no interval.
fn latency_cell(row: &Row<'_>) -> Option<String> {
    extras::latency_cell(&LatencySummary::from_measurement(row.measurement?, 0.95)?)
}

fn allocations_cell(row: &Row<'_>) -> Option<String> {
    let found = AllocationSummary::from_measurement(row.measurement?)?;
    Some(extras::allocations_cell(&found))
}

fn instructions_cell(row: &Row<'_>) -> Option<String> {
    let found = InstructionSummary::from_measurement(row.measurement?)?;
    Some(units::count(found.per_iteration))
}

/// Formats the mean CPU time of a run. The confidence level does not matter here, because the cell shows no interval.
fn cpu_cell(row: &Row<'_>) -> Option<String> {
    let found = UsageSummary::from_measurement(row.measurement?, 0.95)?;
    Some(units::time(found.cpu_ns.mean))
}

fn memory_cell(row: &Row<'_>) -> Option<String> {
    let found = UsageSummary::from_measurement(row.measurement?, 0.95)?;
    Some(units::bytes(found.peak_bytes?.mean))
}

/// Formats the share of outliers among all samples, and the share of severe ones: `4.1 %, severe 1.2 %`.
fn outlier_cell(row: &Row<'_>) -> String {
    let Some(summary) = &row.summary else {
        return String::new();
    };
    let outliers = &summary.outliers;
    if outliers.total() == 0 {
        return "-".to_owned();
    }
    let share = |count: usize| 100.0 * count as f64 / summary.labeled_samples() as f64;
    let severe = share(outliers.low_severe + outliers.high_severe);
    format!("{:.1} %, severe {severe:.1} %", share(outliers.total()))
}

fn change_cell(row: &Row<'_>) -> Cell {
    let Some(comparison) = &row.comparison else {
        return Cell::default();
    };
    let Some(change) = &comparison.change else {
        return Cell::from("-");
    };
    Cell::colored_by_verdict(comparison.verdict, units::change(change.estimate))
}

fn bar_cell(row: &Row<'_>, scale: ChangeBars) -> Cell {
    let Some(comparison) = &row.comparison else {
        return Cell::default();
    };
    let Some(change) = &comparison.change else {
        return Cell::default();
    };
    scale.cell(change, comparison.noise_threshold, comparison.verdict)
}

/// Returns the value of a side that the verdict compared. For a benchmark that was not compared, the candidate has its median and the base has
/// nothing.
fn compared_cell(row: &Row<'_>, findings: &Findings<'_>, side: Side) -> String {
    let values =
        sentences::format_compared_values(row, findings).map(|values| values.get(side).clone());
    match (&row.comparison, side) {
        (Some(_), _) => or_dash_if(true, values),
        (None, Side::Base) => String::new(),
        (None, Side::Candidate) => median_cell(row),
    }
}

fn change_interval_cell(row: &Row<'_>) -> String {
    let change = row.comparison.as_ref().and_then(|found| found.change);
    or_dash_if(change.is_some(), sentences::change_interval(row))
}

/// Returns `text`. If there is none, returns a dash if `is_some` is true, which means that the row should have the value but it is unknown, and
/// otherwise an empty string.
fn or_dash_if(is_some: bool, text: Option<String>) -> String {
    text.unwrap_or_else(|| if is_some { "-" } else { "" }.to_owned())
}

fn p_cell(row: &Row<'_>) -> String {
    let p = row.comparison.as_ref().and_then(|found| found.p_value);
    or_dash_if(row.comparison.is_some(), p.map(units::p_value))
}

/// Returns what follows a verdict or a change if one side takes a slow path.
pub(super) fn describe_slow_path(slow_side: Option<Side>) -> &'static str {
    match slow_side {
        Some(Side::Candidate) => " (slow path)",
        Some(Side::Base) => " (slow path gone)",
        None => "",
    }
}

fn verdict_cell(row: &Row<'_>) -> Cell {
    let Some(verdict) = row.verdict else {
        return Cell::default();
    };
    let slow_side = row.comparison.as_ref().and_then(Comparison::slow_side);
    let path = describe_slow_path(slow_side);
    let text = format!("{} {}{path}", terminal::symbol(verdict), verdict.word());
    Cell::colored_by_verdict(verdict, text)
}

/// Returns true if it is open whether the benchmark changed: its verdict is `inconclusive` or `suspect`.
fn is_open(row: &Row<'_>) -> bool {
    matches!(row.verdict, Some(Verdict::Inconclusive | Verdict::Suspect))
}

/// Returns the smallest slowdown that the comparison would have reported as `regressed`. Returns `None` for rows with a clear verdict, for which it
/// is of no interest.
fn smallest_callable(row: &Row<'_>) -> Option<f64> {
    let smallest = row.comparison.as_ref()?.smallest_callable?;
    (is_open(row) && smallest.is_finite()).then_some(smallest)
}
