//! Annotations of a GitHub Actions job: commands in its log that mark what got worse.
//!
//! A step shows ten errors and ten warnings; what is left out is counted in the last one, and is in the Markdown of the job's summary.

use std::io::{self, Write};

use super::content::{Findings, Row};
use super::kind::Surroundings;
use super::sentences::{self, Gravity};
use crate::escape;

/// More of one kind are not shown.
const SHOWN: usize = 10;
/// A title has to fit on a line.
const LONGEST_TITLE: usize = 100;
const LONGEST_MESSAGE: usize = 2_000;

/// Writes them.
pub(super) fn write_annotations(
    writer: &mut dyn Write,
    findings: &Findings<'_>,
    surroundings: &Surroundings<'_>,
) -> io::Result<()> {
    let mut errors = Vec::new();
    let mut warnings = Vec::new();
    for row in sentences::worst_first(findings) {
        match Gravity::of(row, findings, surroundings.fail_on) {
            Gravity::Error | Gravity::Failure => errors.push(row),
            Gravity::Warning => warnings.push(row),
            Gravity::Fine => {}
        }
    }
    for (command, rows) in [("error", errors), ("warning", warnings)] {
        let shown = if rows.len() > SHOWN {
            SHOWN - 1
        } else {
            rows.len()
        };
        for row in &rows[..shown] {
            write_annotation(writer, command, row, findings, surroundings)?;
        }
        if shown < rows.len() {
            let more = sentences::benchmarks(rows.len() - shown);
            let text = format!("{more} more: see the summary of this job, or the log");
            writeln!(
                writer,
                "::{command} title=cargo perfcheck::{}",
                escape::workflow_data(&text)
            )?;
        }
    }
    Ok(())
}

fn write_annotation(
    writer: &mut dyn Write,
    command: &str,
    row: &Row<'_>,
    findings: &Findings<'_>,
    surroundings: &Surroundings<'_>,
) -> io::Result<()> {
    let file = (surroundings.source_file)(&row.key).map_or_else(String::new, |file| {
        format!("file={},line=1,", escape::workflow_property(&file))
    });
    let (word, complaint) = sentences::complaint(row, findings, surroundings.fail_on);
    let id = escape::one_line(&row.key.id);
    let title = sentences::shortened(&format!("{word}: {id}"), LONGEST_TITLE);
    let lines: Vec<String> = [row.key.to_string(), complaint.clone()]
        .into_iter()
        .map(|line| escape::one_line(&line))
        .chain(sentences::other_notes(row, findings, &complaint))
        .collect();
    let message = sentences::cut(&lines.join("\n"), LONGEST_MESSAGE);
    writeln!(
        writer,
        "::{command} {file}title={}::{}",
        escape::workflow_property(&title),
        escape::workflow_data(&message)
    )
}
