//! Tests of histories, situation by situation.

use super::*;

const RULES: TrendRules = TrendRules {
    noise_threshold: 0.02,
    confidence_level: 0.95,
    seed: 5,
};

/// Creates points of a history. Each element of `levels` is a number of runs and the factor of their level. The values deviate from the level by up
/// to 1 %, always in the same way.
fn points(levels: &[(usize, f64)]) -> Vec<TrendPoint> {
    let strays = [0.004, -0.007, 0.009, 0.0, -0.003, 0.006, -0.01, 0.001];
    let factors = levels
        .iter()
        .flat_map(|(count, factor)| vec![*factor; *count]);
    factors
        .zip(strays.iter().cycle())
        .map(|(factor, stray)| TrendPoint {
            is_placed: false,
            shown: None,
            value: (100.0_f64 * factor).ln() + stray,
            accepted: false,
        })
        .collect()
}

fn course(points: &[TrendPoint]) -> Trend {
    Trend::from_points(points, &RULES, "b")
}

fn firsts(course: &Trend) -> Vec<usize> {
    course.levels.iter().map(|level| level.first).collect()
}

#[test]
fn a_level_without_a_change_has_a_band_that_the_newest_value_keeps() {
    let course = course(&points(&[(20, 1.0)]));
    assert_eq!(firsts(&course), [0]);
    assert_eq!(course.levels[0].step, None);
    assert_eq!(course.newest, Position::Within);
    let band = course.band.unwrap();
    // The standard deviation of these values is about 0.65 %, and t(18, .999) = 3.61.
    assert!(
        (band.upper / band.value - 1.0 - 0.0241).abs() < 0.002,
        "{band:?}"
    );
    assert_eq!(band.runs, 19);
}

#[test]
fn a_step_is_told_with_its_size_and_interval() {
    let course = course(&points(&[(15, 1.0), (15, 1.1)]));
    assert_eq!(firsts(&course), [0, 15]);
    let step = course.levels[1].step.unwrap();
    assert!(step.p_value.unwrap() <= 0.001 && !step.accepted);
    assert!(
        step.change.lower < 0.1 && 0.1 < step.change.upper,
        "{step:?}"
    );
    assert!(step.change.lower > 0.09);
    assert_eq!(course.newest, Position::Within);
}

#[test]
fn a_step_below_the_noise_threshold_is_none() {
    let strict = TrendRules {
        noise_threshold: 0.01,
        ..RULES
    };
    let points = points(&[(16, 1.0), (16, 1.015)]);
    assert_eq!(firsts(&Trend::from_points(&points, &strict, "b")), [0, 16]);
    assert_eq!(firsts(&course(&points)), [0]);
}

#[test]
fn an_accepted_step_begins_a_level_at_once_and_keeps_the_noise() {
    let mut points = points(&[(14, 1.0), (2, 1.2)]);
    points[14].accepted = true;
    let course = course(&points);
    assert_eq!(firsts(&course), [0, 14]);
    let step = course.levels[1].step.unwrap();
    assert!(step.accepted && step.p_value.is_none());
    let band = course.band.unwrap();
    assert_eq!((band.runs, course.newest), (1, Position::Within));
    assert!((band.value / 120.0 - 1.0).abs() < 0.02, "{band:?}");
}

#[test]
fn accepting_a_step_a_few_runs_late_accepts_the_step_that_is_there() {
    for late in [16, 20] {
        let mut points = points(&[(15, 1.0), (15, 1.1)]);
        points[late].accepted = true;
        let course = course(&points);
        assert_eq!(course.levels.len(), 2, "{late}");
        assert!(course.levels[1].step.unwrap().accepted, "{late}");
    }
}

