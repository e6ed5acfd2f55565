//! Flags that configure sampling, and flags that select rows.

use clap::Args;
use std::time::Duration;

use crate::app::{clap_range, word_parser};
use crate::settings::{Layer, parse_positive_duration};
use perfcheck_analysis::model::{SamplingMode, Verdict, WarmUpGoal, limits, parse_duration};

/// Flags that configure the sampling of benchmarks.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Measurement options")]
pub(super) struct SamplingFlags {
    /// Take N samples per process [default: as many as fit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(clap_range(limits::SAMPLES)))]
    samples: Option<u32>,
    /// Warm up each process for this time, e.g. 100ms or 0.1 (seconds) [default: 100ms]
    #[arg(long, value_name = "TIME", value_parser = parse_phase)]
    warm_up_time: Option<Duration>,
    /// Warm up each process for N iterations instead of a time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(clap_range(limits::WARM_UP_ITERATIONS)), conflicts_with = "warm_up_time")]
    warm_up_iterations: Option<u32>,
    /// Sample each process for this time [default: 400ms]
    #[arg(long, value_name = "TIME", value_parser = parse_positive_phase)]
    measurement_time: Option<Duration>,
    /// Choose how iterations are distributed over samples [default: standard]
    #[arg(long, value_name = "MODE", value_parser = word_parser::<SamplingMode>(SamplingMode::WORDS))]
    sampling_mode: Option<SamplingMode>,
    /// Record single operations of `iter_latency` to N significant digits, 1 to 5 [default: 3]
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
    pub(super) fn layer(&self, launches: Option<u32>) -> Layer {
        Layer {
            launches,
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
    /// Show only benchmarks with these verdicts in tables (comma-separated)
    #[arg(long, value_name = "VERDICTS", value_delimiter = ',', value_parser = str::parse::<Verdict>)]
    verdict: Vec<Verdict>,
}

impl RowFlags {
    /// Returns the verdicts to show; `None` shows all rows.
    pub(super) fn verdicts(self) -> Option<Vec<Verdict>> {
        Some(self.verdict).filter(|only| !only.is_empty())
    }
}
