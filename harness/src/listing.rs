//! The mode `--list`: prints the ids in libtest's format, which nextest reads.

use std::process::ExitCode;

use crate::args::ListFormat;
use crate::output::print;
use crate::request::escape;
use crate::walk::DeclaredBenchmark;

/// Prints one line for each selected benchmark.
pub(crate) fn run(wanted: &[DeclaredBenchmark], format: ListFormat) -> ExitCode {
    let lines: String = wanted
        .iter()
        .flat_map(|entry| [escape(&entry.announcement.id), ": benchmark\n".to_owned()])
        .collect();
    let plural = if wanted.len() == 1 { "" } else { "s" };
    match format {
        ListFormat::Terse => print(&lines),
        ListFormat::Pretty => print(&format!(
            "{lines}\n0 tests, {} benchmark{plural}\n",
            wanted.len()
        )),
    }
    ExitCode::SUCCESS
}