#[test]
fn a_value_outside_the_band_is_told_once_and_twice() {
    let with = |more: &[(usize, f64)]| {
        let levels: Vec<(usize, f64)> = [(14, 1.0)].iter().chain(more).copied().collect();
        course(&points(&levels)).newest
    };
    assert_eq!(with(&[(1, 1.3)]), Position::AboveOnce);
    assert_eq!(with(&[(2, 1.3)]), Position::AboveTwice);
    assert_eq!(with(&[(1, 0.7)]), Position::BelowOnce);
    assert_eq!(with(&[(2, 0.7)]), Position::BelowTwice);
    assert_eq!(with(&[(1, 1.3), (1, 1.0)]), Position::Within);
    // Two values in a row count only if both are on the same side of the band.
    assert_eq!(with(&[(1, 1.3), (1, 0.7)]), Position::BelowOnce);
}

#[test]
fn a_disturbed_run_moves_neither_level_nor_band() {
    let mut points = points(&[(20, 1.0)]);
    let calm = course(&points);
    points[5].value += 0.4;
    let course = course(&points);
    assert_eq!((calm.strays, course.strays), (vec![], vec![5]));
    assert!((course.levels[0].value / calm.levels[0].value - 1.0).abs() < 0.002);
    assert!((course.run_sd.unwrap() / calm.run_sd.unwrap() - 1.0).abs() < 0.1);
    assert_eq!(course.band.unwrap().runs, 18);
}

#[test]
fn constant_values_have_a_band_as_wide_as_the_noise_threshold() {
    let constant = |value: f64| TrendPoint {
        is_placed: false,
        shown: None,
        value,
        accepted: false,
    };
    let mut points = vec![constant(1.0); 12];
    assert_eq!(course(&points).newest, Position::Within);
    points.push(constant(1.01));
    assert_eq!(course(&points).newest, Position::Within);
    points.push(constant(1.05));
    assert_eq!(course(&points).newest, Position::AboveOnce);
}

#[test]
fn few_values_have_no_band_and_none_have_no_level() {
    let few = course(&points(&[(10, 1.0)]));
    assert_eq!((few.band, few.newest), (None, Position::Unknown));
    assert_eq!(course(&points(&[(11, 1.0)])).newest, Position::Within);
    let one = course(&points(&[(1, 1.0)]));
    assert_eq!((one.levels.len(), one.run_sd), (1, None));
    assert_eq!(course(&[]).levels, []);
}

#[test]
fn creeping_change_shows_against_a_run_of_long_ago() {
    // Each run adds three per mille, so no single step counts.
    let mut creeping = points(&[(20, 1.0)]);
    for (at, point) in creeping.iter_mut().enumerate() {
        point.value += 0.003 * at as f64;
    }
    let course = course(&creeping);
    let since = course.change_since(&creeping, 0, 0.95).unwrap();
    assert!(since.estimate > 0.02, "{since:?}");
    let steady = points(&[(20, 1.0)]);
    let course = Trend::from_points(&steady, &RULES, "b");
    let none = course.change_since(&steady, 0, 0.95).unwrap();
    assert!(none.lower < 0.0 && 0.0 < none.upper, "{none:?}");
    // The interval is that of one value against the mean of nineteen others.
    let t = student_t::upper_quantile(0.025, course.df as f64).unwrap();
    let half = t * course.run_sd.unwrap() * (1.0_f64 + 1.0 / 19.0).sqrt();
    let found = (none.upper.ln_1p() - none.lower.ln_1p()) / 2.0;
    assert!((found / half - 1.0).abs() < 1e-9, "{found} {half}");
}

#[test]
fn the_same_values_give_the_same_course_and_names_have_random_numbers_of_their_own() {
    let points = points(&[(15, 1.0), (15, 1.03)]);
    assert_eq!(course(&points), course(&points));
    assert_eq!(
        course(&points).levels.len(),
        Trend::from_points(&points, &RULES, "other").levels.len()
    );
}

#[test]
fn fences_are_tukeys_and_no_nearer_to_the_quartiles_than_the_tolerance() {
    // The quartiles are 4.75 and 14.25, and the fences lie three times 9.5 beyond them.
    let values: Vec<f64> = (0..20).map(f64::from).collect();
    assert_eq!(outlier_fences(&values, 1.0), -23.75..=42.75);
    assert_eq!(outlier_fences(&values, 40.0), 4.75 - 40.0..=14.25 + 40.0);
    assert_eq!(
        outlier_fences(&[1.0], 1.0),
        f64::NEG_INFINITY..=f64::INFINITY
    );
}

