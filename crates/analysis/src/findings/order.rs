//! The order in which benchmarks are shown.

use std::cmp::Ordering;

use super::row::Row;
use crate::model::{BenchmarkKey, Verdict};
use perfcheck_stats::words;

words! {
    /// The order of benchmarks.
    Order {
        Name = "name": "Sort by package, target and id",
        Change = "change": "Put the largest slowdown first",
        Time = "time": "Put the longest time first",
        WorstFirst = "worst": "Sort by verdict, the worst first, then by change",
    }
}

/// The values that benchmarks are sorted by. Benchmarks without the value come last.
#[derive(Debug, Clone, Copy)]
pub struct SortKey<'k> {
    /// The benchmark.
    pub key: &'k BenchmarkKey,
    /// Its verdict.
    pub verdict: Option<Verdict>,
    /// Its change, a fraction.
    pub change: Option<f64>,
    /// Its time, in the same unit for all benchmarks.
    pub time: Option<f64>,
}

impl Order {
    /// Compares two benchmarks; for equal values, their names decide.
    pub fn compare(self, a: &SortKey<'_>, b: &SortKey<'_>) -> Ordering {
        let descending = |a: Option<f64>, b: Option<f64>| {
            let value = |x: Option<f64>| x.unwrap_or(f64::NEG_INFINITY);
            value(b).total_cmp(&value(a))
        };
        let verdict = |key: &SortKey<'_>| (key.verdict.is_none(), key.verdict);
        let first = match self {
            Self::Name => Ordering::Equal,
            Self::Change => descending(a.change, b.change),
            Self::Time => descending(a.time, b.time),
            Self::WorstFirst => verdict(a)
                .cmp(&verdict(b))
                .then_with(|| descending(a.change, b.change)),
        };
        first.then_with(|| a.key.cmp_natural(b.key))
    }

    /// Sorts rows in this order.
    pub fn sort(self, rows: &mut [Row<'_>]) {
        rows.sort_by(|a, b| self.compare(&a.sort_key(), &b.sort_key()));
    }
}

impl Row<'_> {
    /// Returns the values that this row is sorted by.
    pub fn sort_key(&self) -> SortKey<'_> {
        SortKey {
            key: &self.key,
            verdict: self.verdict,
            change: self.change(),
            time: self.summary.as_ref().map(|found| found.median.estimate),
        }
    }
}
