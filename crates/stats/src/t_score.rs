//! The bootstrap t-score of two independent groups, with p-values and with one-sided bounds that agree with them. [`PooledTScore`] is Criterion's
//! comparison, which draws the null distribution from the pooled groups.

use std::cmp::Ordering;

use super::bootstrap::{
    BLOCK, Resampling, TABULATED, TabulatedStatistic, finite_majority, replicates,
};
use super::description::{deviations, mean, mean_difference};
use super::jackknife::{FEWEST_FOR_BOOTSTRAP, limit_df};
use super::random::{Draws, Stream};
use super::student_t;
use super::welch_test::standard_error_and_df;

/// The largest number of elementary steps that are spent on the null distribution. If more would be needed, fewer resamples are drawn, but at
/// least 1000.
const STEPS: usize = 4_000_000;

/// The bootstrap t-test of two independent means: the t-score of new against base with its null distribution (Efron and Tibshirani 1993, algorithm
/// 16.2).
///
/// The score is `T = (mean_new - mean_base - threshold) / sqrt(s_new^2 / k_new + s_base^2 / k_base)`. For the null distribution, both sides are
/// centered and resampled with replacement, which gives B scores `T*`. For "larger by more than the threshold", the p-value is
/// `(1 + #{T* >= T}) / (B + 1)`. The p-value for "smaller" is computed correspondingly.
///
/// With fewer than [`FEWEST_FOR_BOOTSTRAP`] values on a side, p is the larger of this p and Welch's p, whose degrees of freedom are limited by the
/// smaller side. If more than 4 million elementary steps would be needed, fewer resamples are drawn, but at least 1000.
#[derive(Debug, Clone)]
pub struct TScore {
    /// Mean of new minus mean of base, in the unit of the values.
    pub difference: f64,
    /// Standard error of the difference. It is 0 if neither side varies.
    pub standard_error: f64,
    /// One-sided p-value for "new exceeds base by more than the threshold".
    pub p_greater: f64,
    /// One-sided p-value for "new falls below base by more than the threshold".
    pub p_less: f64,
    /// Number of resamples that have a finite score.
    pub kept: usize,
    /// Number of resamples without a finite score.
    pub dropped: usize,
    /// The largest scores of the resamples, in descending order, and in `lower_tail` the smallest scores in ascending order. The confidence bounds
    /// are found among them, so there are only as many as a bound at `max_level` needs.
    upper_tail: Vec<f64>,
    lower_tail: Vec<f64>,
    /// For small groups, a p-value is at least as large as that of Student's t with these degrees of freedom. `None` if both groups are large enough.
    guard_df: Option<f64>,
    /// The largest difference that counts as no difference if neither side varies, in the unit of the values.
    resolution: f64,
}

impl TScore {
    /// Tests whether the means of `new` and `base` differ by more than `threshold`, which is in their unit. Bounds are available at levels up to
    /// `max_level`, the one-sided probability of error.
    ///
    /// `resolution` is the smallest difference that the clock can show. It matters only if neither side varies. Returns `None` if a side has fewer
    /// than two values, if a value is not finite, or if more than half of the resamples have no finite score.
    pub fn test(
        new: &[f64],
        base: &[f64],
        threshold: f64,
        resolution: f64,
        max_level: f64,
        resampling: Resampling<'_>,
    ) -> Option<Self> {
        let (standard_error, df) = standard_error_and_df(new, base)?;
        let (new_mean, base_mean) = (mean(new)?, mean(base)?);
        let difference = mean_difference(new, base)?;
        if !standard_error.is_finite() || !difference.is_finite() {
            return None;
        }
        let mut score = Self {
            difference,
            standard_error,
            p_greater: 1.0,
            p_less: 1.0,
            kept: resampling.resamples,
            dropped: 0,
            upper_tail: Vec::new(),
            lower_tail: Vec::new(),
            guard_df: (new.len().min(base.len()) < FEWEST_FOR_BOOTSTRAP)
                .then(|| df.min(limit_df(new.len(), base.len()))),
            resolution,
        };
        // Equal values seem to vary by some units in the last place if their mean is rounded. So small a standard error counts as 0.
        if standard_error <= 1e-13 * new_mean.abs().max(base_mean.abs()).max(1.0) {
            score.decide_constants(threshold);
            return Some(score);
        }
        let mut null = NullScores::draw(new, base, resampling);
        let drawn = null.count(|_| true);
        null.scores.retain(|found| found.score.is_finite());
        score.kept = null.count(|_| true);
        score.dropped = drawn - score.kept;
        if score.kept * 2 < drawn || score.kept == 0 {
            return None;
        }
        let above = (difference - threshold) / standard_error;
        let below = (difference + threshold) / standard_error;
        score.p_greater = score.p_value(null.count(|t| t >= above), above);
        score.p_less = score.p_value(null.count(|t| t <= below), -below);
        let size = score.rank(max_level).min(score.kept);
        score.lower_tail = null.first_scores(size, f64::total_cmp);
        score.upper_tail = null.first_scores(size, |a, b| b.total_cmp(a));
        Some(score)
    }

