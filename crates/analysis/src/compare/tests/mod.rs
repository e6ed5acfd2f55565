//! Tests of the decision procedure on whole comparisons.

mod degenerate;
mod floor;
mod laws;
mod stored;

use crate::compare::fixtures::{
    ITERATIONS, compare_two, flat_process, floors, measurement, with_ramp,
};
use crate::compare::*;
use crate::model::{DecisionSettings, Measurement, Side, Test, Verdict};

fn rules(test: Test, host: HostClass) -> TestPolicy {
    let decision = DecisionSettings {
        resamples: 2_000,
        analysis: test.into(),
        ..DecisionSettings::default()
    };
    TestPolicy {
        decision,
        host,
        seed: 11,
    }
}

const RUN_LEVEL: Test = Test::BootstrapT;
const SCREEN: Test = Test::TScore;

/// Compares two runs at a threshold of 2 %.
fn pair(candidate: &Measurement, base: &Measurement, test: Test, host: HostClass) -> Comparison {
    compare_two(candidate, base, &rules(test, host))
}

fn dedicated(candidate: &Measurement, base: &Measurement) -> Comparison {
    pair(candidate, base, RUN_LEVEL, HostClass::Dedicated)
}

fn screened(candidate: &Measurement, base: &Measurement) -> Comparison {
    pair(candidate, base, SCREEN, HostClass::Dedicated)
}

/// Creates five processes with floors that are a per mille apart, from `floor` - 0.2 % to `floor` + 0.2 %.
fn run(floor: f64) -> Measurement {
    floors(
        &[0.0, 1.0, -1.0, 2.0, -2.0].map(|step| floor * (1.0 + step * 1e-3)),
        40,
    )
}

fn t_score_p(comparison: &Comparison) -> Option<f64> {
    comparison.run_grounds()?.t_score_p()
}

fn has(comparison: &Comparison, wanted: impl Fn(&Note) -> bool) -> bool {
    comparison.notes.iter().any(wanted)
}

#[test]
fn twice_as_slow_is_regressed_and_twice_as_fast_improved() {
    let (one, two) = (run(100.0), run(200.0));
    let slower = dedicated(&two, &one);
    assert_eq!(slower.verdict, Verdict::Regressed);
    let change = slower.change.unwrap();
    assert!(
        (change.estimate - 1.0).abs() < 1e-3 && change.lower > 0.02,
        "{change:?}"
    );
    assert!(slower.p_value.unwrap() < 0.01);
    assert_eq!(slower.location(), Some(Location::LowQuantile));
    let faster = dedicated(&one, &two);
    assert_eq!(faster.verdict, Verdict::Improved);
    assert!((faster.change.unwrap().estimate + 0.5).abs() < 1e-3);
    assert!(faster.p_value.unwrap() < 0.01);
}

#[test]
fn the_same_again_is_inconclusive_against_one_run_as_the_drift_is_not_known() {
    let (base, again) = (run(100.0), run(100.05));
    let comparison = dedicated(&again, &base);
    assert_eq!(comparison.verdict, Verdict::Inconclusive);
    // The margin beyond ln 1.02 is t(4, .99) x .01 x sqrt 2.
    assert!(
        (comparison.smallest_callable.unwrap() - 0.0755).abs() < 5e-4,
        "{:?}",
        comparison.smallest_callable
    );
    let shared = pair(&again, &base, RUN_LEVEL, HostClass::Shared);
    assert!((0.19..0.21).contains(&shared.smallest_callable.unwrap()));
}

#[test]
fn the_same_again_is_unchanged_once_many_runs_have_shown_little_drift() {
    let runs: Vec<Measurement> = (0..20)
        .map(|i| run(100.0 + 0.02 * f64::from(i % 5)))
        .collect();
    let reference = Reference {
        averaged: runs.iter().collect(),
        spread: runs.iter().collect(),
        earlier: vec![],
    };
    let candidate = run(100.03);
    let question = Question {
        candidate: &candidate,
        reference: &reference,
        noise_threshold: 0.02,
    };
    let comparison = compare(&[question], &rules(RUN_LEVEL, HostClass::Dedicated)).remove(0);
    assert_eq!(comparison.verdict, Verdict::Unchanged, "{comparison:?}");
    assert_eq!(
        (
            comparison.extent.runs_averaged(),
            comparison.extent.runs_spread(),
            comparison.extent.processes_base()
        ),
        (20, 20, 100)
    );
    let change = comparison.change.unwrap();
    assert!(change.lower > -0.02 && change.upper < 0.02);
    assert!(comparison.run_grounds().unwrap().run_sd < 0.006);
}

