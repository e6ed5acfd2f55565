//! `--pivot`: reads the measurements of all runs, lays them out and fills the cells.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::cells::{CellPlace, CellRules, Layout, PivotEntry, PivotRun};
use super::request::{Dimension, PivotRequest, PivotValue};
use crate::commands::compare::options::CompareCall;
use crate::error::AppError;
use crate::options::StoreOptions;
use crate::output::{PivotFilter, PivotRow, PivotTable, write_pivot};
use crate::session::{World, resolve_run};
use crate::stored::comparison::describe_absurdities;
use perfcheck_analysis::compare::{Readings, sum_left_out};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::Order;
use perfcheck_analysis::model::{
    MannWhitneyMethod, Quantile, RunId, Source, System, Thresholds, natural_cmp,
};

/// Lays out the selected runs.
pub(crate) fn show_pivot(
    asked: &CompareCall<'_>,
    request: &PivotRequest,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let options = asked.options;
    let sorted_by = sort_value(common.output.order(), &request.values)?;
    let mut sides: Vec<PivotRun> = Vec::new();
    for word in std::iter::once(&asked.base).chain(&asked.candidates) {
        let run: RunId = resolve_run(asked.stored.store, asked.stored.workspace, word)?;
        if let Some(same) = sides.iter().find(|side| side.head.id == run) {
            return Err(AppError::Usage(format!(
                "`{}` and `{word}` are the same run ({run}): name it once",
                same.name
            )));
        }
        let head = asked.stored.store.run(run)?;
        sides.push(PivotRun {
            measurements: asked.read_measurements(&head)?,
            name: (*word).to_owned(),
            head,
        });
    }
    refuse_unknown_names(request, &sides)?;
    let comparison = &options.comparison;
    let decision = comparison.decision(&asked.stored.context.tables.workspace);
    let layout = lay_out(request, &sides, decision.analysis.quantile);
    if layout.rows.is_empty() {
        return Err(asked
            .stored
            .nothing_to_compare_error(sides[0].head.id, sides[0].head.id));
    }
    let allowed = &options.comparison.allow_different;
    let seed = options.comparison.seed.unwrap_or(sides[0].head.begun.seed);
    let thresholds = &decision.thresholds;
    let of_method = comparison.analysis.method.map(System::decision_settings);
    let filled = layout.fill(
        request,
        &sides,
        &CellRules {
            allowed,
            thresholds,
            observations: decision.analysis.observations,
            rank_p: (comparison.analysis.rank_p)
                .or(of_method.map(|method| method.analysis.p))
                .unwrap_or(MannWhitneyMethod::AsymptoticCorrected),
            correction: decision.analysis.correction,
            seed,
        },
    )?;
    let mut rows: Vec<PivotRow> = layout
        .rows
        .iter()
        .zip(filled.cells)
        .map(|(labels, cells)| PivotRow {
            labels: labels.clone(),
            cells,
        })
        .collect();
    if let Some(value) = sorted_by {
        let largest = |row: &PivotRow| {
            let cells = row
                .cells
                .iter()
                .filter_map(|cells| cells.get(value)?.number);
            cells.fold(f64::NEG_INFINITY, f64::max)
        };
        rows.sort_by(|a, b| largest(b).total_cmp(&largest(a)));
    }
    let filter = |side: &PivotRun| {
        let left_out = sum_left_out(&side.measurements)?;
        Some(PivotFilter {
            run: side.head.id,
            name: side.name.clone(),
            left_out,
        })
    };
    let filters: Vec<PivotFilter> = sides.iter().filter_map(filter).collect();
    let words = |dimensions: &[Dimension]| dimensions.iter().map(ToString::to_string).collect();
    let table = PivotTable {
        row_names: words(&request.rows),
        column_names: words(&request.cols),
        values: request.values.iter().map(ToString::to_string).collect(),
        columns: layout.columns.clone(),
        rows,
        versus: filled.versus,
        notes: (filled.notes.into_iter())
            .chain(describe_runs(&sides, &filters))
            .collect(),
        filters,
        warnings: filled
            .warnings
            .into_iter()
            .chain(absurd_values(&sides, thresholds))
            .collect(),
    };
    asked.write(&common.output, world, |writer, format, form, view| {
        write_pivot(writer, &table, format, form, view.columns)
    })?;
    Ok(ExitCode::Clean)
}

/// Returns the value to sort rows by, largest first; `None` to sort by labels.
fn sort_value(order: Order, values: &[PivotValue]) -> Result<Option<usize>, AppError> {
    let (word, what, suits): (_, _, fn(PivotValue) -> bool) = match order {
        Order::Name => return Ok(None),
        Order::Change => ("change", "change", PivotValue::is_a_change),
        Order::Time => ("time", "time", PivotValue::is_a_time),
        Order::WorstFirst => {
            return Err(AppError::Usage(
                "`--sort worst` needs verdicts, which a pivot does not have\n  help: `--sort change` and `--sort time` sort by a value of the pivot".to_owned(),
            ));
        }
    };
    let found = values.iter().position(|value| suits(*value));
    let refused = || {
        AppError::Usage(format!(
            "this pivot has no {what}, which `--sort {word}` needs\n  help: add one: `value=...+{word}`"
        ))
    };
    found.map(Some).ok_or_else(refused)
}