    /// Reports whether neither side varies.
    pub fn is_constant(&self) -> bool {
        self.standard_error == 0.0
    }

    /// Returns the one-sided lower confidence bound of the difference at `level`. Here `level` is the probability of error. The bound exceeds the
    /// threshold exactly if `p_greater` is at most `level`. It is minus infinity if there are too few resamples for the level, or if the level
    /// exceeds `max_level` of the test.
    pub fn lower_bound(&self, level: f64) -> f64 {
        self.difference - self.margin(level, &self.upper_tail, 1.0)
    }

    /// Returns the one-sided upper confidence bound of the difference at `level`. Here `level` is the probability of error. The bound is below minus
    /// the threshold exactly if `p_less` is at most `level`. It is infinity if there are too few resamples for the level, or if the level exceeds
    /// `max_level` of the test.
    pub fn upper_bound(&self, level: f64) -> f64 {
        self.difference + self.margin(level, &self.lower_tail, -1.0)
    }

    fn decide_constants(&mut self, threshold: f64) {
        self.standard_error = 0.0;
        self.guard_df = None;
        let smallest = 1.0 / (self.kept + 1) as f64;
        if self.difference - self.resolution > threshold {
            self.p_greater = smallest;
        }
        if self.difference + self.resolution < -threshold {
            self.p_less = smallest;
        }
    }

    /// Returns the p-value if `hits` resamples are at least as extreme as the observed score. `t` is that score, with its sign chosen such that
    /// larger values are more extreme.
    fn p_value(&self, hits: usize, t: f64) -> f64 {
        let bootstrap = (1 + hits) as f64 / (self.kept + 1) as f64;
        let guard = self.guard_df.and_then(|df| student_t::upper_tail(t, df));
        bootstrap.max(guard.unwrap_or(0.0))
    }

    /// Returns the rank of the critical score for `level` among the scores of one tail, counted from 1. It is 0 if there are too few resamples for
    /// this level.
    fn rank(&self, level: f64) -> usize {
        // The addition corrects for rounding: a product that should be an integer may be slightly below it.
        (level * (self.kept + 1) as f64 + 1e-9).floor() as usize
    }

    /// Returns the distance from the difference to the bound at `level`. `sign` is 1 for the upper tail of the null distribution, -1 for the lower.
    fn margin(&self, level: f64, tail: &[f64], sign: f64) -> f64 {
        let rank = self.rank(level);
        if rank == 0 {
            return f64::INFINITY;
        }
        if self.is_constant() {
            return self.resolution;
        }
        let Some(critical) = tail.get(rank - 1) else {
            return f64::INFINITY;
        };
        let guard = self
            .guard_df
            .and_then(|df| student_t::upper_quantile(level, df));
        (critical * sign).max(guard.unwrap_or(f64::NEG_INFINITY)) * self.standard_error
    }
}

/// The mean of a resample, and the variance of this mean.
pub(super) type Moments = (f64, f64);

/// The sum and the sum of squares of some draws.
type Sums = (f64, f64);

/// The largest number of groups of draws that are tabulated. A larger table would not fit in the processor's cache.
const GROUPS: usize = 1 << 16;

/// The values of one side, centered and prepared for resampling.
enum CentredSide {
    /// The moments of every possible resample were computed in advance.
    Table(TabulatedStatistic<Moments>),
    /// The sums of every possible group of a few draws were computed in advance. A resample consists of as many groups as fit, and of single draws
    /// for the rest.
    Groups {
        values: Vec<f64>,
        sums: Vec<Sums>,
        groups: usize,
        singles: usize,
    },
}

