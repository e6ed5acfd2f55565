//! Criterion's comparison: the t-score of two groups, judged by its distribution if both groups come from one population.

use super::bootstrap::{Resampling, finite_majority, replicates};
use super::description::{deviations, mean_difference};
use super::t_score::{Moments, moments};
use super::welch_test::standard_error_and_df;

/// Elementary steps that the null distribution may take. If it would need more, fewer resamples are drawn, but at least 1000.
const STEPS: usize = 40_000_000;

/// The t-score of new against base with its two-sided p-value: the values of both groups are pooled, and two groups of the same sizes are drawn
/// from the pool with replacement (Efron and Tibshirani 1993, section 16.2; Criterion's comparison).
///
/// [`TScore`](crate::TScore), in contrast, centers each group separately, so that groups keep their different spreads, and has a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PooledTScore {
    /// Welch's `(mean_new - mean_base) / sqrt(s_new^2 / n_new + s_base^2 / n_base)`
    pub t: f64,
    /// `(1 + #{|t*| >= |t|}) / (B + 1)`, with B the number of resamples that have a finite score
    pub p: f64,
    /// Number of resamples drawn
    pub resamples: usize,
}

impl PooledTScore {
    /// Tests whether the means of `new` and `base`, each in any order, differ. If this would take more than 40 million elementary steps, fewer
    /// resamples are drawn, but at least 1000.
    ///
    /// `None` with fewer than two values on a side, a value that is not finite, if neither side varies, or if more than half of the resamples have
    /// no finite score.
    pub fn test(new: &[f64], base: &[f64], resampling: Resampling<'_>) -> Option<Self> {
        let (standard_error, _) = standard_error_and_df(new, base)?;
        let t = mean_difference(new, base)? / standard_error;
        if standard_error == 0.0 || !t.is_finite() {
            return None;
        }
        let pool: Vec<f64> = new.iter().chain(base).copied().collect();
        let centred: Vec<f64> = deviations(&pool).collect();
        let size = u32::try_from(centred.len()).ok()?;
        let resamples = resampling.affordable_resamples(STEPS, centred.len());
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
mod tests {
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
        // The other 156 of all 4^4 draws have scores. With the differing value once on one side only (2 x 6 x 9 draws), t = -+1; twice on one side
        // only (2 x 9), there is no spread; once against twice (2 x 6), t = -+1; once on both sides (36), t = 0.
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
