//! Flags for measuring two builds side by side.

use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

use crate::app::{Against, AgainstOptions, CountingMode, Effort, clap_range, word_parser};
use crate::settings::parse_positive_duration;
use perfcheck_analysis::compare::Plan;
use perfcheck_analysis::model::{BenchesFrom, limits};

/// Flags that select the reference of a side-by-side run, and limit its extent.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Measurement options")]
pub(super) struct AgainstFlags {
    /// Measure side by side with this git revision
    ///
    /// The revision is built in a separate cache; your checkout and `target/` are untouched.
    #[arg(long, value_name = "REV", group = "against-what")]
    against: Option<String>,
    /// Measure side by side with the commit where this branch left BRANCH
    #[arg(long, value_name = "BRANCH", group = "against-what")]
    against_merge_base: Option<String>,
    /// Measure side by side with a bench executable that you built before
    #[arg(long, value_name = "PATH", group = "against-what")]
    against_executable: Option<PathBuf>,
    /// Build the revision with these benchmarks: its own, or those of the work tree
    #[arg(
        long,
        value_name = "SIDE",
        default_value = "revision",
        requires = "against-what",
        value_parser = word_parser::<BenchesFrom>(BenchesFrom::WORDS)
    )]
    benches_from: BenchesFrom,
    /// Measure identical executables, too, to show this machine's noise
    #[arg(long)]
    pub(super) measure_identical: bool,
    // clap's `env` would accept an empty variable as a value.
    #[arg(
        long,
        conflicts_with = "against-what",
        help_heading = "Comparison options",
        help = "Compare stored numbers only [env: PERFCHECK_NO_RERUN]",
        long_help = "Compare stored numbers only: build the work tree in its target directory, measure it alone, and do not run the earlier build [env: PERFCHECK_NO_RERUN]"
    )]
    pub(super) no_rerun: bool,
    /// Measure at most N rounds, or N processes of a build alone [default: 200; 5]
    ///
    /// A round runs one process of each build. Two builds get at least 5 rounds; --time-per-benchmark limits costly benchmarks. A build is
    /// measured alone in a first run and with --no-rerun.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(clap_range(limits::LAUNCHES)))]
    rounds: Option<u32>,
    /// Stop measuring after this time
    ///
    /// Undecided benchmarks are measured first, and get the time that decided ones leave.
    #[arg(long, value_name = "TIME", value_parser = parse_positive_duration)]
    time_budget: Option<Duration>,
    /// Limit the time of each benchmark of two builds [default: 30s, and 20 rounds at least]
    ///
    /// After 5 rounds, a benchmark begins no round that would end later. With --rounds and without this flag there is no time limit.
    #[arg(long, value_name = "TIME", value_parser = parse_positive_duration)]
    time_per_benchmark: Option<Duration>,
    /// Run executables as they were linked, instead of relinking them for each round with the same function order on both sides
    #[arg(long)]
    as_built: bool,
    /// Count instructions under valgrind; `--metric instructions` and limits on instructions always count
    #[arg(long, value_name = "WHEN", default_value = "changed")]
    instructions: CountingMode,
}

impl AgainstFlags {
    /// Returns the extent of a side-by-side measurement. `--rounds` also sets the processes of a run alone, so without an explicit
    /// reference it is raised to the minimum number of rounds.
    pub(super) fn extent(&self) -> Effort {
        let rounds = self.rounds.filter(|_| !self.no_rerun);
        let rounds = if self.is_side_by_side() {
            rounds
        } else {
            rounds.map(|rounds| rounds.max(Plan::FEWEST_ROUNDS))
        };
        Effort {
            rounds,
            time_budget: self.time_budget,
            time_per_benchmark: self.time_per_benchmark,
            as_built: self.as_built,
            instructions: self.instructions,
        }
    }

    /// Returns the number of processes of a build that is measured alone.
    pub(super) fn rounds_alone(&self) -> Option<u32> {
        self.rounds.filter(|_| !self.is_side_by_side())
    }

    fn is_side_by_side(&self) -> bool {
        let revision = self.against.as_ref().or(self.against_merge_base.as_ref());
        revision.is_some() || self.against_executable.is_some()
    }

    pub(super) fn options(self) -> Option<AgainstOptions> {
        let reference = (self.against.map(Against::Revision))
            .or(self.against_merge_base.map(Against::MergeBase))
            .or(self.against_executable.map(Against::Executable))?;
        Some(AgainstOptions {
            reference,
            benches_from: self.benches_from,
        })
    }
}
