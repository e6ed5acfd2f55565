//! Flags of measuring two builds in turn.

use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

use crate::app::{Against, AgainstOptions, Counting, Effort};
use crate::settings::positive_duration;
use perfcheck_engine::sides::BenchesFrom;

/// What the work tree is measured against, and for how long.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "A/B options")]
pub(super) struct AgainstFlags {
    /// Build this git revision too, and measure both in turn: the most trustworthy comparison
    #[arg(long, value_name = "REV", group = "against-what")]
    against: Option<String>,
    /// The same with the commit where this branch and BRANCH parted
    #[arg(long, value_name = "BRANCH", group = "against-what")]
    against_merge_base: Option<String>,
    /// The same with a bench executable that was built before
    #[arg(long, value_name = "PATH", group = "against-what")]
    against_executable: Option<PathBuf>,
    /// Whose benchmarks the revision is built with; `worktree` lays the current ones over it
    #[arg(
        long,
        value_name = "SIDE",
        default_value = "revision",
        requires = "against-what"
    )]
    benches_from: BenchesFromFlag,
    /// Measure executables that are byte for byte the same, too: shows this machine's noise
    #[arg(long, requires = "against-what")]
    control: bool,
    // Not clap's `env`: a variable that is empty is none.
    #[arg(
        long,
        conflicts_with = "against-what",
        help = "Compare with the numbers in the store alone: run no baseline again, confirm nothing [env: PERFCHECK_STORED]"
    )]
    pub(super) stored: bool,
    /// Rounds at most; in each, both sides are launched afresh [default: 100, in a minute where they are costly]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(5..=10_000))]
    rounds: Option<u32>,
    /// Time for all rounds, where what is left goes to the benchmarks in doubt; or for all launches of a plain run
    #[arg(long, value_name = "TIME", value_parser = positive_duration)]
    time_budget: Option<Duration>,
    /// Measure executables as they were linked. Else they are linked anew for each round, with their functions at the same places on both sides
    #[arg(long)]
    as_built: bool,
    /// When to count instructions of iterations, in processes of their own under valgrind; with `--metric instructions` or a limit on instructions always
    #[arg(long, value_name = "WHEN", default_value = "changed")]
    instructions: CountingFlag,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum CountingFlag {
    /// Not at all
    Never,
    /// Of benchmarks whose time has changed, in turn with another build
    Changed,
    /// Of all benchmarks
    Always,
}

impl From<CountingFlag> for Counting {
    fn from(flag: CountingFlag) -> Self {
        match flag {
            CountingFlag::Never => Self::Never,
            CountingFlag::Changed => Self::Changed,
            CountingFlag::Always => Self::Always,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum BenchesFromFlag {
    /// The revision's own
    Revision,
    /// Those of the work tree
    Worktree,
}

impl From<BenchesFromFlag> for BenchesFrom {
    fn from(source: BenchesFromFlag) -> Self {
        match source {
            BenchesFromFlag::Revision => Self::Revision,
            BenchesFromFlag::Worktree => Self::WorkTree,
        }
    }
}

impl AgainstFlags {
    pub(super) fn effort(&self) -> Effort {
        Effort {
            rounds: self.rounds,
            time_budget: self.time_budget,
            as_built: self.as_built,
            instructions: self.instructions.into(),
        }
    }

    pub(super) fn options(self) -> Option<AgainstOptions> {
        let reference = (self.against.map(Against::Revision))
            .or(self.against_merge_base.map(Against::MergeBase))
            .or(self.against_executable.map(Against::Executable))?;
        Some(AgainstOptions {
            reference,
            benches_from: self.benches_from.into(),
            control: self.control,
        })
    }
}
