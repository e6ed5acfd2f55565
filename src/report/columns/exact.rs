//! Runs side by side for machines: every number as it is, as CSV or as messages.

use serde_json::{Value, json};
use std::io::{self, Write};

use super::content::SideBySide;
use crate::model::{Metric, Statistic};
use crate::report::json::{
    SCHEMA, decided_by, estimate_json, key_json, tally_json, violated, write_object,
};
use crate::report::layout::{Cell, Table};
use crate::report::remarks::run_remark;

/// The table for machines: exact values, and for each run what is known of them.
pub(super) fn exact(found: &SideBySide) -> Table {
    let number = |value: Option<f64>| {
        value.map_or_else(Cell::nothing, |value| {
            Cell::number(value, value.to_string())
        })
    };
    let labels = ["package", "target", "id", "statistic", "unit"];
    let mut heading: Vec<String> = labels.map(str::to_owned).to_vec();
    for (column, at) in found.columns.iter().zip(0..) {
        let name = format!("{} (run {})", column.name, column.run);
        heading.push(name.clone());
        if at > 0 {
            heading
                .extend(["worse by", "verdict", "adjusted p"].map(|what| format!("{name} {what}")));
        }
    }
    let mut rows = Vec::new();
    for line in &found.lines {
        for (at, figure) in found.shown.figures().into_iter().enumerate() {
            let key = &line.key;
            let name = figure.to_string();
            let mut row: Vec<Cell> = [&key.package, &key.target, &key.id, &name]
                .map(|text| Cell::from(text.clone()))
                .to_vec();
            row.push(Cell::from(unit(figure, &line.metric)));
            for (cell, column) in line.cells.iter().zip(0..) {
                let (value, change) = cell.figures.get(at).copied().unwrap_or_default();
                row.push(number(value));
                if column > 0 {
                    row.push(number(change));
                    let verdict = cell.verdict.map(|verdict| Cell::from(verdict.word()));
                    row.push(verdict.unwrap_or_else(Cell::nothing));
                    row.push(number(cell.p_value));
                }
            }
            rows.push(row);
        }
    }
    Table::of_rows(labels.len(), &heading, rows)
}

/// The unit of exact values.
fn unit(figure: Statistic, metric: &Metric) -> String {
    match metric {
        _ if figure == Statistic::Variation => "fraction".to_owned(),
        Metric::Time => "ns".to_owned(),
        Metric::Rate { unit } => format!("{unit}/s"),
        Metric::Amount { unit } => unit.clone(),
    }
}

pub(super) fn write_json(writer: &mut dyn Write, found: &SideBySide) -> io::Result<()> {
    let figures = found.shown.figures();
    for line in &found.lines {
        let columns = found.columns.iter().zip(&line.cells);
        let columns: Vec<Value> = columns
            .map(|(column, cell)| {
                let statistics: Vec<Value> = figures
                    .iter()
                    .zip(&cell.figures)
                    .map(|(figure, (value, change))| {
                        json!({
                            "statistic": figure.to_string(),
                            "unit": unit(*figure, &line.metric),
                            "value": value,
                            "worse_by": change,
                        })
                    })
                    .collect();
                json!({
                    "run": column.run,
                    "statistics": statistics,
                    "verdict": cell.verdict,
                    "change": cell.judged.as_ref().map(estimate_json),
                    "p_value": cell.p_value,
                    "differences": cell.blocking,
                })
            })
            .collect();
        let message = json!({
            "reason": "benchmark-columns",
            "schema": SCHEMA,
            "benchmark": key_json(&line.key),
            "metric": line.metric,
            "gate": line.gate.as_ref().map(|gate| json!({"h": gate.h, "p_value": gate.p_value, "open": gate.open})),
            "columns": columns,
        });
        write_object(writer, &message)?;
    }
    for column in &found.columns {
        for violation in &column.gates.violations {
            write_object(writer, &violated(column.run, violation))?;
        }
    }
    let columns: Vec<Value> = found
        .columns
        .iter()
        .map(|column| {
            json!({
                "run": column.run,
                "name": column.name,
                "decided_by": column.method.map(|method| decided_by(method, found.decision.analysis.subject)),
                "verdicts": tally_json(&column.tally),
                "warnings": column.warnings,
                "remarks": column.remarks.iter().map(run_remark).chain(column.gates.remarks.iter().cloned()).collect::<Vec<_>>(),
                "geometric_mean": column.together.map(|together| json!({
                    "ratio": together.ratio,
                    "used": together.used,
                    "excluded": together.excluded,
                })),
            })
        })
        .collect();
    let finished = json!({
        "reason": "columns-finished",
        "schema": SCHEMA,
        "columns": columns,
        "benchmarks": found.lines.len(),
        "significance_level": found.decision.significance_level,
        "exit_code": found.exit_code,
    });
    write_object(writer, &finished)
}
