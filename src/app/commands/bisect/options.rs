//! What `bisect` is asked for.

use crate::app::options::PairedOptions;
use perfcheck_engine::sides::BenchesFrom;

/// Search a history for the first slow commit.
#[derive(Debug, Clone)]
pub struct BisectOptions {
    /// A commit that is fast.
    pub good: String,
    /// A later one that is slow.
    pub bad: String,
    /// The benchmark, by its id or what it can be known by.
    pub bench: String,
    /// Whose benchmarks the commits are built with.
    pub benches_from: BenchesFrom,
    /// Forget what an earlier call has found.
    pub restart: bool,
    /// How to measure.
    pub paired: PairedOptions,
}
