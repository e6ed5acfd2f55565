//! `--report`, of runs and of comparisons.

use clap::Args;
use std::path::PathBuf;

use crate::app::{ReportOptions, WantedReport};

/// Which reports are written beside the table.
#[derive(Debug, Clone, Args)]
pub(super) struct ReportingFlags {
    /// Write a report to FILE, or to stdout instead of the table
    ///
    /// It may be given more than once. About verdicts: markdown (a comment for a pull request), github (annotations, beside the table), gitlab (code quality), gitlab-metrics, junit, html (a page; also into a directory). Of `compare`: text, csv and markdown-table are the table in this form; svg draws groups of two. In a job of GitHub Actions a run writes annotations and the summary of the job without being asked.
    #[arg(long = "report", value_name = "KIND[=FILE]", value_parser = report)]
    wanted: Vec<WantedReport>,
    /// Tell reports of several jobs about one commit apart by this key [default: the name of the CI job, else `benchmarks`]
    #[arg(long, value_name = "KEY", requires = "wanted")]
    report_key: Option<String>,
}

impl ReportingFlags {
    pub(super) fn options(self) -> ReportOptions {
        ReportOptions {
            wanted: self.wanted,
            key: self.report_key,
        }
    }
}

pub(super) fn report(text: &str) -> Result<WantedReport, String> {
    let (kind, file) = match text.split_once('=') {
        Some((_, "")) => return Err("the file has no name; `-` is stdout".to_owned()),
        Some((kind, "-")) => (kind, None),
        Some((kind, file)) => (kind, Some(PathBuf::from(file))),
        None => (text, None),
    };
    Ok(WantedReport {
        kind: kind.parse()?,
        file,
    })
}

#[cfg(test)]
mod tests {
    use super::report;
    use crate::app::WantedKind;
    use crate::report::ReportKind;
    use std::path::Path;

    #[test]
    fn a_report_is_a_kind_and_perhaps_a_file() {
        let read = report("junit=out/a=b.xml").expect("a kind and a file");
        assert_eq!(read.kind, WantedKind::Findings(ReportKind::JUnit));
        assert_eq!(report("html=a/").expect("a page").kind, WantedKind::Page);
        assert_eq!(read.file.as_deref(), Some(Path::new("out/a=b.xml")));
        for text in ["markdown", "markdown=-"] {
            assert_eq!(report(text).expect("a kind").file, None);
        }
        assert!(report("markdown=").is_err());
        let unknown = report("xml").expect_err("no kind");
        assert!(unknown.contains("markdown, github"), "{unknown}");
    }
}
