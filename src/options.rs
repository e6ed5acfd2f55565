//! Command-line options that several commands share, as plain values. Also the adapters with which clap parses enums of other crates, with a help
//! text for each word.

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{ArgAction, Args, ColorChoice, ValueEnum};
use std::ffi::OsStr;
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use super::error::AppError;
use crate::config::{
    Layer, Tables, WorkspaceSettings, parse_confidence_level, parse_fraction_below_one,
    parse_positive_duration, parse_significance_level,
};
use crate::output::{MessageFormat, RowOrder, Verbosity, View};
use perfcheck_analysis::compare::{Fact, Plan};
use perfcheck_analysis::findings::{Limit, Order};
use perfcheck_analysis::model::{
    Analysis, Correction, DecisionSettings, MannWhitneyMethod, Observations, Outliers, Quantile,
    SampleFilter, Statistic, StatisticSet, System, Test, Thresholds, Verdict, WordMeanings, limits,
    parse_duration,
};
use perfcheck_bench::measure::TimeLimit;
use perfcheck_build::cargo::CargoOptions;

/// Options that nearly all commands share: which store and workspace to use, and how to print.
#[derive(Debug, Clone)]
pub struct CommonOptions {
    /// Path of the store, or its address if it is a database of a team. `None` selects the user's own store.
    pub store: Option<PathBuf>,
    /// How much to print, and in which format.
    pub output: OutputOptions,
    /// Options for cargo: the workspace and the targets to build.
    pub cargo: CargoOptions,
}

/// Amount and format of the output.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = None::<&'static str>)]
pub struct OutputOptions {
    /// Hide progress, and results that need no attention
    #[arg(short, long)]
    pub quiet: bool,
    /// Show all notes and columns, and build verbosely (-vv: more)
    #[arg(short, long, action = ArgAction::Count, conflicts_with = "quiet")]
    pub verbose: u8,
    /// Color the output
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        env = "CARGO_TERM_COLOR",
        hide_env = true
    )]
    pub color: ColorChoice,
    /// Print in this format
    #[arg(
        id = "message_format",
        long = "message-format",
        value_name = "FMT",
        default_value = "human"
    )]
    pub format: MessageFormat,
    /// Sort results [default: by name; worst first if verdicts fill more than a screen]
    #[arg(long, value_name = "ORDER", value_parser = word_parser::<Order>(Order::WORDS))]
    pub sort: Option<Order>,
    // The verdicts that rows must have to be shown. Commands whose rows have verdicts set this from `--verdict`.
    #[arg(skip)]
    pub(crate) only: Option<Vec<Verdict>>,
}

impl OutputOptions {
    /// Returns how much of the results to show.
    pub(super) fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, 0) => Verbosity::Usual,
            (false, _) => Verbosity::Verbose,
        }
    }

    /// Returns the layout of results on stdout.
    pub(super) fn view(&self) -> View {
        View::for_stdout(self.verbosity(), self.sort, self.only.clone())
    }

    /// Returns the order of results.
    pub(super) fn order(&self) -> Order {
        self.sort.unwrap_or(Order::Name)
    }

    /// Returns the layout of results in `file`, or on stdout if `file` is `-` or `None`.
    pub(super) fn view_in(&self, file: Option<&Path>) -> View {
        let view = self.view();
        match file {
            Some(path) if path != Path::new("-") => View {
                columns: usize::MAX,
                screenful: usize::MAX,
                arrangement: match view.arrangement {
                    RowOrder::Groups => RowOrder::Targets,
                    other => other,
                },
                ..view
            },
            _ => view,
        }
    }

    /// Reports whether to show a benchmark with this verdict.
    pub(super) fn shows(&self, verdict: Option<Verdict>) -> bool {
        let Some(only) = &self.only else {
            return true;
        };
        verdict.is_some_and(|verdict| only.contains(&verdict))
    }
}

/// The verdicts named by `--fail-on`, which make the exit status 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailOn(pub Vec<Verdict>);

