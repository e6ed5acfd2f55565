//! `compare A B C ...`: many runs side by side, each compared with the first one as if it were alone.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::compare::{Stored, deliver, nothing_to_compare, refuse_itself};
use super::context::{World, resolve_run};
use super::error::AppError;
use super::findings::warnings;
use super::options::{Order, StoreOptions};
use super::paired::paired_rows;
use crate::compare::{
    Decider, Difference, Estimate, Figure, GateGroup, Readings, Rules, across_runs,
};
use crate::exit_code::ExitCode;
use crate::findings::{Gates, Method, Row};
use crate::findings::{gates, status_of_gates as of_gates};
use crate::model::{BenchmarkKey, Measurement, Metric, Run, Tally, Test, Verdict};
use crate::report::{
    Column, ColumnCell, ColumnsLine, Shown, SideBySide, TableFormat, Together, incomplete,
    write_columns,
};
use perfcheck_stats::GeometricMean;

/// A run among others, with what is known of it.
struct Side {
    head: Run,
    name: String,
    measurements: BTreeMap<BenchmarkKey, Measurement>,
    judged: BTreeMap<BenchmarkKey, Judged>,
    warnings: Vec<Difference>,
    method: Option<Method>,
    remarks: Vec<String>,
    gates: Gates,
    rules: Option<Rules>,
}

/// What was found of one benchmark.
struct Judged {
    verdict: Option<Verdict>,
    change: Option<Estimate>,
    p_value: Option<f64>,
    blocking: Vec<Difference>,
}

