//! Flags of a run and of a comparison.

use clap::{ArgAction, Args, ValueEnum};
use std::ops::RangeInclusive;
use std::time::Duration;

use super::analysis_flags::AnalysisFlags;
use crate::app::{ComparisonOptions, FailOn, OutputOptions};
use crate::report::{MessageFormat, Verbosity};
use crate::settings::{
    Layer, confidence_level, fraction_below_one, positive_duration, significance_level,
};
use perfcheck_analysis::compare::Fact;
use perfcheck_analysis::findings::Order;
use perfcheck_analysis::model::{SamplingMode, Test, Verdict, WarmUpGoal, limits, parse_duration};

/// How benchmarks are sampled.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Measurement options")]
pub(super) struct SamplingFlags {
    /// Take N samples per process [default: as many as fit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(range(limits::SAMPLES)))]
    samples: Option<u32>,
    /// Warm up each process for this time, e.g. 100ms or 0.1 (seconds) [default: 100ms]
    #[arg(long, value_name = "TIME", value_parser = phase)]
    warm_up_time: Option<Duration>,
    /// Warm up each process for N iterations instead of a time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(range(limits::WARM_UP_ITERATIONS)), conflicts_with = "warm_up_time")]
    warm_up_iterations: Option<u32>,
    /// Sample each process for this time [default: 400ms]
    #[arg(long, value_name = "TIME", value_parser = positive_phase)]
    measurement_time: Option<Duration>,
    /// Choose the iterations of each sample [default: standard]
    #[arg(long, value_name = "MODE")]
    sampling_mode: Option<Mode>,
    /// Record single operations of `iter_latency` to N significant digits, 1 to 5 [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=5))]
    latency_digits: Option<u8>,
}

/// A range as clap takes it.
pub(super) fn range(limits: RangeInclusive<u32>) -> RangeInclusive<i64> {
    let (least, most) = limits.into_inner();
    least.into()..=most.into()
}

fn phase(text: &str) -> Result<Duration, String> {
    parse_duration(text).and_then(limits::phase)
}

fn positive_phase(text: &str) -> Result<Duration, String> {
    positive_duration(text).and_then(limits::phase)
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Mode {
    /// A linear ramp that ends near 1 ms, then samples near 1 ms
    Standard,
    /// One linear schedule over the whole measurement time
    Linear,
    /// One flat schedule over the whole measurement time
    Flat,
    /// Linear, but flat where that would take more than twice the measurement time
    Auto,
}

impl From<Mode> for SamplingMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Standard => Self::Standard,
            Mode::Linear => Self::Linear,
            Mode::Flat => Self::Flat,
            Mode::Auto => Self::Auto,
        }
    }
}

impl SamplingFlags {
    pub(super) fn layer(&self, launches: Option<u32>) -> Layer {
        Layer {
            launches,
            samples: self.samples,
            warm_up: (self.warm_up_iterations.map(WarmUpGoal::Iterations))
                .or(self.warm_up_time.map(|time| WarmUpGoal::Time(time.into()))),
            measurement: self.measurement_time.map(Into::into),
            mode: self.sampling_mode.map(Into::into),
            noise_threshold: None,
            latency_digits: self.latency_digits,
        }
    }
}

/// Which verdicts fail.
#[derive(Debug, Clone, Args)]
pub(super) struct FailOnFlag {
    /// Exit 1 on these verdicts, or `none` [default: regressed]
    ///
    /// Commas separate several verdicts.
    #[arg(long, value_name = "VERDICTS", value_parser = fail_on, help_heading = "Comparison options")]
    pub(super) fail_on: Option<FailOn>,
}