impl FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(Vec::new()));
        }
        text.split(',')
            .map(|word| word.trim().parse::<Verdict>())
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

/// The conditions under which a command exits with status 1.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Comparison options")]
pub struct FailureOptions {
    /// Exit 1 on these verdicts (`none`: never) [default: regressed]
    ///
    /// Separate several verdicts with commas.
    #[arg(long, value_name = "VERDICTS", value_parser = FailOn::from_str)]
    pub fail_on: Option<FailOn>,
    /// Fail above a limit, e.g. median:5%, allocations:0 (repeatable)
    #[arg(long = "limit", value_name = "LIMIT", value_parser = Limit::from_str, long_help = LIMIT_HELP)]
    pub limits: Vec<Limit>,
}

impl FailureOptions {
    /// Returns the verdicts that make the exit status 1.
    pub(super) fn fail_on(&self, workspace: &WorkspaceSettings) -> Vec<Verdict> {
        let requested = self.fail_on.clone().map(|fail_on| fail_on.0);
        requested
            .or_else(|| workspace.fail_on.clone())
            .unwrap_or_else(|| vec![Verdict::Regressed])
    }

    /// Returns the limits of the workspace, then those of the command line.
    pub(super) fn limits<'a>(&'a self, tables: &'a Tables) -> impl Iterator<Item = &'a Limit> {
        tables.limits.iter().chain(&self.limits)
    }
}

const LIMIT_HELP: &str = "\
Fail (exit status 1) if a statistic exceeds a limit, [PATTERN=]STATISTIC:BOUND; may be given more than once

A limit in percent applies to the change from the reference, any other limit to the value itself. A limit is exceeded if the whole interval of that change or value is above it. PATTERN is a glob that the id must match.

STATISTIC is one of time, mean, median, slope, std-dev, mad; instructions; allocations, bytes, peak; for programs, cpu, memory; for executables, size; for builds, build-time; or, for single operations, p50, p95, p99, p99.9, max.

  --limit median:5%            no benchmark more than 5 % slower
  --limit 'parse/*=p99:2ms'    99 % of the operations of `parse/...` take at most 2 ms
  --limit instructions:1%      at most 1 % more instructions per benchmark
  --limit allocations:0        no allocations
  --limit bytes:1KiB           at most 1024 bytes per iteration
  --limit size:1%              no executable more than 1 % larger (without symbols)
  --limit build-time:5%        no build more than 5 % slower (with --metric build-time)

`limit = [\"median:5%\"]` in a table of Cargo.toml does the same.";

/// Statistics of other published systems; `None` follows the method, else the tool's own defaults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Args)]
#[command(next_help_heading = "Statistics of other systems")]
pub struct AnalysisOptions {
    /// Judge stored runs by this test [default: bootstrap-t]
    #[arg(long, value_name = "TEST", value_parser = word_parser::<Test>(Test::WORDS), conflicts_with = "ignore_drift", hide_default_value = true)]
    test: Option<Test>,
    /// Ignore drift between runs, as Criterion does: more sensitive, but more false alarms
    #[arg(long, help_heading = "Comparison options")]
    ignore_drift: bool,
    /// Judge by the rules of another system
    ///
    /// Other flags override individual conventions of that system. By default, cargo perfcheck uses its own statistics.
    #[arg(long, help_heading = "Comparison options", value_name = "SYSTEM", value_parser = word_parser::<System>(System::WORDS), conflicts_with = "ignore_drift")]
    pub method: Option<System>,
    /// Print every setting of --method, including overrides from flags and Cargo.toml, and measure nothing
    #[arg(long)]
    pub explain: bool,
    /// Use these as the independent observations of the test [default: processes]
    #[arg(long, value_name = "UNIT", value_parser = word_parser::<Observations>(Observations::WORDS))]
    pub observations: Option<Observations>,
    /// Leave these outliers out of the summary, and out of tests with `--observations filtered` [default: none]
    #[arg(long, value_name = "POLICY[,first]", value_parser = OutlierWords(parse_outliers))]
    pub outliers: Option<SampleFilter>,
    /// Summarize each process and each side by this statistic [default: mean; median for rank tests]
    #[arg(long, visible_alias = "centre", value_name = "CENTER", value_parser = statistic_parser(StatisticSet::Centers))]
    pub center: Option<Statistic>,
    /// Use this definition of quantiles for the summary, for medians and for p95-ratio
    #[arg(long, value_name = "DEFINITION", value_parser = word_parser::<Quantile>(Quantile::WORDS))]
    pub quantile: Option<Quantile>,
    /// Use this correction for the number of benchmarks [default: holm]
    #[arg(long, value_name = "RULE", value_parser = word_parser::<Correction>(Correction::WORDS))]
    pub correction: Option<Correction>,
    /// Compute the Mann-Whitney p-value by this method [default: auto]
    #[arg(long, value_name = "METHOD", value_parser = word_parser::<MannWhitneyMethod>(MannWhitneyMethod::WORDS))]
    pub rank_p: Option<MannWhitneyMethod>,
    /// Judge this metric [default: time]
    #[arg(long, value_name = "METRIC", value_parser = statistic_parser(StatisticSet::Metrics))]
    pub metric: Option<Statistic>,
}

