//! `compare A B C ...`: shows many runs in columns, each compared separately with the first run.

use std::collections::{BTreeMap, BTreeSet};

use super::options::{CompareCall, SelectedRun};
use crate::error::AppError;
use crate::options::CommonOptions;
use crate::output::{
    ColumnCell, ColumnGeometricMean, ColumnStatistic, ColumnsLine, RunColumn, RunTable,
    ShownStatistics, write_columns, write_warning,
};
use crate::session::{NamedRun, World};
use crate::stored::comparison::incomplete_note;
use perfcheck_analysis::compare::{
    Comparison, Difference, GateGroup, Question, Readings, Reference, TestPolicy,
    compare_across_runs, sum_left_out,
};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::{
    ComparisonContext, Conclusion, LimitReport, Method, Order, Row, RunNote, SortKey,
};
use perfcheck_analysis::model::{
    BenchmarkKey, Measurement, Metric, Quantile, Run, Statistic, Tally, Test, Verdict,
};
use perfcheck_stats::GeometricMean;

/// A compared run with its measurements and verdicts.
struct ComparedRun {
    head: Run,
    name: String,
    measurements: BTreeMap<BenchmarkKey, Measurement>,
    judged: BTreeMap<BenchmarkKey, BenchmarkJudgement>,
    remarks: Vec<RunNote>,
    /// How the verdicts of the run were reached. `None` for the reference, and for a run that has nothing to compare.
    verdicts: Option<ComparisonContext>,
}

impl ComparedRun {
    /// Creates a run without verdicts. The reference has none, and for other runs they are added later.
    fn from_selected(run: SelectedRun) -> Self {
        let measurements = run.measurements.into_iter();
        Self {
            head: run.head,
            name: run.name,
            measurements: measurements
                .map(|measurement| (measurement.benchmark.key.clone(), measurement))
                .collect(),
            judged: BTreeMap::new(),
            remarks: Vec::new(),
            verdicts: None,
        }
    }

    /// Returns how the verdicts of the run were reached, provided that they come from a comparison with stored numbers. Returns `None` if the run has
    /// no verdicts, or if it was measured side by side with the reference.
    fn stored_context(&self) -> Option<&ComparisonContext> {
        let verdicts = self.verdicts.as_ref();
        verdicts.filter(|verdicts| verdicts.method != Method::Paired)
    }
}

/// The result of the comparison with the reference for one benchmark.
struct BenchmarkJudgement {
    verdict: Option<Verdict>,
    comparison: Option<Comparison>,
    blocking: Vec<Difference>,
}

