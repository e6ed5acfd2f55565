//! The command lines of the subcommands: `baseline`, `bisect`, `doctor`, `history`, `init`, `list`, `rank` and `store`.
//!
//! This module must only parse.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Args, Subcommand};
use clap_cargo::Workspace;
use std::time::Duration;

use super::command::{Command, ParsedCommand};
use super::flags::{
    BuildFlags, CompilationFlags, StoreFlags, StoredArguments, WithStore, WorkspaceFlags,
};
use crate::commands::{
    BaselineAction, BisectOptions, DoctorOptions, ExportOptions, ImportOptions, InitOptions,
    ListOptions, PruneOptions, PushOptions, RankOptions, SelfTestOptions, StoreInitOptions,
};
use crate::config::parse_positive_duration;
use crate::options::{CommonOptions, OutputOptions, PairedOptions};
use perfcheck_analysis::model::{parse_duration, parse_slowdown};
use perfcheck_bench::measure::Filter;
use perfcheck_build::cargo::CargoOptions;

const AFTER_LIST: &str = "\
Examples:
  cargo perfcheck baseline list                list every name with its run

Exit status: 0 success, 2 usage error, 5 store unusable.";
const AFTER_SAVE: &str = "\
Examples:
  cargo perfcheck baseline save main           name the latest run `main`
  cargo perfcheck baseline save v1 12          name run 12 `v1`

Exit status: 0 success, 2 usage error, 5 store unusable, 6 no such run.";
const AFTER_RENAME: &str = "\
Examples:
  cargo perfcheck baseline rename main old     rename `main` to `old`

Exit status: 0 success; 2 usage error, or the new name already exists; 5 store unusable; 6 no such baseline.";
const AFTER_REMOVE: &str = "\
Examples:
  cargo perfcheck baseline remove old          remove the name `old`; its run stays

Exit status: 0 success, 2 usage error, 5 store unusable, 6 no such baseline.";

#[derive(Debug, Subcommand)]
pub(super) enum BaselineCommand {
    /// List baselines
    #[command(after_long_help = AFTER_LIST)]
    List {
        #[command(flatten)]
        stored: StoredArguments,
    },
    /// Save a run as a baseline, or move an existing baseline to it
    #[command(after_long_help = AFTER_SAVE)]
    Save {
        /// Save the run under this name
        name: String,
        /// Save this run: a number, baseline, `latest` or `@commit`
        #[arg(default_value = "latest", allow_negative_numbers = true)]
        run: String,
        #[command(flatten)]
        stored: StoredArguments,
    },
    /// Rename a baseline
    #[command(after_long_help = AFTER_RENAME)]
    Rename {
        /// Rename this baseline
        from: String,
        /// The new name of the baseline
        to: String,
        #[command(flatten)]
        stored: StoredArguments,
    },
    /// Remove a baseline's name and keep its run
    #[command(after_long_help = AFTER_REMOVE)]
    Remove {
        /// Remove this name
        name: String,
        #[command(flatten)]
        stored: StoredArguments,
    },
}

impl BaselineCommand {
    pub(super) fn translate(self) -> ParsedCommand {
        let (action, stored) = match self {
            Self::List { stored } => (BaselineAction::List, stored),
            Self::Save { name, run, stored } => (BaselineAction::Save { name, run }, stored),
            Self::Rename { from, to, stored } => (BaselineAction::Rename { from, to }, stored),
            Self::Remove { name, stored } => (BaselineAction::Remove { name }, stored),
        };
        stored.into_parsed(Command::Baseline(action))
    }
}

/// The arguments of `bisect`.
#[derive(Debug, Args)]
pub(super) struct BisectArguments {
    #[command(flatten)]
    options: BisectOptions,
    #[command(flatten)]
    store: StoreFlags,
    #[command(flatten)]
    output: OutputOptions,
    #[command(flatten)]
    build: CompilationFlags,
}

impl BisectArguments {
    pub(super) fn translate(self) -> ParsedCommand {
        let cargo = CargoOptions {
            programs: self.options.program.iter().cloned().collect(),
            ..self.build.options(&self.output)
        };
        ParsedCommand {
            common: CommonOptions {
                store: self.store.store,
                output: self.output,
                cargo,
            },
            command: Command::Bisect(Box::new(self.options)),
        }
    }
}