impl AnalysisOptions {
    /// Returns the test that the command line selects, if any.
    pub(super) fn test(&self) -> Option<Test> {
        self.test.or(self.ignore_drift.then_some(Test::TScore))
    }

    /// Returns these options, but with a rank test that compares single samples.
    pub(super) fn by_ranks_of_samples(self) -> Self {
        Self {
            test: Some(Test::MannWhitney),
            observations: Some(Observations::Samples),
            ..self
        }
    }

    /// Returns the analysis `base`, changed by the settings that these options name.
    fn apply_to(&self, base: Analysis) -> Analysis {
        let requested = self
            .outliers
            .map(|filter| (filter.outliers, filter.drop_first));
        let (outliers, drop_first) = requested.unwrap_or((base.outliers, base.drop_first));
        Analysis {
            test: self.test().unwrap_or(base.test),
            observations: self.observations.unwrap_or(base.observations),
            outliers,
            drop_first,
            trimmed_error: base.trimmed_error,
            center: self.center.or(base.center),
            quantile: self.quantile.or(base.quantile),
            correction: self.correction.unwrap_or(base.correction),
            p: self.rank_p.unwrap_or(base.p),
            // The samples of a build are its times.
            subject: match self.metric {
                Some(Statistic::BuildTime) => Statistic::Time,
                metric => metric.unwrap_or(base.subject),
            },
        }
    }

    /// Returns the analysis that the command line selects, ignoring the workspace's settings.
    pub(super) fn explicit_analysis(&self) -> Analysis {
        let base = self
            .method
            .map(|method| method.decision_settings().analysis);
        self.apply_to(base.unwrap_or_default())
    }
}

/// The rules of a comparison; `None` follows the workspace's settings, else the defaults.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Comparison options")]
pub struct ComparisonOptions {
    /// Ignore smaller changes [default: 1%; 2% between stored runs]
    #[arg(long, value_name = "FRACTION", value_parser = parse_fraction_below_one)]
    pub noise_threshold: Option<f64>,
    /// Limit the chance of any false alarm in the run [default: 1% one-sided; 5% two-sided if --test is given]
    #[arg(long, visible_alias = "alpha", value_name = "FRACTION", value_parser = parse_significance_level)]
    pub significance_level: Option<f64>,
    /// Set the confidence level of the intervals of times, mean changes and median changes [default: 95%]
    #[arg(long, value_name = "FRACTION", value_parser = parse_confidence_level)]
    pub confidence_level: Option<f64>,
    /// Draw N bootstrap resamples [default: 100000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(clap_range(limits::RESAMPLES)))]
    pub resamples: Option<u32>,
    #[command(flatten)]
    pub(crate) failure: FailureOptions,
    /// Compare runs even if these facts differ, e.g. rustc,profile
    #[arg(long, value_name = "FACTS", value_delimiter = ',', value_parser = str::parse::<Fact>)]
    pub allow_different: Vec<Fact>,
    /// Seed all random choices: bootstrap, order of benchmarks, environment size [default: random; stored with the run]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub(crate) analysis: AnalysisOptions,
}

