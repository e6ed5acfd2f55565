//! Measurements of the run whose benchmarks are grouped, and their rows and columns.

use std::collections::BTreeMap;

use super::pattern::{GroupPattern, GroupPlace};
use crate::app::commands::compare::asked::CompareCall;
use crate::app::context::{World, resolve_run};
use crate::app::error::AppError;
use crate::app::stored::imported::describe_absurdities;
use crate::report::write_warning;
use perfcheck_analysis::model::{Measurement, RunId, natural_cmp};

/// Benchmarks by row name (package and target, then the rest of the id) and column.
pub(super) type GroupedRows<'m> =
    BTreeMap<(String, String, String), BTreeMap<usize, &'m Measurement>>;

/// The selected measurements of a run.
pub(super) struct GroupedRun {
    pub(super) run: RunId,
    pub(super) measurements: Vec<Measurement>,
}

/// Reads the selected run and warns of absurd values.
pub(super) fn read_run(
    asked: &CompareCall<'_>,
    world: &mut World<'_>,
) -> Result<GroupedRun, AppError> {
    let run = resolve_run(asked.stored.store, asked.stored.workspace, asked.base)?;
    let measurements = asked.read_measurements(&asked.stored.store.run(run)?)?;
    if measurements.is_empty() {
        return Err(asked.stored.nothing_to_compare_error(run, run));
    }
    let thresholds = &asked.stored.context.tables.workspace.thresholds;
    for said in describe_absurdities(asked.base, &measurements, thresholds) {
        write_warning(world.stderr, &said)?;
    }
    Ok(GroupedRun { run, measurements })
}

/// Returns column names, rows, and the number of unmatched benchmarks. Fails if two benchmarks share a cell, since one would hide the other.
pub(super) fn place_benchmarks<'m>(
    run: RunId,
    measurements: &'m [Measurement],
    pattern: &GroupPattern,
) -> Result<(Vec<String>, GroupedRows<'m>, usize), AppError> {
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
    let mut rows = GroupedRows::new();
    let left_out = measurements.len() - found.len();
    for (place, measurement) in found {
        let key = &measurement.benchmark.key;
        let name = (key.package.clone(), key.target.clone(), place.row);
        let Some(column) = columns.iter().position(|known| *known == place.column) else {
            continue;
        };
        let before = rows.entry(name).or_default().insert(column, measurement);
        if let Some(before) = before {
            return Err(AppError::Usage(format!(
                "`{}` puts `{}` and `{}` into one cell\n  help: fewer or other groups tell them apart",
                pattern.as_str(),
                before.benchmark.key.id.escape_debug(),
                key.id.escape_debug()
            )));
        }
    }
    if rows.is_empty() {
        return Err(AppError::Usage(format!(
            "`{}` matches no id of run {run}, such as `{}`\n  help: its first group, e.g. ([^/]+), captures what columns are told apart by",
            pattern.as_str(),
            measurements[0].benchmark.key.id.escape_debug()
        )));
    }
    Ok((columns, rows, left_out))
}
