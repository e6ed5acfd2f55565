//! What the cells of a table say.

use super::bar::{Part, Scale};
use super::column::{Cell, Column};
use crate::compare::{AllocationSummary, Comparison, Estimate, LatencySummary};
use crate::findings::{Findings, Row};
use crate::model::{Metric, Verdict};
use crate::report::view::Verbosity;
use crate::report::{analysis, beside, theme, units};

/// A cell that only some rows have.
type OfSomeRows = fn(&Row<'_>) -> Option<String>;

/// How soon bars are left out: last of all that can be.
pub(super) const BARS: u8 = 1;

/// What columns are made from.
pub(super) struct Contents<'t> {
    pub(super) rows: &'t [&'t Row<'t>],
    pub(super) findings: &'t Findings<'t>,
    pub(super) verbosity: Verbosity,
}

impl Contents<'_> {
    /// All columns that say something about any row, from left to right, with bars on this scale.
    pub(super) fn columns(&self, scale: Scale) -> Vec<Column> {
        let findings = self.findings;
        let compared = findings.rows.iter().any(|row| row.comparison.is_some());
        // Of a comparison people want to know what moved, which notes tell; without one these are results.
        let in_full = !compared || self.verbosity == Verbosity::Verbose;
        let interval = format!("{} interval", units::percent(findings.confidence_level()));
        let mut columns = vec![
            Column::right("median", 0, self.plain(median_cell)),
            Column::right(&interval, 5, self.plain(interval_cell)),
        ];
        let of_some_rows: [(&str, u8, OfSomeRows, bool); 3] = [
            ("throughput", 2, throughput_cell, true),
            ("p50, p99", 3, latency_cell, in_full),
            ("allocations", 3, allocations_cell, in_full),
        ];
        for (heading, dispensable, cell, wanted) in of_some_rows {
            if wanted {
                let cells = self.plain(|row| cell(row).unwrap_or_default());
                columns.push(Column::right(heading, dispensable, cells));
            }
        }
        if in_full {
            let cells = self.cells(|row| Cell::faint(&outlier_cell(row)));
            columns.push(Column::right("outliers", 8, cells));
        }
        if let (true, Some(verdicts)) = (compared, &findings.verdicts) {
            let level = units::percent(analysis::interval_level(&verdicts.decision));
            let heading = format!("{level} interval");
            columns.push(Column::right("change", 0, self.cells(change_cell)));
            columns.push(self.bars(scale));
            let intervals = self.plain(change_interval_cell);
            columns.push(Column::right(&heading, 4, intervals));
            columns.push(Column::right("adjusted p", 6, self.plain(p_cell)));
        }
        if findings.rows.iter().any(|row| row.verdict.is_some()) && findings.verdicts.is_some() {
            columns.push(Column::left("verdict", 0, self.cells(verdict_cell)));
            if self.rows.iter().any(|row| smallest_callable(row).is_some()) {
                let cells = self.cells(|row| {
                    let smallest = smallest_callable(row);
                    Cell::faint(&smallest.map_or_else(String::new, units::change))
                });
                columns.push(Column::right("callable from", 3, cells));
            }
        }
        // Of nothing there are no throughputs, and of what was not measured there are no intervals.
        let says_something = |column: &Column| column.cells.iter().any(|cell| cell.width() > 0);
        columns.retain(|column| column.dispensable == 0 || says_something(column));
        columns
    }

    /// The bars of all rows on this scale.
    pub(super) fn bars(&self, scale: Scale) -> Column {
        let bars = self.cells(|row| bar_cell(row, scale));
        Column::left(&scale.heading(), BARS, bars)
    }

    fn cells(&self, cell: impl Fn(&Row<'_>) -> Cell) -> Vec<Cell> {
        self.rows.iter().map(|row| cell(row)).collect()
    }

    fn plain(&self, cell: impl Fn(&Row<'_>) -> String) -> Vec<Cell> {
        self.cells(|row| Cell::plain(cell(row)))
    }
}

/// The changes that are drawn, each with its noise threshold.
pub(super) fn changes(rows: &[&Row<'_>]) -> Vec<(Estimate, f64)> {
    let drawn = rows.iter().filter_map(|row| row.comparison.as_ref());
    drawn
        .filter_map(|found| Some((found.change?, found.noise_threshold)))
        .collect()
}

/// What the samples of a row mean.
pub(super) fn metric<'a>(row: &'a Row<'_>) -> &'a Metric {
    row.measurement
        .map_or(&Metric::Time, |measurement| &measurement.benchmark.metric)
}

fn median_cell(row: &Row<'_>) -> String {
    row.summary.as_ref().map_or_else(
        || "-".to_owned(),
        |summary| units::value(metric(row), summary.median.estimate),
    )
}

fn interval_cell(row: &Row<'_>) -> String {
    let Some(summary) = &row.summary else {
        return String::new();
    };
    let median = &summary.median;
    if median.lower.is_finite() && median.upper.is_finite() {
        units::interval(metric(row), median.lower, median.upper)
    } else {
        "-".to_owned()
    }
}

fn throughput_cell(row: &Row<'_>) -> Option<String> {
    let median = row.summary.as_ref()?.median.estimate;
    units::throughput(&row.measurement?.benchmark, median)
}

/// The level does not matter: no interval is shown.
fn latency_cell(row: &Row<'_>) -> Option<String> {
    beside::latency_cell(&LatencySummary::of(row.measurement?, 0.95)?)
}

fn allocations_cell(row: &Row<'_>) -> Option<String> {
    let found = AllocationSummary::of(row.measurement?)?;
    Some(beside::allocations_cell(&found))
}

/// Mild and severe outliers together, as a share of the samples, and the severe ones: `4.1 %, severe 1.2 %`.
fn outlier_cell(row: &Row<'_>) -> String {
    let Some(summary) = &row.summary else {
        return String::new();
    };
    let outliers = &summary.outliers;
    if outliers.total() == 0 {
        return "-".to_owned();
    }
    let share = |count: usize| 100.0 * count as f64 / summary.samples as f64;
    let severe = share(outliers.low_severe + outliers.high_severe);
    format!("{:.1} %, severe {severe:.1} %", share(outliers.total()))
}

fn change_cell(row: &Row<'_>) -> Cell {
    let Some(comparison) = &row.comparison else {
        return Cell::default();
    };
    let Some(change) = &comparison.change else {
        return Cell::plain("-".to_owned());
    };
    let text = units::change(change.estimate);
    let shown = theme::in_colour_of(comparison.verdict, &text);
    Cell::coloured(&text, shown)
}

fn bar_cell(row: &Row<'_>, scale: Scale) -> Cell {
    let Some(comparison) = &row.comparison else {
        return Cell::default();
    };
    let Some(change) = &comparison.change else {
        return Cell::default();
    };
    let parts = scale.draw(change, comparison.noise_threshold);
    let plain: String = parts.iter().map(|(c, _)| *c).collect();
    let mut shown = String::new();
    for run in parts.chunk_by(|(_, a), (_, b)| a == b) {
        let text: String = run.iter().map(|(c, _)| *c).collect();
        shown += &match run[0].1 {
            Part::Ground if text.trim().is_empty() => text,
            Part::Ground => theme::faint(text),
            Part::Interval => theme::in_colour_of(comparison.verdict, &text),
        };
    }
    Cell::coloured(&plain, shown)
}

fn change_interval_cell(row: &Row<'_>) -> String {
    let Some(change) = row.comparison.as_ref().and_then(|found| found.change) else {
        return String::new();
    };
    let bound = |value: f64| {
        if value.is_finite() {
            units::change(value)
        } else {
            "?".to_owned()
        }
    };
    if change.lower.is_finite() || change.upper.is_finite() {
        format!("[{}, {}]", bound(change.lower), bound(change.upper))
    } else {
        "-".to_owned()
    }
}

fn p_cell(row: &Row<'_>) -> String {
    let Some(comparison) = &row.comparison else {
        return String::new();
    };
    comparison.p_value.map_or_else(|| "-".to_owned(), p_value)
}

/// p with four decimals.
pub(in crate::report) fn p_value(p: f64) -> String {
    if p < 0.0001 {
        "<.0001".to_owned()
    } else {
        format!("{p:.4}")
    }
}

fn verdict_cell(row: &Row<'_>) -> Cell {
    let Some(verdict) = row.verdict else {
        return Cell::default();
    };
    let slow_side = row.comparison.as_ref().and_then(Comparison::slow_side);
    let path = match slow_side {
        Some(_) => " (slow path)",
        None => "",
    };
    let plain = format!("{} {}{path}", theme::symbol(verdict), verdict.word());
    Cell::coloured(&plain, theme::in_colour_of(verdict, &plain))
}

/// The smallest slowdown that could have been called, where that is why there is no clear verdict.
fn smallest_callable(row: &Row<'_>) -> Option<f64> {
    let open = matches!(row.verdict, Some(Verdict::Inconclusive | Verdict::Suspect));
    let smallest = row.comparison.as_ref()?.smallest_callable?;
    (open && smallest.is_finite()).then_some(smallest)
}
