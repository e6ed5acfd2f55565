//! Flags that the commands which measure two builds in turn have in common, beside a plain run.

use clap::Args;
use std::time::Duration;

use crate::app::{ComparisonOptions, Counting, Effort, PairedOptions};
use crate::settings::{fraction_below_one, positive_duration, significance_level};
use perfcheck_analysis::model::parse_duration;

/// How long is measured, and how it is decided.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "A/B options")]
pub(super) struct PairedFlags {
    /// Rounds of a comparison at most; in each, both sides are launched afresh [default: 100, in a minute where they are costly]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(5..=10_000))]
    rounds: Option<u32>,
    /// Time for the rounds of a comparison
    #[arg(long, value_name = "TIME", value_parser = positive_duration)]
    time_budget: Option<Duration>,
    /// Measure executables as they were linked. Else they are linked anew for each round, with their functions at the same places on both sides
    #[arg(long)]
    as_built: bool,
    /// Longest time to wait for a bench beyond what is expected of it
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,
    /// Relative change that counts as noise, e.g. 0.5% [default: 1%]
    #[arg(long, value_name = "FRACTION", value_parser = fraction_below_one)]
    noise_threshold: Option<f64>,
    /// One-sided level for all benchmarks of a comparison together [default: 1%]
    #[arg(long, visible_alias = "alpha", value_name = "FRACTION", value_parser = significance_level)]
    significance_level: Option<f64>,
    /// Seed of everything random [default: random]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

impl PairedFlags {
    pub(super) fn options(self) -> PairedOptions {
        PairedOptions {
            effort: Effort {
                rounds: self.rounds,
                time_budget: self.time_budget,
                as_built: self.as_built,
                instructions: Counting::Never,
            },
            timeout: self.timeout,
            comparison: ComparisonOptions {
                noise_threshold: self.noise_threshold,
                significance_level: self.significance_level,
                seed: self.seed,
                ..ComparisonOptions::default()
            },
        }
    }
}
