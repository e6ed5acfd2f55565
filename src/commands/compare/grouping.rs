//! `compare RUN --group-by REGEX`: compares the benchmarks of each row with the fastest one, and draws groups of two as split violins.
//!
//! This is for exploration: there are no verdicts, and the exit status does not depend on the numbers.

use std::collections::BTreeMap;
use std::path::Path;

use super::options::{CompareCall, GroupPattern, GroupPlace, SelectedRun};
use crate::delivery::files::write_result;
use crate::delivery::reports::RequestedReportKind;
use crate::error::AppError;
use crate::options::CommonOptions;
use crate::output::{
    GroupComparison, GroupedCell, GroupedRow, SplitPicture, SplitRow, write_grouped, write_split,
    write_warning,
};
use crate::session::World;
use perfcheck_analysis::compare::{
    ProcessMedians, Shape, ShapeDetail, rank_against_fastest, sum_left_out,
};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::Order;
use perfcheck_analysis::model::{Measurement, Metric, natural_cmp};
use perfcheck_stats::GeometricMean;

/// Groups the benchmarks of the selected run.
pub(crate) fn group_by(
    call: &CompareCall<'_>,
    pattern: &GroupPattern,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let options = call.options;
    let runs = call.read_runs()?;
    let selected = &runs[0];
    let measurements = &selected.measurements;
    let run = selected.head.id;
    if measurements.is_empty() {
        return Err(call.stored.nothing_to_compare_error(run, run));
    }
    for warning in call.describe_absurdities(selected) {
        write_warning(world.stderr, &warning)?;
    }
    for wanted in &options.reports.wanted {
        if wanted.kind == RequestedReportKind::Picture {
            draw_groups(selected, pattern, wanted.file.as_deref(), world)?;
        }
    }
    let PlacedBenchmarks {
        columns,
        rows,
        left_out,
    } = place_benchmarks(selected, pattern)?;
    let settings = options
        .comparison
        .decision(&call.stored.context.tables.workspace);
    let level = 1.0 - settings.confidence_level;
    let placed = measurements.len() - left_out;
    let mut rows: Vec<GroupedRow> = rows
        .into_iter()
        .map(
            |(
                RowName {
                    package,
                    target,
                    name,
                },
                found,
            )| {
                let metric = found.values().next();
                GroupedRow {
                    package,
                    target,
                    name,
                    metric: metric.map_or(Metric::Time, |first| first.benchmark.metric.clone()),
                    cells: cells(&found, &columns, level),
                }
            },
        )
        .collect();
    let all_cells = rows.iter().flat_map(|row| row.cells.iter().flatten());
    let without_value = placed - all_cells.count();
    let spread = |row: &GroupedRow| {
        let ratios = row.cells.iter().flatten().map(|cell| cell.contender.ratio);
        ratios.fold(1.0, f64::max)
    };
    let slowest = |row: &GroupedRow| {
        let values = row.cells.iter().flatten();
        let values = values.map(|cell| cell.contender.value_ns);
        values.fold(0.0, f64::max)
    };
    match common.output.order() {
        Order::Name => rows.sort_by(|a, b| {
            natural_cmp(&a.package, &b.package)
                .then_with(|| natural_cmp(&a.target, &b.target))
                .then_with(|| natural_cmp(&a.name, &b.name))
        }),
        Order::Change | Order::WorstFirst => {
            rows.sort_by(|a, b| spread(b).total_cmp(&spread(a)));
        }
        Order::Time => rows.sort_by(|a, b| slowest(b).total_cmp(&slowest(a))),
    }
    let grouped = GroupComparison {
        run,
        name: call.base.to_owned(),
        pattern: pattern.as_str().to_owned(),
        geometric_means: geometric_means(&rows, columns.len()),
        columns,
        rows,
        left_out,
        without_value,
        filtered: sum_left_out(measurements),
        level,
        terms: options.terms,
    };
    call.write(&common.output, world, |writer, format, form, view| {
        write_grouped(writer, &grouped, format, form, view.columns)
    })?;
    Ok(ExitCode::Clean)
}

/// Returns the geometric mean of each column's ratios to the fastest benchmark of the row. Only rows without empty cells count. Returns `None` if
/// there are fewer than two such rows.
fn geometric_means(rows: &[GroupedRow], columns: usize) -> Option<Vec<f64>> {
    let whole: Vec<&GroupedRow> = rows
        .iter()
        .filter(|row| row.cells.iter().all(Option::is_some))
        .collect();
    if whole.len() < 2 {
        return None;
    }
    (0..columns)
        .map(|at| {
            let cells = whole.iter().filter_map(|row| row.cells[at].as_ref());
            let ratios: Vec<f64> = cells.map(|cell| cell.contender.ratio).collect();
            GeometricMean::compute(&ratios).map(|found| found.mean)
        })
        .collect()
}

