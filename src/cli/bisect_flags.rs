//! `cargo perfcheck bisect`.

use clap::Args;

use super::against_flags::BenchesFromFlag;
use super::cargo_flags::CompilationFlags;
use super::command::{Command, Parsed};
use super::paired_flags::PairedFlags;
use super::run_flags::OutputFlags;
use super::store_flags::StoreFlags;
use crate::app::{BisectOptions, StoreOptions};

const AFTER_HELP: &str = "\
Builds commits between GOOD and BAD and measures each in turn with GOOD, until the first slow one is found. A commit that
cannot be built or measured is skipped. After an interruption the same command goes on where it was.

Examples:
  cargo perfcheck bisect v1.0 --bench sort/10              which commit since v1.0 made `sort/10` slower?
  cargo perfcheck bisect v1.0 v1.1 --bench sort/10
  cargo perfcheck bisect v1.0 --bench sort/10 --benches-from worktree
                                                           the benchmark was written later than some commits

Exit status: 0 found, or narrowed down to commits that cannot be told apart; 2 usage, or BAD is not slower than GOOD; 3 build failed, 4 GOOD or BAD could not be measured or gave no clear answer, 5 store unusable, 130 interrupted.";

/// The command line of `bisect`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct BisectArguments {
    /// A commit that is fast
    good: String,
    /// A later commit that is slow
    #[arg(default_value = "HEAD")]
    bad: String,
    /// The benchmark: its id, the name of a bench target that has no other, or a part of the id
    #[arg(long, value_name = "ID")]
    bench: String,
    /// Whose benchmarks the commits are built with; `worktree` lays the current ones over them
    #[arg(long, value_name = "SIDE", default_value = "revision")]
    benches_from: BenchesFromFlag,
    /// Forget what an interrupted call has found
    #[arg(long)]
    restart: bool,
    #[command(flatten)]
    store: StoreFlags,
    #[command(flatten)]
    output: OutputFlags,
    #[command(flatten)]
    paired: PairedFlags,
    #[command(flatten)]
    build: CompilationFlags,
}

impl BisectArguments {
    pub(super) fn translate(self) -> Parsed {
        let color = self.output.color.word();
        let cargo = self.build.options(&self.output);
        Parsed {
            color,
            common: StoreOptions {
                store: self.store.store,
                output: self.output.options(),
                cargo,
            },
            command: Command::Bisect(Box::new(BisectOptions {
                good: self.good,
                bad: self.bad,
                bench: self.bench,
                benches_from: self.benches_from.into(),
                restart: self.restart,
                paired: self.paired.options(),
            })),
        }
    }
}
