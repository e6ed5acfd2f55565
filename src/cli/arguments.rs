//! The command line of `cargo perfcheck` and its subcommands, and the shell completions and manual pages that are generated from it.

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use std::ffi::OsString;
use std::io::{self, Write};
use std::time::Duration;

use super::command::{Command, ParsedCommand};
use super::flags::{
    AgainstFlags, BuildFlags, RowFlags, SamplingFlags, StoreFlags, WithBuild, WithRows, WithStore,
};
use super::help::{allow_signed_numbers, reject_command_as_filter, suggest_command, with_layout};
use super::subcommands::{
    BaselineCommand, BisectArguments, DoctorArguments, InitArguments, ListArguments, RankArguments,
    StoreCommand, reject_useless_flags, require_measure,
};
use crate::commands::{
    AcceptOptions, CompareOptions, CoverageOptions, ExplainOptions, HistoryOptions, MergeOptions,
    PossibleTypo, ReportCommandOptions, RunOptions, ShowOptions,
};
use crate::delivery::ReportOptions;
use crate::options::{CommonOptions, ComparisonOptions, OutputOptions};
use perfcheck_analysis::model::{ShardId, parse_duration};
use perfcheck_bench::measure::Filter;

const AFTER_HELP: &str = "\
Examples:
  cargo perfcheck                              measure side by side with the last accepted run, and store the new run
  cargo perfcheck --against main               measure side by side with the revision `main`
  cargo perfcheck -p parser json               measure benchmarks of `parser` with `json` in their id
  cargo perfcheck --save-baseline main         name this run `main`
  cargo perfcheck --baseline main              measure side by side with the run named `main`
  cargo perfcheck --limit median:5%            fail if a median rises by more than 5 %
  cargo perfcheck --fail-on regressed,suspect  fail on `suspect`, too
  cargo perfcheck --report markdown=bench.md   write a comment for a pull request
  cargo perfcheck compare main latest          compare stored runs without measuring
  cargo perfcheck explain json                 explain the newest verdict about `json`
  cargo perfcheck init                         see which benchmarks work unmodified
  cargo perfcheck completions bash             print shell completions (`cargo perfcheck man`: a man page)

Exit status: 0 clean, 1 regression, 2 usage error, 3 build failed, 4 a benchmark failed or nothing was measured, 5 store unusable, 6 baseline missing or not comparable, 130 interrupted.";

const AFTER_RUN: &str = "\
`cargo perfcheck` without a command does the same.

Examples:
  cargo perfcheck run                          measure every benchmark
  cargo perfcheck run history                  measure benchmarks with `history` in their id (without `run`, `history` is a command)
  cargo perfcheck run --against main json      measure `json` in the work tree and in `main`, side by side

Exit status: 0 clean, 1 regression, 2 usage error, 3 build failed, 4 a benchmark failed or nothing was measured, 5 store unusable, 6 baseline missing or not comparable, 130 interrupted.";

const AFTER_COMPLETIONS: &str = "\
The completions are for `cargo-perfcheck`, the executable that cargo runs.

Examples:
  cargo perfcheck completions bash > ~/.local/share/bash-completion/completions/cargo-perfcheck
  cargo perfcheck completions fish > ~/.config/fish/completions/cargo-perfcheck.fish";

const AFTER_MAN: &str = "\
Examples:
  cargo perfcheck man | man -l -             read the manual page of `cargo perfcheck`
  cargo perfcheck man store import > import.1";

/// Did my change make it slower? Measure benchmarks, store each run and compare it with earlier ones
#[derive(Debug, Parser)]
#[command(
    name = "cargo-perfcheck",
    bin_name = "cargo perfcheck",
    version,
    after_long_help = AFTER_HELP,
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
    /// Measure only benchmarks whose id contains one of these words
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// Match FILTER against whole ids
    #[arg(long)]
    exact: bool,
    /// Compare with this baseline, run number, `latest` or `@commit`
    ///
    /// Without this flag, a run is compared with the last accepted run.
    #[arg(
        short,
        long,
        value_name = "NAME",
        conflicts_with = "against-what",
        allow_negative_numbers = true
    )]
    baseline: Option<String>,
    /// Save this run as the baseline NAME
    #[arg(short, long, value_name = "NAME")]
    save_baseline: Option<String>,
    /// Send the run to the team's store afterwards, as `store push` does
    #[arg(long, conflicts_with = "partition")]
    push: bool,
    /// Measure one part of the suite, e.g. 2/8; `merge` judges the whole suite
    ///
    /// Benchmarks are assigned to the parts round-robin, in the order of the suite; stored runs do not affect this. Give each of the N jobs its own K
    /// and otherwise the same arguments. A regression does not make a part fail, and later runs are never compared with a part.
    #[arg(long, value_name = "K/N")]
    partition: Option<ShardId>,
    /// Treat a benchmark as hung after ten times its expected time plus TIME [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,
    #[command(flatten)]
    store: StoreFlags,
    #[command(flatten)]
    output: OutputOptions,
    #[command(flatten)]
    rows: RowFlags,
    #[command(flatten)]
    reports: ReportOptions,
    #[command(flatten)]
    build: BuildFlags,
    #[command(flatten)]
    against: AgainstFlags,
    #[command(flatten)]
    sampling: SamplingFlags,
    #[command(flatten)]
    comparison: ComparisonOptions,
}

