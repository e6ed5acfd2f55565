//! Writes a comparison of two runs for a report, as Markdown or CSV: change, adjusted p and effect sizes of every benchmark.

use std::io::{self, Write};

use crate::escape;
use crate::report::layout::{Cell, Table, TableFormat};
use crate::report::units;
use crate::report::words::remarks::describe_run_remark;
use crate::report::words::{analysis, limits, sentences};
use perfcheck_analysis::findings::{ComparisonContext, Findings, Method, Row};
use perfcheck_analysis::model::{Correction, Observations, Side, Statistic};

/// Effect sizes of a benchmark's change, given whether or not it is significant; positive is slower.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct VersionDifference {
    /// Cliff's delta
    pub cliffs_delta: Option<f64>,
    /// Cliff's delta as a word
    pub size: Option<&'static str>,
    /// Hedges' g
    pub hedges_g: Option<f64>,
}

/// Writes the benchmarks of `findings` as Markdown or CSV.
pub fn write_versions(
    writer: &mut dyn Write,
    findings: &Findings<'_>,
    difference: &dyn Fn(&Row<'_>) -> VersionDifference,
    format: TableFormat,
) -> io::Result<()> {
    let Some(verdicts) = &findings.verdicts else {
        return Ok(());
    };
    let level = units::percent(analysis::interval_level(&verdicts.decision));
    let heading = [
        "benchmark".to_owned(),
        "verdict".to_owned(),
        "before".to_owned(),
        "after".to_owned(),
        "change".to_owned(),
        format!("{level} from"),
        format!("{level} to"),
        "adjusted p".to_owned(),
        "Cliff's delta".to_owned(),
        "Hedges' g".to_owned(),
    ];
    let number = |value: Option<f64>, text: &dyn Fn(f64) -> String| match value {
        Some(value) if value.is_finite() => Cell::number(value, text(value)),
        _ => Cell::missing(),
    };
    let mut rows = Vec::new();
    for row in &findings.rows {
        let found = difference(row);
        let comparison = row.comparison.as_ref();
        let change = comparison.and_then(|found| found.change);
        let values = comparison.and_then(|found| found.compared);
        let texts = sentences::format_compared_values(row, findings);
        let value = |side: Side| match (&values, &texts) {
            (Some(values), Some(texts)) => Cell::number(*values.get(side), texts.get(side).clone()),
            _ => Cell::missing(),
        };
        let verdict = row
            .verdict
            .map_or("-", perfcheck_analysis::model::Verdict::word);
        let key = &row.key;
        rows.push(vec![
            Cell::from(format!("{}/{} {}", key.package, key.target, key.id)),
            Cell::from(verdict),
            value(Side::Base),
            value(Side::Candidate),
            number(change.map(|change| change.estimate), &units::change),
            number(change.map(|change| change.lower), &units::change),
            number(change.map(|change| change.upper), &units::change),
            number(comparison.and_then(|found| found.p_value), &units::p_value),
            number(found.cliffs_delta, &|delta| {
                format!("{} {}", units::effect(delta), found.size.unwrap_or(""))
            }),
            number(found.hedges_g, &units::effect),
        ]);
    }
    let table = Table::from_rows(2, &heading, rows);
    match format {
        TableFormat::Csv => return table.write_as(writer, TableFormat::Csv, usize::MAX),
        TableFormat::Text | TableFormat::Markdown => {
            table.write_as(writer, TableFormat::Markdown, usize::MAX)?;
        }
    }
    let counts: Vec<String> = findings
        .tally()
        .iter()
        .map(|(verdict, count)| format!("{count} {}", verdict.word()))
        .collect();
    let subject = verdicts.decision.analysis.subject;
    let how = match verdicts.method {
        _ if subject != Statistic::Time => {
            format!("Changes and verdicts are about {subject}, not about the time")
        }
        Method::Stored(test) if test.is_foreign() => {
            format!("Decided {}", analysis::describe_method(&verdicts.decision))
        }
        Method::Stored(_) | Method::Paired => {
            let level = analysis::describe_false_alarm_rate(&verdicts.decision);
            let by = match verdicts.decision.analysis.correction {
                Correction::Holm => "adjusted for all benchmarks together (Holm)",
                Correction::BenjaminiHochberg => {
                    "adjusted for all benchmarks together (Benjamini and Hochberg)"
                }
                Correction::Unadjusted => "of each benchmark",
            };
            format!("p is {by}, {level}")
        }
    };
    let observations = match (verdicts.method, verdicts.decision.analysis.observations) {
        (Method::Stored(_), Observations::Launches) => "launches",
        (Method::Stored(_), Observations::Filtered) => "the samples that the filter leaves",
        (Method::Paired, _) | (_, Observations::Samples) => "all samples",
    };
    writeln!(
        writer,
        "\nRun {} compared with {}: {}. Plus is slower. {how}; effect sizes are of {observations}.",
        findings.run.id,
        escape::markdown(&verdicts.reference.replace('`', "")),
        counts.join(", "),
    )?;
    write_remarks(writer, verdicts)
}

/// Writes exceeded limits, remarks and warnings, a paragraph each.
fn write_remarks(writer: &mut dyn Write, verdicts: &ComparisonContext) -> io::Result<()> {
    for found in &verdicts.limits.exceeded {
        writeln!(
            writer,
            "\n{}",
            escape::markdown(&limits::describe_exceeded(found))
        )?;
    }
    let undecided = verdicts
        .limits
        .remarks
        .iter()
        .map(limits::describe_limit_remark);
    for remark in undecided.chain(verdicts.remarks.iter().map(describe_run_remark)) {
        writeln!(writer, "\n{}", escape::markdown(&remark))?;
    }
    for warning in &verdicts.warnings {
        writeln!(
            writer,
            "\nThe sides differ in {}.",
            escape::markdown(&warning.to_string())
        )?;
    }
    Ok(())
}
