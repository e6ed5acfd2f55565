//! The facts that CI reports need besides the findings of a run.

use std::path::Path;

use perfcheck_analysis::model::{BenchmarkKey, Verdict};

/// The facts that CI reports need besides the findings of a run.
#[derive(Clone, Copy)]
pub struct ReportContext<'a> {
    /// Key that distinguishes this report from those of other jobs for the same commit.
    pub key: &'a str,
    /// Start of the run, RFC 3339.
    pub started: &'a str,
    /// Path of the store that the suggested commands read.
    pub store: &'a Path,
    /// Verdicts that make the command exit with status 1.
    pub fail_on: &'a [Verdict],
    /// Finds the line of the source code that names a benchmark. Returns `None` if it is not found.
    pub source_place: &'a dyn Fn(&BenchmarkKey) -> Option<SourcePlace>,
}

/// A line of a source file, to which a report can link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePlace {
    /// The file, relative to the top of the repository, with `/` as separator.
    pub file: String,
    /// Number of the line, from 1.
    pub line: usize,
}
