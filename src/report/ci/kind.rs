//! Reports for other programs and for people elsewhere: which kinds there are.

use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

use super::context::ReportContext;
use super::github::write_annotations;
use super::gitlab::write_code_quality;
use super::gitlab_metrics::write_metrics;
use super::junit::write_junit;
use super::markdown::write_markdown;
use perfcheck_analysis::findings::Findings;

/// A kind of report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportKind {
    /// For comments on pull requests.
    Markdown,
    /// Annotations of a GitHub Actions job: commands in its log.
    GitHub,
    /// GitLab's code quality report.
    GitLab,
    /// GitLab's metrics report, in the text format of `OpenMetrics`.
    GitLabMetrics,
    /// `JUnit`'s XML.
    JUnit,
}

impl ReportKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::Markdown,
        Self::GitHub,
        Self::GitLab,
        Self::GitLabMetrics,
        Self::JUnit,
    ];

    /// The word, as users write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::GitHub => "github",
            Self::GitLab => "gitlab",
            Self::GitLabMetrics => "gitlab-metrics",
            Self::JUnit => "junit",
        }
    }

    /// Whether it is a result by itself: on stdout it stands in place of the table, not below it.
    pub fn is_whole(self) -> bool {
        self != Self::GitHub
    }
}

impl fmt::Display for ReportKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for ReportKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|kind| kind.word() == text);
        found.ok_or_else(|| {
            let words = Self::ALL.map(Self::word).join(", ");
            format!("`{text}` is no kind of report; the kinds are {words}")
        })
    }
}

/// Writes a report.
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
