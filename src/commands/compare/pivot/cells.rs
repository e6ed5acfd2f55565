//! Layout and values of a pivot's cells.
//!
//! A cell of several benchmarks shows their geometric mean, as they may differ by orders of magnitude. Values that need single samples exist only for
//! cells with one benchmark, and relative values only for comparable runs.

use std::collections::BTreeMap;

use super::request::{PivotRequest, PivotValue, Versus};
use crate::error::AppError;
use crate::output::{PivotCell, PivotKind, in_percent};
use perfcheck_analysis::compare::{Comparability, Difference, Fact, Readings, find_differences};
use perfcheck_analysis::model::{
    Measurement, Metric, Observations, Run, Statistic, TargetFacts, Thresholds,
};
use perfcheck_stats::{
    Correction, EffectSize, GeometricMean, MannWhitney, MannWhitneyMethod, OperationRates,
    cliffs_delta, hedges_g,
};

/// A run in a pivot.
pub(super) struct PivotRun {
    pub(super) head: Run,
    pub(super) name: String,
    pub(super) measurements: Vec<Measurement>,
}

/// A benchmark of a run.
pub(super) struct PivotEntry<'a> {
    pub(super) run: usize,
    pub(super) measurement: &'a Measurement,
    pub(super) readings: Readings<'a>,
}

/// The rules for filling cells.
pub(super) struct CellRules<'a> {
    /// Facts that may differ between runs
    pub(super) allowed: &'a [Fact],
    /// Limits for the labels of effect sizes
    pub(super) thresholds: &'a Thresholds,
    /// Samples for p-values: all of them, or like other values only the filtered ones
    pub(super) observations: Observations,
    /// Method for p-values
    pub(super) rank_p: MannWhitneyMethod,
    /// Correction of p-values for the number of cells
    pub(super) correction: Correction,
    /// Seed of randomized statistics
    pub(super) seed: u64,
}

/// The place of a cell in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CellPlace {
    pub(super) row: usize,
    pub(super) column: usize,
}

/// The assignment of benchmarks to cells.
pub(super) struct Layout<'a> {
    pub(super) rows: Vec<Vec<String>>,
    pub(super) columns: Vec<Vec<String>>,
    pub(super) places: BTreeMap<CellPlace, Vec<PivotEntry<'a>>>,
}

/// The values of a layout, with notes and warnings.
pub(super) struct PivotValues {
    /// Cells by row, column and value
    pub(super) cells: Vec<Vec<Vec<PivotCell>>>,
    pub(super) versus: Option<String>,
    pub(super) notes: Vec<String>,
    pub(super) warnings: Vec<String>,
}

impl<'a> Layout<'a> {
    fn entries(&self, at: CellPlace) -> &[PivotEntry<'a>] {
        self.places.get(&at).map_or(&[], Vec::as_slice)
    }

    /// Computes every cell.
    pub(super) fn fill(
        &self,
        request: &PivotRequest,
        sides: &[PivotRun],
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
                    cell.benchmarks = entries.len();
                    cell
                };
                of_row.push(request.values.iter().map(cell).collect());
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
                    format!("not comparable: {fact} {base}->{candidate}; --allow-different {fact} compares all the same")
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
            "`{value}` needs one benchmark and one run per cell, but `{}` holds {}: {}{more}\n  help: add the dimension in which they differ to rows or cols, e.g. {missing}, or select with --filter",
            [name(&self.rows[at.row]), name(&self.columns[at.column])]
                .join(" / ")
                .trim_end_matches(" / "),
            entries.len(),
            ids.join(", ")
        )))
    }

    /// Returns the cell that a cell is relative to.
    fn reference(&self, here: CellPlace, versus: Versus, seed: u64) -> Option<CellPlace> {
        let fastest = |places: &mut dyn Iterator<Item = CellPlace>| {
            places
                .filter_map(|at| Some((at, mean_cost(self.entries(at), seed)?)))
                .min_by(|a, b| a.1.total_cmp(&b.1))
                .map(|(at, _)| at)
        };
        let CellPlace { row, column } = here;
        match versus {
            Versus::FirstColumn => Some(CellPlace { row, column: 0 }),
            Versus::FirstRow => Some(CellPlace { row: 0, column }),
            Versus::FastestInColumn => {
                fastest(&mut (0..self.rows.len()).map(|row| CellPlace { row, column }))
            }
            Versus::FastestInRow => {
                fastest(&mut (0..self.columns.len()).map(|column| CellPlace { row, column }))
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
                "{several} of {} cells combine several benchmarks or runs, as their geometric mean (samples: their sum).",
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
                " `ratio-ops` compares operations per second: above 1 is better there."
            } else {
                ""
            };
            notes.push(format!(
                "Relative to {}; above 1 and plus are worse.{of_means}{of_ops} These are not verdicts.",
                versus.in_words()
            ));
        }
        if request.values.contains(&PivotValue::PValue) {
            let exploratory = if versus.is_selected() {
                " Exploratory: the reference was chosen for being the fastest, which makes p smaller than it is."
            } else {
                ""
            };
            let adjusted = match rules.correction {
                Correction::Holm => "adjusted for all cells (Holm)",
                Correction::BenjaminiHochberg => "adjusted for all cells (Benjamini-Hochberg)",
                Correction::Unadjusted => "not adjusted for the number of cells",
            };
            let without_ties = if rules.rank_p == MannWhitneyMethod::Exact {
                " Cells with equal values have no exact p."
            } else {
                ""
            };
            let of = match rules.observations {
                Observations::Samples => "all samples, including those that a filter leaves out",
                Observations::Launches | Observations::Filtered => "the samples in the cells",
            };
            notes.push(format!(
                "p: Mann-Whitney test ({}) of {of}, two-sided, {adjusted}, significant below {}. Samples of one process are not independent, so p is too small if processes differ.{without_ties}{exploratory}",
                rules.rank_p,
                in_percent(rules.thresholds.test_level)
            ));
        }
        notes
    }
}

/// Returns the mean of a cell, transformed so that less is better; `None` without benchmarks or with mixed metrics.
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

/// Returns the value of a single benchmark, or the geometric mean of several; `None` if any value is missing.
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

/// Computes a value relative to the reference. The reference's difference to itself is zero.
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
                Observations::Launches | Observations::Filtered => samples(entries),
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

/// Returns the ratio of a statistic to that of the reference, inverted for rates.
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

/// Adjusts the p-values of all cells together and marks significant ones.
fn adjust(request: &PivotRequest, cells: &mut [Vec<Vec<PivotCell>>], rules: &CellRules<'_>) {
    let Some(at) = request
        .values
        .iter()
        .position(|value| *value == PivotValue::PValue)
    else {
        return;
    };
    let mut tested: Vec<&mut PivotCell> = cells
        .iter_mut()
        .flatten()
        .filter_map(|cell| cell.get_mut(at))
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
    sides: &[PivotRun],
    allowed: &[Fact],
) -> Vec<Difference> {
    let (Some(candidate), Some(base)) = (candidate.first(), base.first()) else {
        return Vec::new();
    };
    if candidate.run == base.run {
        return Vec::new();
    }
    let same_benchmark = candidate.measurement.benchmark.key == base.measurement.benchmark.key;
    // Features and versions are facts of one benchmark, so they cannot be compared between two.
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
