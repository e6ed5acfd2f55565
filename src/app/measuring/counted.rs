//! What is counted of benchmarks, and why it is not.

use std::collections::{BTreeMap, BTreeSet};

use perfcheck_analysis::findings::RunRemark;
use perfcheck_analysis::model::{BenchmarkKey, CountsOfBenchmark};

/// What was counted on one side.
pub(super) type CountsByBenchmark = BTreeMap<BenchmarkKey, CountsOfBenchmark>;

/// Reasons, each with the benchmarks for which it holds.
#[derive(Debug, Default)]
pub(super) struct Reasons(BTreeMap<String, BTreeSet<BenchmarkKey>>);

impl Reasons {
    /// It holds for these benchmarks.
    pub(super) fn note(&mut self, reason: String, keys: impl IntoIterator<Item = BenchmarkKey>) {
        self.0.entry(reason).or_default().extend(keys);
    }

    /// A remark for each.
    pub(super) fn remarks(
        self,
        remark: impl Fn(Vec<BenchmarkKey>, String) -> RunRemark,
    ) -> Vec<RunRemark> {
        let reasons = self.0.into_iter();
        reasons
            .map(|(reason, benchmarks)| remark(benchmarks.into_iter().collect(), reason))
            .collect()
    }
}
