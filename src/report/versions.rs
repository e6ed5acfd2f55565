//! Two runs as a table for a report: change, adjusted p and effect sizes of every benchmark.

use std::io::{self, Write};

use super::content::Findings;
use super::grid::{Grid, GridCell, TableFormat, for_markdown};
use super::table::p_value;
use super::units;
use crate::model::BenchmarkKey;

/// How large the difference of a benchmark's samples is, whatever its p; positive is slower.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Effects {
    /// Median of the reference.
    pub base_median: Option<f64>,
    /// Cliff's delta, with its size in a word.
    pub cliffs_delta: Option<(f64, &'static str)>,
    /// Hedges' g.
    pub hedges_g: Option<f64>,
}

/// Writes the benchmarks of `findings` as Markdown or CSV.
pub fn write_versions(
    writer: &mut dyn Write,
    findings: &Findings<'_>,
    effects: &dyn Fn(&BenchmarkKey) -> Effects,
    format: TableFormat,
) -> io::Result<()> {
    let Some(verdicts) = &findings.verdicts else {
        return Ok(());
    };
    let level = units::percent(1.0 - 2.0 * verdicts.decision.significance_level);
    let heading = [
        "benchmark".to_owned(),
        "verdict".to_owned(),
        "base median".to_owned(),
        "median".to_owned(),
        "change".to_owned(),
        format!("{level} from"),
        format!("{level} to"),
        "adjusted p".to_owned(),
        "Cliff's delta".to_owned(),
        "Hedges' g".to_owned(),
    ];
    let number = |value: Option<f64>, text: &dyn Fn(f64) -> String| match value {
        Some(value) if value.is_finite() => GridCell::Number(value, text(value)),
        _ => GridCell::Nothing,
    };
    let mut rows = Vec::new();
    for row in &findings.rows {
        let found = effects(&row.key);
        let comparison = row.comparison.as_ref();
        let change = comparison.and_then(|found| found.change);
        let median = row.summary.as_ref().map(|summary| summary.median.estimate);
        let (delta, size) = found.cliffs_delta.unzip();
        let verdict = row.verdict.map_or("-", crate::model::Verdict::word);
        let signed = |value: f64| format!("{value:+.3}").replace('-', "−");
        let key = &row.key;
        rows.push(vec![
            GridCell::Text(format!("{}/{} {}", key.package, key.target, key.id)),
            GridCell::Text(verdict.to_owned()),
            number(found.base_median, &units::time),
            number(median, &units::time),
            number(change.map(|change| change.estimate), &units::change),
            number(change.map(|change| change.lower), &units::change),
            number(change.map(|change| change.upper), &units::change),
            number(comparison.and_then(|found| found.p_value), &p_value),
            number(delta, &|delta| {
                format!("{} {}", signed(delta), size.unwrap_or(""))
            }),
            number(found.hedges_g, &signed),
        ]);
    }
    let grid = Grid {
        labels: 2,
        heading: heading.to_vec(),
        rows,
    };
    match format {
        TableFormat::Csv => return grid.write(writer, TableFormat::Csv),
        TableFormat::Text | TableFormat::Markdown => grid.write(writer, TableFormat::Markdown)?,
    }
    let counts: Vec<String> = findings
        .tally()
        .iter()
        .map(|(verdict, count)| format!("{count} {}", verdict.word()))
        .collect();
    writeln!(
        writer,
        "\nRun {} compared with {}: {}. Plus is slower. p is adjusted for all benchmarks together (Holm), {} family-wise; effect sizes are of all samples.",
        findings.run.id,
        for_markdown(&verdicts.reference.replace('`', "")),
        counts.join(", "),
        units::percent(verdicts.decision.significance_level),
    )?;
    for warning in &verdicts.warnings {
        writeln!(
            writer,
            "\nThe sides differ in {}.",
            for_markdown(&warning.to_string())
        )?;
    }
    Ok(())
}