/// Compares all selected runs and writes the table.
pub(crate) fn compare_columns(
    call: &CompareCall<'_>,
    shown: ShownStatistics,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let options = call.options;
    let mut sides: Vec<ComparedRun> = Vec::new();
    for run in call.read_runs()? {
        for warning in call.describe_absurdities(&run) {
            write_warning(world.stderr, &warning)?;
        }
        sides.push(match sides.first() {
            None => ComparedRun::from_selected(run),
            Some(base) => compare_run(call, base, run, world)?,
        });
    }
    let mut lines = build_lines(call, &sides, shown, common.output.order());
    if lines.is_empty() {
        let base = sides[0].head.id;
        return Err(call.stored.nothing_to_compare_error(base, base));
    }
    let settings = &call.stored.context.tables.workspace;
    let fail_on = options.comparison.failure.fail_on(settings);
    let mut exit_code = ExitCode::Clean;
    let mut columns = Vec::new();
    for (at, side) in sides.iter().enumerate() {
        let verdicts = side.verdicts.as_ref();
        let all = lines.iter().filter_map(|line| line.cells[at].verdict);
        let tally: Tally = all.collect();
        if at > 0 {
            exit_code = exit_code.worst_of(ExitCode::from_tally(&tally, &fail_on, true));
        }
        if let Some(verdicts) = verdicts {
            exit_code = exit_code.worst_of(verdicts.limits.exit_code());
        }
        columns.push(RunColumn {
            run: side.head.id,
            name: side.name.clone(),
            method: verdicts.map(|verdicts| verdicts.method),
            tally,
            warnings: verdicts.map_or_else(Vec::new, |verdicts| verdicts.warnings.clone()),
            remarks: side.remarks.clone(),
            limits: verdicts.map_or_else(LimitReport::default, |found| found.limits.clone()),
            left_out: sum_left_out(side.measurements.values()),
            together: (at > 0).then(|| column_mean(&lines, at, shown)).flatten(),
        });
    }
    let all = lines.len();
    if common.output.only.is_some() {
        lines.retain(|line| {
            let mut verdicts = line.cells.iter().map(|cell| cell.verdict);
            verdicts.any(|verdict| common.output.shows(verdict))
        });
    }
    let found = RunTable {
        shown,
        terms: options.terms,
        columns,
        hidden: all - lines.len(),
        lines,
        // Show the settings that a comparison used. For imported runs, these may differ from the settings of the command line.
        decision: sides
            .iter()
            .find_map(ComparedRun::stored_context)
            .map_or_else(
                || options.comparison.decision(settings),
                |verdicts| verdicts.decision,
            ),
        exit_code: exit_code.number(),
    };
    call.write(&common.output, world, |writer, format, form, view| {
        write_columns(writer, &found, format, form, view.columns)
    })?;
    Ok(exit_code)
}

/// Compares a run with the reference.
fn compare_run(
    call: &CompareCall<'_>,
    base: &ComparedRun,
    run: SelectedRun,
    world: &mut World<'_>,
) -> Result<ComparedRun, AppError> {
    let comparison = &call.stored;
    let both = comparison.read(
        NamedRun::new(base.head.id, &base.name),
        &NamedRun::new(run.head.id, &run.name),
    )?;
    let count = both.measured.candidate.len();
    let concluded = world.with_progress("Comparing", count, |progress| {
        comparison.conclude(&both, progress)
    });
    let mut compared = ComparedRun::from_selected(run);
    match concluded {
        // Other runs may have benchmarks in common with the reference, so this is not an error.
        Err(AppError::NothingToCompare(_)) => {}
        Err(error) => return Err(error),
        Ok(Conclusion { rows, verdicts, .. }) => {
            compared.judged = judgements_by_key(rows);
            // Each column shows the samples that its own run leaves out, so drop the remark about them.
            let remarks = verdicts.remarks.iter();
            let remarks = remarks.filter(|remark| !matches!(remark, RunNote::LeftOut { .. }));
            compared.remarks = remarks.cloned().collect();
            compared.verdicts = Some(verdicts);
        }
    }
    compared.remarks.extend(incomplete_note(&compared.head));
    Ok(compared)
}

fn judgements_by_key(rows: Vec<Row<'_>>) -> BTreeMap<BenchmarkKey, BenchmarkJudgement> {
    rows.into_iter()
        .map(|row| {
            let found = BenchmarkJudgement {
                verdict: row.verdict,
                comparison: row.comparison,
                blocking: row.blocking,
            };
            (row.key, found)
        })
        .collect()
}

/// Builds a line for each benchmark that occurs in at least one run.
fn build_lines(
    call: &CompareCall<'_>,
    sides: &[ComparedRun],
    shown: ShownStatistics,
    order: Order,
) -> Vec<ColumnsLine> {
    let keys: BTreeSet<&BenchmarkKey> = sides
        .iter()
        .flat_map(|side| side.measurements.keys().chain(side.judged.keys()))
        .collect();
    let comparison = &call.options.comparison;
    let decision = comparison.decision(&call.stored.context.tables.workspace);
    let quantile = decision.analysis.quantile;
    let mut lines: Vec<ColumnsLine> = keys
        .into_iter()
        .map(|key| build_line(sides, key, shown, comparison.seed, quantile))
        .collect();
    lines.sort_by(|a, b| order.compare(&sort_key(a), &sort_key(b)));
    lines
}