#[test]
fn a_hit_of_the_t_score_alone_is_suspect_and_with_screen_regressed() {
    let (base, candidate) = (run(100.0), run(105.0));
    let comparison = pair(&candidate, &base, RUN_LEVEL, HostClass::Shared);
    assert_eq!(comparison.verdict, Verdict::Suspect);
    assert!(t_score_p(&comparison).unwrap() <= 0.01 && comparison.p_value.unwrap() > 0.01);
    assert!(comparison.change.unwrap().lower < 0.02);
    let screened = pair(&candidate, &base, SCREEN, HostClass::Shared);
    assert_eq!(screened.verdict, Verdict::Regressed);
    assert!(screened.change.unwrap().lower > 0.02);
    assert_eq!(screened.p_value, t_score_p(&screened));
}

#[test]
fn faster_by_the_t_score_alone_is_inconclusive_and_says_so() {
    let comparison = pair(&run(95.0), &run(100.0), RUN_LEVEL, HostClass::Shared);
    assert_eq!(comparison.verdict, Verdict::Inconclusive);
    assert!(has(&comparison, |note| *note == Note::FasterByTScoreOnly));
}

#[test]
fn within_the_noise_threshold_nothing_regresses_however_sure_it_is() {
    let comparison = screened(&run(101.5), &run(100.0));
    assert!(
        matches!(
            comparison.verdict,
            Verdict::Unchanged | Verdict::Inconclusive
        ),
        "{comparison:?}"
    );
    assert!(comparison.change.unwrap().lower > 0.0);
}

#[test]
fn a_family_needs_stronger_evidence_than_a_single_question() {
    let (base, candidate) = (run(100.0), run(109.0));
    assert_eq!(dedicated(&candidate, &base).verdict, Verdict::Regressed);
    let reference = Reference {
        averaged: vec![&base],
        spread: vec![&base],
        earlier: vec![],
    };
    let question = |candidate| Question {
        candidate,
        reference: &reference,
        noise_threshold: 0.02,
    };
    let mut questions = vec![question(&base); 30];
    questions.insert(17, question(&candidate));
    let comparisons = compare(&questions, &rules(RUN_LEVEL, HostClass::Dedicated));
    assert_eq!(comparisons.len(), 31);
    let hit = &comparisons[17];
    assert_ne!(hit.verdict, Verdict::Regressed, "{hit:?}");
    assert!(hit.change.unwrap().lower < 0.02 && hit.p_value.unwrap() > 0.01);
    // With two thousand resamples, no p is as small as .01 / 31 in either direction.
    assert!(has(hit, |note| matches!(
        note,
        Note::TooFewResamples { needed: 3_100 }
    )));
}

#[test]
fn samples_are_cut_to_the_common_count_in_the_order_taken() {
    // The later samples of the long run would lower its floor. The short run does not have them.
    let short = floors(&[100.0; 5], 30);
    let mut long = short.clone();
    for process in &mut long.processes {
        let late = flat_process(0, ITERATIONS, &[80.0; 30]).series.flat;
        process.series.flat.extend(late);
    }
    let comparison = screened(&long, &short);
    assert_eq!(comparison.change.unwrap().estimate, 0.0);
    // The description uses all samples of both runs. Half of the long run's samples take 80 ns.
    let samples = short
        .processes
        .iter()
        .flat_map(|process| &process.series.flat);
    let times: Vec<f64> = samples.map(|sample| sample.per_iteration()).collect();
    let usual = times.iter().sum::<f64>() / times.len() as f64;
    let described = comparison.description.mean.unwrap().estimate.estimate;
    assert!((described - (f64::midpoint(usual, 80.0) / usual - 1.0)).abs() < 1e-9);
}

#[test]
fn without_a_flat_phase_the_longer_half_of_the_ramp_is_compared_by_its_median() {
    let ramp = |time: f64| {
        let process = |k| {
            with_ramp(
                flat_process(k, 1, &[]),
                1_000,
                40,
                time * (1.0 + 1e-4 * f64::from(k)),
                0.0,
            )
        };
        measurement((0..5).map(process).collect())
    };
    let comparison = dedicated(&ramp(200.0), &ramp(100.0));
    assert_eq!(
        (comparison.verdict, comparison.location()),
        (Verdict::Regressed, Some(Location::Median))
    );
    assert!(has(&comparison, |note| *note == Note::MedianOfRamp));
}

#[test]
fn sample_lengths_that_differ_more_than_fourfold_are_noted() {
    let lengths = |iterations| {
        measurement(
            (0..5)
                .map(|k| flat_process(k, iterations, &[100.0; 40]))
                .collect(),
        )
    };
    let differ = |a, b| {
        has(&dedicated(&lengths(a), &lengths(b)), |note| {
            matches!(note, Note::SampleLengthsDiffer { .. })
        })
    };
    assert!(differ(5_000, 25_000) && differ(25_000, 5_000));
    assert!(!differ(5_000, 20_000));
}