#[test]
fn a_band_holds_one_more_run_beside_the_mean_of_those_before_it() {
    let points = points(&[(12, 1.0)]);
    let before: Vec<f64> = points[..11].iter().map(|point| point.value).collect();
    let middle = before.iter().sum::<f64>() / 11.0;
    let variance = before.iter().map(|y| (y - middle).powi(2)).sum::<f64>() / 10.0;
    // t(10, .999) = 4.143700494046243, by Simpson's rule over the density.
    let half = 4.143_700_494_046_243 * (variance * (1.0 + 1.0 / 11.0)).sqrt();
    let band = course(&points).band.unwrap();
    for (found, expected) in [
        (band.lower, middle - half),
        (band.value, middle),
        (band.upper, middle + half),
    ] {
        assert!((found.ln() - expected).abs() < 1e-9, "{band:?}");
    }
}

#[test]
fn an_accepted_step_leaves_those_that_the_series_shows_elsewhere() {
    let mut points = points(&[(15, 1.0), (15, 1.1), (15, 1.3)]);
    points[30].accepted = true;
    let course = course(&points);
    assert_eq!(firsts(&course), [0, 15, 30]);
    let accepted = |level: usize| course.levels[level].step.unwrap().accepted;
    assert!(!accepted(1) && accepted(2));
}

#[test]
fn steps_that_are_known_exactly_may_follow_each_other_at_once() {
    for is_shown in [[false, false], [true, false], [false, true], [true, true]] {
        let mut points = points(&[(14, 1.0), (2, 1.2), (2, 1.5)]);
        for (at, is_shown) in [14, 16].into_iter().zip(is_shown) {
            points[at].shown = is_shown.then_some(0.01);
            points[at].accepted = !is_shown;
        }
        let course = course(&points);
        assert_eq!(firsts(&course), [0, 14, 16], "{is_shown:?}");
        let steps = [1, 2].map(|level| course.levels[level].step.unwrap());
        assert_eq!(steps.map(|step| !step.accepted), is_shown);
        for (step, is_shown) in steps.iter().zip(is_shown) {
            let (lower, upper) = (step.change.lower.ln_1p(), step.change.upper.ln_1p());
            let is_measured = (upper - lower - 0.02).abs() < 1e-9;
            assert_eq!(is_measured, is_shown, "{step:?}");
        }
    }
}

#[test]
fn a_value_at_an_end_of_the_range_is_within_it() {
    let rules = TrendRules {
        noise_threshold: 0.0,
        ..RULES
    };
    let constant = TrendPoint {
        value: 0.0,
        accepted: false,
        is_placed: false,
        shown: None,
    };
    // Values that are all alike have a band without width.
    let newest = |value: f64| {
        let mut points = vec![constant; 12];
        points[11].value = value;
        let found = Trend::from_points(&points, &rules, "b");
        let band = found.band.expect("a band");
        assert_eq!((band.lower, band.upper, band.runs), (1.0, 1.0, 11));
        found.newest
    };
    assert_eq!(newest(0.0), Position::Within);
    assert_eq!(newest(1e-9), Position::AboveOnce);
    assert_eq!(newest(-1e-9), Position::BelowOnce);
}

#[test]
fn the_error_of_a_step_is_that_of_both_levels_by_their_numbers_of_runs() {
    let course = course(&points(&[(15, 1.0), (10, 1.1)]));
    assert_eq!(firsts(&course), [0, 15]);
    let change = course.levels[1].step.unwrap().change;
    let t = student_t::upper_quantile(0.025, 23.0).unwrap();
    let half = t * course.run_sd.unwrap() * (1.0_f64 / 15.0 + 1.0 / 10.0).sqrt();
    let middle = change.estimate.ln_1p();
    assert!((middle - change.lower.ln_1p() - half).abs() < 1e-12);
    assert!((change.upper.ln_1p() - middle - half).abs() < 1e-12);
}
