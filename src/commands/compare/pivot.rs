//! `compare --pivot`: lays out measurements of one or more runs as a pivot table. There are no verdicts.
//!
//! A cell with several benchmarks shows the geometric mean of their values, because the values may differ by orders of magnitude. P-values and effect
//! sizes need single samples, so they exist only for cells with one benchmark. Values relative to a reference exist only if the runs are comparable.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::options::{CompareCall, SelectedRun};
use super::pivot_request::{PivotRequest, PivotValue, Versus};
use crate::error::AppError;
use crate::naming::Dimension;
use crate::options::CommonOptions;
use crate::output::{
    PivotCell, PivotFilter, PivotKind, PivotRow, PivotTable, in_percent, write_pivot,
};
use crate::session::World;
use perfcheck_analysis::compare::{
    Comparability, Difference, Fact, Readings, find_differences, sum_left_out,
};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::Order;
use perfcheck_analysis::model::{
    Measurement, Metric, Observations, Quantile, Source, Statistic, System, TargetFacts,
    Thresholds, natural_cmp,
};
use perfcheck_stats::{
    Correction, EffectSize, GeometricMean, MannWhitney, MannWhitneyMethod, OperationRates,
    cliffs_delta, hedges_g,
};

/// Lays out the selected runs as a pivot table and writes it.
pub(crate) fn show_pivot(
    call: &CompareCall<'_>,
    request: &PivotRequest,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let options = call.options;
    let sorted_by = sort_value(common.output.order(), &request.values)?;
    let sides = call.read_runs()?;
    refuse_unknown_names(request, &sides)?;
    let comparison = &options.comparison;
    let decision = comparison.decision(&call.stored.context.tables.workspace);
    let layout = lay_out(request, &sides, decision.analysis.quantile);
    if layout.rows.is_empty() {
        return Err(call
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
                .skip(value)
                .step_by(request.values.len())
                .filter_map(|cell| cell.number);
            cells.fold(f64::NEG_INFINITY, f64::max)
        };
        rows.sort_by(|a, b| largest(b).total_cmp(&largest(a)));
    }
    let filter = |side: &SelectedRun| {
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
            .chain(
                sides
                    .iter()
                    .flat_map(|side| call.describe_absurdities(side)),
            )
            .collect(),
    };
    call.write(&common.output, world, |writer, format, form, view| {
        write_pivot(writer, &table, format, form, view.columns)
    })?;
    Ok(ExitCode::Clean)
}

/// Returns the index of the value by which rows are sorted, with the largest value first. `None` means that rows are sorted by their labels.
fn sort_value(order: Order, values: &[PivotValue]) -> Result<Option<usize>, AppError> {
    let (word, what, suits): (_, _, fn(PivotValue) -> bool) = match order {
        Order::Name => return Ok(None),
        Order::Change => ("change", "change", PivotValue::is_a_change),
        Order::Time => ("time", "time", PivotValue::is_a_time),
        Order::WorstFirst => {
            return Err(AppError::Usage(
                "`--sort worst` needs verdicts, which a pivot does not have\n  help: use `--sort change` or `--sort time` to sort by a value of the pivot".to_owned(),
            ));
        }
    };
    let found = values.iter().position(|value| suits(*value));
    let refused = || {
        AppError::Usage(format!(
            "`--sort {word}` needs a {what} value in the pivot\n  help: add one: `value=...+{word}`"
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
fn describe_runs(sides: &[SelectedRun], filters: &[PivotFilter]) -> Vec<String> {
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
fn refuse_unknown_names(request: &PivotRequest, sides: &[SelectedRun]) -> Result<(), AppError> {
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
                format!("; for these imported runs, also {}", names.join(", "))
            };
            return Err(AppError::Usage(format!(
                "`{name}` is not a dimension of a pivot\n  help: dimensions are {}{imported}",
                Dimension::WORDS
            )));
        }
    }
    Ok(())
}

/// A label of a row or column. Labels of runs keep the order of the command line.
#[derive(Clone, PartialEq)]
struct Label {
    /// Position of the run on the command line if the label names a run, else 0.
    run: usize,
    text: String,
}

/// Compares labels. Returns `Equal` only for equal labels.
fn compare_labels(a: &[Label], b: &[Label]) -> Ordering {
    let pairs = a.iter().zip(b);
    pairs
        .map(|(a, b)| {
            a.run
                .cmp(&b.run)
                .then_with(|| natural_cmp(&a.text, &b.text))
        })
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

fn lay_out<'a>(
    request: &PivotRequest,
    sides: &'a [SelectedRun],
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
                        Label {
                            run: if *dimension == Dimension::Run { run } else { 0 },
                            text: dimension.label(&side.name, key, side.head.source.as_ref()),
                        }
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
            places
                .entry(CellPlace { row, column })
                .or_default()
                .push(entry);
        }
    }
    let texts = |labels: Vec<Vec<Label>>| {
        let texts = labels.into_iter();
        texts
            .map(|labels| labels.into_iter().map(|label| label.text).collect())
            .collect()
    };
    Layout {
        rows: texts(rows),
        columns: texts(columns),
        places,
    }
}

