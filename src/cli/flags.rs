//! Flags that several commands share: cargo's own with cargo's names and meanings, those for sampling, for measuring two builds side by side, for
//! selecting rows, and for opening the store.

use clap::Args;
use clap_cargo::{Features, Manifest, Workspace};
use std::path::PathBuf;
use std::time::Duration;

use super::command::{Command, ParsedCommand};
use crate::commands::AgainstOptions;
use crate::config::{Layer, parse_positive_duration};
use crate::options::{CommonOptions, CountingMode, Effort, OutputOptions, clap_range, word_parser};
use crate::pipeline::Against;
use perfcheck_analysis::compare::Plan;
use perfcheck_analysis::model::{
    BenchesFrom, CriterionHarness, SamplingMode, Verdict, WarmUpGoal, limits, parse_duration,
};
use perfcheck_build::cargo::CargoOptions;

/// Flags that select the reference of a side-by-side run, and limit its extent.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Measurement options")]
pub(super) struct AgainstFlags {
    /// Measure side by side with this git revision
    ///
    /// The revision is built in a separate cache; your checkout and `target/` are untouched.
    #[arg(long, value_name = "REV", group = "against-what")]
    against: Option<String>,
    /// Measure side by side with the merge base of HEAD and BRANCH
    #[arg(long, value_name = "BRANCH", group = "against-what")]
    against_merge_base: Option<String>,
    /// Measure side by side with a bench executable that you built earlier
    #[arg(long, value_name = "PATH", group = "against-what")]
    against_executable: Option<PathBuf>,
    /// Build the revision with its own benchmarks or with those of the work tree
    #[arg(
        long,
        value_name = "SIDE",
        default_value = "revision",
        requires = "against-what",
        value_parser = word_parser::<BenchesFrom>(BenchesFrom::WORDS)
    )]
    benches_from: BenchesFrom,
    /// Also measure identical executables, to show this machine's noise
    #[arg(long)]
    pub(super) measure_identical: bool,
    // The variable is read elsewhere, because clap's `env` would accept an empty variable as a value.
    #[arg(
        long,
        conflicts_with = "against-what",
        help_heading = "Comparison options",
        help = "Compare with stored numbers only [env: PERFCHECK_NO_RERUN]",
        long_help = "Compare with stored numbers only: build the work tree in its target directory and measure it without running the earlier build [env: PERFCHECK_NO_RERUN]"
    )]
    pub(super) no_rerun: bool,
    /// Limit rounds [default: 200] or, with one build, processes [default: 5]
    ///
    /// A round runs one process of each build. Two builds get at least 5 rounds. With --rounds, a benchmark has no time limit unless
    /// --time-per-benchmark sets one. A first run and a run with --no-rerun measure only one build.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(clap_range(limits::PROCESSES)))]
    rounds: Option<u32>,
    /// Stop measuring after this time instead of after 30s per benchmark
    ///
    /// Undecided benchmarks are measured first, and get the time that decided ones no longer need. The flag removes only the default limit
    /// per benchmark: a limit from --time-per-benchmark or Cargo.toml still applies.
    #[arg(long, value_name = "TIME", value_parser = parse_positive_duration)]
    time_budget: Option<Duration>,
    /// Limit the time of each benchmark when measuring two builds [default: 30s, but at least 20 rounds]
    ///
    /// Each benchmark gets at least 5 rounds; another starts only if it fits within the limit. Without this flag, --rounds removes any
    /// per-benchmark limit; --time-budget removes only the default limit.
    #[arg(long, value_name = "TIME", value_parser = parse_positive_duration)]
    time_per_benchmark: Option<Duration>,
    /// Run executables as built; by default, each round relinks both sides in a new function order
    #[arg(long)]
    as_built: bool,
    /// Count instructions under valgrind (`--metric instructions` and limits on instructions imply `always`)
    #[arg(long, value_name = "WHEN", default_value = "changed")]
    instructions: CountingMode,
}