/// How a comparison is decided.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Comparison options")]
pub(super) struct ComparisonFlags {
    /// Ignore changes up to this [default: 1%; of stored numbers 2%]
    #[arg(long, value_name = "FRACTION", value_parser = fraction_below_one)]
    pub(super) noise_threshold: Option<f64>,
    /// Limit the false-alarm rate of all benchmarks together, one-sided [default: 1%; two-sided with --test, 5%]
    #[arg(long, visible_alias = "alpha", value_name = "FRACTION", value_parser = significance_level)]
    significance_level: Option<f64>,
    /// Set the level of intervals of times, and of mean and median changes [default: 95%]
    #[arg(long, value_name = "FRACTION", value_parser = confidence_level)]
    confidence_level: Option<f64>,
    /// Draw N bootstrap resamples [default: 100000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(range(limits::RESAMPLES)))]
    resamples: Option<u32>,
    /// Ignore drift between runs, as Criterion does: more sensitive, with more false alarms
    #[arg(long)]
    ignore_drift: bool,
    #[command(flatten)]
    fail_on: FailOnFlag,
    /// Compare although these facts differ, e.g. rustc,profile
    #[arg(long, value_name = "FACTS", value_delimiter = ',', value_parser = str::parse::<Fact>)]
    allow_different: Vec<Fact>,
    /// Seed everything random: bootstrap, order of benchmarks, environment size [default: random; stored with the run]
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    #[command(flatten)]
    analysis: AnalysisFlags,
}

impl ComparisonFlags {
    pub(super) fn options(self) -> ComparisonOptions {
        let mut analysis = self.analysis.options();
        if self.ignore_drift {
            analysis.test = Some(Test::TScore);
        }
        ComparisonOptions {
            noise_threshold: self.noise_threshold,
            significance_level: self.significance_level,
            confidence_level: self.confidence_level,
            resamples: self.resamples,
            analysis,
            limits: self.analysis.limits.limits,
            fail_on: self.fail_on.fail_on,
            allow_different: self.allow_different,
            seed: self.seed,
            explain: self.analysis.explain,
        }
    }
}

/// What is printed and how.
#[derive(Debug, Clone, Args)]
pub(super) struct OutputFlags {
    /// Hide progress, and results that need no attention
    #[arg(short, long)]
    pub(super) quiet: bool,
    /// Show all notes and columns, and build verbosely (-vv: more)
    #[arg(short, long, action = ArgAction::Count, conflicts_with = "quiet")]
    pub(super) verbose: u8,
    /// Color the output
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        env = "CARGO_TERM_COLOR",
        hide_env = true
    )]
    pub(super) color: Color,
    /// Print in this format
    #[arg(long, value_name = "FMT", default_value = "human")]
    message_format: MessageFormat,
    /// Sort results; by name unless verdicts fill more than a screen, then the worst first
    #[arg(long, value_name = "ORDER")]
    sort: Option<Sort>,
}

/// Which rows are shown.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub(super) struct RowFlags {
    /// Show only benchmarks with these verdicts in tables (comma-separated)
    #[arg(long, value_name = "VERDICTS", value_delimiter = ',', value_parser = str::parse::<Verdict>)]
    verdict: Vec<Verdict>,
}

impl RowFlags {
    /// `None` for all.
    pub(super) fn only(self) -> Option<Vec<Verdict>> {
        Some(self.verdict).filter(|only| !only.is_empty())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Sort {
    /// Sort by package, target and id
    Name,
    /// Put the largest slowdown first
    Change,
    /// Put the longest time first
    Time,
    /// Sort by verdict, the worst first, then by change
    Worst,
}

impl OutputFlags {
    pub(super) fn options(&self) -> OutputOptions {
        OutputOptions {
            quiet: self.quiet,
            format: self.message_format,
            sort: self.sort.map(|sort| match sort {
                Sort::Name => Order::Name,
                Sort::Change => Order::Change,
                Sort::Time => Order::Time,
                Sort::Worst => Order::WorstFirst,
            }),
            verbosity: match (self.quiet, self.verbose) {
                (true, _) => Verbosity::Quiet,
                (false, 0) => Verbosity::Usual,
                (false, _) => Verbosity::Verbose,
            },
            only: None,
        }
    }
}

fn fail_on(text: &str) -> Result<FailOn, String> {
    if text == "none" {
        return Ok(FailOn(Vec::new()));
    }
    text.split(',')
        .map(|word| word.trim().parse::<Verdict>())
        .collect::<Result<_, _>>()
        .map(FailOn)
}