/// The measurement of a benchmark in one run. `run` is the position of the run on the command line.
struct PivotEntry<'a> {
    run: usize,
    measurement: &'a Measurement,
    readings: Readings<'a>,
}

/// The rules by which the cells of a pivot are filled.
struct CellRules<'a> {
    /// Facts that may differ between two runs without making them incomparable.
    allowed: &'a [Fact],
    /// The limits that decide which label an effect size gets.
    thresholds: &'a Thresholds,
    /// Whether p-values are computed from all samples, or only from those that the outlier filter keeps. All other values are computed only from
    /// samples that the filter keeps.
    observations: Observations,
    /// The method that computes the p-values of the Mann-Whitney test.
    rank_p: MannWhitneyMethod,
    /// Correction of p-values for the number of cells.
    correction: Correction,
    /// Seed of statistics that draw random numbers.
    seed: u64,
}

/// The position of a cell in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct CellPlace {
    row: usize,
    column: usize,
}

/// The assignment of benchmarks to cells.
struct Layout<'a> {
    rows: Vec<Vec<String>>,
    columns: Vec<Vec<String>>,
    /// The benchmarks of each cell.
    places: BTreeMap<CellPlace, Vec<PivotEntry<'a>>>,
}

/// The values of all cells of a pivot, with notes and warnings for the user.
struct PivotValues {
    /// The cells of each row, column by column.
    cells: Vec<Vec<PivotCell>>,
    versus: Option<String>,
    notes: Vec<String>,
    warnings: Vec<String>,
}

impl<'a> Layout<'a> {
    fn entries(&self, at: CellPlace) -> &[PivotEntry<'a>] {
        self.places.get(&at).map_or(&[], Vec::as_slice)
    }

    fn fill(
        &self,
        request: &PivotRequest,
        sides: &[SelectedRun],
        rules: &CellRules<'_>,
    ) -> Result<PivotValues, AppError> {
        let seed = rules.seed;
        self.refuse_several(request)?;
        let versus = request.reference();
        let mut blocking: Vec<Difference> = Vec::new();
        let mut cells = Vec::new();
        for row in 0..self.rows.len() {
            let mut of_row = Vec::new();
            for column in 0..self.columns.len() {
                let here = CellPlace { row, column };
                let reference = self.reference(here, versus, seed);
                let against = reference.map(|at| (at == here, self.entries(at)));
                let differing = against.map_or_else(Vec::new, |(_, base)| {
                    find_blocking_differences(self.entries(here), base, sides, rules.allowed)
                });
                let cell = |value: &PivotValue| {
                    let entries = self.entries(here);
                    let mut cell = match against {
                        _ if !value.is_relative() => descriptive_cell(*value, entries, seed),
                        Some((is_reference, base)) if differing.is_empty() => {
                            relative_cell(*value, entries, base, is_reference, rules)
                        }
                        _ => PivotCell {
                            is_incomparable: !differing.is_empty(),
                            ..PivotCell::default()
                        },
                    };
                    cell.column.clone_from(&self.columns[column]);
                    cell.value = value.to_string();
                    cell.benchmarks = entries.len();
                    cell
                };
                of_row.extend(request.values.iter().map(cell));
                for difference in differing {
                    if !blocking.contains(&difference) {
                        blocking.push(difference);
                    }
                }
            }
            cells.push(of_row);
        }
        adjust(request, &mut cells, rules);
        let relative = request.values.iter().any(|value| value.is_relative());
        Ok(PivotValues {
            cells,
            versus: relative.then(|| versus.to_string()),
            notes: self.notes(request, versus, rules),
            warnings: if relative {
                let each = blocking.into_iter();
                each.map(|Difference { fact, candidate, base }| {
                    format!("not comparable: {fact} {base}->{candidate}; use --allow-different {fact} to compare anyway")
                })
                .collect()
            } else {
                Vec::new()
            },
        })
    }