const AFTER_HELP: &str = "\
Without --self-test, doctor needs no project and changes nothing on the machine. For the time that --time sets, it measures two built-in workloads, \
each side by side with itself, as an `--against` run would.

With --self-test, doctor measures your benchmarks instead: each against itself, and against a copy that is slower by a known amount. It stores nothing. A trial takes as \
long as an `--against` run of the same benchmarks.

Examples:
  cargo perfcheck doctor                           inspect, measure for ten seconds, recommend changes
  cargo perfcheck doctor --time 1min               estimate the noise more precisely
  cargo perfcheck doctor --self-test               five trials without a slowdown, five slowed by 2 %
  cargo perfcheck doctor --self-test parse --slowdown 5%
                                                   benchmarks with `parse` in their id, slowed by 5 %
  cargo perfcheck doctor --self-test --trials 40   estimate the false-alarm rate more precisely

Exit status: 0 whatever the result, 2 usage error, 3 build failed, 4 nothing could be measured or a benchmark failed, 130 interrupted.";

const USUAL: Duration = Duration::from_secs(10);
const QUICK: Duration = Duration::from_secs(3);

/// Flags that apply both with and without `--self-test`.
const OF_BOTH: [&str; 8] = [
    "self_test",
    "rounds",
    "seed",
    "quiet",
    "verbose",
    "color",
    "message_format",
    "sort",
];
/// Flags that apply only without `--self-test`.
const OF_MACHINE: [&str; 2] = ["time", "quick"];

/// The arguments of `doctor`. Without `--self-test` it needs no store and no workspace.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct DoctorArguments {
    /// With --self-test: measure only benchmarks whose id contains one of these words
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// Match FILTER against whole ids
    #[arg(long)]
    exact: bool,
    /// Measure detection and false-alarm rates on this machine, with your benchmarks
    #[arg(long)]
    self_test: bool,
    /// With --self-test: measure only the bench target NAME (repeatable; globs work)
    #[arg(long, value_name = "NAME")]
    bench: Vec<String>,
    /// With --self-test: make one side slower by this factor or percentage
    #[arg(long, value_name = "FACTOR", default_value = "1.02", value_parser = parse_slowdown)]
    slowdown: f64,
    /// With --self-test: run N trials without the slowdown, and N with it
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    trials: u32,
    /// Measure the machine's noise for this time [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = parse_positive_duration)]
    time: Option<Duration>,
    /// Measure the machine's noise for three seconds
    #[arg(long, conflicts_with = "time")]
    quick: bool,
    #[command(flatten)]
    output: OutputOptions,
    #[command(flatten)]
    build: CompilationFlags,
    #[command(flatten)]
    paired: PairedOptions,
}

/// Rejects flags without effect: most apply only with `--self-test`, a few only without.
pub(super) fn reject_useless_flags(
    line: &mut clap::Command,
    matches: &clap::ArgMatches,
) -> Result<(), clap::Error> {
    let with_self_test = matches.get_flag("self_test");
    let Some(doctor) = line.find_subcommand_mut("doctor") else {
        return Ok(());
    };
    let is_useless = |id: &str| {
        let is_explicit = matches.value_source(id) == Some(ValueSource::CommandLine);
        let suits = if with_self_test {
            !OF_MACHINE.contains(&id)
        } else {
            OF_MACHINE.contains(&id) || OF_BOTH.contains(&id)
        };
        is_explicit && !suits
    };
    let useless = doctor
        .get_arguments()
        .find(|arg| is_useless(arg.get_id().as_str()))
        .map(clap::Arg::to_string);
    let Some(flag) = useless else {
        return Ok(());
    };
    let why = if with_self_test {
        "cannot be used with `--self-test`"
    } else {
        "requires `--self-test`"
    };
    Err(doctor.error(ErrorKind::ArgumentConflict, format!("`{flag}` {why}")))
}

