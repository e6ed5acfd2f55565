//! `compare A B C ...`: shows many runs in columns, each compared with the first as in a comparison of two.

use std::collections::{BTreeMap, BTreeSet};

use super::options::CompareCall;
use crate::delivery::progress::with_progress;
use crate::error::AppError;
use crate::options::StoreOptions;
use crate::output::{
    ColumnCell, ColumnGeometricMean, ColumnsLine, RunColumn, RunTable, ShownStatistics,
    write_columns, write_warning,
};
use crate::session::{NamedRun, World, resolve_run};
use crate::stored::comparison::{describe_absurdities, incomplete_note, same_run_error};
use perfcheck_analysis::compare::{
    AcrossRuns, Comparison, Difference, Question, Readings, Reference, TestPolicy,
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
    /// Context of its verdicts; `None` for the reference
    verdicts: Option<ComparisonContext>,
}

impl ComparedRun {
    fn named(&self) -> NamedRun {
        NamedRun {
            run: self.head.id,
            name: self.name.clone(),
        }
    }
}

/// Returns the context of a run's verdicts if it was compared as a stored run.
fn stored_context(side: &ComparedRun) -> Option<&ComparisonContext> {
    let verdicts = side.verdicts.as_ref();
    verdicts.filter(|verdicts| verdicts.method != Method::Paired)
}

/// The findings for one benchmark.
struct BenchmarkJudgement {
    verdict: Option<Verdict>,
    comparison: Option<Comparison>,
    blocking: Vec<Difference>,
}

