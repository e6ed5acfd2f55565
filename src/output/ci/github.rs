//! Annotations of a GitHub Actions job: commands in the job's log that mark benchmarks with problems.
//!
//! GitHub shows at most ten errors and ten warnings of each step. If there are more, the last annotation says how many others there are. The Markdown
//! report in the summary of the job has them all.

use std::io::{self, Write};

use super::context::{ReportContext, SourcePlace};
use crate::output::units;
use crate::output::words::sentences::{self, RowSeverity};
use crate::sanitize;
use perfcheck_analysis::findings::{FailedTarget, Findings, Row};

/// Maximum number of errors and of warnings that GitHub shows for a step.
const SHOWN: usize = 10;
/// Maximum length of a title in characters, so that it fits on a line.
const LONGEST_TITLE: usize = 100;
const LONGEST_MESSAGE: usize = 2_000;

/// A command in the log that marks a place of the source code.
struct Annotation {
    place: Option<SourcePlace>,
    title: String,
    message: String,
}

impl Annotation {
    fn from_failed_target(failed: &FailedTarget, context: &ReportContext<'_>) -> Self {
        let name = format!("{}/{}", failed.package, failed.target);
        let message = format!("{name}: {}", sentences::describe_target_failure(failed));
        Self {
            place: (context.source_place)(&failed.key()),
            title: format!("failed: {}", sanitize::one_line(&name)),
            message: sanitize::one_line(&message),
        }
    }

    fn from_row(row: &Row<'_>, findings: &Findings<'_>, context: &ReportContext<'_>) -> Self {
        let problem = sentences::describe_problem(row, findings, context.fail_on);
        let lines: Vec<String> = [row.key.to_string(), problem.sentence.clone()]
            .into_iter()
            .map(|line| sanitize::one_line(&line))
            .chain(sentences::notes_beyond(row, findings, &problem))
            .collect();
        Self {
            place: (context.source_place)(&row.key),
            title: format!("{}: {}", problem.word, sanitize::one_line(&row.key.id)),
            message: lines.join("\n"),
        }
    }

    fn write(&self, writer: &mut dyn Write, command: &str) -> io::Result<()> {
        let place = self.place.as_ref().map_or_else(String::new, |place| {
            let file = sanitize::workflow_property(&place.file);
            format!("file={file},line={},", place.line)
        });
        let title = sentences::shorten(&self.title, LONGEST_TITLE);
        let message = sentences::truncate(&self.message, LONGEST_MESSAGE);
        writeln!(
            writer,
            "::{command} {place}title={}::{}",
            sanitize::workflow_property(&title),
            sanitize::workflow_data(&message)
        )
    }
}

pub(crate) fn write_annotations(
    writer: &mut dyn Write,
    findings: &Findings<'_>,
    context: &ReportContext<'_>,
) -> io::Result<()> {
    let targets = findings.failed_targets.iter();
    let mut errors: Vec<Annotation> = targets
        .map(|failed| Annotation::from_failed_target(failed, context))
        .collect();
    let mut warnings: Vec<Annotation> = sentences::describe_incomplete_run(findings.run)
        .map(|message| Annotation {
            place: None,
            title: format!("run {} is incomplete", findings.run.id),
            message,
        })
        .into_iter()
        .collect();
    // Benchmarks that could not be measured come first, because readers of a truncated list must see that nothing is known about these.
    let mut rows = sentences::rows_worst_first(findings);
    rows.sort_by_key(|row| RowSeverity::from_row(row, findings, context.fail_on));
    for row in rows {
        let kind = match RowSeverity::from_row(row, findings, context.fail_on) {
            RowSeverity::Error | RowSeverity::Failure => &mut errors,
            RowSeverity::Warning => &mut warnings,
            RowSeverity::Fine => continue,
        };
        kind.push(Annotation::from_row(row, findings, context));
    }
    for (command, annotations) in [("error", errors), ("warning", warnings)] {
        let shown = if annotations.len() > SHOWN {
            SHOWN - 1
        } else {
            annotations.len()
        };
        for annotation in &annotations[..shown] {
            annotation.write(writer, command)?;
        }
        if shown < annotations.len() {
            let more = units::counted(annotations.len() - shown, "more benchmark");
            let text = format!("{more}: see the summary of this job, or the log");
            writeln!(
                writer,
                "::{command} title=cargo perfcheck::{}",
                sanitize::workflow_data(&text)
            )?;
        }
    }
    Ok(())
}
