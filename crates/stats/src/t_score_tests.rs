//! Tests of the t-score: golden values, general laws, degenerate input, and how often it raises a false alarm.

use proptest::prelude::*;

use super::*;
use crate::random::Stream;
use crate::sample_variance;

const A: [f64; 5] = [10.0, 10.2, 9.9, 10.1, 10.3];
const B: [f64; 6] = [10.5, 10.7, 10.4, 10.6, 10.9, 10.6];

fn resampling(resamples: usize, seed: u64) -> Resampling<'static> {
    Resampling {
        resamples,
        stream: Stream {
            seed,
            name: "t-score",
        },
    }
}

fn score(new: &[f64], base: &[f64], threshold: f64) -> TScore {
    TScore::test(new, base, threshold, 0.0, 0.05, resampling(10_000, 1)).unwrap()
}

#[test]
fn welch_agrees_with_scipy() {
    // stats.ttest_ind(a, b, equal_var=False): statistic, df, p
    let (se, df) = standard_error_and_df(&A, &B).unwrap();
    let t = (mean(&A).unwrap() - mean(&B).unwrap()) / se;
    assert!((t - -5.181_078_596_102_794).abs() < 1e-12, "{t}");
    assert!((df - 8.877_590_601_795_411).abs() < 1e-12, "{df}");
    let p = 2.0 * student_t::cdf(t, df).unwrap();
    assert!((p - 0.000_604_415_990_955_168_8).abs() < 1e-12, "{p}");
}

#[test]
fn the_score_is_the_welch_statistic_and_small_groups_never_get_a_p_below_welch() {
    let score = score(&A, &B, 0.0);
    assert!((score.difference / score.standard_error - -5.181_078_596_102_794).abs() < 1e-12);
    assert!(score.p_less >= 0.000_302_207_9, "{}", score.p_less);
    assert!(score.p_less < 0.01 && score.p_greater > 0.99);
}

#[test]
fn against_many_values_five_have_hardly_more_degrees_of_freedom_than_their_own() {
    let new = [1.0, 1.0004, 0.9996, 1.0008, 0.9992];
    let base: Vec<f64> = (0..100).map(|i| 0.99 + 0.001 * f64::from(i % 11)).collect();
    let (se, df) = standard_error_and_df(&new, &base).unwrap();
    let t = mean_difference(&new, &base).unwrap() / se;
    assert!(df > 6.0, "{df}");
    let held = student_t::upper_tail(t, 4.0 * 1.05).unwrap();
    assert!(held > 1.5 * student_t::upper_tail(t, df).unwrap());
    assert_eq!(score(&new, &base, 0.0).p_greater, held);
    // Sides of equal size keep Welch's degrees of freedom.
    assert!((limit_df(A.len(), A.len()) - 8.0).abs() < 1e-12);
}

#[test]
fn on_normal_data_the_bootstrap_and_welch_agree_within_two_percent() {
    let quantiles = |shift: f64, n: u32| -> Vec<f64> {
        (1..=n)
            .map(|i| shift + student_t::quantile(f64::from(i) / f64::from(n + 1), 200.0).unwrap())
            .collect()
    };
    for shift in [0.0, 0.2, 0.5] {
        let (new, base) = (quantiles(shift, 20), quantiles(0.0, 25));
        let (se, df) = standard_error_and_df(&new, &base).unwrap();
        let p = student_t::upper_tail(shift / se, df).unwrap();
        let score = score(&new, &base, 0.0);
        assert!(
            (score.p_greater - p).abs() < 0.02,
            "{} {p}",
            score.p_greater
        );
    }
}

#[test]
fn equal_constants_on_both_sides_are_the_same_with_p_one() {
    let score = score(&[3.0; 5], &[3.0; 5], 0.01);
    assert_eq!(
        (score.difference, score.p_greater, score.p_less),
        (0.0, 1.0, 1.0)
    );
    assert_eq!(
        (score.lower_bound(0.01), score.upper_bound(0.01)),
        (0.0, 0.0)
    );
}

#[test]
fn different_constants_differ_only_beyond_the_threshold_and_the_clock() {
    let constant = |new: f64, resolution: f64| {
        TScore::test(
            &[new; 5],
            &[3.0; 5],
            0.01,
            resolution,
            0.05,
            resampling(999, 1),
        )
        .unwrap()
    };
    let beyond = constant(3.05, 0.001);
    assert!(beyond.is_constant());
    assert_eq!((beyond.p_greater, beyond.p_less), (0.001, 1.0));
    assert!(beyond.lower_bound(0.01) > 0.01);
    assert_eq!(constant(2.95, 0.001).p_less, 0.001);
    assert_eq!(constant(3.009, 0.0).p_greater, 1.0);
    let quantised = constant(3.05, 0.06);
    assert_eq!(quantised.p_greater, 1.0);
    assert!(quantised.lower_bound(0.01) < 0.01);
}

