//! GitLab's code quality report: an issue for each benchmark that got worse.
//!
//! The members are those of <https://docs.gitlab.com/ci/testing/code_quality/>, "Code Quality report format". GitLab tells new issues from old
//! ones by their fingerprints, so these name the benchmark and what is wrong with it, and hold no number.

use serde_json::{Value, json};
use std::io::{self, Write};

use super::content::{Findings, Row};
use super::kind::Surroundings;
use super::sentences::{self, Gravity};
use crate::escape;

/// Where no source file is known: a path there has to be.
const NO_FILE: &str = "Cargo.toml";
const LONGEST_DESCRIPTION: usize = 1_000;

/// Writes it; an empty list where nothing got worse.
pub(super) fn write_code_quality(
    writer: &mut dyn Write,
    findings: &Findings<'_>,
    surroundings: &Surroundings<'_>,
) -> io::Result<()> {
    let issues: Vec<Value> = sentences::worst_first(findings)
        .into_iter()
        .filter_map(|row| issue(row, findings, surroundings))
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
    Some(json!({
        "description": sentences::cut(&description.join("; "), LONGEST_DESCRIPTION),
        "check_name": format!("perfcheck-{check}"),
        "fingerprint": fingerprint(check, row),
        "severity": severity,
        "location": {
            "path": (surroundings.source_file)(&row.key).unwrap_or_else(|| NO_FILE.to_owned()),
            "lines": {"begin": 1},
        },
    }))
}

/// The same for the same benchmark with the same thing wrong with it.
fn fingerprint(check: &str, row: &Row<'_>) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [check, &row.key.package, &row.key.target, &row.key.id] {
        // The lengths keep parts apart, whatever they hold.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}