/// Returns the sort key of a line: its worst verdict, its worst change and its largest value.
fn sort_key(line: &ColumnsLine) -> SortKey<'_> {
    let changes = line.cells.iter().filter_map(|cell| cell.change);
    let values = line
        .cells
        .iter()
        .filter_map(|cell| cell.statistics[0].value);
    SortKey {
        key: &line.key,
        verdict: line.cells.iter().filter_map(|cell| cell.verdict).min(),
        change: changes.map(|change| change.estimate).reduce(f64::max),
        time: values.reduce(f64::max),
    }
}

/// Builds the line of a benchmark. `seed` is the seed that the user gave. If there is none, the seed of the reference run is used.
fn build_line(
    sides: &[ComparedRun],
    key: &BenchmarkKey,
    shown: ShownStatistics,
    seed: Option<u64>,
    quantile: Option<Quantile>,
) -> ColumnsLine {
    let statistics = shown.statistics();
    // Use one seed per line, so that a randomized statistic draws the same parts in all columns.
    let line_seed = seed.unwrap_or(sides[0].head.begun.seed);
    let readings: Vec<Option<Readings<'_>>> = sides
        .iter()
        .map(|side| {
            let readings = Readings::from_measurement(side.measurements.get(key)?)?;
            Some(readings.with_quantile(quantile))
        })
        .collect();
    let mut known = readings.iter().flatten();
    let metric = known
        .next()
        .map_or(Metric::Time, |found| found.metric().clone());
    let values = |of: &Option<Readings<'_>>| -> Vec<Option<f64>> {
        let value = |statistic: &Statistic| of.as_ref()?.value(*statistic, line_seed);
        statistics.iter().map(value).collect()
    };
    let base = values(&readings[0]);
    let ranked = rank_tests(sides, key, seed).unwrap_or_default();
    let mut compared = None;
    let mut cells = Vec::new();
    for (at, (side, own)) in sides.iter().zip(&readings).enumerate() {
        let judged = side.judged.get(key);
        let together = ranked.comparisons.get(&at);
        let comparison = together.or(judged.and_then(|found| found.comparison.as_ref()));
        compared = compared.or(comparison.and_then(|found| found.compared));
        let verdict = match together {
            Some(found) => Some(found.verdict),
            None => judged.and_then(|found| found.verdict),
        };
        let change = comparison.and_then(|found| found.change);
        let is_compared = at > 0 && verdict.is_some_and(Verdict::is_compared);
        let own_values = values(own).into_iter().zip(&base);
        let statistics = statistics.iter().zip(own_values);
        let statistics = statistics.map(|(statistic, (value, base))| {
            let worse_by = match shown {
                _ if !is_compared => None,
                ShownStatistics::Judged => change.map(|change| change.estimate),
                ShownStatistics::One(_) | ShownStatistics::Block => own
                    .as_ref()
                    .zip(value.zip(*base))
                    .and_then(|(own, (value, base))| own.worsening(*statistic, value, base)),
            };
            let worse_by = worse_by.filter(|worse| worse.is_finite());
            ColumnStatistic::new(shown, *statistic, &metric, value, worse_by)
        });
        cells.push(ColumnCell {
            run: side.head.id,
            statistics: statistics.collect(),
            verdict,
            change,
            p_value: comparison.and_then(|found| found.p_value),
            differences: judged.map_or_else(Vec::new, |found| found.blocking.clone()),
        });
    }
    let mut verdicts = sides.iter().filter_map(|side| side.verdicts.as_ref());
    let is_about_time =
        verdicts.all(|verdicts| verdicts.decision.analysis.subject == Statistic::Time);
    if let (ShownStatistics::Judged, true, Some(values), Some(own)) =
        (shown, is_about_time, compared, &readings[0])
    {
        show_compared(&mut cells, values.base, own);
    }
    ColumnsLine {
        key: key.clone(),
        metric,
        gate: ranked.gate,
        cells,
    }
}