    /// Refuses values that need single samples if a cell has several benchmarks: their samples cannot be pooled.
    fn refuse_several(&self, request: &PivotRequest) -> Result<(), AppError> {
        let Some(value) = request.values.iter().find(|value| value.is_of_samples()) else {
            return Ok(());
        };
        let Some((at, entries)) = self.places.iter().find(|(_, entries)| entries.len() > 1) else {
            return Ok(());
        };
        let name = |labels: &[String]| labels.join(" / ");
        let mut ids: Vec<&str> = entries
            .iter()
            .map(|entry| entry.measurement.benchmark.key.id.as_str())
            .collect();
        ids.dedup();
        let missing = if ids.len() == 1 {
            "cols=run"
        } else {
            "rows=id"
        };
        let more = if ids.len() > 2 { ", ..." } else { "" };
        ids.truncate(2);
        Err(AppError::Usage(format!(
            "`{value}` needs one benchmark and one run per cell, but `{}` has {}: {}{more}\n  help: tell them apart with another dimension in rows or cols, e.g. {missing}, or select fewer with --filter",
            [name(&self.rows[at.row]), name(&self.columns[at.column])]
                .join(" / ")
                .trim_end_matches(" / "),
            entries.len(),
            ids.join(", ")
        )))
    }

    /// Returns the reference cell for the relative values of the cell `here`.
    fn reference(&self, here: CellPlace, versus: Versus, seed: u64) -> Option<CellPlace> {
        let fastest = |places: &mut dyn Iterator<Item = CellPlace>| {
            places
                .filter_map(|at| Some((at, mean_cost(self.entries(at), seed)?)))
                .min_by(|a, b| a.1.total_cmp(&b.1))
                .map(|(at, _)| at)
        };
        match versus {
            Versus::FirstColumn => Some(CellPlace { column: 0, ..here }),
            Versus::FirstRow => Some(CellPlace { row: 0, ..here }),
            Versus::FastestInColumn => {
                fastest(&mut (0..self.rows.len()).map(|row| CellPlace { row, ..here }))
            }
            Versus::FastestInRow => {
                fastest(&mut (0..self.columns.len()).map(|column| CellPlace { column, ..here }))
            }
        }
    }

    fn notes(&self, request: &PivotRequest, versus: Versus, rules: &CellRules<'_>) -> Vec<String> {
        let mut notes = Vec::new();
        let several = self
            .places
            .values()
            .filter(|entries| entries.len() > 1)
            .count();
        if several > 0 {
            notes.push(format!(
                "Cells with several benchmarks or runs show their geometric mean (for `samples`, the sum): {several} of {}.",
                self.places.len()
            ));
        }
        if request.values.iter().any(|value| value.is_relative()) {
            let ratios = [PivotValue::Ratio, PivotValue::Change];
            let of_means = if ratios.iter().any(|value| request.values.contains(value)) {
                " `ratio` and `change` compare means."
            } else {
                ""
            };
            let of_ops = if request.values.contains(&PivotValue::OpsRatio) {
                " `ratio-ops` compares operations per second, so above 1 is better."
            } else {
                ""
            };
            notes.push(format!(
                "Relative to {}; ratios above 1 and positive differences are worse.{of_means}{of_ops} These are not verdicts.",
                versus.in_words()
            ));
        }
        if request.values.contains(&PivotValue::PValue) {
            let exploratory = if versus.is_selected() {
                " Exploratory: choosing the fastest as the reference makes p too small."
            } else {
                ""
            };
            let adjusted = match rules.correction {
                Correction::Holm => "adjusted for all cells (Holm)",
                Correction::BenjaminiHochberg => "adjusted for all cells (Benjamini-Hochberg)",
                Correction::Unadjusted => "not adjusted for the number of cells",
            };
            let without_ties = if rules.rank_p == MannWhitneyMethod::Exact {
                " Cells with tied values have no exact p."
            } else {
                ""
            };
            let of = match rules.observations {
                Observations::Samples => "all samples, including those that a filter leaves out",
                Observations::Processes | Observations::Filtered => "the samples in the cells",
            };
            notes.push(format!(
                "p: two-sided Mann-Whitney test ({}) of {of}, {adjusted}, significant below {}. Samples of one process are not independent, so p is too small if processes differ.{without_ties}{exploratory}",
                rules.rank_p,
                in_percent(rules.thresholds.test_level)
            ));
        }
        notes
    }
}