#[test]
fn one_constant_side_still_gives_a_test() {
    let score = score(&[5.0; 5], &[1.0, 1.1, 0.9, 1.05, 0.95], 0.0);
    assert!(!score.is_constant());
    assert!(score.p_greater < 0.01 && score.p_less > 0.99);
}

#[test]
fn fewer_than_two_values_or_values_that_are_not_finite_cannot_be_tested() {
    let test = |new: &[f64], base: &[f64]| {
        TScore::test(new, base, 0.0, 0.0, 0.05, resampling(100, 1)).is_some()
    };
    assert!(test(&[1.0, 2.0], &[1.0, 2.0]));
    assert!(!test(&[], &[1.0, 2.0]));
    assert!(!test(&[1.0], &[1.0, 2.0]));
    assert!(!test(&[1.0, 2.0], &[f64::NAN, 2.0]));
    assert!(!test(&[1.0, f64::INFINITY], &[1.0, 2.0]));
}

#[test]
fn resamples_without_a_finite_score_are_counted_and_too_many_of_them_leave_no_test() {
    // With two values per side, half the resamples of each side are constant, so a quarter of all scores is not finite.
    let two = TScore::test(
        &[1.0, 2.0],
        &[1.5, 2.5],
        0.0,
        0.0,
        0.05,
        resampling(10_000, 1),
    )
    .unwrap();
    assert_eq!(two.kept + two.dropped, 10_000);
    assert!((2_300..2_700).contains(&two.dropped), "{}", two.dropped);
    // With two values against a constant side, about half of the scores are finite: slightly more with some seeds, slightly fewer with others.
    let spiked = |seed| {
        let side = [1.0; 60];
        TScore::test(&[1.0, 2.0], &side, 0.0, 0.0, 0.05, resampling(10_000, seed))
    };
    for seed in 0..20 {
        if let Some(score) = spiked(seed) {
            assert!(score.kept >= score.dropped);
        }
    }
    assert!((0..20).any(|seed| spiked(seed).is_none()));
}

#[test]
fn groups_of_draws_are_distributed_as_single_draws() {
    for count in [6_usize, 7, 40, 300] {
        let values: Vec<f64> = (0..count).map(|i| ((i * 5) % 7) as f64).collect();
        let population = sample_variance(&values).unwrap() * (count - 1) as f64 / count as f64;
        let side = CentredSide::new(&values);
        let mut draws = Draws::new(resampling(1, 5).stream, 0);
        let moments: Vec<Moments> = (0..20_000).map(|_| side.draw(&mut draws)).collect();
        let means: Vec<f64> = moments.iter().map(|moment| moment.0).collect();
        let spread = sample_variance(&means).unwrap();
        let expected = population / count as f64;
        assert!(
            (spread / expected - 1.0).abs() < 0.05,
            "{count}: {spread} {expected}"
        );
        let error = (expected / 20_000.0).sqrt();
        assert!(mean(&means).unwrap().abs() < 4.0 * error);
        // The estimate of the variance of a resample's mean is unbiased: its mean is the population variance over k.
        let variances: Vec<f64> = moments.iter().map(|moment| moment.1).collect();
        assert!((mean(&variances).unwrap() / expected - 1.0).abs() < 0.03);
    }
}

#[test]
fn a_resample_of_equal_values_has_no_variance_however_they_round() {
    for value in [0.1, 1e-9, -3.3] {
        assert_eq!(
            weighted_moments(
                &[0, 7, 0, 0, 0, 0, 0],
                &[1.0, value, 2.0, 3.0, 4.0, 5.0, 6.0]
            )
            .1,
            0.0
        );
        let (sum, squares) = (0..9).fold((0.0, 0.0), |sums, _| add(sums, (value, value * value)));
        assert_eq!(moments(9, sum, squares).1, 0.0);
    }
}

#[test]
fn levels_finer_than_the_resamples_have_no_bound() {
    let score = TScore::test(&A, &B, 0.0, 0.0, 0.05, resampling(99, 1)).unwrap();
    assert_eq!(score.lower_bound(0.001), f64::NEG_INFINITY);
    assert_eq!(score.upper_bound(0.001), f64::INFINITY);
    assert!(score.lower_bound(0.05).is_finite());
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let new: Vec<f64> = (0..9).map(|i| f64::from(i * 7 % 9)).collect();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let s = pool.install(|| score(&new, &B, 0.1));
        [
            s.p_greater,
            s.p_less,
            s.lower_bound(0.01),
            s.upper_bound(0.003),
        ]
        .map(f64::to_bits)
    };
    let one = run(1);
    assert_eq!(run(2), one);
    assert_eq!(run(8), one);
}

/// Returns a random value from the normal distribution, by inversion. Student's t with 10,000 degrees of freedom is close enough to normal.
fn normal(draws: &mut Draws) -> f64 {
    let u = (draws.index(1 << 24) as f64 + 0.5) / f64::from(1 << 24);
    student_t::quantile(u, 1e4).unwrap()
}