#[derive(Debug, Args)]
#[command(after_long_help = AFTER_RUN)]
struct RunSubcommand {
    #[command(flatten)]
    run: RunArguments,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    /// Measure benchmarks, store the run and compare it with earlier ones (default command)
    Run(Box<RunSubcommand>),
    /// Check which benchmarks work unmodified; write a first benchmark or a CI workflow
    Init(Box<InitArguments>),
    /// List the benchmarks that a run would measure
    List(Box<ListArguments>),
    /// Compare stored runs without measuring
    Compare(Box<WithRows<CompareOptions>>),
    /// Show what a stored run measured
    Show(Box<WithRows<ShowOptions>>),
    /// Explain how a stored verdict was reached
    Explain(Box<WithStore<ExplainOptions>>),
    /// Show how benchmarks changed from run to run
    History(Box<WithBuild<HistoryOptions>>),
    /// Write a page or another report about stored runs
    Report(Box<WithStore<ReportCommandOptions>>),
    /// Accept an intentional change as the new reference
    Accept(Box<WithStore<AcceptOptions>>),
    /// Merge the parts that jobs measured with --partition, and judge the whole suite
    Merge(Box<WithRows<MergeOptions>>),
    /// Find the first commit that made a benchmark slower
    Bisect(Box<BisectArguments>),
    /// Show which functions could become slower without any benchmark noticing
    Coverage(Box<WithBuild<CoverageOptions>>),
    /// Rank benchmarks of one build by their speed
    Rank(Box<RankArguments>),
    /// Check how small a change this machine can detect, and what disturbs measurements
    Doctor(Box<DoctorArguments>),
    /// Manage baselines: names for runs
    #[command(subcommand)]
    Baseline(BaselineCommand),
    /// Manage stored runs: list, remove, import, export, share
    #[command(subcommand)]
    Store(Box<StoreCommand>),
    /// Print completions for a shell
    #[command(hide = true, after_long_help = AFTER_COMPLETIONS)]
    Completions {
        /// Print completions for this shell
        shell: Shell,
    },
    /// Print a manual page
    #[command(hide = true, after_long_help = AFTER_MAN)]
    Man {
        /// Print this command's man page instead of the main one
        command: Vec<String>,
    },
}

/// Parses the arguments of the process. If cargo has called the executable, this ignores the `perfcheck` that cargo inserts after the program's name.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<ParsedCommand, clap::Error> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments.get(1).is_some_and(|first| first == "perfcheck") {
        arguments.remove(1);
    }
    let is_escaped = arguments.iter().any(|argument| argument == "--");
    let mut command = with_layout(allow_signed_numbers(command_line()));
    let mut matches = command.try_get_matches_from_mut(arguments)?;
    if let Some(("doctor", matches)) = matches.subcommand() {
        reject_useless_flags(&mut command, matches)?;
    }
    let mut parsed = Arguments::from_arg_matches_mut(&mut matches)?;
    // With `--exact` the word is the whole id of a benchmark, never a mistyped command.
    let is_filter = is_escaped || parsed.run.exact;
    if let (None, Some(word), false) = (&parsed.command, parsed.run.filters.first(), is_filter) {
        reject_command_as_filter(word, &mut command)?;
        let possible_typo = suggest_command(word, &command).map(|meant| PossibleTypo {
            word: word.clone(),
            command: meant,
        });
        return Ok(parsed.run.translate(possible_typo));
    }
    Ok(match parsed.command.take() {
        None => parsed.run.translate(None),
        Some(command) => command.translate(),
    })
}

/// Returns the whole command line, for documentation and completions.
pub fn command_line() -> clap::Command {
    Arguments::command().mut_subcommand("history", require_measure)
}

