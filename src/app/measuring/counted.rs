//! Instruction counts of benchmarks, and reasons for missing ones.

use std::collections::{BTreeMap, BTreeSet};

use perfcheck_analysis::findings::RunNote;
use perfcheck_analysis::model::{BenchmarkCounts, BenchmarkKey};

/// Counts of one side.
pub(super) type CountsByBenchmark = BTreeMap<BenchmarkKey, BenchmarkCounts>;

/// Reasons, each with the affected benchmarks.
#[derive(Debug, Default)]
pub(super) struct Reasons(BTreeMap<String, BTreeSet<BenchmarkKey>>);

impl Reasons {
    /// Records a reason for these benchmarks.
    pub(super) fn add(&mut self, reason: String, keys: impl IntoIterator<Item = BenchmarkKey>) {
        self.0.entry(reason).or_default().extend(keys);
    }

    /// Converts each reason to a note.
    pub(super) fn remarks(
        self,
        remark: impl Fn(Vec<BenchmarkKey>, String) -> RunNote,
    ) -> Vec<RunNote> {
        let reasons = self.0.into_iter();
        reasons
            .map(|(reason, benchmarks)| remark(benchmarks.into_iter().collect(), reason))
            .collect()
    }
}
