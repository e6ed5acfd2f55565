//! Ranks benchmarks of one build by their speed. Each was measured side by side with the same one of them, the reference.
//!
//! Every comparison has an equal share of the level (Bonferroni), so all intervals hold together. That is why two benchmarks can be told apart by
//! their intervals, although they were not measured side by side with each other.

use rayon::prelude::*;

use super::judge::judge_looks;
use super::look::Look;
use super::plan::{PairedMethod, Plan};
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
        Failed = "failed": "Not ranked, because processes of it or of the reference failed.",
        Skipped = "skipped": "Not measured, because it or the reference declined.",
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
    /// was not measured.
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
    let method = PairedMethod::default();
    let (distances, comparisons): (Vec<ReferenceDistance>, Vec<Comparison>) = all_series
        .par_iter()
        .flat_map_iter(|series| judge_looks(&[*series], plan, &method))
        .map(|(look, comparison)| (ReferenceDistance::new(&look, &comparison), comparison))
        .unzip();
    let reference = ReferenceDistance::OF_REFERENCE;
    let rank = |own: &ReferenceDistance| {
        let all = distances.iter().chain([&reference]);
        1 + all.filter(|other| own.is_slower_than(other)).count()
    };
    let others = distances.iter().zip(comparisons);
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
    /// How far a difference must lie beyond the threshold because the host was disturbed, as a logarithm.
    withheld: f64,
}

impl ReferenceDistance {
    const OF_REFERENCE: Self = Self {
        standing: Standing::Reference,
        bounds: ChangeBounds {
            lower: 0.0,
            upper: 0.0,
        },
        threshold: 0.0,
        withheld: 0.0,
    };

    const UNKNOWN: ChangeBounds = ChangeBounds {
        lower: f64::NEG_INFINITY,
        upper: f64::INFINITY,
    };

    fn new(look: &Look, comparison: &Comparison) -> Self {
        let standing = match comparison.verdict {
            Verdict::Regressed => Standing::Slower,
            Verdict::Improved => Standing::Faster,
            Verdict::Unchanged => Standing::AsFast,
            Verdict::Failed => Standing::Failed,
            _ => Standing::Open,
        };
        let bounds = comparison.change.map(|change| ChangeBounds {
            lower: change.lower.max(-1.0).ln_1p(),
            upper: change.upper.ln_1p(),
        });
        Self {
            standing,
            bounds: bounds.unwrap_or(Self::UNKNOWN),
            threshold: look.threshold,
            withheld: look.withheld_change(),
        }
    }

    /// Reports whether this benchmark was shown to be slower than the `other` one by more than the noise threshold. Each of the two was measured
    /// beside processes of the reference of its own, so a disturbance of either of them may have moved their difference.
    fn is_slower_than(&self, other: &Self) -> bool {
        match (self.standing, other.standing) {
            (Standing::Reference, standing) => standing == Standing::Faster,
            (standing, Standing::Reference) => standing == Standing::Slower,
            _ => {
                let callable = self.threshold.max(other.threshold) + self.withheld + other.withheld;
                self.bounds.lower - other.bounds.upper > callable
            }
        }
    }
}