/// Builds the cells of a row, one for each column. A benchmark with a different metric than the first one of the row leaves its cell empty.
fn cells(
    found: &BTreeMap<usize, &Measurement>,
    columns: &[String],
    level: f64,
) -> Vec<Option<GroupedCell>> {
    let metric = found.values().next().map(|first| &first.benchmark.metric);
    let alike = |at: usize| {
        let one = found.get(&at)?;
        (Some(&one.benchmark.metric) == metric).then_some(*one)
    };
    let values: Vec<ProcessMedians> = (0..columns.len())
        .map(|at| {
            alike(at)
                .map(ProcessMedians::from_measurement)
                .unwrap_or_default()
        })
        .collect();
    let contenders = rank_against_fastest(&values, level).into_iter().enumerate();
    contenders
        .map(|(at, contender)| {
            Some(GroupedCell {
                column: columns[at].clone(),
                id: alike(at)?.benchmark.key.id.clone(),
                processes: values[at].tested.len(),
                contender: contender?,
            })
        })
        .collect()
}

/// The name of a row: package, target, and the part of the id that does not name the column.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct RowName {
    package: String,
    target: String,
    name: String,
}

/// The benchmarks that a pattern matches, arranged in rows and columns.
struct PlacedBenchmarks<'m> {
    columns: Vec<String>,
    /// The benchmarks of each row, by the index of their column.
    rows: BTreeMap<RowName, BTreeMap<usize, &'m Measurement>>,
    /// Number of benchmarks that the pattern does not match.
    left_out: usize,
}

/// Assigns the benchmarks of a run to cells. Fails if two benchmarks share a cell, since one would hide the other.
fn place_benchmarks<'m>(
    selected: &'m SelectedRun,
    pattern: &GroupPattern,
) -> Result<PlacedBenchmarks<'m>, AppError> {
    let measurements = &selected.measurements;
    let found: Vec<(GroupPlace, &Measurement)> = measurements
        .iter()
        .filter_map(|one| Some((pattern.place(&one.benchmark.key.id)?, one)))
        .collect();
    let mut columns: Vec<String> = found
        .iter()
        .map(|(place, _)| place.column.clone())
        .collect();
    columns.sort_by(|a, b| natural_cmp(a, b));
    columns.dedup();
    let mut rows: BTreeMap<RowName, BTreeMap<usize, &Measurement>> = BTreeMap::new();
    let left_out = measurements.len() - found.len();
    for (place, measurement) in found {
        let key = &measurement.benchmark.key;
        let name = RowName {
            package: key.package.clone(),
            target: key.target.clone(),
            name: place.row,
        };
        let Some(column) = columns.iter().position(|known| *known == place.column) else {
            continue;
        };
        let before = rows.entry(name).or_default().insert(column, measurement);
        if let Some(before) = before {
            return Err(AppError::Usage(format!(
                "`{}` puts `{}` and `{}` into one cell\n  help: change the capture groups so that they distinguish these ids",
                pattern.as_str(),
                before.benchmark.key.id.escape_debug(),
                key.id.escape_debug()
            )));
        }
    }
    if rows.is_empty() {
        return Err(AppError::Usage(format!(
            "`{}` matches no id in run {}, whose ids look like `{}`\n  help: capture the part of the id that names the column, e.g. with ([^/]+)",
            pattern.as_str(),
            selected.head.id,
            measurements[0].benchmark.key.id.escape_debug()
        )));
    }
    Ok(PlacedBenchmarks {
        columns,
        rows,
        left_out,
    })
}

/// Draws the groups of a run, two benchmarks per row, into `file`, or to stdout if it is `None`.
fn draw_groups(
    selected: &SelectedRun,
    pattern: &GroupPattern,
    file: Option<&Path>,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    let PlacedBenchmarks { columns, rows, .. } = place_benchmarks(selected, pattern)?;
    let [first, second] = &columns[..] else {
        return Err(AppError::Usage(format!(
            "split violins need two series per row, but `{}` captures {}: {}\n  help: capture two alternatives, e.g. (ser|deser)$",
            pattern.as_str(),
            columns.len(),
            columns.join(", ")
        )));
    };
    let rows = rows.iter().filter_map(|(RowName { name, .. }, found)| {
        let shape = |at: usize| Shape::from_measurement(found.get(&at)?, &ShapeDetail::FULL);
        let metric = &found.values().next()?.benchmark.metric;
        let is_alike = found.values().all(|one| one.benchmark.metric == *metric);
        let halves = [shape(0), shape(1)];
        let is_drawn = is_alike && halves.iter().any(Option::is_some);
        is_drawn.then_some(SplitRow {
            name,
            metric,
            halves,
        })
    });
    let picture = SplitPicture {
        run: selected.head.id,
        series: [first, second],
        rows: rows.collect(),
        note: sum_left_out(&selected.measurements).map(|left_out| left_out.describe()),
    };
    write_result(file, world, |writer| write_split(writer, &picture))
}