impl AgainstFlags {
    /// Returns the extent of a side-by-side measurement. Without an explicit reference, `--rounds` also sets the number of processes of a single
    /// build, so it may be too small for two builds; this function then raises it to the minimum number of rounds.
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

/// Flags that locate the workspace and configure cargo.
#[derive(Debug, Clone, Args)]
pub(super) struct WorkspaceFlags {
    #[command(flatten)]
    manifest: Manifest,
    /// Assert that `Cargo.lock` will remain unchanged
    #[arg(long, help_heading = "Manifest options")]
    locked: bool,
    /// Run without accessing the network
    #[arg(long, help_heading = "Manifest options")]
    offline: bool,
    /// Equivalent to specifying both --locked and --offline
    #[arg(long, help_heading = "Manifest options")]
    frozen: bool,
    /// Override a cargo configuration value
    #[arg(long, value_name = "KEY=VALUE|PATH", help_heading = "Manifest options")]
    config: Vec<String>,
}

impl WorkspaceFlags {
    pub(super) fn options(self) -> CargoOptions {
        CargoOptions {
            manifest_path: self.manifest.manifest_path,
            locked: self.locked,
            offline: self.offline,
            frozen: self.frozen,
            config: self.config,
            ..CargoOptions::default()
        }
    }
}

/// Flags that select bench targets and configure the build.
#[derive(Debug, Clone, Args)]
pub(super) struct BuildFlags {
    /// Measure only the bench target NAME (repeatable; globs work)
    #[arg(long, value_name = "NAME")]
    bench: Vec<String>,
    /// Measure all bench targets; the default unless --bench, --lib, --bins or --program is given
    #[arg(long, conflicts_with = "bench")]
    benches: bool,
    /// Measure the `#[bench]` functions in the package's library
    #[arg(long)]
    lib: bool,
    /// Measure the `#[bench]` functions in all binaries
    #[arg(long)]
    bins: bool,
    /// Measure runs of a binary, e.g. 'rg -c fn' (repeatable)
    ///
    /// PROGRAM is a command line, or the name of a `program` in Cargo.toml.
    #[arg(long, value_name = "PROGRAM")]
    program: Vec<String>,
    #[command(flatten)]
    pub(super) compilation: CompilationFlags,
}

/// Flags that configure the build, without a selection of bench targets.
#[derive(Debug, Clone, Args)]
pub(super) struct CompilationFlags {
    #[command(flatten)]
    workspace: Workspace,
    #[command(flatten)]
    features: Features,
    /// Build with this cargo profile [default: bench]
    #[arg(
        long,
        value_name = "PROFILE-NAME",
        help_heading = "Compilation options"
    )]
    profile: Option<String>,
    /// Build for the target triple
    #[arg(long, value_name = "TRIPLE", help_heading = "Compilation options")]
    target: Option<String>,
    /// Directory for all generated artifacts
    #[arg(long, value_name = "DIRECTORY", help_heading = "Compilation options")]
    target_dir: Option<PathBuf>,
    /// Run Criterion benches on this harness [default: perfcheck]
    #[arg(long, value_name = "HARNESS", help_heading = "Compilation options", value_parser = word_parser::<CriterionHarness>(CriterionHarness::WORDS))]
    harness: Option<CriterionHarness>,
    /// Number of parallel build jobs
    #[arg(
        short,
        long,
        value_name = "N",
        allow_hyphen_values = true,
        help_heading = "Compilation options"
    )]
    jobs: Option<String>,
    #[command(flatten)]
    pub(super) at: WorkspaceFlags,
}

impl BuildFlags {
    pub(super) fn options(self, output: &OutputOptions) -> CargoOptions {
        CargoOptions {
            benches: self.bench,
            all_benches: self.benches,
            lib: self.lib,
            bins: self.bins,
            programs: self.program,
            ..self.compilation.options(output)
        }
    }
}

impl CompilationFlags {
    pub(super) fn options(self, output: &OutputOptions) -> CargoOptions {
        CargoOptions {
            packages: self.workspace.package,
            workspace: self.workspace.workspace || self.workspace.all,
            exclude: self.workspace.exclude,
            features: self.features.features,
            all_features: self.features.all_features,
            no_default_features: self.features.no_default_features,
            profile: self.profile,
            target: self.target,
            target_dir: self.target_dir,
            jobs: self.jobs,
            harness: self.harness,
            verbose: output.verbose,
            quiet: output.quiet,
            color: Some(output.color.to_string()),
            ..self.at.options()
        }
    }
}

/// Flags that configure the sampling of benchmarks.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Measurement options")]
pub(super) struct SamplingFlags {
    /// Take N samples per process [default: as many as fit in the measurement time]
    ///
    /// Applies only when a single build is measured.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(clap_range(limits::SAMPLES)))]
    samples: Option<u32>,
    /// Warm up each process for this time, e.g. 100ms or 0.1 (seconds) [default: 100ms; 2ms for two builds]
    #[arg(long, value_name = "TIME", value_parser = parse_phase)]
    warm_up_time: Option<Duration>,
    /// Warm up each process for N iterations instead of for a time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(clap_range(limits::WARM_UP_ITERATIONS)), conflicts_with = "warm_up_time")]
    warm_up_iterations: Option<u32>,
    /// Take samples in each process for this time [default: 400ms]
    ///
    /// Applies only when a single build is measured.
    #[arg(long, value_name = "TIME", value_parser = parse_positive_phase)]
    measurement_time: Option<Duration>,
    /// Choose how iterations are distributed over samples [default: standard]
    ///
    /// Applies only when a single build is measured.
    #[arg(long, value_name = "MODE", value_parser = word_parser::<SamplingMode>(SamplingMode::WORDS))]
    sampling_mode: Option<SamplingMode>,
    /// Record latencies of `iter_latency` with N significant digits, 1 to 5 [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=5))]
    latency_digits: Option<u8>,
}