/// Returns the mean of a cell, transformed so that less is better. Returns `None` if the cell has no benchmarks or their metrics differ.
fn mean_cost(entries: &[PivotEntry<'_>], seed: u64) -> Option<f64> {
    let metric = common_metric(entries)?;
    let mean = geometric(
        entries
            .iter()
            .map(|entry| entry.readings.value(Statistic::Mean, seed)),
    )?;
    Some(match metric {
        Metric::Rate { .. } => 1.0 / mean,
        Metric::Time | Metric::Amount { .. } => mean,
    })
}

fn common_metric<'a>(entries: &[PivotEntry<'a>]) -> Option<&'a Metric> {
    let first = entries.first()?.readings.metric();
    let same = entries.iter().all(|entry| entry.readings.metric() == first);
    same.then_some(first)
}

/// Returns the value of a single benchmark, or the geometric mean of several. Returns `None` if any value is missing.
fn geometric(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    if let [only] = values[..] {
        return Some(only);
    }
    let mean = GeometricMean::compute(&values)?;
    (mean.excluded == 0).then_some(mean.mean)
}

fn descriptive_cell(value: PivotValue, entries: &[PivotEntry<'_>], seed: u64) -> PivotCell {
    let Some(metric) = common_metric(entries) else {
        return PivotCell::default();
    };
    let figure = |figure| {
        geometric(
            entries
                .iter()
                .map(|entry| entry.readings.value(figure, seed)),
        )
    };
    let rate = |pick: fn(OperationRates) -> f64| {
        let times = *metric == Metric::Time;
        let rates = entries
            .iter()
            .map(|entry| OperationRates::from_times(&entry.readings.costs()).map(pick));
        if times { geometric(rates) } else { None }
    };
    let (number, kind) = match value {
        PivotValue::Time => (figure(Statistic::Mean), PivotKind::Metric(metric.clone())),
        PivotValue::Statistic(Statistic::Variation) => {
            (figure(Statistic::Variation), PivotKind::Share)
        }
        PivotValue::Statistic(found) => (figure(found), PivotKind::Metric(metric.clone())),
        PivotValue::Ops => match metric {
            Metric::Rate { .. } => (figure(Statistic::Mean), PivotKind::Metric(metric.clone())),
            Metric::Amount { .. } => (None, PivotKind::OperationRate),
            Metric::Time => {
                let mean = figure(Statistic::Mean);
                let ops = mean.filter(|mean| *mean > 0.0).map(|mean| 1e9 / mean);
                (ops, PivotKind::OperationRate)
            }
        },
        PivotValue::MinOps => (rate(|rates| rates.least), PivotKind::OperationRate),
        PivotValue::MaxOps => (rate(|rates| rates.most), PivotKind::OperationRate),
        PivotValue::Samples => {
            let samples: usize = entries
                .iter()
                .map(|entry| entry.readings.values().len())
                .sum();
            (Some(samples as f64), PivotKind::Count)
        }
        PivotValue::Ratio
        | PivotValue::Change
        | PivotValue::StatisticRatio(_)
        | PivotValue::OpsRatio
        | PivotValue::CliffsDelta
        | PivotValue::HedgesG
        | PivotValue::PValue => (None, PivotKind::default()),
    };
    PivotCell {
        number: number.filter(|number| number.is_finite()),
        kind,
        ..PivotCell::default()
    }
}

/// Computes a value relative to the reference. The reference itself has no p-value.
fn relative_cell(
    value: PivotValue,
    candidate: &[PivotEntry<'_>],
    base: &[PivotEntry<'_>],
    is_reference: bool,
    rules: &CellRules<'_>,
) -> PivotCell {
    let seed = rules.seed;
    let same_kind = common_metric(candidate)
        .zip(common_metric(base))
        .is_some_and(|(candidate, base)| candidate == base);
    // A ratio requires the same metric and the same number of benchmarks on both sides.
    if !same_kind || candidate.len() != base.len() {
        return PivotCell::default();
    }
    let ratio = || {
        let ratio = mean_cost(candidate, seed)? / mean_cost(base, seed)?;
        ratio.is_finite().then_some(ratio)
    };
    let samples = |entries: &[PivotEntry<'_>]| -> Vec<f64> {
        entries
            .iter()
            .flat_map(|entry| entry.readings.costs())
            .collect()
    };
    let (number, kind) = match value {
        PivotValue::Ratio => (ratio(), PivotKind::Ratio),
        PivotValue::Change => (ratio().map(|ratio| ratio - 1.0), PivotKind::Change),
        PivotValue::OpsRatio => (ratio().map(f64::recip), PivotKind::Ratio),
        PivotValue::StatisticRatio(statistic) => {
            let ratio = statistic_ratio(statistic, candidate, base, seed);
            (ratio, PivotKind::Ratio)
        }
        PivotValue::CliffsDelta => (
            cliffs_delta(&samples(candidate), &samples(base)),
            PivotKind::Effect,
        ),
        PivotValue::HedgesG => (
            hedges_g(&samples(candidate), &samples(base)),
            PivotKind::Effect,
        ),
        PivotValue::PValue if is_reference => (None, PivotKind::PValue),
        PivotValue::PValue => {
            let tested = |entries: &[PivotEntry<'_>]| match rules.observations {
                Observations::Samples => {
                    let all = entries.iter().map(|entry| entry.readings.all_costs());
                    all.collect::<Vec<_>>().concat()
                }
                Observations::Processes | Observations::Filtered => samples(entries),
            };
            let test = MannWhitney::from_groups(&tested(candidate), &tested(base));
            let p = test.and_then(|test| test.p_value(rules.rank_p));
            (p, PivotKind::PValue)
        }
        _ => (None, PivotKind::default()),
    };
    let thresholds = rules.thresholds;
    let bounds = [
        thresholds.cliff_negligible,
        thresholds.cliff_small,
        thresholds.cliff_medium,
    ];
    let word = (value == PivotValue::CliffsDelta)
        .then(|| number.map(|delta| EffectSize::classify(delta, bounds).label()));
    PivotCell {
        number,
        kind,
        word: word.flatten(),
        is_reference,
        ..PivotCell::default()
    }
}

/// Returns the ratio of a statistic to the same statistic of the reference. For rates, the ratio is inverted unless the statistic is a spread, so
/// that a ratio above 1 is worse.
fn statistic_ratio(
    statistic: Statistic,
    candidate: &[PivotEntry<'_>],
    base: &[PivotEntry<'_>],
    seed: u64,
) -> Option<f64> {
    let value = |entries: &[PivotEntry<'_>]| {
        let entries = entries.iter();
        geometric(entries.map(|entry| entry.readings.value(statistic, seed)))
    };
    let ratio = value(candidate)? / value(base)?;
    let is_rate = matches!(common_metric(base)?, Metric::Rate { .. });
    let ratio = if is_rate && !statistic.is_spread() {
        ratio.recip()
    } else {
        ratio
    };
    ratio.is_finite().then_some(ratio)
}

/// Corrects all p-values for the number of cells in the table, and marks those that are significant.
fn adjust(request: &PivotRequest, cells: &mut [Vec<PivotCell>], rules: &CellRules<'_>) {
    let Some(at) = request
        .values
        .iter()
        .position(|value| *value == PivotValue::PValue)
    else {
        return;
    };
    let values = request.values.len();
    let mut tested: Vec<&mut PivotCell> = cells
        .iter_mut()
        .flat_map(|row| row.iter_mut().skip(at).step_by(values))
        .filter(|cell| cell.number.is_some())
        .collect();
    let p: Vec<f64> = tested.iter().filter_map(|cell| cell.number).collect();
    for (cell, adjusted) in tested.iter_mut().zip(rules.correction.adjust(&p)) {
        cell.number = Some(adjusted);
        cell.word = (adjusted < rules.thresholds.test_level).then_some("significant");
    }
}

/// Returns the differences that make two cells incomparable.
fn find_blocking_differences(
    candidate: &[PivotEntry<'_>],
    base: &[PivotEntry<'_>],
    sides: &[SelectedRun],
    allowed: &[Fact],
) -> Vec<Difference> {
    let (Some(candidate), Some(base)) = (candidate.first(), base.first()) else {
        return Vec::new();
    };
    if candidate.run == base.run {
        return Vec::new();
    }
    let same_benchmark = candidate.measurement.benchmark.key == base.measurement.benchmark.key;
    // Features and versions are facts of one benchmark, so they are not compared between different benchmarks.
    let target = |entry: &PivotEntry<'_>| {
        if same_benchmark {
            entry.measurement.target_facts.clone()
        } else {
            TargetFacts::default()
        }
    };
    let (candidate_target, base_target) = (target(candidate), target(base));
    let version = |entry: &PivotEntry<'_>| {
        let version = entry.measurement.benchmark.version.clone();
        version.filter(|_| same_benchmark)
    };
    let (candidate_version, base_version) = (version(candidate), version(base));
    find_differences(
        &Comparability {
            environment: &sides[candidate.run].head.begun.environment,
            target: &candidate_target,
            version: candidate_version.as_deref(),
            metric: &candidate.measurement.benchmark.metric,
        },
        &Comparability {
            environment: &sides[base.run].head.begun.environment,
            target: &base_target,
            version: base_version.as_deref(),
            metric: &base.measurement.benchmark.metric,
        },
    )
    .allowing(allowed)
    .blocking
}
