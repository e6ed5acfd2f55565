//! Options of `bisect`.

use clap::Args;

use crate::options::{PairedOptions, word_parser};
use perfcheck_analysis::model::BenchesFrom;

const AFTER_HELP: &str = "\
Builds commits between the good and the bad one and measures each of them side by side with the good one, until it finds the first
slow commit. It skips commits that cannot be built or measured. After an interruption, the same command continues the search.

Examples:
  cargo perfcheck bisect sort/10 --good v1.0               which commit since v1.0 made `sort/10` slower?
  cargo perfcheck bisect sort/10 --good v1.0 --bad v1.1
  cargo perfcheck bisect sort/10 --good v1.0 --benches-from worktree
                                                           for a benchmark that is newer than some commits

Exit status: 0 found, or narrowed down to commits that cannot be told apart; 2 usage error, or the bad commit is not slower than the good one; 3 build failed; 4 the good or the bad commit could not be measured or gave no clear result; 5 store unusable; 130 interrupted.";

/// Search a history for the first slow commit.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct BisectOptions {
    /// The benchmark: its id, part of its id, or the name of a bench target that has only one benchmark
    #[arg(value_name = "ID")]
    pub bench: String,
    /// A commit at which the benchmark is fast
    #[arg(long, value_name = "REV")]
    pub good: String,
    /// A later commit at which the benchmark is slow
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    pub bad: String,
    /// Build commits with their own benchmarks or with those of the work tree
    #[arg(long, value_name = "SIDE", default_value = "revision", value_parser = word_parser::<BenchesFrom>(BenchesFrom::WORDS))]
    pub benches_from: BenchesFrom,
    /// Start over instead of continuing an interrupted search
    #[arg(long)]
    pub restart: bool,
    #[command(flatten)]
    pub(super) paired: PairedOptions,
}