impl Subcommands {
    fn translate(self) -> ParsedCommand {
        match self {
            Self::Run(arguments) => arguments.run.translate(None),
            Self::Init(arguments) => arguments.translate(),
            Self::List(arguments) => arguments.translate(),
            Self::Compare(arguments) => {
                arguments.into_parsed(|options| Command::Compare(Box::new(options)))
            }
            Self::Show(arguments) => arguments.into_parsed(Command::Show),
            Self::Explain(arguments) => arguments.into_parsed(Command::Explain),
            Self::History(arguments) => {
                arguments.into_parsed(|options| Command::History(Box::new(options)))
            }
            Self::Report(arguments) => arguments.into_parsed(Command::Report),
            Self::Accept(arguments) => arguments.into_parsed(Command::Accept),
            Self::Merge(arguments) => {
                arguments.into_parsed(|options| Command::Merge(Box::new(options)))
            }
            Self::Bisect(arguments) => arguments.translate(),
            Self::Coverage(arguments) => {
                arguments.into_parsed(|options| Command::Coverage(Box::new(options)))
            }
            Self::Rank(arguments) => arguments.translate(),
            Self::Doctor(arguments) => arguments.translate(),
            Self::Baseline(action) => action.translate(),
            Self::Store(action) => action.translate(),
            Self::Completions { shell } => {
                ParsedCommand::without_workspace(Command::Completions(shell))
            }
            Self::Man { command } => ParsedCommand::without_workspace(Command::ManualPage(command)),
        }
    }
}

impl RunArguments {
    fn translate(self, possible_typo: Option<PossibleTypo>) -> ParsedCommand {
        let effort = self.against.extent();
        let mut layer = self.sampling.layer(self.against.rounds_alone());
        layer.noise_threshold = self.comparison.explicit_noise_threshold();
        let cargo = self.build.options(&self.output);
        ParsedCommand {
            common: CommonOptions {
                store: self.store.store,
                output: self.output,
                cargo,
            },
            command: Command::Run(Box::new(RunOptions {
                filter: Filter {
                    words: self.filters,
                    exact: self.exact,
                },
                possible_typo,
                baseline: self.baseline,
                effort,
                measure_identical: self.against.measure_identical,
                no_rerun: self.against.no_rerun,
                against: self.against.options(),
                save_baseline: self.save_baseline,
                push: self.push,
                part: self.partition,
                timeout: self.timeout,
                layer,
                comparison: self.comparison,
                reports: self.reports,
            })),
        }
        .with_verdicts(self.rows.verdicts())
    }
}

/// The executable that cargo starts for `cargo perfcheck`. Shells complete the arguments of this executable.
const EXECUTABLE: &str = "cargo-perfcheck";

/// Writes the completions for `shell`.
pub fn write_completions(shell: Shell, writer: &mut dyn Write) -> io::Result<()> {
    // `generate` panics if it cannot write, for example because the reader has closed the pipe. Therefore it writes into memory.
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command_line(), EXECUTABLE, &mut text);
    writer.write_all(&text)
}

/// Writes the manual page of the command that `words` name, or of the whole program. Returns `false` if there is no such command.
pub fn write_manual_page(words: &[String], writer: &mut dyn Write) -> io::Result<bool> {
    let mut line = command_line();
    line.build();
    let mut command = &line;
    for word in words {
        match command.find_subcommand(word) {
            Some(found) => command = found,
            None => return Ok(false),
        }
    }
    let name = [&[EXECUTABLE.to_owned()], words].concat().join("-");
    let page = clap_mangen::Man::new(command.clone().display_name(name));
    let mut text = Vec::new();
    page.render(&mut text)?;
    writer.write_all(&text)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command_line().debug_assert();
    }

    #[test]
    fn a_command_behind_a_flag_is_no_filter_unless_it_is_said_to_be() {
        let parse = |words: &str| parse(words.split(' ').map(OsString::from));
        let refused = parse("cargo-perfcheck --color always compare a b").expect_err("refused");
        assert!(refused.to_string().contains("must come first"), "{refused}");
        for words in [
            "run compare",
            "--color always -- compare",
            "--exact compare",
            "--color always compares",
        ] {
            assert!(
                parse(&format!("cargo-perfcheck {words}")).is_ok(),
                "{words}"
            );
        }
    }

    #[test]
    fn cargo_and_a_direct_call_mean_the_same() {
        let parse =
            |words: &[&str]| parse(words.iter().map(OsString::from)).expect("it is well formed");
        for words in [
            &["cargo-perfcheck", "perfcheck", "x"][..],
            &["cargo-perfcheck", "x"],
            &["cargo-perfcheck", "run", "x"],
        ] {
            let Command::Run(options) = parse(words).command else {
                panic!("a run");
            };
            assert_eq!(options.filter.words, ["x"]);
        }
    }

    #[test]
    fn rounds_are_processes_of_a_run_alone_and_rounds_of_two_builds() {
        let parse = |words: &str| {
            let words = format!("cargo-perfcheck {words}");
            let parsed = parse(words.split(' ').map(OsString::from)).expect("it is well formed");
            let Command::Run(options) = parsed.command else {
                panic!("a run");
            };
            (options.layer.processes, options.effort.rounds)
        };
        assert_eq!(parse("--rounds 3"), (Some(3), Some(5)));
        assert_eq!(parse("--rounds 3 --no-rerun"), (Some(3), None));
        assert_eq!(parse("--rounds 30 --against main"), (None, Some(30)));
    }
}
