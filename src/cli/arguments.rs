//! `cargo perfcheck` and its subcommands.

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::time::Duration;

use super::against_flags::AgainstFlags;
use super::bisect_flags::BisectArguments;
use super::cargo_flags::BuildFlags;
use super::command::{Command, Parsed};
use super::compare_flags::CompareArguments;
use super::doctor_flags::DoctorArguments;
use super::history_flags::HistoryArguments;
use super::import_flags::ImportArguments;
use super::reporting_flags::ReportingFlags;
use super::run_flags::{ComparisonFlags, OutputFlags, RowFlags, SamplingFlags};
use super::self_test_flags::SelfTestArguments;
use super::show_flags::ShowArguments;
use super::store_flags::{OnStore, StoreFlags, StoredArguments};
use crate::app::{
    AcceptOptions, BaselineAction, ExplainOptions, ExportOptions, PageOptions, PruneOptions,
    RunOptions, StoreOptions,
};
use crate::report::terminal_width;
use perfcheck_analysis::model::parse_duration;
use perfcheck_engine::measure::Filter;

const AFTER_HELP: &str = "\
Examples:
  cargo perfcheck                              measure, compare with the last accepted run, store
  cargo perfcheck --save-baseline main         ... and call this run `main`
  cargo perfcheck --baseline main              ... and compare with the run called `main`
  cargo perfcheck --against main               measure the work tree and `main` in turn
  cargo perfcheck -p parser json               only benchmarks of `parser` with `json` in their id
  cargo perfcheck compare main latest          compare stored runs without measuring
  cargo perfcheck history json                 its course over runs, with changes of level
  cargo perfcheck explain json                 how the newest verdict about `json` came about
  cargo perfcheck --fail-on regressed,suspect  be strict in CI
  cargo perfcheck --report markdown=bench.md   and write a report for a pull request (docs/CI.md)
  cargo perfcheck --fail median:5%             and fail where a median rose by more than 5 %

Exit status: 0 clean, 1 regression, 2 usage, 3 build failed, 4 a benchmark failed or nothing was measured, 5 store unusable, 6 baseline missing or not comparable, 130 interrupted.";

/// Did my change make it slower? Measures a workspace's benchmarks, stores every run and compares.
#[derive(Debug, Parser)]
#[command(
    name = "cargo-perfcheck",
    bin_name = "cargo perfcheck",
    version,
    after_help = AFTER_HELP,
    args_conflicts_with_subcommands = true,
    subcommand_help_heading = "Commands"
)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Subcommands>,
    #[command(flatten)]
    run: RunArguments,
}

#[derive(Debug, Args)]
struct RunArguments {
    /// Measure only benchmarks whose id contains one of these
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// FILTERs are whole ids
    #[arg(long)]
    exact: bool,
    /// Compare with this baseline (or run number, `latest`, `@commit`) rather than the last accepted run
    #[arg(short, long, value_name = "NAME", conflicts_with = "against-what")]
    baseline: Option<String>,
    /// Store this run under a name
    #[arg(short, long, value_name = "NAME")]
    save_baseline: Option<String>,
    /// Build and list the benchmarks, but do not measure
    #[arg(long)]
    no_run: bool,
    /// Longest time to wait for a bench beyond what is expected of it
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,
    #[command(flatten)]
    store: StoreFlags,
    #[command(flatten)]
    output: OutputFlags,
    #[command(flatten)]
    rows: RowFlags,
    #[command(flatten)]
    build: BuildFlags,
    #[command(flatten)]
    against: AgainstFlags,
    #[command(flatten)]
    sampling: SamplingFlags,
    #[command(flatten)]
    comparison: ComparisonFlags,
    #[command(flatten)]
    reporting: ReportingFlags,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    /// Compare stored runs, without measuring
    Compare(Box<CompareArguments>),
    /// Find the first commit that is slower, by measuring against a good one at each step
    Bisect(Box<BisectArguments>),
    /// What this machine finds of a known slowdown, and how often it cries wolf
    SelfTest(Box<SelfTestArguments>),
    /// What makes measurements on this machine unsteady, what can be told on it, what to change
    Doctor(DoctorArguments),
    /// List the benchmarks in the store, with their latest times
    List {
        #[command(flatten)]
        rows: RowFlags,
        #[command(flatten)]
        stored: StoredArguments,
    },
    /// List the stored runs, newest first
    Runs {
        #[command(subcommand)]
        action: Option<RunsAction>,
        /// Show at most this many
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
        #[command(flatten)]
        stored: StoredArguments,
    },
    /// Show what a run measured
    Show(Box<ShowArguments>),
    /// Say how a verdict came about, number by number
    Explain(Box<OnStore<ExplainOptions>>),
    /// Write a page about a run or a comparison: tables, charts, how each verdict came about
    Report(Box<OnStore<PageOptions>>),
    /// Show benchmarks over runs: levels, where they changed, where the next run should be
    History(Box<HistoryArguments>),
    /// Make a run, or what it measured of some benchmarks, a reference: the change was meant
    Accept(Box<OnStore<AcceptOptions>>),
    /// Show which runs a policy would remove, and with --yes remove them
    Prune(Box<OnStore<PruneOptions>>),
    /// Write stored runs for other machines and programs
    Export(Box<OnStore<ExportOptions>>),
    /// Store what another program, or this one elsewhere, measured
    Import(Box<ImportArguments>),
    /// Names for runs
    Baseline {
        #[command(subcommand)]
        action: BaselineCommand,
    },
}