/// Replaces the medians in the cells, so that the shown values agree with the shown changes. The cell of the reference shows `base`. Each other cell
/// shows `base` times (1 + its change), or keeps the median if it was not compared.
fn show_compared(cells: &mut [ColumnCell], base: f64, reference: &Readings<'_>) {
    for (at, cell) in cells.iter_mut().enumerate() {
        for one in &mut cell.statistics {
            let change = if at == 0 { Some(0.0) } else { one.worse_by };
            if let Some(change) = change {
                one.value = Some(reference.from_cost(base * (1.0 + change)));
            }
        }
    }
}

/// The results of rank tests across several runs: a test of all runs together (the gate), and a comparison of each run with the reference.
#[derive(Default)]
struct RankTests {
    gate: Option<GateGroup>,
    /// The comparison of each run with the reference, by the index of the run.
    comparisons: BTreeMap<usize, Comparison>,
}

/// Tests a benchmark across all runs; `None` unless the verdicts come from the Kruskal-Wallis test.
fn rank_tests(sides: &[ComparedRun], key: &BenchmarkKey, seed: Option<u64>) -> Option<RankTests> {
    let side = sides.iter().find(|side| side.stored_context().is_some())?;
    let verdicts = side.stored_context()?;
    if verdicts.method != Method::Stored(Test::Kruskal) {
        return None;
    }
    let rules = TestPolicy {
        decision: verdicts.decision,
        host: verdicts.host,
        seed: seed.unwrap_or(side.head.begun.seed),
    };
    let base = sides[0].measurements.get(key)?;
    let reference = Reference {
        averaged: vec![base],
        spread: vec![base],
        earlier: Vec::new(),
    };
    let compared = sides.iter().enumerate().filter_map(|(at, side)| {
        let judged = side.judged.get(key)?;
        judged.verdict.filter(|verdict| verdict.is_compared())?;
        let question = Question {
            candidate: side.measurements.get(key)?,
            reference: &reference,
            noise_threshold: judged.comparison.as_ref()?.noise_threshold,
        };
        Some((at, question))
    });
    let (places, questions): (Vec<usize>, Vec<Question<'_>>) = compared.unzip();
    let found = compare_across_runs(&questions, &rules)?;
    Some(RankTests {
        gate: Some(found.gate),
        comparisons: places.into_iter().zip(found.comparisons).collect(),
    })
}

/// Returns the geometric mean, over all benchmarks, of the ratio between the value in this column and the value of the reference. If a benchmark has
/// several statistics, the ratio is that of its means.
fn column_mean(
    lines: &[ColumnsLine],
    column: usize,
    shown: ShownStatistics,
) -> Option<ColumnGeometricMean> {
    let figures = shown.statistics();
    let at = figures
        .iter()
        .position(|figure| *figure == Statistic::Mean)
        .unwrap_or(0);
    let ratios: Vec<f64> = lines
        .iter()
        .map(|line| {
            let base = &line.cells[0].statistics[at];
            let own = &line.cells[column].statistics[at];
            match (base.value, own.value, own.worse_by, &line.metric) {
                // Without a change, the two values were not compared.
                (None, ..) | (_, None, ..) | (_, _, None, _) => f64::NAN,
                (_, _, Some(change), _) if shown == ShownStatistics::Judged => 1.0 + change,
                (Some(base), Some(value), _, Metric::Rate { .. }) => base / value,
                (Some(base), Some(value), ..) => value / base,
            }
        })
        .collect();
    let mean = GeometricMean::compute(&ratios)?;
    Some(ColumnGeometricMean {
        ratio: mean.mean,
        used: mean.used,
        excluded: mean.excluded,
    })
}