/// Compares all runs that `stored` asks for and writes them.
pub(super) fn columns(
    stored: &Stored<'_>,
    shown: Shown,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let options = stored.options;
    let base = resolve_run(stored.store, stored.workspace, &options.base)?;
    let mut sides = vec![Side {
        head: stored.store.run(base)?,
        name: options.base.clone(),
        measurements: by_key(stored.measurements(base)?),
        judged: BTreeMap::new(),
        warnings: Vec::new(),
        method: None,
        remarks: Vec::new(),
        gates: Gates::default(),
        rules: None,
    }];
    for word in &options.candidates {
        let candidate = resolve_run(stored.store, stored.workspace, word)?;
        let mut earlier = sides.iter();
        if let Some(same) = earlier.find(|side| side.head.id == candidate) {
            refuse_itself((&same.name, same.head.id), (word, candidate))?;
        }
        let head = stored.store.run(candidate)?;
        sides.push(side(stored, &sides[0], head, word)?);
    }
    let mut lines = lines(stored, &sides, shown, common.output.order);
    if lines.is_empty() {
        return Err(nothing_to_compare(
            stored.store,
            options,
            &sides[0].head,
            base,
        ));
    }
    let settings = &stored.context.tables.workspace;
    let fail_on = options.comparison.fail_on(settings);
    let mut exit_code = ExitCode::Clean;
    let mut columns = Vec::new();
    for (at, side) in sides.iter().enumerate() {
        let tally: Tally = lines
            .iter()
            .filter_map(|line| line.cells[at].verdict)
            .collect();
        if at > 0 {
            let of_verdicts = ExitCode::of_verdicts(&tally, &fail_on, true);
            exit_code = exit_code.and(of_verdicts).and(of_gates(&side.gates));
        }
        columns.push(Column {
            run: side.head.id,
            name: side.name.clone(),
            method: side.method,
            tally,
            warnings: side.warnings.clone(),
            remarks: side.remarks.clone(),
            gates: side.gates.clone(),
            together: if at > 0 {
                together(&lines, at, shown)
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
    let found = SideBySide {
        shown,
        terms: options.terms,
        columns,
        hidden: all - lines.len(),
        lines,
        // What suits imported runs is not what the command line says.
        decision: sides.iter().find_map(|side| side.rules).map_or_else(
            || options.comparison.decision(settings),
            |rules| rules.decision,
        ),
        exit_code: exit_code.number(),
    };
    let form = options.format.unwrap_or(TableFormat::Text);
    let view = common.output.view_in(options.output.as_deref());
    deliver(options, world, |writer| {
        write_columns(writer, &found, common.output.format, form, view.columns)
    })?;
    Ok(exit_code)
}

/// `head`, compared with the reference.
fn side(stored: &Stored<'_>, base: &Side, head: Run, word: &str) -> Result<Side, AppError> {
    let reference = base.head.id;
    let comparison = &stored.options.comparison;
    let tables = &stored.context.tables;
    let in_turn = head.pair.is_some_and(|pair| pair.partner == reference);
    if in_turn && !comparison.is_of_other_systems() {
        let (found, settled, plan) = stored.judged_in_turn(reference, &head)?;
        let rows = paired_rows(&found, &settled, &head.decision, plan.seed);
        let gates = gates(&rows, comparison.fail_rules(tables), &head.decision);
        let judged = judged(rows);
        return Ok(Side {
            name: word.to_owned(),
            measurements: by_key(found.measured.candidate),
            judged,
            warnings: Vec::new(),
            method: Some(Method::Paired),
            remarks: incomplete(&head).into_iter().collect(),
            gates,
            rules: None,
            head,
        });
    }
    let measurements = stored.measurements(head.id)?;
    let compared = stored.compare(reference, &base.name, &head, &measurements)?;
    Ok(Side {
        gates: gates(
            &compared.rows,
            comparison.fail_rules(tables),
            &compared.rules.decision,
        ),
        rules: Some(compared.rules),
        remarks: compared
            .limits
            .into_iter()
            .chain(incomplete(&head))
            .collect(),
        name: word.to_owned(),
        warnings: warnings(&compared.references),
        method: Some(Method::Stored(compared.rules.decider)),
        judged: judged(compared.rows),
        measurements: by_key(measurements),
        head,
    })
}

fn by_key(measurements: Vec<Measurement>) -> BTreeMap<BenchmarkKey, Measurement> {
    measurements
        .into_iter()
        .map(|measurement| (measurement.benchmark.key.clone(), measurement))
        .collect()
}

fn judged(rows: Vec<Row<'_>>) -> BTreeMap<BenchmarkKey, Judged> {
    rows.into_iter()
        .map(|row| {
            let comparison = row.comparison;
            let found = Judged {
                verdict: row.verdict,
                change: comparison.as_ref().and_then(|found| found.change),
                p_value: comparison.as_ref().and_then(|found| found.p_value),
                blocking: row.blocking,
            };
            (row.key, found)
        })
        .collect()
}

/// A line for each benchmark that any run has.
fn lines(stored: &Stored<'_>, sides: &[Side], shown: Shown, order: Order) -> Vec<ColumnsLine> {
    let keys: BTreeSet<&BenchmarkKey> = sides
        .iter()
        .flat_map(|side| side.measurements.keys().chain(side.judged.keys()))
        .collect();
    // One seed for a line: the parts that a figure draws are then the same in all columns.
    let seed = stored.options.comparison.seed.unwrap_or(sides[0].head.seed);
    let mut lines: Vec<ColumnsLine> = keys
        .into_iter()
        .map(|key| line(sides, key, &shown.figures(), shown, seed))
        .collect();
    lines.sort_by(|a, b| {
        let verdict = |line: &ColumnsLine| line.cells.iter().filter_map(|cell| cell.verdict).min();
        // What has no verdict, no change or no value comes last.
        let rank = |line: &ColumnsLine| (verdict(line).is_none(), verdict(line));
        let change = |line: &ColumnsLine| {
            let changes = line.cells.iter().filter_map(|cell| cell.judged);
            changes.fold(f64::NEG_INFINITY, |worst, change| {
                worst.max(change.estimate)
            })
        };
        let largest = |line: &ColumnsLine| {
            let values = line.cells.iter().filter_map(|cell| cell.figures.first()?.0);
            values.fold(f64::NEG_INFINITY, f64::max)
        };
        let first = match order {
            Order::Name => Ordering::Equal,
            Order::Change => change(b).total_cmp(&change(a)),
            Order::Time => largest(b).total_cmp(&largest(a)),
            Order::WorstFirst => (rank(a).cmp(&rank(b))).then(change(b).total_cmp(&change(a))),
        };
        first.then_with(|| a.key.in_natural_order(&b.key))
    });
    lines
}

fn line(
    sides: &[Side],
    key: &BenchmarkKey,
    figures: &[Figure],
    shown: Shown,
    seed: u64,
) -> ColumnsLine {
    let readings: Vec<Option<Readings<'_>>> = sides
        .iter()
        .map(|side| side.measurements.get(key).and_then(Readings::of))
        .collect();
    let values = |of: &Option<Readings<'_>>| -> Vec<Option<f64>> {
        figures
            .iter()
            .map(|figure| of.as_ref()?.figure(*figure, seed))
            .collect()
    };
    let base = values(&readings[0]);
    let cells = sides
        .iter()
        .zip(&readings)
        .enumerate()
        .map(|(at, (side, own))| {
            let judged = side.judged.get(key);
            let verdict = judged.and_then(|found| found.verdict);
            let change = judged.and_then(|found| found.change);
            let comparable = at > 0 && verdict.is_some_and(Verdict::is_compared);
            let changes = |(figure, (candidate, base)): (&Figure, (Option<f64>, &Option<f64>))| {
                let worse = match shown {
                    _ if !comparable => None,
                    Shown::Judged => change.map(|change| change.estimate),
                    Shown::One(_) | Shown::Block => {
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
                p_value: judged.and_then(|found| found.p_value),
                blocking: judged.map_or_else(Vec::new, |found| found.blocking.clone()),
            }
        })
        .collect();
    let mut known = readings.iter().flatten();
    let mut line = ColumnsLine {
        gate: gate(sides, key),
        key: key.clone(),
        metric: known
            .next()
            .map_or(Metric::Time, |found| found.metric().clone()),
        cells,
    };
    if line.gate.as_ref().is_some_and(|gate| !gate.open) {
        for cell in &mut line.cells {
            if matches!(cell.verdict, Some(Verdict::Regressed | Verdict::Improved)) {
                cell.verdict = Some(Verdict::Inconclusive);
                cell.p_value = Some(1.0);
            }
        }
    }
    line
}

/// What a test of ranks of all runs together says of a benchmark, where such tests decide and there are several runs to look at: behind a
/// closed gate no single difference counts.
fn gate(sides: &[Side], key: &BenchmarkKey) -> Option<GateGroup> {
    let (reference, others) = sides.split_first()?;
    let rules = others.iter().find_map(|side| side.rules)?;
    if rules.decider != Decider::Test(Test::Kruskal) || others.len() < 2 {
        return None;
    }
    let compared = |side: &&Side| {
        let verdict = side.judged.get(key).and_then(|found| found.verdict);
        verdict.is_some_and(Verdict::is_compared)
    };
    let candidates: Vec<&Measurement> = others
        .iter()
        .filter(compared)
        .filter_map(|side| side.measurements.get(key))
        .collect();
    across_runs(reference.measurements.get(key)?, &candidates, &rules)
}

/// The geometric mean of what the benchmarks of a column changed by: of a block in its means.
fn together(lines: &[ColumnsLine], column: usize, shown: Shown) -> Option<Together> {
    let figures = shown.figures();
    let at = figures
        .iter()
        .position(|figure| *figure == Figure::Mean)
        .unwrap_or(0);
    let ratios: Vec<f64> = lines
        .iter()
        .map(|line| {
            let base = line.cells[0].figures.get(at);
            let candidate = line.cells[column].figures.get(at);
            match (base, candidate) {
                // Without a change the two were not compared, whatever their values.
                (Some((Some(base), _)), Some((Some(candidate), Some(change)))) => match line.metric
                {
                    _ if shown == Shown::Judged => 1.0 + change,
                    Metric::Rate { .. } => base / candidate,
                    Metric::Time | Metric::Amount { .. } => candidate / base,
                },
                _ => f64::NAN,
            }
        })
        .collect();
    let mean = GeometricMean::of(&ratios)?;
    Some(Together {
        ratio: mean.mean,
        used: mean.used,
        excluded: mean.excluded,
    })
}
