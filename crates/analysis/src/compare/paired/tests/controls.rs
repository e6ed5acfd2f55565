//! Changes between controls on this host raise the noise threshold.

use super::*;

/// Returns the plan of [`plan`] after 25 controls with this 95th percentile.
fn after_controls(change: f64) -> Plan {
    let noise = HostNoise {
        controls: 25,
        change,
    };
    Plan {
        noise: [(key("b").to_string(), noise)].into(),
        ..plan(&[40])
    }
}

fn raised(comparison: &Comparison) -> Option<bool> {
    comparison.notes.iter().find_map(|note| match note {
        Note::ThresholdRaised { too_noisy, .. } => Some(*too_noisy),
        _ => None,
    })
}

#[test]
fn the_percentile_needs_twenty_controls_and_counts_both_directions() {
    let changes: Vec<f64> = (0..=100)
        .map(|i| f64::from(i) / 1000.0 * if i % 2 == 0 { 1.0 } else { -1.0 })
        .collect();
    assert_eq!(HostNoise::from_changes(&changes[..19]), None);
    let noise = HostNoise::from_changes(&changes).expect("enough");
    assert_eq!(noise.controls, 101);
    assert!((noise.change - 0.095).abs() < 1e-12, "{noise:?}");
}

#[test]
fn a_change_that_controls_have_shown_too_is_noise() {
    let rounds = quiet(40, 1.02);
    let before = judge_one(&rounds, 0.01, &plan(&[40]));
    assert_eq!(before.verdict, Verdict::Regressed);
    assert_eq!(raised(&before), None);
    let after = judge_one(&rounds, 0.01, &after_controls(0.025));
    assert_eq!(after.verdict, Verdict::Unchanged);
    assert_eq!(after.noise_threshold, 0.025);
    assert_eq!(raised(&after), Some(false));
}

#[test]
fn controls_that_stayed_within_the_threshold_change_nothing() {
    let rounds = quiet(40, 1.02);
    let before = judge_one(&rounds, 0.01, &plan(&[40]));
    assert_eq!(judge_one(&rounds, 0.01, &after_controls(0.009)), before);
}

#[test]
fn beyond_three_times_the_threshold_nothing_is_unchanged_and_large_changes_are_still_found() {
    let plan = after_controls(0.04);
    let same = judge_one(&quiet(40, 1.0), 0.01, &plan);
    assert_eq!(same.verdict, Verdict::Inconclusive);
    assert_eq!(raised(&same), Some(true));
    let slower = judge_one(&quiet(40, 1.08), 0.01, &plan);
    assert_eq!(slower.verdict, Verdict::Regressed);
    let key = key("b");
    let series = PairedSeries {
        key: &key,
        metric: &Metric::Time,
        rounds: &quiet(30, 1.0),
        noise_threshold: 0.01,
    };
    let plan = Plan {
        looks: vec![30, 60],
        ..plan
    };
    assert_eq!(
        check_settled(&series, &plan),
        LookStatus::Settled(Verdict::Inconclusive),
        "no more rounds would change that"
    );
}