impl ComparisonOptions {
    /// Returns the filter that decides which samples summaries use. `None` means that each run's own filter applies.
    pub(super) fn filter(&self, workspace: &WorkspaceSettings) -> Option<SampleFilter> {
        let of_method = |system: System| {
            let analysis = system.decision_settings().analysis;
            SampleFilter {
                outliers: analysis.outliers,
                drop_first: analysis.drop_first,
                ..SampleFilter::default()
            }
        };
        let requested = self.analysis.outliers;
        let filter = requested.or_else(|| self.analysis.method.map(of_method))?;
        Some(filter.with_fence_from(&self.decision(workspace).thresholds))
    }

    /// Returns the workspace's method, unless the verdicts are about a metric that other systems do not judge.
    fn usual_method(&self, workspace: &WorkspaceSettings) -> Option<System> {
        workspace.method.filter(|_| self.is_about_time())
    }

    /// Returns the settings in force. Precedence: flags, `--method`, Cargo.toml tables, the workspace's method, defaults.
    pub(super) fn decision(&self, workspace: &WorkspaceSettings) -> DecisionSettings {
        let named = self.analysis.method.map(System::decision_settings);
        let usual = self.usual_method(workspace).map(System::decision_settings);
        let default = DecisionSettings::default();
        let mut analysis = self
            .analysis
            .apply_to(named.or(usual).unwrap_or(default).analysis);
        if let (None, None, Some(correction)) =
            (self.analysis.correction, named, workspace.correction)
        {
            analysis.correction = correction;
        }
        let of = |found: Option<DecisionSettings>| {
            found.map_or_else(Thresholds::default, |found| found.thresholds)
        };
        let thresholds = of(named).or(workspace.thresholds.or(of(usual)));
        let default = if analysis.test.is_foreign() {
            DecisionSettings {
                significance_level: thresholds.test_level,
                ..default
            }
        } else {
            default
        };
        let usual = usual.unwrap_or(default);
        let level =
            |of: fn(&DecisionSettings) -> f64, requested: Option<f64>, table: Option<f64>| {
                requested
                    .or(named.as_ref().map(of))
                    .or(table)
                    .unwrap_or_else(|| of(&usual))
            };
        DecisionSettings {
            analysis,
            thresholds,
            noise_threshold: level(|found| found.noise_threshold, self.noise_threshold, None),
            significance_level: level(
                |found| found.significance_level,
                self.significance_level,
                workspace.significance_level,
            ),
            confidence_level: level(
                |found| found.confidence_level,
                self.confidence_level,
                workspace.confidence_level,
            ),
            resamples: (self.resamples)
                .or(named.map(|found| found.resamples))
                .or(workspace.resamples)
                .unwrap_or(usual.resamples),
        }
    }

    /// Returns the noise threshold that the command line sets for stored runs: by `--noise-threshold`, or else by `--method`. Returns `None` if
    /// neither is given.
    pub fn explicit_noise_threshold(&self) -> Option<f64> {
        let of_method = self
            .analysis
            .method
            .map(|method| method.decision_settings().noise_threshold);
        self.noise_threshold.or(of_method)
    }

    /// Returns the settings in force for a side-by-side measurement. The workspace's method does not apply: no other system measures this way.
    pub(super) fn paired_decision(&self, workspace: &WorkspaceSettings) -> DecisionSettings {
        let workspace = WorkspaceSettings {
            method: None,
            correction: None,
            ..workspace.clone()
        };
        let mut decision = self.decision(&workspace);
        if self.noise_threshold.is_none() {
            decision.noise_threshold = DecisionSettings::PAIRED_NOISE_THRESHOLD;
        }
        decision
    }

