//! The columns and cells of a table of results.

use super::bar::{BarPart, ChangeBars};
use crate::output::layout::{Cell, Column};
use crate::output::terminal::TextRole;
use crate::output::view::{Verbosity, View};
use crate::output::words::{analysis, extras, sentences};
use crate::output::{terminal, units};
use perfcheck_analysis::compare::{
    AllocationSummary, Comparison, Estimate, InstructionSummary, LatencySummary,
};
use perfcheck_analysis::findings::{Findings, Row};
use perfcheck_analysis::model::{Side, Verdict};

/// Formats a cell that only some rows have.
type OptionalCell = fn(&Row<'_>) -> Option<String>;

/// Widths of the bars, in columns, from the widest to the narrowest; more important columns are dropped only after the last one.
const BARS: [usize; 4] = [31, 21, 15, 11];

/// Returns all columns of these rows, from left to right.
pub(super) fn columns(rows: &[&Row<'_>], findings: &Findings<'_>, view: &View) -> Vec<Column> {
    let compared = findings.rows.iter().any(|row| row.comparison.is_some());
    let is_verbose = view.verbosity == Verbosity::Verbose;
    // A comparison shows what changed; the results themselves appear without a comparison, or if `--verbose` asks for them.
    let in_full = !compared || is_verbose;
    let mut columns = Vec::new();
    if in_full && findings.rows.iter().any(|row| row.summary.is_some()) {
        columns.extend(results(rows, findings, compared));
    }
    if let (true, Some(verdicts)) = (compared, &findings.verdicts) {
        let level = units::percent(analysis::interval_level(&verdicts.decision));
        let heading = format!("{level} interval");
        for (heading, side) in [("before", Side::Base), ("after", Side::Candidate)] {
            let told = cells(rows, |row| compared_cell(row, findings, side));
            let column = Column::number(heading, told);
            columns.push(match side {
                // The bar says more about an undecided change than the base value does.
                Side::Base if rows.iter().any(|row| is_open(row)) => column.dispensable(2),
                Side::Base | Side::Candidate => column,
            });
        }
        columns.push(Column::number("change", cells(rows, change_cell)));
        columns.extend(bars(rows, view));
        let intervals = cells(rows, change_interval_cell);
        columns.push(Column::number(&heading, intervals).dispensable(5));
        if is_verbose {
            columns.push(Column::number("p", cells(rows, p_cell)).dispensable(7));
        }
    }
    if findings.rows.iter().any(|row| row.verdict.is_some()) && findings.verdicts.is_some() {
        columns.push(Column::fact("verdict", cells(rows, verdict_cell)));
        if is_verbose {
            let told = cells(rows, |row| {
                let smallest = smallest_callable(row);
                Cell::faint(smallest.map_or_else(String::new, units::change))
            });
            columns.push(Column::number("detects ≥", told).dispensable(4));
        }
    }
    columns
}

/// Returns the columns of measured values, without those of the comparison.
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
    let of_some_rows: [(&str, u8, OptionalCell); 4] = [
        ("throughput", 2, throughput_cell),
        ("p50, p99", 4, latency_cell),
        ("allocations", 4, allocations_cell),
        ("instructions", 4, instructions_cell),
    ];
    for (heading, dispensable, cell) in of_some_rows {
        let told = cells(rows, |row| cell(row).unwrap_or_default());
        columns.push(Column::number(heading, told).dispensable(dispensable));
    }
    let told = cells(rows, |row| Cell::faint(outlier_cell(row)));
    columns.push(Column::number("outliers", told).dispensable(8));
    columns
}

/// Returns the bars of all rows, as wide as the terminal allows.
fn bars(rows: &[&Row<'_>], view: &View) -> Option<Column> {
    let changes = changes(rows);
    let widest = match view.columns {
        usize::MAX => BARS[1],
        140.. => BARS[0],
        100.. => BARS[1],
        _ => BARS[2],
    };
    let widths = BARS.into_iter().filter(|width| *width <= widest);
    let drawings = widths.map(|width| {
        let scale = ChangeBars::scaled_to(&changes, width);
        Column::fact(&scale.heading(), cells(rows, |row| bar_cell(row, scale)))
    });
    let bars = Column::from_drawings(drawings.collect());
    // The bars are dropped last of all dispensable columns.
    bars.map(|bars| bars.dispensable(1))
}

fn cells<C: Into<Cell>>(rows: &[&Row<'_>], cell: impl Fn(&Row<'_>) -> C) -> Vec<Cell> {
    rows.iter().map(|row| cell(row).into()).collect()
}

/// Returns the changes to draw, each with its noise threshold.
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

/// The confidence level is arbitrary: the cell has no interval.
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

/// Formats the share of outliers, mild and severe together, and of severe ones: `4.1 %, severe 1.2 %`.
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
    let parts = scale.draw(change, comparison.noise_threshold);
    let pieces = parts.chunk_by(|(_, a), (_, b)| a == b).map(|run| {
        let text: String = run.iter().map(|(c, _)| *c).collect();
        let ink = match run[0].1 {
            BarPart::Ground if text.trim().is_empty() => TextRole::Plain,
            BarPart::Ground => TextRole::Faint,
            BarPart::Interval => TextRole::Verdict(comparison.verdict),
        };
        (ink, text)
    });
    Cell::from_pieces(pieces.collect())
}

/// Returns the compared value of a side; for a benchmark without a comparison, the median of its candidate.
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

/// Returns the text, or a dash if the value is unknown although the row has `is_some` of its kind.
fn or_dash_if(is_some: bool, told: Option<String>) -> String {
    told.unwrap_or_else(|| if is_some { "-" } else { "" }.to_owned())
}

fn p_cell(row: &Row<'_>) -> String {
    let p = row.comparison.as_ref().and_then(|found| found.p_value);
    or_dash_if(row.comparison.is_some(), p.map(units::p_value))
}

fn verdict_cell(row: &Row<'_>) -> Cell {
    let Some(verdict) = row.verdict else {
        return Cell::default();
    };
    let slow_side = row.comparison.as_ref().and_then(Comparison::slow_side);
    let path = match slow_side {
        Some(Side::Candidate) => " (slow path)",
        Some(Side::Base) => " (slow path gone)",
        None => "",
    };
    let text = format!("{} {}{path}", terminal::symbol(verdict), verdict.word());
    Cell::colored_by_verdict(verdict, text)
}

/// Reports whether a row is inconclusive or suspect.
fn is_open(row: &Row<'_>) -> bool {
    matches!(row.verdict, Some(Verdict::Inconclusive | Verdict::Suspect))
}

/// Returns the smallest slowdown that could have been called, for rows without a clear verdict.
fn smallest_callable(row: &Row<'_>) -> Option<f64> {
    let smallest = row.comparison.as_ref()?.smallest_callable?;
    (is_open(row) && smallest.is_finite()).then_some(smallest)
}