impl DoctorArguments {
    pub(super) fn translate(self) -> ParsedCommand {
        let paired = self.paired;
        let (cargo, command) = if self.self_test {
            let cargo = CargoOptions {
                benches: self.bench,
                ..self.build.options(&self.output)
            };
            let options = SelfTestOptions {
                filter: Filter {
                    words: self.filters,
                    exact: self.exact,
                },
                slowdown: self.slowdown,
                trials: self.trials,
                paired,
            };
            (cargo, Command::SelfTest(Box::new(options)))
        } else {
            let usual = if self.quick { QUICK } else { USUAL };
            let options = DoctorOptions {
                time: self.time.unwrap_or(usual),
                rounds: paired.effort.rounds,
                seed: paired.seed,
            };
            (CargoOptions::default(), Command::Doctor(options))
        };
        ParsedCommand {
            command,
            common: CommonOptions {
                // Doctor stores nothing.
                store: None,
                output: self.output,
                cargo,
            },
        }
    }
}

/// Flags of `history` that apply without `--measure`. All others need it.
const STORED_HISTORY_FLAGS: [&str; 21] = [
    // The id that clap-cargo gives to `--manifest-path`.
    "PATH",
    "all_branches",
    "allow_different",
    "branch",
    "color",
    "config",
    "exact",
    "filters",
    "frozen",
    "last",
    "locked",
    "measure",
    "message_format",
    "metric",
    "offline",
    "quiet",
    "since",
    "sort",
    "store",
    "verbose",
    "verdict",
];

/// Makes the flags of `history` that only a measurement uses require `--measure`.
pub(super) fn require_measure(history: clap::Command) -> clap::Command {
    history
        .mut_args(|arg| {
            let id = arg.get_id().as_str();
            if STORED_HISTORY_FLAGS.contains(&id) {
                arg
            } else {
                arg.requires("measure")
            }
        })
        .mut_arg("time_budget", |arg| {
            arg.help("Begin no further commit after this time; the same command continues later")
        })
}

/// The arguments of `init`.
#[derive(Debug, Args)]
pub(super) struct InitArguments {
    #[command(flatten)]
    options: InitOptions,
    #[command(flatten)]
    packages: Workspace,
    #[command(flatten)]
    at: WorkspaceFlags,
}

impl InitArguments {
    pub(super) fn translate(self) -> ParsedCommand {
        let cargo = CargoOptions {
            packages: self.packages.package,
            workspace: self.packages.workspace || self.packages.all,
            exclude: self.packages.exclude,
            ..self.at.options()
        };
        ParsedCommand::without_store(Command::Init(self.options), cargo)
    }
}

const AFTER_LIST_BENCHMARKS: &str = "\
Builds the bench targets and lists their benchmarks. Nothing is measured or stored.

Examples:
  cargo perfcheck list                         list every benchmark in the workspace
  cargo perfcheck list -p parser json          list benchmarks of `parser` with `json` in their id

Exit status: 0 success, 2 usage error, 3 build failed, 4 a bench target could not list its benchmarks.";

/// The arguments of `list`.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_LIST_BENCHMARKS)]
pub(super) struct ListArguments {
    /// List only benchmarks whose id contains one of these words
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// Match FILTER against whole ids
    #[arg(long)]
    exact: bool,
    /// Treat a benchmark as hung after ten times its expected time plus TIME [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,
    #[command(flatten)]
    output: OutputOptions,
    #[command(flatten)]
    build: BuildFlags,
}

impl ListArguments {
    pub(super) fn translate(self) -> ParsedCommand {
        let cargo = self.build.options(&self.output);
        ParsedCommand {
            common: CommonOptions {
                // Listing stores nothing.
                store: None,
                output: self.output,
                cargo,
            },
            command: Command::List(ListOptions {
                filter: Filter {
                    words: self.filters,
                    exact: self.exact,
                },
                timeout: self.timeout,
            }),
        }
    }
}

/// The arguments of `rank`. It needs no store.
#[derive(Debug, Args)]
pub(super) struct RankArguments {
    #[command(flatten)]
    options: RankOptions,
    #[command(flatten)]
    output: OutputOptions,
    #[command(flatten)]
    build: BuildFlags,
}

impl RankArguments {
    pub(super) fn translate(self) -> ParsedCommand {
        let cargo = self.build.options(&self.output);
        ParsedCommand {
            common: CommonOptions {
                // A ranking is not stored.
                store: None,
                output: self.output,
                cargo,
            },
            command: Command::Rank(Box::new(self.options)),
        }
    }
}

