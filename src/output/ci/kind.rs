//! The kinds of reports for CI systems and for people away from the terminal.

use std::io::{self, Write};

use super::context::ReportContext;
use super::github::write_annotations;
use super::gitlab::{write_code_quality, write_metrics};
use super::junit::write_junit;
use super::markdown::write_markdown;
use perfcheck_analysis::findings::Findings;
use perfcheck_analysis::model::worded;

worded! {
    /// A format in which the findings of a run are reported.
    ReportKind {
        /// Markdown for comments on pull requests.
        Markdown = "markdown",
        /// Annotations of a GitHub Actions job, which are commands in its log.
        GitHub = "github",
        /// GitLab's code quality report.
        GitLab = "gitlab",
        /// GitLab's metrics report, in the text format of `OpenMetrics`.
        GitLabMetrics = "gitlab-metrics",
        /// `JUnit`'s XML.
        JUnit = "junit",
    }
}

impl ReportKind {
    /// Returns true if the format has the complete result. If such a report goes to stdout, it replaces the table. Other reports follow the table.
    pub fn replaces_table(self) -> bool {
        self != Self::GitHub
    }
}

/// Writes the report of this kind on the findings of a run.
pub fn write_report(
    writer: &mut dyn Write,
    kind: ReportKind,
    findings: &Findings<'_>,
    context: &ReportContext<'_>,
) -> io::Result<()> {
    match kind {
        ReportKind::Markdown => write_markdown(writer, findings, context),
        ReportKind::GitHub => write_annotations(writer, findings, context),
        ReportKind::GitLab => write_code_quality(writer, findings, context),
        ReportKind::GitLabMetrics => write_metrics(writer, findings),
        ReportKind::JUnit => write_junit(writer, findings, context),
    }
}
