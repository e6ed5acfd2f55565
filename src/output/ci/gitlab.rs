//! The two reports for GitLab. The code quality report has an issue for each benchmark that became worse. The metrics report has medians and changes.
//!
//! The members of a code quality issue are those of <https://docs.gitlab.com/ci/testing/code_quality/>, "Code Quality report format". GitLab
//! distinguishes new issues from old ones by their fingerprints, so a fingerprint is made from the benchmark and the kind of problem, without
//! numbers. Metrics have the text format of `OpenMetrics` 1.0. GitLab compares each value with that of the target branch.

use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, Write};

use super::context::ReportContext;
use crate::output::words::sentences::{self, RowSeverity};
use crate::sanitize;
use perfcheck_analysis::findings::{FailedTarget, Findings, Row};
use perfcheck_analysis::model::{BenchmarkKey, Metric};

/// Path for benchmarks whose source file is not known, because GitLab requires a path.
const NO_FILE: &str = "Cargo.toml";
const LONGEST_DESCRIPTION: usize = 1_000;

/// An issue of the code quality report, with the members that GitLab requires.
#[derive(Serialize)]
struct Issue {
    check_name: String,
    description: String,
    fingerprint: String,
    location: IssueLocation,
    severity: &'static str,
}

#[derive(Serialize)]
struct IssueLocation {
    lines: IssueLines,
    path: String,
}

#[derive(Serialize)]
struct IssueLines {
    begin: usize,
}

/// Writes the code quality report. It is an empty list if nothing became worse.
pub(crate) fn write_code_quality(
    writer: &mut dyn Write,
    findings: &Findings<'_>,
    context: &ReportContext<'_>,
) -> io::Result<()> {
    let targets = findings.failed_targets.iter();
    let issues: Vec<Issue> = targets
        .map(|failed| target_issue(failed, context))
        .chain(
            sentences::rows_worst_first(findings)
                .into_iter()
                .filter_map(|row| benchmark_issue(row, findings, context)),
        )
        .collect();
    let text = serde_json::to_string_pretty(&issues)?;
    writeln!(writer, "{}", sanitize::json(&text))
}

fn benchmark_issue(
    row: &Row<'_>,
    findings: &Findings<'_>,
    context: &ReportContext<'_>,
) -> Option<Issue> {
    let severity = match RowSeverity::from_row(row, findings, context.fail_on) {
        RowSeverity::Error => "critical",
        RowSeverity::Failure => "major",
        RowSeverity::Warning => "minor",
        RowSeverity::Fine => return None,
    };
    let problem = sentences::describe_problem(row, findings, context.fail_on);
    let description: Vec<String> = std::iter::once(format!("{}: {}", row.key, problem.sentence))
        .chain(sentences::notes_beyond(row, findings, &problem))
        .map(|sentence| sanitize::one_line(&sentence))
        .collect();
    let description = description.join("; ");
    Some(Issue::new(
        problem.word,
        &row.key,
        severity,
        &description,
        context,
    ))
}

fn target_issue(failed: &FailedTarget, context: &ReportContext<'_>) -> Issue {
    let sentence = sentences::describe_target_failure(failed);
    let description = format!("{}/{}: {sentence}", failed.package, failed.target);
    let description = sanitize::one_line(&description);
    Issue::new("failed", &failed.key(), "critical", &description, context)
}

impl Issue {
    fn new(
        check: &str,
        key: &BenchmarkKey,
        severity: &'static str,
        description: &str,
        context: &ReportContext<'_>,
    ) -> Self {
        let place = (context.source_place)(key);
        Self {
            check_name: format!("perfcheck-{check}"),
            description: sentences::truncate(description, LONGEST_DESCRIPTION),
            fingerprint: fingerprint(check, key),
            location: IssueLocation {
                lines: IssueLines {
                    begin: place.as_ref().map_or(1, |place| place.line),
                },
                path: place.map_or_else(|| NO_FILE.to_owned(), |place| place.file),
            },
            severity,
        }
    }
}

/// Returns the fingerprint of an issue: a hash of the benchmark and the kind of problem, which stays the same from run to run.
fn fingerprint(check: &str, key: &BenchmarkKey) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [check, &key.package, &key.target, &key.id] {
        // The lengths separate the parts unambiguously.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// A metric of the report: its name, its unit, its help text, and a function that returns the value of the metric for a row, if the row has one.
type MetricFamily<'a> = (&'a str, &'a str, &'a str, fn(&Row<'_>) -> Option<f64>);

pub(crate) fn write_metrics(writer: &mut dyn Write, findings: &Findings<'_>) -> io::Result<()> {
    let families: [MetricFamily<'_>; 4] = [
        (
            "perfcheck_median_seconds",
            "seconds",
            "Median time per iteration.",
            |row| median(row, |metric| matches!(metric, Metric::Time)).map(|ns| ns * 1e-9),
        ),
        (
            "perfcheck_median_per_second",
            "",
            "Median rate, in the benchmark's own unit.",
            |row| median(row, |metric| matches!(metric, Metric::Rate { .. })).map(|ns| 1e9 / ns),
        ),
        (
            "perfcheck_median_amount",
            "",
            "Median amount per iteration, in the benchmark's own unit.",
            |row| median(row, |metric| matches!(metric, Metric::Amount { .. })),
        ),
        (
            "perfcheck_change_ratio",
            "ratio",
            "Relative change; positive means slower.",
            |row| Some(row.comparison.as_ref()?.change?.estimate),
        ),
    ];
    for (name, unit, help, value) in families {
        let samples: Vec<(&Row<'_>, f64)> = findings
            .rows
            .iter()
            .filter_map(|row| Some((row, value(row)?)))
            .filter(|(_, value)| value.is_finite())
            .collect();
        if samples.is_empty() {
            continue;
        }
        writeln!(writer, "# TYPE {name} gauge")?;
        if !unit.is_empty() {
            writeln!(writer, "# UNIT {name} {unit}")?;
        }
        writeln!(writer, "# HELP {name} {help}")?;
        for (row, value) in samples {
            // Write four digits: GitLab compares values as text, and more digits would only show noise.
            writeln!(writer, "{name}{{{}}} {value:.3e}", labels(row))?;
        }
    }
    writeln!(writer, "# EOF")
}

fn median(row: &Row<'_>, is_wanted: impl Fn(&Metric) -> bool) -> Option<f64> {
    let measurement = row.measurement?;
    let median = row.summary.as_ref()?.median.estimate;
    is_wanted(&measurement.benchmark.metric).then_some(median)
}

fn labels(row: &Row<'_>) -> String {
    let unit = match row.measurement.map(|found| &found.benchmark.metric) {
        Some(Metric::Rate { unit } | Metric::Amount { unit }) => Some(unit),
        Some(Metric::Time) | None => None,
    };
    let key = &row.key;
    let known = [
        ("package", Some(&key.package)),
        ("target", Some(&key.target)),
        ("benchmark", Some(&key.id)),
        ("unit", unit),
    ];
    let mut labels = String::new();
    for (name, value) in known {
        let Some(value) = value else { continue };
        let comma = if labels.is_empty() { "" } else { "," };
        let value = sanitize::openmetrics_label(value);
        // Writing to memory does not fail.
        let _ = write!(labels, "{comma}{name}=\"{value}\"");
    }
    labels
}
