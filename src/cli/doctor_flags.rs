//! The command line of `doctor`.

use clap::Args;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use std::time::Duration;

use super::cargo_flags::CompilationFlags;
use super::command::{Command, ParsedCommand};
use crate::app::{DoctorOptions, OutputOptions, PairedOptions, SelfTestOptions, StoreOptions};
use crate::settings::parse_positive_duration;
use perfcheck_analysis::model::parse_slowdown;
use perfcheck_engine::cargo::CargoOptions;
use perfcheck_engine::measure::Filter;

const AFTER_HELP: &str = "\
Doctor works in any directory, without a project, and changes nothing on the machine. It measures two workloads of its own, each against itself, side by side \
as `--against` does, for as long as --time says.

With --benches it measures your benchmarks instead: each against itself, and against itself slowed down by a known amount. It stores nothing. A trial takes as \
long as an `--against` run of the same benchmarks.

Examples:
  cargo perfcheck doctor                           look, measure for ten seconds, say what to change
  cargo perfcheck doctor --time 1min               estimate more precisely
  cargo perfcheck doctor --benches                 five trials of each kind, 2 % slower
  cargo perfcheck doctor --benches parse --slowdown 5%
                                                   benchmarks with `parse` in their id, 5 % slower
  cargo perfcheck doctor --benches --trials 40     bound the false-alarm rate more tightly

Exit status: 0 whatever was found, 2 usage, 3 build failed, 4 nothing could be measured or a benchmark failed, 130 interrupted.";

const USUAL: Duration = Duration::from_secs(10);
const QUICK: Duration = Duration::from_secs(3);

/// Flags that apply both with and without `--benches`.
const OF_BOTH: [&str; 8] = [
    "on_benches",
    "rounds",
    "seed",
    "quiet",
    "verbose",
    "color",
    "message_format",
    "sort",
];
/// Flags that apply only without `--benches`.
const OF_MACHINE: [&str; 2] = ["time", "quick"];

/// The arguments of `doctor`. Without `--benches` it needs no store and no workspace.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct DoctorArguments {
    /// With --benches: measure only benchmarks whose id contains one of these words
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// Match whole ids with FILTER
    #[arg(long)]
    exact: bool,
    /// Measure detection and false-alarm rates on this machine, with your benchmarks
    #[arg(long = "benches", id = "on_benches")]
    benches: bool,
    /// With --benches: measure only the bench target NAME (repeatable; globs work)
    #[arg(long, value_name = "NAME")]
    bench: Vec<String>,
    /// With --benches: make one side slower by this factor or percentage
    #[arg(long, value_name = "FACTOR", default_value = "1.02", value_parser = parse_slowdown)]
    slowdown: f64,
    /// With --benches: compare N times without a difference, and N times with the slowdown
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

/// Rejects flags without effect: most apply only with `--benches`, a few only without.
pub(super) fn reject_useless_flags(
    line: &mut clap::Command,
    matches: &clap::ArgMatches,
) -> Result<(), clap::Error> {
    let with_benches = matches.get_flag("on_benches");
    let Some(doctor) = line.find_subcommand_mut("doctor") else {
        return Ok(());
    };
    let is_useless = |id: &str| {
        let said = matches.value_source(id) == Some(ValueSource::CommandLine);
        let suits = if with_benches {
            !OF_MACHINE.contains(&id)
        } else {
            OF_MACHINE.contains(&id) || OF_BOTH.contains(&id)
        };
        said && !suits
    };
    let useless = doctor
        .get_arguments()
        .find(|arg| is_useless(arg.get_id().as_str()))
        .map(clap::Arg::to_string);
    let Some(flag) = useless else {
        return Ok(());
    };
    let why = if with_benches {
        "is about the machine alone and has no effect with `--benches`"
    } else {
        "is about your benchmarks and needs `--benches`"
    };
    Err(doctor.error(ErrorKind::ArgumentConflict, format!("`{flag}` {why}")))
}

impl DoctorArguments {
    pub(super) fn translate(self) -> ParsedCommand {
        let paired = self.paired;
        let (cargo, command) = if self.benches {
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
            common: StoreOptions {
                // Doctor stores nothing.
                store: None,
                output: self.output,
                cargo,
            },
        }
    }
}
