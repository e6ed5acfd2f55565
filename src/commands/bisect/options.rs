//! Options of `bisect`.

use clap::Args;

use crate::error::AppError;
use crate::options::{PairedOptions, RevisionRange, word_parser};
use perfcheck_analysis::model::BenchesFrom;

const AFTER_HELP: &str = "\
Builds commits between the good and the bad one and measures each of them side by side with the good one, until it finds the first
slow commit. It skips commits that cannot be built or measured. After an interruption, the same command continues the search.

Examples:
  cargo perfcheck bisect sort/10 --good v1.0               which commit since v1.0 made `sort/10` slower?
  cargo perfcheck bisect sort/10 v1.0..v1.1                or --good v1.0 --bad v1.1
  cargo perfcheck bisect sort/10 v1.0..HEAD --benches-from worktree
                                                           for a benchmark that is newer than some commits
  cargo perfcheck bisect --program 'rg -c fn in.txt' v1.0..HEAD

Exit status: 0 found, or narrowed down to commits that cannot be told apart; 2 usage error, or the bad commit is not slower than the good one; 3 build failed; 4 the good or the bad commit could not be measured or gave no clear result; 5 store unusable; 130 interrupted.";

/// Search a history for the first slow commit.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct BisectOptions {
    /// The benchmark: its id, part of its id, or the name of a bench target that has only one benchmark
    #[arg(value_name = "ID", required_unless_present = "program")]
    bench: Option<String>,
    /// Search the commits of this range, e.g. v1.0..HEAD, instead of those from --good to --bad
    #[arg(value_name = "A..B", value_parser = str::parse::<RevisionRange>)]
    range: Option<RevisionRange>,
    /// Instead of ID: measure runs of a binary, e.g. 'rg -c fn'
    ///
    /// PROGRAM is a command line, or the name of a `program` in Cargo.toml.
    #[arg(long, value_name = "PROGRAM")]
    pub program: Option<String>,
    /// A commit at which the benchmark is fast
    #[arg(long, value_name = "REV", conflicts_with = "range")]
    good: Option<String>,
    /// A later commit at which the benchmark is slow [default: HEAD]
    #[arg(long, value_name = "REV", conflicts_with = "range")]
    bad: Option<String>,
    /// Build commits with their own benchmarks or with those of the work tree
    #[arg(long, value_name = "SIDE", default_value = "revision", value_parser = word_parser::<BenchesFrom>(BenchesFrom::WORDS))]
    pub benches_from: BenchesFrom,
    /// Start over instead of continuing an interrupted search
    #[arg(long)]
    pub restart: bool,
    #[command(flatten)]
    pub(super) paired: PairedOptions,
}

impl BisectOptions {
    /// Returns the word that selects the benchmark: ID, or the program, whose id is its command line if it has no entry in Cargo.toml.
    pub(super) fn benchmark(&self) -> &str {
        let word = self.program.as_deref().map(str::trim);
        word.or(self.bench.as_deref()).unwrap_or_default()
    }

    /// Returns the commits between which the search looks. After `--program`, the only positional argument is the range.
    pub(super) fn range(&self) -> Result<RevisionRange, AppError> {
        let first = self.bench.as_ref().filter(|_| self.program.is_some());
        let ends = (&self.good, &self.bad);
        match (first, &self.range, ends) {
            (Some(text), None, (None, None)) => text
                .parse::<RevisionRange>()
                .map_err(|error| AppError::Usage(format!("`{text}` is no range: {error}"))),
            (Some(text), ..) => Err(AppError::Usage(format!(
                "`{text}` cannot be used with `--program`, which already names the benchmark\n  help: leave it out"
            ))),
            (None, Some(range), _) => Ok(range.clone()),
            (None, None, (Some(good), bad)) => Ok(RevisionRange {
                from: good.clone(),
                to: bad.clone().unwrap_or_else(|| "HEAD".to_owned()),
            }),
            (None, None, (None, _)) => Err(AppError::Usage(
                "the commits to search are missing\n  help: add a range such as `v1.0..HEAD`, or a commit at which the benchmark is fast, `--good v1.0`"
                    .to_owned(),
            )),
        }
    }
}