impl CentredSide {
    fn new(values: &[f64]) -> Self {
        let centred: Vec<f64> = deviations(values).collect();
        let k = centred.len();
        if k <= TABULATED {
            let moments = |weights: &[u32]| weighted_moments(weights, &centred);
            return Self::Table(TabulatedStatistic::new(k, moments));
        }
        let mut size = 1;
        let mut sums: Vec<Sums> = centred
            .iter()
            .map(|value| (*value, value * value))
            .collect();
        while sums.len() * k <= GROUPS && size < k {
            sums = sums
                .iter()
                .flat_map(|(sum, squares)| {
                    centred
                        .iter()
                        .map(move |value| (sum + value, squares + value * value))
                })
                .collect();
            size += 1;
        }
        Self::Groups {
            values: centred,
            sums,
            groups: k / size,
            singles: k % size,
        }
    }

    /// Returns the number of elementary steps of a resample.
    fn cost(&self) -> usize {
        match self {
            Self::Table(_) => 1,
            Self::Groups {
                groups, singles, ..
            } => groups + singles,
        }
    }

    fn draw(&self, draws: &mut Draws) -> Moments {
        match self {
            Self::Table(table) => table.value(draws.index(table.sequences())),
            Self::Groups {
                values,
                sums,
                groups,
                singles,
            } => {
                // Form two sums at once: the processor can overlap their additions.
                let count = sums.len() as u32;
                let (mut even, mut odd) = ((0.0, 0.0), (0.0, 0.0));
                for _ in 0..groups / 2 {
                    let (a, b) = draws.index_pair(count);
                    even = add(even, sums[a]);
                    odd = add(odd, sums[b]);
                }
                if groups % 2 == 1 {
                    even = add(even, sums[draws.index(count)]);
                }
                let (mut sum, mut squares) = add(even, odd);
                for _ in 0..*singles {
                    let value = values[draws.index(values.len() as u32)];
                    sum += value;
                    squares += value * value;
                }
                moments(values.len(), sum, squares)
            }
        }
    }
}

fn add(a: Sums, b: Sums) -> Sums {
    (a.0 + b.0, a.1 + b.1)
}

/// Returns the mean of `count` draws and the variance of this mean. The values are centered, so cancellation happens only in a resample that hardly
/// varies. A variance that is lost in the rounding of the values counts as 0.
pub(super) fn moments(count: usize, sum: f64, squares: f64) -> Moments {
    let n = count as f64;
    let deviations = squares - sum * sum / n;
    if deviations <= 1e-12 * squares {
        return (sum / n, 0.0);
    }
    (sum / n, deviations / (n - 1.0) / n)
}

/// Returns the moments of a resample in which value i was drawn `weights[i]` times.
fn weighted_moments(weights: &[u32], values: &[f64]) -> Moments {
    let drawn = weights.iter().zip(values);
    let (sum, squares) = drawn.fold((0.0, 0.0), |(sum, squares), (weight, value)| {
        let weighted = f64::from(*weight) * value;
        (sum + weighted, squares + weighted * value)
    });
    moments(values.len(), sum, squares)
}

/// A score of the null distribution, and how many resamples have it.
#[derive(Debug, Clone, Copy)]
struct NullScore {
    score: f64,
    count: u32,
}

/// The scores of all resamples, which form the null distribution.
struct NullScores {
    scores: Vec<NullScore>,
}

impl NullScores {
    fn draw(new: &[f64], base: &[f64], resampling: Resampling<'_>) -> Self {
        let sides = (CentredSide::new(new), CentredSide::new(base));
        let count = resampling.affordable_resamples(STEPS, sides.0.cost() + sides.1.cost());
        let stream = resampling.stream;
        if let (CentredSide::Table(new), CentredSide::Table(base)) = &sides {
            return Self::draw_from_tables(new, base, stream, count);
        }
        let scores = replicates(
            stream,
            count,
            || (),
            |draws, ()| {
                let new = sides.0.draw(draws);
                t_score(new, sides.1.draw(draws))
            },
        );
        let scores = scores.into_iter();
        Self {
            scores: scores.map(|score| NullScore { score, count: 1 }).collect(),
        }
    }