const AFTER_RUNS: &str = "\
Examples:
  cargo perfcheck store runs                   list the newest 20 runs
  cargo perfcheck store runs --last 100

Exit status: 0 success, 2 usage error, 5 store unusable.";
const AFTER_REMOVE_RUNS: &str = "\
The two runs of a side-by-side measurement are removed together.

Examples:
  cargo perfcheck store remove 12 13           remove runs 12 and 13

Exit status: 0 success, 2 usage error, 5 store unusable, 6 no such run.";
const AFTER_ADOPT: &str = "\
Examples:
  cargo perfcheck store adopt                  list the workspaces in the store
  cargo perfcheck store adopt /old/path        move the runs of that workspace to this one

Exit status: 0 success, 2 usage error, 5 store unusable.";
const AFTER_PRUNE: &str = "\
Removes all runs except those that a rule keeps. Some runs always stay: baselines; runs that the next run of an existing branch will be compared with \
(for each benchmark, up to 20 runs since its last change); runs whose measurements a kept run reuses; and incomplete runs of the last day. \
The two runs of a side-by-side measurement are removed or kept together. \
With --samples, prune removes only samples (from a team's store, by whole months).

Examples:
  cargo perfcheck store prune --keep-last 100                    show what would be removed
  cargo perfcheck store prune --older-than 90d --keep-per-branch 10 --yes
  cargo perfcheck store prune --branch old-idea --keep-last 0 --yes
  cargo perfcheck store prune --samples --older-than 365d --yes  keep the history, remove old samples

Exit status: 0 success, 2 usage error, 5 store unusable.";

#[derive(Debug, Subcommand)]
pub(super) enum StoreCommand {
    /// List the stored runs, newest first
    #[command(after_long_help = AFTER_RUNS)]
    Runs {
        /// List at most N runs
        #[arg(long, value_name = "N", default_value = "20", value_parser = parse_run_count)]
        last: usize,
        #[command(flatten)]
        stored: StoredArguments,
    },
    /// Remove runs and everything they measured
    #[command(after_long_help = AFTER_REMOVE_RUNS)]
    Remove {
        /// Remove these runs: numbers, `latest` or `@commit`
        #[arg(value_name = "RUN", required = true, allow_negative_numbers = true)]
        runs: Vec<String>,
        #[command(flatten)]
        stored: StoredArguments,
    },
    /// Take over the runs of a moved workspace, or of another clone
    #[command(after_long_help = AFTER_ADOPT)]
    Adopt {
        /// Take over the runs of the workspace with this key or path [default: list the workspaces]
        from: Option<String>,
        #[command(flatten)]
        stored: StoredArguments,
    },
    /// Show which runs the given rules would remove; with --yes, remove them
    #[command(after_long_help = AFTER_PRUNE)]
    Prune(WithStore<PruneOptions>),
    /// Create a team's store in a PostgreSQL database
    Init(StoreInitOptions),
    /// Send complete runs to a team's store
    Push(WithStore<PushOptions>),
    /// Import results from other tools or machines
    Import(Box<WithStore<ImportOptions>>),
    /// Export runs for other machines and tools
    Export(WithStore<ExportOptions>),
}

fn parse_run_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(runs @ 1..) => Ok(runs),
        _ => Err("expected at least 1 run".to_owned()),
    }
}

impl StoreCommand {
    pub(super) fn translate(self) -> ParsedCommand {
        match self {
            Self::Runs { last, stored } => stored.into_parsed(Command::Runs(last)),
            Self::Remove { runs, stored } => stored.into_parsed(Command::RemoveRuns(runs)),
            Self::Adopt { from, stored } => stored.into_parsed(Command::Adopt(from)),
            Self::Prune(arguments) => arguments.into_parsed(Command::Prune),
            Self::Init(options) => ParsedCommand::without_workspace(Command::CreateStore(options)),
            Self::Push(arguments) => arguments.into_parsed(Command::Push),
            Self::Import(arguments) => {
                arguments.into_parsed(|options| Command::Import(Box::new(options)))
            }
            Self::Export(arguments) => arguments.into_parsed(Command::Export),
        }
    }
}
