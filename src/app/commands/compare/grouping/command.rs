//! `--group-by`: compares the benchmarks of each row with the fastest one.

use std::collections::BTreeMap;

use super::gathered::{place_benchmarks, read_run};
use super::pattern::GroupPattern;
use super::split::draw_groups;
use crate::app::commands::compare::asked::CompareCall;
use crate::app::context::World;
use crate::app::deliver::reports::RequestedReportKind;
use crate::app::error::AppError;
use crate::app::options::StoreOptions;
use crate::report::{GroupComparison, GroupedCell, GroupedRow, write_grouped};
use perfcheck_analysis::compare::{ProcessMedians, rank_against_fastest, sum_left_out};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::Order;
use perfcheck_analysis::model::{Measurement, natural_cmp};
use perfcheck_stats::GeometricMean;

/// Groups the benchmarks of the selected run.
pub(in crate::app) fn group_by(
    asked: &CompareCall<'_>,
    pattern: &GroupPattern,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let options = asked.options;
    let gathered = read_run(asked, world)?;
    for wanted in &options.reports.wanted {
        if wanted.kind == RequestedReportKind::Picture {
            draw_groups(&gathered, pattern, wanted.file.as_deref(), world)?;
        }
    }
    let measurements = &gathered.measurements;
    let run = gathered.run;
    let (columns, rows, left_out) = place_benchmarks(run, measurements, pattern)?;
    let settings = options
        .comparison
        .decision(&asked.stored.context.tables.workspace);
    let level = 1.0 - settings.confidence_level;
    let placed = measurements.len() - left_out;
    let mut rows: Vec<GroupedRow> = rows
        .into_iter()
        .map(|((package, target, name), found)| {
            let cells = cells(&found, columns.len(), level);
            let metric = found
                .values()
                .next()
                .map(|one| one.benchmark.metric.clone());
            GroupedRow {
                package,
                target,
                name,
                metric: metric.unwrap_or_default(),
                cells,
            }
        })
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
        name: asked.base.to_owned(),
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
    asked.write(&common.output, world, |writer, format, form, view| {
        write_grouped(writer, &grouped, format, form, view.columns)
    })?;
    Ok(ExitCode::Clean)
}

/// Returns the geometric mean of each column's ratios to the fastest of the row, over complete rows. `None` if fewer than two rows are complete.
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

/// Builds a cell for each column. Benchmarks with a different metric than the first one of the row leave their cells empty.
fn cells(
    found: &BTreeMap<usize, &Measurement>,
    columns: usize,
    level: f64,
) -> Vec<Option<GroupedCell>> {
    let metric = found.values().next().map(|first| &first.benchmark.metric);
    let alike = |at: usize| {
        let one = found.get(&at)?;
        (Some(&one.benchmark.metric) == metric).then_some(*one)
    };
    let values: Vec<ProcessMedians> = (0..columns)
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
                id: alike(at)?.benchmark.key.id.clone(),
                launches: values[at].tested.len(),
                contender: contender?,
            })
        })
        .collect()
}