    /// Draws pairs of resamples and counts how often each pair is drawn. Two sides of five values have only 126 distinct resamples each, so the same
    /// pair is drawn often.
    fn draw_from_tables(
        new: &TabulatedStatistic<Moments>,
        base: &TabulatedStatistic<Moments>,
        stream: Stream<'_>,
        count: usize,
    ) -> Self {
        let width = base.values.len();
        let mut counts = vec![0_u32; new.values.len() * width];
        for (block, first) in (0..count).step_by(BLOCK).enumerate() {
            let mut draws = Draws::new(stream, block as u64);
            for _ in first..count.min(first + BLOCK) {
                let (a, b) = draws.unequal_pair(new.sequences(), base.sequences());
                counts[usize::from(new.sets[a]) * width + usize::from(base.sets[b])] += 1;
            }
        }
        let pairs = new
            .values
            .iter()
            .flat_map(|new| base.values.iter().map(move |base| t_score(*new, *base)));
        let drawn = pairs.zip(counts).filter(|(_, count)| *count > 0);
        Self {
            scores: drawn
                .map(|(score, count)| NullScore { score, count })
                .collect(),
        }
    }

    /// Returns the number of resamples whose score satisfies `is_counted`.
    fn count(&self, is_counted: impl Fn(f64) -> bool) -> usize {
        let counted = self.scores.iter().filter(|found| is_counted(found.score));
        counted.map(|found| found.count as usize).sum()
    }

    /// Returns the first `size` scores in the given `order`. A score that several resamples have is repeated for each of them.
    fn first_scores(&mut self, size: usize, order: impl Fn(&f64, &f64) -> Ordering) -> Vec<f64> {
        if size == 0 {
            return Vec::new();
        }
        let by_score = |a: &NullScore, b: &NullScore| order(&a.score, &b.score);
        let distinct = size.min(self.scores.len());
        self.scores.select_nth_unstable_by(distinct - 1, by_score);
        let first = &mut self.scores[..distinct];
        first.sort_unstable_by(by_score);
        let each = first
            .iter()
            .flat_map(|found| std::iter::repeat_n(found.score, found.count as usize));
        each.take(size).collect()
    }
}

/// Returns the t-score of a pair of resamples, one from each side.
fn t_score((new_mean, new_variance): Moments, (base_mean, base_variance): Moments) -> f64 {
    (new_mean - base_mean) / (new_variance + base_variance).sqrt()
}

#[cfg(test)]
#[path = "t_score_tests.rs"]
mod tests;

/// The largest number of elementary steps that are spent on the null distribution of [`PooledTScore`]. If more would be needed, fewer resamples are
/// drawn, but at least 1000.
const POOLED_STEPS: usize = 40_000_000;

/// Criterion's comparison: the t-score of new against base with its two-sided p-value (Efron and Tibshirani 1993, section 16.2). The values of both
/// groups are pooled, and two groups of the same sizes are drawn from the pool with replacement.
///
/// [`TScore`](crate::TScore), in contrast, centers each group separately, so that groups keep their different spreads, and has a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PooledTScore {
    /// Welch's `(mean_new - mean_base) / sqrt(s_new^2 / n_new + s_base^2 / n_base)`.
    pub t: f64,
    /// `(1 + #{|t*| >= |t|}) / (B + 1)`, where B is the number of resamples that have a finite score.
    pub p: f64,
    /// Number of resamples drawn.
    pub resamples: usize,
}

impl PooledTScore {
    /// Tests whether the means of `new` and `base` differ. If this would take more than 40 million elementary steps, fewer resamples are drawn, but
    /// at least 1000.
    ///
    /// Returns `None` if a side has fewer than two values, if a value is not finite, if neither side varies, or if more than half of the resamples
    /// have no finite score.
    pub fn test(new: &[f64], base: &[f64], resampling: Resampling<'_>) -> Option<Self> {
        let (standard_error, _) = standard_error_and_df(new, base)?;
        let t = mean_difference(new, base)? / standard_error;
        if standard_error == 0.0 || !t.is_finite() {
            return None;
        }
        let pool: Vec<f64> = new.iter().chain(base).copied().collect();
        let centred: Vec<f64> = deviations(&pool).collect();
        let size = u32::try_from(centred.len()).ok()?;
        let resamples = resampling.affordable_resamples(POOLED_STEPS, centred.len());
        let scores = replicates(
            resampling.stream,
            resamples,
            || (),
            |draws, ()| {
                let mut group = |count: usize| -> Moments {
                    let (mut sum, mut squares) = (0.0, 0.0);
                    for _ in 0..count {
                        let value = centred[draws.index(size)];
                        sum += value;
                        squares += value * value;
                    }
                    moments(count, sum, squares)
                };
                let (new, base) = (group(new.len()), group(base.len()));
                (new.0 - base.0) / (new.1 + base.1).sqrt()
            },
        );
        let kept = finite_majority(scores)?;
        let beyond = kept.iter().filter(|score| score.abs() >= t.abs());
        Some(Self {
            t,
            p: (1 + beyond.count()) as f64 / (kept.len() + 1) as f64,
            resamples,
        })
    }
}