#[test]
fn mean_and_median_of_all_samples_come_with_their_intervals() {
    let comparison = dedicated(&run(110.0), &run(100.0));
    for change in [
        comparison.description.mean.unwrap().estimate,
        comparison.description.median.unwrap().estimate,
    ] {
        assert!((change.estimate - 0.1).abs() < 0.002, "{change:?}");
        assert!(change.lower <= change.estimate && change.estimate <= change.upper);
        assert!(change.upper - change.lower < 0.02 && change.upper > change.lower);
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let (base, candidate) = (run(100.0), run(103.0));
    let text = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let reference = Reference {
                averaged: vec![&base],
                spread: vec![&base],
                earlier: vec![],
            };
            let questions = [&candidate, &base].map(|candidate| Question {
                candidate,
                reference: &reference,
                noise_threshold: 0.02,
            });
            format!(
                "{:?} {:?}",
                compare(&questions, &rules(SCREEN, HostClass::Shared)),
                summarize(&candidate, 0.95, 5_000, 1)
            )
        })
    };
    let one = text(1);
    assert_eq!(text(2), one);
    assert_eq!(text(8), one);
}

#[test]
fn every_note_reads_as_a_sentence_without_braces() {
    let notes = [
        Note::NoSamples {
            side: Side::Candidate,
        },
        Note::SamplesTooShort {
            side: Side::Base,
            needed_ns: 100_000.0,
        },
        Note::FewProcesses {
            side: Side::Candidate,
            processes: 1,
        },
        Note::TooFewResamples { needed: 5_000 },
        Note::SampleLengthsDiffer { ratio: 5.25 },
        Note::LoneFloor {
            side: Side::Candidate,
            gap: 0.235,
        },
        Note::SlowerButForTheFastest { change: 0.1 },
        Note::TooFewObservations {
            smaller: 1,
            needed: 5,
        },
        Note::FewerResamples { drawn: 19_999 },
    ];
    let texts = notes.map(|note| note.to_string());
    assert_eq!(
        texts[1],
        "the samples of the reference are too short to test: run more iterations per sample, so that each sample takes at least 100 us"
    );
    assert!(texts[5].starts_with("the fastest processes of the new run differ by 23.5 %"));
    assert_eq!(
        texts[7],
        "not tested: this test needs 5 observations on each side, but one side has only 1 (raise `--rounds`, or use `--observations samples`)"
    );
    assert!(texts[8].ends_with("p cannot be below 5.0e-5"));
    assert!(
        texts
            .iter()
            .all(|text| !text.contains(['{', '}']) && !text.ends_with('.'))
    );
}

#[test]
fn resamples_are_too_few_if_the_smallest_p_is_above_the_level_unless_there_is_no_level() {
    let (base, candidate) = (run(100.0), run(109.0));
    let needed = |resamples, significance_level| {
        let mut rules = rules(RUN_LEVEL, HostClass::Dedicated);
        rules.decision.resamples = resamples;
        rules.decision.significance_level = significance_level;
        let found = compare_two(&candidate, &base, &rules);
        found.notes.into_iter().find_map(|note| match note {
            Note::TooFewResamples { needed } => Some(needed),
            _ => None,
        })
    };
    // With 62 or 63 resamples, the smallest p is 1 / 63 or 1 / 64.
    let level = 1.0 / 64.0;
    assert_eq!(needed(62, level), Some(64));
    assert_eq!(needed(63, level), None);
    assert_eq!(needed(63, level / 2.0), Some(128));
    assert_eq!(needed(63, 0.0), None);
}

#[test]
fn the_drift_is_estimated_from_runs_of_this_level_and_of_earlier_ones() {
    let runs = [100.0, 100.1, 99.9, 100.2, 99.8, 120.0, 121.0, 90.0].map(run);
    let all: Vec<&Measurement> = runs.iter().collect();
    let reference = Reference {
        averaged: all[..2].to_vec(),
        spread: all[..5].to_vec(),
        earlier: vec![all[5..7].to_vec(), all[7..].to_vec()],
    };
    let candidate = run(100.0);
    let question = Question {
        candidate: &candidate,
        reference: &reference,
        noise_threshold: 0.02,
    };
    let found = compare(&[question], &rules(RUN_LEVEL, HostClass::Dedicated)).remove(0);
    let extent = found.extent;
    assert_eq!(
        (extent.runs_averaged(), extent.runs_spread()),
        (2, 5 + 2 + 1)
    );
    assert_eq!(
        (extent.processes_candidate(), extent.processes_base()),
        (5, 10)
    );
}