    /// Reports whether the command line selects statistics of other systems, which side-by-side measurements do not support.
    pub(super) fn uses_other_systems(&self) -> bool {
        let requested = self.analysis.explicit_analysis();
        let own = Analysis {
            subject: requested.subject,
            correction: requested.correction,
            ..Analysis::default()
        };
        requested != own
    }

    /// Reports whether the selected test works only on stored numbers.
    pub(super) fn needs_stored_numbers(&self, workspace: &WorkspaceSettings) -> bool {
        self.uses_other_systems() || self.decision(workspace).analysis.test != Test::BootstrapT
    }

    /// Reports whether builds are measured instead of benchmarks.
    pub(super) fn measures_builds(&self) -> bool {
        self.analysis.metric == Some(Statistic::BuildTime)
    }

    /// Reports whether the verdicts are about time, the default metric.
    pub(super) fn is_about_time(&self) -> bool {
        self.analysis.explicit_analysis().subject == Analysis::default().subject
    }

    /// Refuses contradictory options.
    pub(super) fn check(&self, workspace: &WorkspaceSettings) -> Result<(), AppError> {
        if self.measures_builds() {
            return Err(AppError::Usage(
                "`--metric build-time` measures builds of two sides, so it needs a revision\n  help: cargo perfcheck --metric build-time --against main".to_owned(),
            ));
        }
        let analysis = self.decision(workspace).analysis;
        let default = Analysis::default();
        let is_ours = !analysis.test.is_foreign();
        if is_ours && analysis.observations != default.observations {
            return Err(AppError::Usage(
                "`--observations` has no effect on the default test\n  help: add `--test welch` or another test; `--help` lists them".to_owned(),
            ));
        }
        if self.analysis.rank_p.is_some()
            && !matches!(analysis.test, Test::MannWhitney | Test::Kruskal)
        {
            return Err(AppError::Usage(
                "`--rank-p` needs `--test mann-whitney` or `--test kruskal`".to_owned(),
            ));
        }
        if !is_ours && analysis.subject != default.subject {
            return Err(AppError::Usage(format!(
                "`--metric {}` has its own rules and cannot be combined with a test of times\n  help: leave out `--metric`, or `--test` and `--method`",
                analysis.subject
            )));
        }
        let of_processes = matches!(
            analysis.center,
            Some(Statistic::Slope | Statistic::Subselection)
        );
        if analysis.observations != Observations::Processes && of_processes {
            return Err(AppError::Usage(format!(
                "`--center {}` needs whole processes as observations\n  help: leave out `--observations {}`",
                analysis.center_in_force(),
                analysis.observations
            )));
        }
        Ok(())
    }

    /// Refuses options that side-by-side measurements do not support.
    pub(super) fn check_paired(&self) -> Result<(), AppError> {
        if self.uses_other_systems() {
            return Err(AppError::Usage(
                "the statistics of other tools apply only to stored runs, not to a side-by-side measurement\n  help: measure without these flags, then compare the two stored runs: cargo perfcheck compare BASE NEW --test ...".to_owned(),
            ));
        }
        if self.analysis.correction.is_some() {
            return Err(AppError::Usage(
                "`--correction` applies only to stored runs: a side-by-side measurement always limits the chance of any false alarm\n  help: leave out `--correction`, or compare the two stored runs: cargo perfcheck compare BASE NEW --correction bh".to_owned(),
            ));
        }
        if self.measures_builds() {
            return Ok(());
        }
        self.check(&WorkspaceSettings::default())
    }

    /// Reports whether the user allows this fact to differ.
    pub(super) fn allows(&self, fact: Fact) -> bool {
        self.allow_different.contains(&fact)
    }
}