#[cfg(test)]
mod pooled_tests {
    use super::*;
    use crate::{Stream, WelchDf, WelchTest};

    fn resampling(resamples: usize) -> Resampling<'static> {
        Resampling {
            resamples,
            stream: Stream {
                seed: 7,
                name: "pooled",
            },
        }
    }

    // The expected t values are from scipy.stats.ttest_ind(a, b, equal_var=False).
    const A: [f64; 5] = [10.0, 10.2, 9.9, 10.1, 10.3];
    const B: [f64; 6] = [10.5, 10.7, 10.4, 10.6, 10.9, 10.6];

    #[test]
    fn c_x3_c_x4_the_score_is_welchs_and_its_p_is_near_that_of_normal_data() {
        let found = PooledTScore::test(&A, &B, resampling(20_000)).unwrap();
        assert!((found.t + 5.181_078_596_102_794).abs() < 1e-9, "{found:?}");
        assert!(found.p < 0.01, "{found:?}");
        let normal = |shift: f64| -> Vec<f64> {
            let quantile = |i: i32| crate::normal::quantile((f64::from(i) + 0.5) / 40.0).unwrap();
            (0..40).map(|i| shift + quantile(i)).collect()
        };
        let (a, b) = (normal(0.0), normal(0.45));
        let found = PooledTScore::test(&b, &a, resampling(50_000)).unwrap();
        let expected = WelchTest::test(&b, &a, WelchDf::Fractional).unwrap().p;
        // Two standard errors of 50,000 resamples are 0.002.
        assert!((found.p - expected).abs() < 0.006, "{found:?} {expected}");
    }

    #[test]
    fn both_tails_count_alike_and_an_offset_changes_nothing() {
        let p = |a: &[f64], b: &[f64]| PooledTScore::test(a, b, resampling(5_000)).unwrap().p;
        let apart = [10.0, 10.3, 9.9, 10.4, 10.35, 10.1];
        let there = p(&A, &apart);
        assert!((0.2..0.95).contains(&there), "{there}");
        assert!((p(&apart, &A) - there).abs() < 0.03);
        let moved = |values: &[f64]| values.iter().map(|x| x + 1024.0).collect::<Vec<f64>>();
        assert!((p(&moved(&A), &moved(&apart)) - there).abs() < 0.01);
    }

    #[test]
    fn d12_where_more_than_half_of_the_resamples_have_no_score_there_is_no_test() {
        // One of four values differs from the rest: both groups of two draw equal values with a probability of (10 / 16)^2 = 39 %.
        let found = PooledTScore::test(&[0.0, 1.0], &[0.0, 0.0], resampling(20_000)).unwrap();
        assert_eq!(found.t, 1.0);
        // The other 156 of all 4^4 draws have scores. If the differing value is drawn once on one side only (2 x 6 x 9 draws), |t| is 1. If it is
        // drawn once on one side and twice on the other (2 x 6), |t| is 1, too. If it is drawn once on both sides (36), t is 0.
        let expected = (108.0 + 12.0) / 156.0;
        assert!((found.p - expected).abs() < 0.02, "{found:?} {expected}");
        // The deviations are so small that their squares underflow: both sides vary, but hardly any resample does.
        assert_eq!(
            PooledTScore::test(&[0.0, 3.2e-162], &[0.0, 0.0], resampling(1_000)),
            None
        );
    }

    #[test]
    fn what_does_not_vary_has_no_score() {
        assert_eq!(
            PooledTScore::test(&[1.0; 4], &[2.0; 4], resampling(1_000)),
            None
        );
        assert_eq!(
            PooledTScore::test(&[1.0], &[2.0, 3.0], resampling(1_000)),
            None
        );
        assert_eq!(
            PooledTScore::test(&[1.0, f64::NAN], &[2.0, 3.0], resampling(1_000)),
            None
        );
    }
}