/// Compares all selected runs and writes them.
pub(crate) fn compare_columns(
    asked: &CompareCall<'_>,
    shown: ShownStatistics,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let options = asked.options;
    let base = resolve_run(asked.stored.store, asked.stored.workspace, asked.base)?;
    let head = asked.stored.store.run(base)?;
    let mut sides = vec![ComparedRun {
        measurements: by_key(asked.read_measurements(&head)?),
        head,
        name: asked.base.to_owned(),
        judged: BTreeMap::new(),
        remarks: Vec::new(),
        verdicts: None,
    }];
    for word in &asked.candidates {
        let candidate = NamedRun::resolve(asked.stored.store, asked.stored.workspace, word)?;
        let mut earlier = sides.iter();
        if let Some(same) = earlier.find(|side| side.head.id == candidate.run) {
            return Err(same_run_error(&same.named(), &candidate.name));
        }
        sides.push(compare_run(asked, &sides[0], candidate, world)?);
    }
    for side in &sides {
        let measured = side.measurements.values();
        let thresholds = &asked.stored.context.tables.workspace.thresholds;
        for said in describe_absurdities(&side.name, measured, thresholds) {
            write_warning(world.stderr, &said)?;
        }
    }
    let mut lines = build_lines(asked, &sides, shown, common.output.order());
    if lines.is_empty() {
        return Err(asked.stored.nothing_to_compare_error(base, base));
    }
    let settings = &asked.stored.context.tables.workspace;
    let fail_on = options.comparison.failure.fail_on(settings);
    let mut exit_code = ExitCode::Clean;
    let mut columns = Vec::new();
    for (at, side) in sides.iter().enumerate() {
        let tally: Tally = lines
            .iter()
            .filter_map(|line| line.cells[at].verdict)
            .collect();
        if at > 0 {
            let of_verdicts = ExitCode::from_tally(&tally, &fail_on, true);
            exit_code = exit_code.worst_of(of_verdicts);
            if let Some(verdicts) = &side.verdicts {
                exit_code = exit_code.worst_of(verdicts.limits.exit_code());
            }
        }
        columns.push(RunColumn {
            run: side.head.id,
            name: side.name.clone(),
            method: side.verdicts.as_ref().map(|verdicts| verdicts.method),
            tally,
            warnings: (side.verdicts.as_ref())
                .map_or_else(Vec::new, |verdicts| verdicts.warnings.clone()),
            remarks: side.remarks.clone(),
            limits: (side.verdicts.as_ref())
                .map_or_else(LimitReport::default, |verdicts| verdicts.limits.clone()),
            left_out: sum_left_out(side.measurements.values()),
            together: if at > 0 {
                column_mean(&lines, at, shown)
            } else {
                None
            },
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
        // Imported runs may be compared by other settings than those of the command line.
        decision: sides.iter().find_map(stored_context).map_or_else(
            || options.comparison.decision(settings),
            |verdicts| verdicts.decision,
        ),
        exit_code: exit_code.number(),
    };
    asked.write(&common.output, world, |writer, format, form, view| {
        write_columns(writer, &found, format, form, view.columns)
    })?;
    Ok(exit_code)
}

/// Compares a run with the reference.
fn compare_run(
    asked: &CompareCall<'_>,
    base: &ComparedRun,
    candidate: NamedRun,
    world: &mut World<'_>,
) -> Result<ComparedRun, AppError> {
    let comparison = &asked.stored;
    let both = comparison.read(base.named(), &candidate)?;
    let count = both.measured.candidate.len();
    let concluded = with_progress("Comparing", count, world, |told| {
        comparison.conclude(&both, told)
    });
    let concluded = match concluded {
        // Other runs may have common benchmarks.
        Err(AppError::NothingToCompare(_)) => None,
        other => Some(other?),
    };
    let (judged, verdicts) = match concluded {
        Some(Conclusion { rows, verdicts, .. }) => (judgements_by_key(rows), Some(verdicts)),
        None => (BTreeMap::new(), None),
    };
    let remarks = verdicts
        .iter()
        .flat_map(|verdicts| verdicts.remarks.clone())
        // Each column shows its own omissions.
        .filter(|remark| !matches!(remark, RunNote::LeftOut { .. }));
    let head = both.heads.candidate;
    let remarks = remarks.chain(incomplete_note(&head)).collect();
    Ok(ComparedRun {
        name: candidate.name,
        measurements: by_key(asked.read_measurements(&head)?),
        judged,
        remarks,
        verdicts,
        head,
    })
}

fn by_key(measurements: Vec<Measurement>) -> BTreeMap<BenchmarkKey, Measurement> {
    measurements
        .into_iter()
        .map(|measurement| (measurement.benchmark.key.clone(), measurement))
        .collect()
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

/// Builds a line for each benchmark of any run.
fn build_lines(
    asked: &CompareCall<'_>,
    sides: &[ComparedRun],
    shown: ShownStatistics,
    order: Order,
) -> Vec<ColumnsLine> {
    let keys: BTreeSet<&BenchmarkKey> = sides
        .iter()
        .flat_map(|side| side.measurements.keys().chain(side.judged.keys()))
        .collect();
    // Use one seed per line, so that a randomized statistic draws the same parts in all columns.
    let said = asked.options.comparison.seed;
    let seed = said.unwrap_or(sides[0].head.begun.seed);
    let settings = &asked.stored.context.tables.workspace;
    let quantile = asked
        .options
        .comparison
        .decision(settings)
        .analysis
        .quantile;
    let mut lines: Vec<ColumnsLine> = keys
        .into_iter()
        .map(|key| build_line(sides, key, &shown.statistics(), shown, seed, said, quantile))
        .collect();
    lines.sort_by(|a, b| order.compare(&sort_key(a), &sort_key(b)));
    lines
}

/// Returns the sort key of a line: the worst of its verdicts and changes, the largest of its values.
fn sort_key(line: &ColumnsLine) -> SortKey<'_> {
    let changes = line.cells.iter().filter_map(|cell| cell.judged);
    let values = line.cells.iter().filter_map(|cell| cell.figures.first()?.0);
    SortKey {
        key: &line.key,
        verdict: line.cells.iter().filter_map(|cell| cell.verdict).min(),
        change: changes.map(|change| change.estimate).reduce(f64::max),
        time: values.reduce(f64::max),
    }
}

fn build_line(
    sides: &[ComparedRun],
    key: &BenchmarkKey,
    figures: &[Statistic],
    shown: ShownStatistics,
    seed: u64,
    said: Option<u64>,
    quantile: Option<Quantile>,
) -> ColumnsLine {
    let readings: Vec<Option<Readings<'_>>> = sides
        .iter()
        .map(|side| {
            let readings = Readings::from_measurement(side.measurements.get(key)?)?;
            Some(readings.with_quantile(quantile))
        })
        .collect();
    let values = |of: &Option<Readings<'_>>| -> Vec<Option<f64>> {
        figures
            .iter()
            .map(|figure| of.as_ref()?.value(*figure, seed))
            .collect()
    };
    let base = values(&readings[0]);
    let (gate, mut together) = match rank_tests(sides, key, said) {
        Some((places, found)) => (
            Some(found.gate),
            places.into_iter().zip(found.comparisons).collect(),
        ),
        None => (None, BTreeMap::new()),
    };
    let mut compared = None;
    let mut cells: Vec<ColumnCell> = sides
        .iter()
        .zip(&readings)
        .enumerate()
        .map(|(at, (side, own))| {
            let judged = side.judged.get(key);
            let alone = judged.and_then(|found| found.comparison.as_ref());
            let together = together.remove(&at);
            let comparison = together.as_ref().or(alone);
            compared = compared.or(comparison.and_then(|found| found.compared));
            let verdict = match &together {
                Some(found) => Some(found.verdict),
                None => judged.and_then(|found| found.verdict),
            };
            let change = comparison.and_then(|found| found.change);
            let comparable = at > 0 && verdict.is_some_and(Verdict::is_compared);
            let changes =
                |(figure, (candidate, base)): (&Statistic, (Option<f64>, &Option<f64>))| {
                    let worse = match shown {
                        _ if !comparable => None,
                        ShownStatistics::Judged => change.map(|change| change.estimate),
                        ShownStatistics::One(_) | ShownStatistics::Block => {
                            own.as_ref().zip(candidate.zip(*base)).and_then(
                                |(own, (candidate, base))| own.worsening(*figure, candidate, base),
                            )
                        }
                    };
                    (candidate, worse.filter(|worse| worse.is_finite()))
                };
            ColumnCell {
                figures: figures
                    .iter()
                    .zip(values(own).into_iter().zip(&base))
                    .map(changes)
                    .collect(),
                verdict,
                judged: change,
                p_value: comparison.and_then(|found| found.p_value),
                blocking: judged.map_or_else(Vec::new, |found| found.blocking.clone()),
            }
        })
        .collect();
    let mut verdicts = sides.iter().filter_map(|side| side.verdicts.as_ref());
    let is_about_time =
        verdicts.all(|verdicts| verdicts.decision.analysis.subject == Statistic::Time);
    if let (ShownStatistics::Judged, true, Some(values), Some(own)) =
        (shown, is_about_time, compared, &readings[0])
    {
        show_compared(&mut cells, values.base, own);
    }
    let mut known = readings.iter().flatten();
    ColumnsLine {
        gate,
        key: key.clone(),
        metric: known
            .next()
            .map_or(Metric::Time, |found| found.metric().clone()),
        cells,
    }
}

/// Replaces medians in the cells by the compared values: the reference shows `base`, the others `base` with their change, so that neighboring numbers
/// agree. Cells without a comparison keep the median.
fn show_compared(cells: &mut [ColumnCell], base: f64, reference: &Readings<'_>) {
    for (at, cell) in cells.iter_mut().enumerate() {
        for (value, change) in &mut cell.figures {
            let change = if at == 0 { Some(0.0) } else { *change };
            if let Some(change) = change {
                *value = Some(reference.from_cost(base * (1.0 + change)));
            }
        }
    }
}

/// Returns the results of rank tests across several runs with the places of these runs: a test of all runs together, and behind that gate one of each
/// run. Returns `None` unless such tests decide.
fn rank_tests(
    sides: &[ComparedRun],
    key: &BenchmarkKey,
    said: Option<u64>,
) -> Option<(Vec<usize>, AcrossRuns)> {
    let side = sides.iter().find(|side| stored_context(side).is_some())?;
    let verdicts = stored_context(side)?;
    if verdicts.method != Method::Stored(Test::Kruskal) {
        return None;
    }
    let rules = TestPolicy {
        decision: verdicts.decision,
        host: verdicts.host,
        seed: said.unwrap_or(side.head.begun.seed),
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
    Some((places, compare_across_runs(&questions, &rules)?))
}

/// Returns the geometric mean of the ratios in a column; in a block of several statistics, of the ratios of means.
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
            let base = line.cells[0].figures.get(at);
            let candidate = line.cells[column].figures.get(at);
            match (base, candidate) {
                // Without a change, the two values were not compared.
                (Some((Some(base), _)), Some((Some(candidate), Some(change)))) => match line.metric
                {
                    _ if shown == ShownStatistics::Judged => 1.0 + change,
                    Metric::Rate { .. } => base / candidate,
                    Metric::Time | Metric::Amount { .. } => candidate / base,
                },
                _ => f64::NAN,
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
