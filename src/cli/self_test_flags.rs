//! `cargo perfcheck self-test`.

use clap::Args;

use super::cargo_flags::BuildFlags;
use super::command::{Command, Parsed};
use super::paired_flags::PairedFlags;
use super::run_flags::OutputFlags;
use crate::app::{SelfTestOptions, StoreOptions};
use perfcheck_analysis::model::parse_slowdown;
use perfcheck_engine::measure::Filter;

const AFTER_HELP: &str = "\
Each benchmark is measured against itself, and against itself slowed down by a known amount: what do the verdicts say?
Nothing is stored. A trial takes as long as an `--against` run of the same benchmarks.

Examples:
  cargo perfcheck self-test                        five trials of each kind, 2 % slower
  cargo perfcheck self-test parse --slowdown 5%    benchmarks with `parse` in their id, 5 % slower
  cargo perfcheck self-test --trials 40            a tighter bound on the rate of false alarms
  cargo perfcheck self-test --slowdown 1.01 --noise-threshold 0.5% --time-budget 20s

Exit status: 0 whatever was found, 2 usage, 3 build failed, 4 a benchmark failed or nothing was measured, 130 interrupted.";

/// The command line of `self-test`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct SelfTestArguments {
    /// Measure only benchmarks whose id contains one of these
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// FILTERs are whole ids
    #[arg(long)]
    exact: bool,
    /// How much slower one side is made, as a factor or a percentage
    #[arg(long, value_name = "FACTOR", default_value = "1.02", value_parser = parse_slowdown)]
    slowdown: f64,
    /// Comparisons of each kind: without a difference, and with the slowdown
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    trials: u32,
    #[command(flatten)]
    output: OutputFlags,
    #[command(flatten)]
    paired: PairedFlags,
    #[command(flatten)]
    build: BuildFlags,
}

impl SelfTestArguments {
    pub(super) fn translate(self) -> Parsed {
        let color = self.output.color.word();
        let cargo = self.build.options(&self.output);
        Parsed {
            color,
            common: StoreOptions {
                // Nothing is stored.
                store: None,
                output: self.output.options(),
                cargo,
            },
            command: Command::SelfTest(Box::new(SelfTestOptions {
                filter: Filter {
                    words: self.filters,
                    exact: self.exact,
                },
                slowdown: self.slowdown,
                trials: self.trials,
                paired: self.paired.options(),
            })),
        }
    }
}