fn parse_phase(text: &str) -> Result<Duration, String> {
    parse_duration(text).and_then(limits::check_phase)
}

fn parse_positive_phase(text: &str) -> Result<Duration, String> {
    parse_positive_duration(text).and_then(limits::check_phase)
}

impl SamplingFlags {
    pub(super) fn layer(&self, processes: Option<u32>) -> Layer {
        Layer {
            processes,
            samples: self.samples,
            warm_up: (self.warm_up_iterations.map(WarmUpGoal::Iterations))
                .or(self.warm_up_time.map(|time| WarmUpGoal::Time(time.into()))),
            measurement: self.measurement_time.map(Into::into),
            mode: self.sampling_mode,
            noise_threshold: None,
            latency_digits: self.latency_digits,
        }
    }
}

/// Flags that select the rows of a table.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub(super) struct RowFlags {
    /// In tables, show only benchmarks with these verdicts (comma-separated)
    #[arg(long, value_name = "VERDICTS", value_delimiter = ',', value_parser = str::parse::<Verdict>)]
    verdict: Vec<Verdict>,
}

impl RowFlags {
    /// Returns the verdicts that a row must have to be shown. `None` means that all rows are shown.
    pub(super) fn verdicts(self) -> Option<Vec<Verdict>> {
        Some(self.verdict).filter(|only| !only.is_empty())
    }
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = None::<&'static str>)]
pub(super) struct StoreFlags {
    // The variable is read elsewhere, because clap's `env` would accept an empty variable as a value.
    #[arg(
        long,
        value_name = "PATH",
        help = "Use this store: a file or, for commands that do not measure, the address of a team's store [env: PERFCHECK_STORE] [default: perfcheck.db in the user's data directory]"
    )]
    pub(super) store: Option<PathBuf>,
}

/// Arguments of every command that only reads or edits the store.
#[derive(Debug, Args)]
pub(super) struct StoredArguments {
    #[command(flatten)]
    store: StoreFlags,
    #[command(flatten)]
    output: OutputOptions,
    #[command(flatten)]
    at: WorkspaceFlags,
}

/// The flags of a single command, together with [`StoredArguments`].
#[derive(Debug, Args)]
pub(super) struct WithStore<O: Args> {
    #[command(flatten)]
    options: O,
    #[command(flatten)]
    stored: StoredArguments,
}

impl<O: Args> WithStore<O> {
    pub(super) fn into_parsed(self, command: impl FnOnce(O) -> Command) -> ParsedCommand {
        self.stored.into_parsed(command(self.options))
    }
}

/// The flags of a single command that builds benches and uses the store.
#[derive(Debug, Args)]
pub(super) struct WithBuild<O: Args> {
    #[command(flatten)]
    options: O,
    #[command(flatten)]
    store: StoreFlags,
    #[command(flatten)]
    output: OutputOptions,
    #[command(flatten)]
    build: BuildFlags,
}

impl<O: Args> WithBuild<O> {
    pub(super) fn into_parsed(self, command: impl FnOnce(O) -> Command) -> ParsedCommand {
        let cargo = self.build.options(&self.output);
        ParsedCommand {
            command: command(self.options),
            common: CommonOptions {
                store: self.store.store,
                output: self.output,
                cargo,
            },
        }
    }
}

/// Like [`WithStore`], for commands that print rows with verdicts.
#[derive(Debug, Args)]
pub(super) struct WithRows<O: Args> {
    #[command(flatten)]
    on_store: WithStore<O>,
    #[command(flatten)]
    rows: RowFlags,
}

impl<O: Args> WithRows<O> {
    pub(super) fn into_parsed(self, command: impl FnOnce(O) -> Command) -> ParsedCommand {
        self.on_store
            .into_parsed(command)
            .with_verdicts(self.rows.verdicts())
    }
}

impl StoredArguments {
    pub(super) fn into_parsed(self, command: Command) -> ParsedCommand {
        ParsedCommand {
            command,
            common: CommonOptions {
                store: self.store.store,
                output: self.output,
                cargo: self.at.options(),
            },
        }
    }
}