#[derive(Debug, Subcommand)]
enum RunsAction {
    /// Take over the runs of a workspace that has moved, or of another clone
    Adopt {
        /// The other workspace: its key, number or path as `runs adopt` without it lists them
        from: Option<String>,
        #[command(flatten)]
        stored: StoredArguments,
    },
    /// Remove runs with all that they measured; both sides of an A/B measurement go together
    Remove {
        /// Run numbers, `latest` or `@commit`
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<String>,
        #[command(flatten)]
        stored: StoredArguments,
    },
}

#[derive(Debug, Subcommand)]
enum BaselineCommand {
    /// List the names
    List {
        #[command(flatten)]
        stored: StoredArguments,
    },
    /// Name a run, or move a name to it
    Save {
        /// The name
        name: String,
        /// A run number, baseline, `latest` or `@commit`
        #[arg(default_value = "latest")]
        run: String,
        #[command(flatten)]
        stored: StoredArguments,
    },
    /// Change a name
    Rename {
        /// The name
        from: String,
        /// The new name
        to: String,
        #[command(flatten)]
        stored: StoredArguments,
    },
    /// Forget a name; the run stays
    Remove {
        /// The name
        name: String,
        #[command(flatten)]
        stored: StoredArguments,
    },
    /// Show which kept executables would have to go, and with --yes remove them; numbers stay
    Prune {
        /// What they may take, compressed [default: 2048]
        #[arg(long, value_name = "MIB")]
        quota: Option<u64>,
        /// Those of runs that a baseline names, too
        #[arg(long)]
        named: bool,
        /// Remove them
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        stored: StoredArguments,
    },
}

/// Parses the process's arguments, called by cargo (`cargo-perfcheck perfcheck ...`) or directly.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Parsed, clap::Error> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments.get(1).is_some_and(|first| first == "perfcheck") {
        arguments.remove(1);
    }
    let escaped = arguments.iter().any(|argument| argument == "--");
    let command = numbers_with_a_sign(command_line()).term_width(help_width());
    let mut matches = command.try_get_matches_from(arguments)?;
    let parsed = Arguments::from_arg_matches_mut(&mut matches)?;
    if let (None, Some(word), false) = (&parsed.command, parsed.run.filters.first(), escaped) {
        refuse_command_as_filter(word)?;
    }
    Ok(parsed.translate())
}

/// The columns of help: those of the terminal as far as lines stay readable. `COLUMNS` is not asked, which may say 0.
fn help_width() -> usize {
    match terminal_width() {
        usize::MAX => 100,
        columns => columns.min(110),
    }
}

/// Values of flags that are numbers may begin with `-`: the flag's own error then says what it takes.
fn numbers_with_a_sign(command: clap::Command) -> clap::Command {
    const NUMBERS: [&str; 5] = ["FACTOR", "FRACTION", "MIB", "N", "TIME"];
    let is_number = |name: &clap::builder::Str| NUMBERS.contains(&name.as_str());
    let command = command.mut_args(|arg| {
        let numbers = arg
            .get_value_names()
            .is_some_and(|names| names.iter().all(is_number));
        if numbers {
            arg.allow_hyphen_values(true)
        } else {
            arg
        }
    });
    command.mut_subcommands(numbers_with_a_sign)
}

/// A flag before a command makes the command's name a filter, which is hardly ever meant.
fn refuse_command_as_filter(word: &str) -> Result<(), clap::Error> {
    let mut command = command_line();
    if command.find_subcommand(word).is_none() {
        return Ok(());
    }
    let message = format!(
        "`{word}` is a command and comes first: `cargo perfcheck {word} ...`; as a filter it is written behind `--`"
    );
    Err(command.error(clap::error::ErrorKind::ArgumentConflict, message))
}