/// The maximum amount of measurement when two builds are measured side by side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub struct Effort {
    /// Measure at most N rounds, each with one process per side [default: 200]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(clap_range(Plan::FEWEST_ROUNDS..=10_000)))]
    pub rounds: Option<u32>,
    /// Stop a comparison after this time instead of after 30s per benchmark
    #[arg(long, value_name = "TIME", value_parser = parse_positive_duration)]
    pub time_budget: Option<Duration>,
    /// Limit the time of each benchmark [default: 30s, but at least 20 rounds]
    #[arg(long, value_name = "TIME", value_parser = parse_positive_duration)]
    pub time_per_benchmark: Option<Duration>,
    /// Run executables as built; by default, each round relinks both sides in a new function order
    #[arg(long)]
    pub as_built: bool,
    // Set only by `run`: no other command counts instructions.
    #[arg(skip)]
    pub(crate) instructions: CountingMode,
}

/// Says in which benchmarks instructions are counted, apart from those where a verdict or limit needs the count anyway.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum CountingMode {
    /// Never count
    #[default]
    Never,
    /// Count only in benchmarks whose time changed
    Changed,
    /// Count in every benchmark
    Always,
}

impl Effort {
    /// The time limit of a benchmark if neither a flag nor Cargo.toml sets one.
    const USUAL_LIMIT: TimeLimit = TimeLimit {
        time: Duration::from_secs(30),
        // Fewer rounds can hardly decide anything.
        fewest_rounds: 20,
    };

    /// Returns how long one benchmark may be measured, as set by the flag or else by `key` of Cargo.toml. With `--rounds`, neither `key` nor the
    /// default limit applies.
    pub(super) fn limit_per_benchmark(&self, key: Option<Duration>) -> Option<TimeLimit> {
        let key = key.filter(|_| self.rounds.is_none());
        if let Some(time) = self.time_per_benchmark.or(key) {
            return Some(TimeLimit {
                time,
                fewest_rounds: Plan::FEWEST_ROUNDS,
            });
        }
        (self.rounds.is_none() && self.time_budget.is_none()).then_some(Self::USUAL_LIMIT)
    }
}

/// Options of the commands other than a plain run that measure two builds side by side.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Measurement options")]
pub struct PairedOptions {
    #[command(flatten)]
    pub(crate) effort: Effort,
    /// Treat a benchmark as hung after ten times its expected time plus TIME [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub timeout: Option<Duration>,
    /// Ignore changes smaller than this, e.g. 0.5% [default: 1%]
    #[arg(long, value_name = "FRACTION", value_parser = parse_fraction_below_one)]
    pub noise_threshold: Option<f64>,
    /// Limit the chance of any false alarm in a comparison [default: 1%, one-sided; two-sided in `rank`]
    #[arg(long, visible_alias = "alpha", value_name = "FRACTION", value_parser = parse_significance_level)]
    pub significance_level: Option<f64>,
    /// Seed all random choices [default: random]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

impl PairedOptions {
    pub(super) fn comparison(&self) -> ComparisonOptions {
        ComparisonOptions {
            noise_threshold: self.noise_threshold,
            significance_level: self.significance_level,
            seed: self.seed,
            ..ComparisonOptions::default()
        }
    }

    /// Returns the settings that the command line overrides.
    pub(super) fn layer(&self) -> Layer {
        Layer {
            noise_threshold: self.noise_threshold,
            ..Layer::default()
        }
    }
}

/// A range of commits, `A..B` as in git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisionRange {
    /// The older end.
    pub(crate) from: String,
    /// The newer end.
    pub(crate) to: String,
}

impl FromStr for RevisionRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (from, to) = (text.split_once(".."))
            .filter(|(_, to)| !to.starts_with('.'))
            .ok_or_else(|| "expected a range such as `v1.0..HEAD`".to_owned())?;
        let name = |text: &str| if text.is_empty() { "HEAD" } else { text }.to_owned();
        Ok(Self {
            from: name(from),
            to: name(to),
        })
    }
}

