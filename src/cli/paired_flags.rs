//! Flags that the commands which measure two builds in turn have in common, beside a plain run.

use clap::Args;
use std::time::Duration;

use crate::app::{ComparisonOptions, Counting, Effort, PairedOptions, range};
use crate::settings::{fraction_below_one, positive_duration, significance_level};
use perfcheck_analysis::compare::Plan;
use perfcheck_analysis::model::parse_duration;

/// How long is measured, and how it is decided.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Measurement options")]
pub(super) struct PairedFlags {
    /// Measure at most N rounds of one process on each side [default: 200, or half a minute]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(range(Plan::FEWEST_ROUNDS..=10_000)))]
    rounds: Option<u32>,
    /// Stop a comparison after this time
    #[arg(long, value_name = "TIME", value_parser = positive_duration)]
    time_budget: Option<Duration>,
    /// Run executables as they were linked, instead of linking them again for each round with their functions at the same places on both sides
    #[arg(long)]
    as_built: bool,
    /// Extra time allowed before a benchmark counts as hung
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,
    /// Ignore relative changes up to this, e.g. 0.5% [default: 1%]
    #[arg(long, value_name = "FRACTION", value_parser = fraction_below_one)]
    noise_threshold: Option<f64>,
    /// Limit the false-alarm rate of all benchmarks together, one-sided [default: 1%]
    #[arg(long, visible_alias = "alpha", value_name = "FRACTION", value_parser = significance_level)]
    significance_level: Option<f64>,
    /// Seed everything random [default: random]
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
