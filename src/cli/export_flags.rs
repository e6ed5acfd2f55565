//! The command line of `export`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

use super::command::{Command, Parsed};
use super::store_flags::StoredArguments;
use crate::app::{ExportFormat, ExportOptions};

const AFTER_HELP: &str = "\
Examples:
  cargo perfcheck export main --output main.jsonl          a run, whole, for another machine or CI job
  cargo perfcheck import main.jsonl                        ... and there
  cargo perfcheck export 12 13 --format criterion --output target/criterion
  cargo perfcheck export old --format benchstat > old.txt  with another one: benchstat old.txt new.txt
  cargo perfcheck export --format bmf | bencher run --adapter json --file /dev/stdin
  cargo perfcheck export latest --format csv --output samples.csv

docs/EXCHANGE.md says what each format keeps and loses.

Exit status: 0, 2 usage, or a file that cannot be written, 5 store unusable, 6 no such run.";

/// The command line of `export`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct ExportArguments {
    /// Runs: numbers, baselines, `latest` or `@commit`
    #[arg(value_name = "RUN", default_value = "latest")]
    runs: Vec<String>,
    /// Format to write
    #[arg(long, value_name = "FMT", default_value = "jsonl")]
    format: ExportFormatFlag,
    /// File to write to, or directory of Criterion's format; `-` is the standard output
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    #[command(flatten)]
    stored: StoredArguments,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ExportFormatFlag {
    /// Everything that the store has of a run, for `import`
    Jsonl,
    /// The tree that Criterion writes, each run a baseline
    Criterion,
    /// Lines for benchstat, one a launch
    #[value(alias = "go")]
    Benchstat,
    /// Bencher Metric Format
    Bmf,
    /// Every sample as a row
    Csv,
}

impl ExportArguments {
    pub(super) fn translate(self) -> Parsed {
        let options = ExportOptions {
            runs: self.runs,
            format: match self.format {
                ExportFormatFlag::Jsonl => ExportFormat::Portable,
                ExportFormatFlag::Criterion => ExportFormat::Criterion,
                ExportFormatFlag::Benchstat => ExportFormat::Benchstat,
                ExportFormatFlag::Bmf => ExportFormat::Bmf,
                ExportFormatFlag::Csv => ExportFormat::Csv,
            },
            output: self.output,
        };
        self.stored.with(Command::Export(Box::new(options)))
    }
}