#[test]
fn with_five_processes_a_side_false_alarms_stay_within_the_nominal_rate() {
    let simulations = 600;
    let mut draws = Draws::new(
        Stream {
            seed: 20_26,
            name: "simulation",
        },
        0,
    );
    let mut alarms = [0_u32; 2];
    for seed in 0..simulations {
        let mut side = || -> Vec<f64> { (0..5).map(|_| 3.0 + 0.02 * normal(&mut draws)).collect() };
        let (new, base) = (side(), side());
        let score = TScore::test(&new, &base, 0.0, 0.0, 0.05, resampling(999, seed)).unwrap();
        alarms[0] += u32::from(score.p_greater <= 0.05);
        alarms[1] += u32::from(score.p_less <= 0.05);
    }
    // Binomial(600, .05) has mean 30, SD 5.3. The upper end is its .999 quantile; the lower end allows for the conservative guard.
    for count in alarms {
        assert!((8..=48).contains(&count), "{alarms:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_bound_excludes_the_threshold_exactly_when_its_p_is_within_the_level(
        new in prop::collection::vec(0.0f64..1.0, 3..12),
        base in prop::collection::vec(0.0f64..1.0, 3..12),
        threshold in 0.0f64..0.3,
        level in 0.002f64..0.05,
    ) {
        let score = TScore::test(&new, &base, threshold, 0.0, 0.05, resampling(2_000, 3)).unwrap();
        prop_assert_eq!(score.lower_bound(level) > threshold, score.p_greater <= level);
        prop_assert_eq!(score.upper_bound(level) < -threshold, score.p_less <= level);
    }

    #[test]
    fn a_slower_new_side_never_raises_the_p_of_worsening(
        new in prop::collection::vec(0.0f64..1.0, 3..10),
        base in prop::collection::vec(0.0f64..1.0, 3..10),
        more in 0.0f64..0.5,
    ) {
        let slower: Vec<f64> = new.iter().map(|y| y + more).collect();
        let test = |new: &[f64]| TScore::test(new, &base, 0.01, 0.0, 0.05, resampling(2_000, 3)).unwrap();
        // Centering rounds, so scores equal to the observed one may be counted on either side of it.
        prop_assert!(test(&slower).p_greater <= test(&new).p_greater + 3.0 / 2_001.0);
    }

    #[test]
    fn swapping_the_sides_flips_the_difference_and_exchanges_the_p_values(
        new in prop::collection::vec(0.0f64..1.0, 4..10),
        base in prop::collection::vec(0.0f64..1.0, 4..10),
    ) {
        let test = |a: &[f64], b: &[f64]| TScore::test(a, b, 0.01, 0.0, 0.05, resampling(4_000, 3)).unwrap();
        let (there, back) = (test(&new, &base), test(&base, &new));
        prop_assert_eq!(there.difference, -back.difference);
        prop_assert!((there.p_greater - back.p_less).abs() < 0.06);
    }

    #[test]
    fn a_common_shift_of_both_sides_changes_nothing(
        new in prop::collection::vec(0.0f64..1.0, 3..10),
        base in prop::collection::vec(0.0f64..1.0, 3..10),
        shift in -10.0f64..10.0,
    ) {
        let moved = |x: &[f64]| -> Vec<f64> { x.iter().map(|y| y + shift).collect() };
        let test = |a: &[f64], b: &[f64]| TScore::test(a, b, 0.01, 0.0, 0.05, resampling(2_000, 3)).unwrap();
        let (here, there) = (test(&new, &base), test(&moved(&new), &moved(&base)));
        prop_assert!((here.difference - there.difference).abs() < 1e-12);
        prop_assert!((here.p_greater - there.p_greater).abs() < 4.0 / 2_001.0);
    }
}

#[test]
fn pairs_that_are_counted_are_the_scores_of_all_resamples_one_by_one() {
    let new = [1.0, 1.5, 1.2, 1.9, 1.4];
    let base = [2.0, 2.5, 2.5, 1.7];
    let resampling = resampling(3_000, 11);
    let sides = (CentredSide::new(&new), CentredSide::new(&base));
    let draw = |draws: &mut Draws, (): &mut ()| {
        let new = sides.0.draw(draws);
        t_score(new, sides.1.draw(draws))
    };
    let mut singly = replicates(resampling.stream, 3_000, || (), draw);
    singly.sort_unstable_by(f64::total_cmp);
    let mut counted = NullScores::draw(&new, &base, resampling);
    assert!(counted.scores.len() < 3_000);
    assert_eq!(counted.count(|_| true), 3_000);
    let bits = |scores: &[f64]| -> Vec<u64> { scores.iter().map(|t| t.to_bits()).collect() };
    assert_eq!(
        bits(&counted.first_scores(700, f64::total_cmp)),
        bits(&singly[..700])
    );
    singly.reverse();
    let highest = counted.first_scores(700, |a, b| b.total_cmp(a));
    assert_eq!(bits(&highest), bits(&singly[..700]));
}
