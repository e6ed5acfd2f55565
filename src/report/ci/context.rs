//! What reports for other programs and for people elsewhere are told beside the findings.

use std::path::Path;

use perfcheck_analysis::model::{BenchmarkKey, Verdict};

/// What reports are told beside the findings.
#[derive(Clone, Copy)]
pub struct ReportContext<'a> {
    /// Tells this report apart from those of other jobs about the same commit.
    pub key: &'a str,
    /// When the run began, as RFC 3339 has it.
    pub started: &'a str,
    /// Where the store lies that the advised commands read.
    pub store: &'a Path,
    /// Verdicts that make the exit status 1.
    pub fail_on: &'a [Verdict],
    /// Where the source names a benchmark.
    pub source_place: &'a dyn Fn(&BenchmarkKey) -> Option<SourcePlace>,
}

/// A line of a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePlace {
    /// The file, relative to the top of the repository, with `/`.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}