/// Returns the names that an import gave to parts of ids and to other dimensions.
fn imported_names(source: &Source) -> impl Iterator<Item = &String> {
    let dimensions = source.dimensions.iter();
    (source.id_parts.iter()).chain(dimensions.map(|dimension| &dimension.name))
}

/// Describes the origin of imported runs and the effect of filters.
fn describe_runs(sides: &[PivotRun], filters: &[PivotFilter]) -> Vec<String> {
    let imports = sides.iter().filter_map(|side| {
        let source = side.head.source.as_ref()?;
        Some(format!(
            "{} was imported ({}).",
            side.name,
            source.summary()
        ))
    });
    let filters = filters
        .iter()
        .map(|filter| format!("{}: {}.", filter.name, filter.left_out.describe()));
    imports.chain(filters).collect()
}

/// Refuses unknown dimensions and lists the known ones.
fn refuse_unknown_names(request: &PivotRequest, sides: &[PivotRun]) -> Result<(), AppError> {
    let sources = sides.iter().filter_map(|side| side.head.source.as_ref());
    let known: Vec<&String> = sources.flat_map(imported_names).collect();
    for dimension in request.rows.iter().chain(&request.cols) {
        if let Dimension::Named(name) = dimension
            && !known.contains(&name)
        {
            let mut names: Vec<&str> = Vec::new();
            for name in &known {
                if !names.contains(&name.as_str()) {
                    names.push(name);
                }
            }
            let imported = if names.is_empty() {
                String::new()
            } else {
                format!("; and of these imported runs {}", names.join(", "))
            };
            return Err(AppError::Usage(format!(
                "`{name}` is not a dimension of a pivot\n  help: dimensions are {}{imported}",
                Dimension::WORDS
            )));
        }
    }
    Ok(())
}

/// A label, preceded by the position of its run among the runs.
type Label = (usize, String);

/// Compares labels; equal only for equal labels.
fn compare_labels(a: &[Label], b: &[Label]) -> Ordering {
    let pairs = a.iter().zip(b);
    pairs
        .map(|((run_a, a), (run_b, b))| run_a.cmp(run_b).then_with(|| natural_cmp(a, b)))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

fn lay_out<'a>(
    request: &PivotRequest,
    sides: &'a [PivotRun],
    quantile: Option<Quantile>,
) -> Layout<'a> {
    let mut places: BTreeMap<CellPlace, Vec<PivotEntry<'a>>> = BTreeMap::new();
    let mut found: Vec<(Vec<Label>, Vec<Label>, PivotEntry<'a>)> = Vec::new();
    for (run, side) in sides.iter().enumerate() {
        for measurement in &side.measurements {
            let Some(readings) = Readings::from_measurement(measurement) else {
                continue;
            };
            let readings = readings.with_quantile(quantile);
            let labels = |dimensions: &[Dimension]| -> Vec<Label> {
                dimensions
                    .iter()
                    .map(|dimension| {
                        let key = &measurement.benchmark.key;
                        let text = dimension.label(&side.name, key, side.head.source.as_ref());
                        // Runs keep the order of the command line.
                        (if *dimension == Dimension::Run { run } else { 0 }, text)
                    })
                    .collect()
            };
            let entry = PivotEntry {
                run,
                measurement,
                readings,
            };
            found.push((labels(&request.rows), labels(&request.cols), entry));
        }
    }
    let distinct = |labels: &mut Vec<Vec<Label>>| {
        labels.sort_by(|a, b| compare_labels(a, b));
        labels.dedup();
    };
    let mut rows: Vec<Vec<Label>> = found.iter().map(|(row, ..)| row.clone()).collect();
    let mut columns: Vec<Vec<Label>> = found.iter().map(|(_, column, _)| column.clone()).collect();
    distinct(&mut rows);
    distinct(&mut columns);
    let place = |labels: &[Vec<Label>], wanted: &[Label]| {
        labels
            .binary_search_by(|at| compare_labels(at, wanted))
            .ok()
    };
    for (row, column, entry) in found {
        if let (Some(row), Some(column)) = (place(&rows, &row), place(&columns, &column)) {
            let place = CellPlace { row, column };
            places.entry(place).or_default().push(entry);
        }
    }
    let texts = |labels: Vec<Vec<Label>>| {
        let texts = labels.into_iter();
        texts
            .map(|labels| labels.into_iter().map(|(_, text)| text).collect())
            .collect()
    };
    Layout {
        rows: texts(rows),
        columns: texts(columns),
        places,
    }
}

/// Returns warnings about absurd values, whose samples the user should inspect.
fn absurd_values(sides: &[PivotRun], thresholds: &Thresholds) -> Vec<String> {
    let sides = sides.iter();
    sides
        .flat_map(|side| describe_absurdities(&side.name, &side.measurements, thresholds))
        .collect()
}
