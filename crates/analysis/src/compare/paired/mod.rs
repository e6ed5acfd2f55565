//! Decides about side-by-side measurements, round by round.
//!
//! A *look* is an analysis of the rounds so far. Its [`LookStatus`] says whether a benchmark needs more rounds. [`judge()`] decides the whole run
//! from its data by repeating the looks. The *speed test* asks whether one side is slower by more than the noise threshold. It compares the low
//! quantiles of all samples of each side (*floor test*), and both sides round by round (*rank test*). The *slow-path test* asks whether samples of
//! one side are slower than their neighbors of the other. docs/internals/src/statistics/side-by-side.md describes the procedure with its constants.

mod diagnostics;
mod judge;
mod look;
mod plan;
mod ranking;
mod resolution;
mod series;
mod slow_path;
mod speed_test;

pub use judge::{check_settled, judge, judge_with_method};
pub use look::LookStatus;
pub use plan::{FloorGuard, HostNoise, PairedMethod, Plan};
pub use ranking::{RankedBenchmark, Ranking, Standing, rank_beside_reference};
pub use resolution::{HostResolution, PowerTarget, RoundsNeeded};
pub use series::PairedSeries;

#[cfg(test)]
mod tests;
