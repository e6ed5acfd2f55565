//! GitLab's code quality report: an issue for each benchmark that got worse.
//!
//! The members are those of <https://docs.gitlab.com/ci/testing/code_quality/>, "Code Quality report format". GitLab tells new issues from old
//! ones by their fingerprints, so these name the benchmark and what is wrong with it, and hold no number.

use serde_json::{Value, json};
use std::io::{self, Write};

use super::surroundings::Surroundings;
use crate::escape;
use crate::report::words::sentences::{self, Gravity};
use perfcheck_analysis::findings::{FailedTarget, Findings, Row};
use perfcheck_analysis::model::BenchmarkKey;

/// Where no source file is known: a path there has to be.
const NO_FILE: &str = "Cargo.toml";
const LONGEST_DESCRIPTION: usize = 1_000;

/// Writes it; an empty list where nothing got worse.
pub(in crate::report) fn write_code_quality(
    writer: &mut dyn Write,
    findings: &Findings<'_>,
    surroundings: &Surroundings<'_>,
) -> io::Result<()> {
    let targets = findings.failed_targets.iter();
    let issues: Vec<Value> = targets
        .map(|failed| issue_of_target(failed, surroundings))
        .chain(
            sentences::worst_first(findings)
                .into_iter()
                .filter_map(|row| issue(row, findings, surroundings)),
        )
        .collect();
    let text = serde_json::to_string_pretty(&issues)?;
    writeln!(writer, "{}", escape::json(&text))
}

fn issue(row: &Row<'_>, findings: &Findings<'_>, surroundings: &Surroundings<'_>) -> Option<Value> {
    let severity = match Gravity::of(row, findings, surroundings.fail_on) {
        Gravity::Error => "critical",
        Gravity::Failure => "major",
        Gravity::Warning => "minor",
        Gravity::Fine => return None,
    };
    let (check, complaint) = sentences::complaint(row, findings, surroundings.fail_on);
    let description: Vec<String> = std::iter::once(format!("{}: {complaint}", row.key))
        .chain(sentences::other_notes(row, findings, &complaint))
        .map(|sentence| escape::one_line(&sentence))
        .collect();
    let description = description.join("; ");
    Some(written(
        check,
        &row.key,
        severity,
        &description,
        surroundings,
    ))
}

fn issue_of_target(failed: &FailedTarget, surroundings: &Surroundings<'_>) -> Value {
    let sentence = sentences::of_target(failed);
    let description = format!("{}/{}: {sentence}", failed.package, failed.target);
    let description = escape::one_line(&description);
    written(
        "failed",
        &failed.key(),
        "critical",
        &description,
        surroundings,
    )
}

fn written(
    check: &str,
    key: &BenchmarkKey,
    severity: &str,
    description: &str,
    surroundings: &Surroundings<'_>,
) -> Value {
    json!({
        "description": sentences::cut(description, LONGEST_DESCRIPTION),
        "check_name": format!("perfcheck-{check}"),
        "fingerprint": fingerprint(check, key),
        "severity": severity,
        "location": {
            "path": (surroundings.source_file)(key).unwrap_or_else(|| NO_FILE.to_owned()),
            "lines": {"begin": 1},
        },
    })
}

/// The same for the same benchmark with the same thing wrong with it.
fn fingerprint(check: &str, key: &BenchmarkKey) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [check, &key.package, &key.target, &key.id] {
        // The lengths keep parts apart, whatever they hold.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}