/// The whole command line, for documentation and completions.
pub fn command_line() -> clap::Command {
    Arguments::command()
}

impl Arguments {
    fn translate(self) -> Parsed {
        match self.command {
            None => self.run.translate(),
            Some(Subcommands::Compare(arguments)) => arguments.translate(),
            Some(Subcommands::Bisect(arguments)) => arguments.translate(),
            Some(Subcommands::SelfTest(arguments)) => arguments.translate(),
            Some(Subcommands::Doctor(arguments)) => arguments.translate(),
            Some(Subcommands::List { rows, stored }) => {
                stored.with(Command::List).showing(rows.only())
            }
            Some(Subcommands::Runs {
                action: None,
                limit,
                stored,
            }) => stored.with(Command::Runs { limit }),
            Some(Subcommands::Runs {
                action: Some(RunsAction::Adopt { from, stored }),
                ..
            }) => stored.with(Command::Adopt { from }),
            Some(Subcommands::Runs {
                action: Some(RunsAction::Remove { runs, stored }),
                ..
            }) => stored.with(Command::RemoveRuns { runs }),
            Some(Subcommands::Show(arguments)) => arguments.translate(),
            Some(Subcommands::Explain(arguments)) => arguments.with(Command::Explain),
            Some(Subcommands::Report(arguments)) => arguments.with(Command::Report),
            Some(Subcommands::Export(arguments)) => arguments.with(Command::Export),
            Some(Subcommands::Import(arguments)) => arguments.translate(),
            Some(Subcommands::History(arguments)) => arguments.translate(),
            Some(Subcommands::Accept(arguments)) => arguments.with(Command::Accept),
            Some(Subcommands::Prune(arguments)) => arguments.with(Command::Prune),
            Some(Subcommands::Baseline { action }) => action.translate(),
        }
    }
}

impl BaselineCommand {
    fn translate(self) -> Parsed {
        let (action, stored) = match self {
            Self::List { stored } => (BaselineAction::List, stored),
            Self::Save { name, run, stored } => (BaselineAction::Save { name, run }, stored),
            Self::Rename { from, to, stored } => (BaselineAction::Rename { from, to }, stored),
            Self::Remove { name, stored } => (BaselineAction::Remove { name }, stored),
            Self::Prune {
                quota,
                named,
                yes,
                stored,
            } => (
                BaselineAction::Prune {
                    quota_mib: quota,
                    named,
                    execute: yes,
                },
                stored,
            ),
        };
        stored.with(Command::Baseline(action))
    }
}

impl RunArguments {
    fn translate(self) -> Parsed {
        let color = self.output.color.word();
        let mut layer = self.sampling.layer();
        let comparison = self.comparison.options();
        layer.noise_threshold = comparison.said_noise_threshold();
        let cargo = self.build.options(&self.output);
        Parsed {
            color,
            common: StoreOptions {
                store: self.store.store,
                output: self.output.options(),
                cargo,
            },
            command: Command::Run(Box::new(RunOptions {
                filter: Filter {
                    words: self.filters,
                    exact: self.exact,
                },
                baseline: self.baseline,
                effort: self.against.effort(),
                stored: self.against.stored,
                against: self.against.options(),
                save_baseline: self.save_baseline,
                no_run: self.no_run,
                timeout: self.timeout,
                layer,
                comparison,
                reports: self.reporting.options(),
            })),
        }
        .showing(self.rows.only())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command_line().debug_assert();
    }

    #[test]
    fn the_commands_that_a_filter_may_be_a_misspelling_of_are_all_commands() {
        let commands = command_line();
        let names: Vec<&str> = commands
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        assert_eq!(names, crate::app::COMMANDS);
    }

    #[test]
    fn a_command_behind_a_flag_is_no_filter_unless_it_is_said_to_be() {
        let parse = |words: &str| parse(words.split(' ').map(OsString::from));
        let refused = parse("cargo-perfcheck --color always compare a b").expect_err("refused");
        assert!(refused.to_string().contains("comes first"), "{refused}");
        assert!(parse("cargo-perfcheck --color always -- compare").is_ok());
        assert!(parse("cargo-perfcheck --color always compared").is_ok());
    }

    #[test]
    fn cargo_and_a_direct_call_mean_the_same() {
        let parse =
            |words: &[&str]| parse(words.iter().map(OsString::from)).expect("it is well formed");
        for words in [
            &["cargo-perfcheck", "perfcheck", "x"][..],
            &["cargo-perfcheck", "x"],
        ] {
            let Command::Run(options) = parse(words).command else {
                panic!("a run");
            };
            assert_eq!(options.filter.words, ["x"]);
        }
    }
}
