//! What `cargo perfcheck doctor` is asked for.

use clap::Args;
use std::time::Duration;

use crate::settings::positive_duration;

const AFTER_HELP: &str = "\
Works in any directory, without a project; nothing is stored and nothing on the machine is changed. The noise is that of two workloads of this
program, each against itself in turn as `--against` measures, for as long as --time says.

Examples:
  cargo perfcheck doctor               look, measure for ten seconds, say what to change
  cargo perfcheck doctor --quick       for three seconds
  cargo perfcheck doctor --time 1min   a better estimate
  cargo perfcheck doctor --message-format json

Exit status: 0 whatever was found, 2 usage, 4 the noise could not be measured, 130 interrupted.";

const USUAL: &str = "10s";
const QUICK: Duration = Duration::from_secs(3);

/// What the user asked for.
#[derive(Debug, Clone, Args)]
#[command(after_help = AFTER_HELP)]
pub struct DoctorOptions {
    /// How long to measure the noise
    #[arg(long, value_name = "TIME", default_value = USUAL, value_parser = positive_duration)]
    time: Duration,
    /// Measure it for three seconds
    #[arg(long, conflicts_with = "time")]
    quick: bool,
    /// Rounds of each workload at most; in each, both sides are launched afresh [default: as many as fit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(5..=10_000))]
    pub rounds: Option<u32>,
    /// Seed of everything random [default: random]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

impl DoctorOptions {
    /// How long to measure the noise.
    pub(super) fn time(&self) -> Duration {
        if self.quick { QUICK } else { self.time }
    }
}
