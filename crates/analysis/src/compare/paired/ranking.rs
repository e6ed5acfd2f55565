//! Ranks benchmarks of one build by their speed. Each was measured side by side with the same one of them, the reference.
//!
//! Every comparison has an equal share of the level (Bonferroni), so all intervals hold together. That is why two benchmarks can be told apart by
//! their intervals, although they were not measured side by side with each other.

use rayon::prelude::*;

use super::judge::judge;
use super::plan::Plan;
use super::series::PairedSeries;
use crate::compare::comparison::Comparison;
use crate::compare::estimate::ChangeBounds;
use crate::model::Verdict;
use perfcheck_stats::words;

words! {
    /// How the speed of a benchmark compares with that of the reference of its ranking.
    Standing {
        Reference = "reference": "The benchmark with which the others are compared.",
        Faster = "faster": "Faster by more than the noise threshold.",
        AsFast = "as-fast": "As fast, within the noise threshold.",
        Open = "open": "Neither told apart from the reference nor shown to be as fast.",
        Slower = "slower": "Slower by more than the noise threshold.",
        Failed = "failed": "Not measured, because a process failed or the benchmark declined.",
    }
}

/// The ranking of a reference and the benchmarks that were measured beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The rank of the reference.
    pub reference: usize,
    /// The other benchmarks, in the order of their series.
    pub others: Vec<RankedBenchmark>,
}

/// The place of a benchmark in a ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedBenchmark {
    /// How the benchmark compares with the reference.
    pub standing: Standing,
    /// One more than the number of benchmarks that are faster. So benchmarks that cannot be told apart may share a rank. `None` if the benchmark
    /// failed.
    pub rank: Option<usize>,
    /// The comparison with the reference, which is the base.
    pub comparison: Comparison,
}

/// Ranks benchmarks. The candidate of each series is one of them, and the base is the reference.
///
/// The level of `plan` is divided by the number of planned benchmarks, which must not be smaller than the number of all comparisons that the level is
/// for. So the chance that any benchmark is wrongly told apart from another one, in one direction, is at most that level.
pub fn rank_beside_reference(all_series: &[PairedSeries<'_>], plan: &Plan) -> Ranking {
    // Holm's procedure would judge all series together, at levels that suit the comparisons with the reference but no others. A series that is judged
    // alone gets the level of the first step, which is Bonferroni's.
    let comparisons: Vec<Comparison> = all_series
        .par_iter()
        .flat_map_iter(|series| judge(&[*series], plan))
        .collect();
    let distances: Vec<ReferenceDistance> = comparisons
        .iter()
        .map(ReferenceDistance::from_comparison)
        .collect();
    let reference = ReferenceDistance::OF_REFERENCE;
    let rank = |own: &ReferenceDistance| {
        let all = distances.iter().chain([&reference]);
        1 + all.filter(|other| own.is_slower_than(other)).count()
    };
    let others = distances.iter().zip(comparisons.iter().cloned());
    Ranking {
        reference: rank(&reference),
        others: others
            .map(|(own, comparison)| RankedBenchmark {
                standing: own.standing,
                rank: (own.standing != Standing::Failed).then(|| rank(own)),
                comparison,
            })
            .collect(),
    }
}

/// The interval of a benchmark's distance from the reference, as logarithms of times.
struct ReferenceDistance {
    standing: Standing,
    bounds: ChangeBounds,
    /// The logarithm of the noise threshold.
    threshold: f64,
}

impl ReferenceDistance {
    const OF_REFERENCE: Self = Self {
        standing: Standing::Reference,
        bounds: ChangeBounds {
            lower: 0.0,
            upper: 0.0,
        },
        threshold: 0.0,
    };

    const UNKNOWN: ChangeBounds = ChangeBounds {
        lower: f64::NEG_INFINITY,
        upper: f64::INFINITY,
    };

    fn from_comparison(comparison: &Comparison) -> Self {
        let standing = match comparison.verdict {
            Verdict::Regressed => Standing::Slower,
            Verdict::Improved => Standing::Faster,
            Verdict::Unchanged => Standing::AsFast,
            Verdict::Failed => Standing::Failed,
            _ => Standing::Open,
        };
        let threshold = comparison.noise_threshold.ln_1p();
        let bounds = comparison.change.map(|change| ChangeBounds {
            lower: change.lower.max(-1.0).ln_1p(),
            upper: change.upper.ln_1p(),
        });
        // If the interval alone would decide and the verdict does not, the host was disturbed and the interval cannot be relied on.
        let is_reliable = |bounds: &ChangeBounds| {
            standing != Standing::Open || bounds.judge(threshold) == Verdict::Inconclusive
        };
        Self {
            standing,
            bounds: bounds.filter(is_reliable).unwrap_or(Self::UNKNOWN),
            threshold,
        }
    }

    /// Reports whether this benchmark was shown to be slower than the `other` one by more than the noise threshold.
    fn is_slower_than(&self, other: &Self) -> bool {
        match (self.standing, other.standing) {
            (Standing::Reference, standing) => standing == Standing::Faster,
            (standing, Standing::Reference) => standing == Standing::Slower,
            _ => self.bounds.lower - other.bounds.upper > self.threshold.max(other.threshold),
        }
    }
}
