//! GitLab's code quality report: an issue for each benchmark that became worse.
//!
//! The members are those of <https://docs.gitlab.com/ci/testing/code_quality/>, "Code Quality report format". GitLab distinguishes new issues from
//! old ones by their fingerprints, so a fingerprint is made from the benchmark and the kind of problem, without numbers.

use serde::Serialize;
use std::io::{self, Write};

use super::context::ReportContext;
use crate::escape;
use crate::report::words::sentences::{self, RowSeverity};
use perfcheck_analysis::findings::{FailedTarget, Findings, Row};
use perfcheck_analysis::model::BenchmarkKey;

/// Path for benchmarks without a known source file: GitLab requires a path.
const NO_FILE: &str = "Cargo.toml";
const LONGEST_DESCRIPTION: usize = 1_000;

/// An issue in GitLab's format.
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

/// Writes the report; an empty list if nothing became worse.
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
    writeln!(writer, "{}", escape::json(&text))
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
    let (check, complaint) = sentences::describe_problem(row, findings, context.fail_on);
    let description: Vec<String> = std::iter::once(format!("{}: {complaint}", row.key))
        .chain(sentences::notes_beyond(row, findings, &complaint))
        .map(|sentence| escape::one_line(&sentence))
        .collect();
    let description = description.join("; ");
    Some(Issue::new(check, &row.key, severity, &description, context))
}

fn target_issue(failed: &FailedTarget, context: &ReportContext<'_>) -> Issue {
    let sentence = sentences::describe_target_failure(failed);
    let description = format!("{}/{}: {sentence}", failed.package, failed.target);
    let description = escape::one_line(&description);
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

/// Returns a text that identifies a benchmark with a kind of problem.
fn fingerprint(check: &str, key: &BenchmarkKey) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [check, &key.package, &key.target, &key.id] {
        // The lengths separate the parts unambiguously.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}