/// The word of `--outliers` that drops the first sample of each process. It can be combined with any policy.
const FIRST: &str = "first";
const FIRST_HELP: &str = "Drop the first sample of each process before any other rule applies (as in the serializer benchmarks)";

/// Converts a range to the type that clap expects.
pub fn clap_range(limits: RangeInclusive<u32>) -> RangeInclusive<i64> {
    let (least, most) = limits.into_inner();
    least.into()..=most.into()
}

fn list_possible_values(known: WordMeanings) -> impl Iterator<Item = PossibleValue> {
    known
        .iter()
        .map(|(word, help)| PossibleValue::new(*word).help(*help))
}

/// Returns a clap parser for an enum whose values are written as the words in `known`. `--help` explains each of these words.
pub fn word_parser<T>(known: WordMeanings) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = String> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(list_possible_values(known))
        .try_map(|word| word.parse::<T>().map_err(io::Error::other))
}

/// Returns a clap parser that accepts the names of the statistics in `set`.
pub(super) fn statistic_parser(set: StatisticSet) -> impl TypedValueParser<Value = Statistic> {
    let known = set.statistics().iter();
    PossibleValuesParser::new(known.map(|one| PossibleValue::new(one.to_string()).help(one.help())))
        .try_map(move |word| Statistic::parse(&word, set).map_err(io::Error::other))
}

/// Parses the value of `--outliers`: one policy, optionally with `first`, which drops first samples before the policy applies.
pub fn parse_outliers(text: &str) -> Result<SampleFilter, String> {
    let mut policy = None;
    let mut drop_first = false;
    for word in text.split(',').map(str::trim) {
        if word == FIRST {
            drop_first = true;
        } else if let Some(before) = policy.replace(word.parse::<Outliers>()?) {
            return Err(format!(
                "`{before}` and `{word}` cannot be combined: only `{FIRST}` can be added to another policy"
            ));
        }
    }
    Ok(SampleFilter {
        outliers: policy.unwrap_or(Outliers::Keep),
        drop_first,
        ..SampleFilter::default()
    })
}

/// A clap parser for `--outliers` that reads the value with the given function. It accepts combinations such as `iqr,first`, but `--help` lists the
/// single words.
#[derive(Debug, Clone, Copy)]
pub struct OutlierWords(pub fn(&str) -> Result<SampleFilter, String>);

impl TypedValueParser for OutlierWords {
    type Value = SampleFilter;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<SampleFilter, clap::Error> {
        let read = self.0;
        StringValueParser::new()
            .try_map(move |text| read(&text).map_err(io::Error::other))
            .parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let first = PossibleValue::new(FIRST).help(FIRST_HELP);
        Some(Box::new(
            list_possible_values(Outliers::WORDS).chain([first]),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_may_go_with_first_and_with_no_other_one() {
        let read = |text| parse_outliers(text).map(|found| (found.outliers, found.drop_first));
        assert_eq!(read("first"), Ok((Outliers::Keep, true)));
        assert_eq!(read("iqr,first"), Ok((Outliers::Iqr, true)));
        assert_eq!(read("mad"), Ok((Outliers::Mad, false)));
        let two = read("iqr,mad").expect_err("two policies");
        assert!(two.contains("`iqr` and `mad` cannot be combined"), "{two}");
        assert!(read("tukey").is_err());
    }

    #[test]
    fn a_range_has_two_ends_as_in_git() {
        let range = |text: &str| {
            text.parse::<RevisionRange>()
                .map(|range| [range.from, range.to])
        };
        let ends = |from: &str, to: &str| Ok([from.to_owned(), to.to_owned()]);
        assert_eq!(range("v1.0..HEAD~2"), ends("v1.0", "HEAD~2"));
        assert_eq!(range("v1.0.."), ends("v1.0", "HEAD"));
        assert_eq!(range("..main"), ends("HEAD", "main"));
        for text in ["v1.0", "", "a...b"] {
            assert!(range(text).is_err(), "{text}");
        }
    }
}
