//! Tests that a comparison that is serialized and read again is identical, bit for bit, for every kind of decision and note.

use proptest::prelude::*;
use std::collections::BTreeMap;

use super::*;
use crate::model::{
    Allocations, Analysis, BenchmarkKey, Latencies, Metric, Nanos, Observations, Outliers, Round,
    Sample, Statistic, StatisticSet, Test,
};
use perfcheck_stats::{HdrCounter, HdrPrecision};

fn written(comparison: &Comparison) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(comparison, &mut bytes).expect("CBOR");
    bytes
}

fn read(bytes: &[u8]) -> Comparison {
    ciborium::from_reader(bytes).expect("a comparison")
}

#[track_caller]
fn survives(comparison: &Comparison) {
    let bytes = written(comparison);
    let again = read(&bytes);
    assert_eq!(&again, comparison);
    // Equality does not distinguish 0 from -0, so the bytes are compared, too.
    assert_eq!(written(&again), bytes);
}

/// Creates six processes with floors around `floor`, allocations that vary, and operations that were timed.
fn with_all(floor: f64) -> Measurement {
    let mut found = floors(
        &[0.0, 1.0, -1.0, 2.0, -2.0, 3.0].map(|step| floor * (1.0 + step * 1e-3)),
        40,
    );
    for (k, process) in (0_u64..).zip(&mut found.processes) {
        process.extras.allocations = (0..4)
            .map(|i| Allocations {
                count: (floor as u64) + k + i % 2,
                bytes: 64,
                ..Allocations::default()
            })
            .collect();
        let mut counts = BTreeMap::new();
        for i in 0..500 {
            let ns = (floor * 100.0) as u64 + k * 10 + i;
            *counts
                .entry(HdrPrecision::default().index_of(ns))
                .or_insert(0) += 1;
        }
        process.extras.latencies = Some(Latencies {
            counts: counts.into_iter().map(HdrCounter::from).collect(),
            ..Latencies::default()
        });
    }
    found
}

fn decided(analysis: Analysis, factor: f64) -> Comparison {
    let base = with_all(100.0);
    let candidate = with_all(100.0 * factor);
    let mut rules = rules(analysis.test, HostClass::Dedicated);
    rules.decision.analysis = analysis;
    compare_two(&candidate, &base, &rules)
}

fn side_by_side(rounds: u32, factor: f64) -> Comparison {
    let side = |round: u32, factor: f64| -> Vec<Sample> {
        let times =
            (0..30).map(|i| 100.0 * factor * (1.0 + 1e-3 * f64::from((i * 7 + round) % 11)));
        times
            .map(|time| Sample {
                iterations: 5_000,
                elapsed: Nanos((time * 5_000.0) as u64),
            })
            .collect()
    };
    let key = BenchmarkKey {
        package: "p".into(),
        target: "t".into(),
        id: "b".into(),
    };
    let rounds: Vec<Round> = (0..rounds)
        .map(|round| Round {
            layout: None,
            base: side(round, 1.0),
            candidate: side(round * 3, factor),
            led: Vec::new(),
        })
        .collect();
    let plan = Plan {
        looks: vec![10, 30],
        significance_level: 0.01,
        planned: 2,
        confidence_level: 0.95,
        resamples: 100,
        seed: 3,
        seeds: BTreeMap::new(),
        noise: BTreeMap::new(),
    };
    let series = PairedSeries {
        key: &key,
        metric: &Metric::Time,
        rounds: &rounds,
        noise_threshold: 0.02,
    };
    let (base, candidate) = (with_all(100.0), with_all(100.0 * factor));
    judge(&[series], &plan)
        .remove(0)
        .with_paired_extras(&base, &candidate, &plan)
}

#[test]
fn stored_runs_survive_whichever_test_decided() {
    for factor in [0.8, 1.0, 1.2] {
        for test in [RUN_LEVEL, SCREEN] {
            let found = decided(test.into(), factor);
            assert!(found.run_grounds().is_some() && found.allocations.is_some());
            assert!(found.latencies.is_some() && found.description.effects.is_some());
            survives(&found);
        }
        for test in Test::ALL.iter().filter(|test| test.is_foreign()) {
            for observations in Observations::ALL {
                let analysis = Analysis {
                    test: *test,
                    observations: *observations,
                    ..Analysis::default()
                };
                let found = decided(analysis, factor);
                assert!(found.published_decision().is_some());
                survives(&found);
            }
        }
        for subject in StatisticSet::Metrics.statistics() {
            let analysis = Analysis {
                subject: *subject,
                center: Some(Statistic::BestMean(90)),
                outliers: Outliers::Iqr,
                ..Analysis::default()
            };
            let found = decided(analysis, factor);
            assert!(found.description.centers.is_some());
            survives(&found);
        }
    }
}

#[test]
fn what_could_not_be_tested_survives() {
    let (nothing, some) = (measurement(vec![]), run(100.0));
    for (new, base) in [(&nothing, &some), (&some, &nothing)] {
        let found = dedicated(new, base);
        assert_eq!(found.basis, Decision::Untested { location: None });
        survives(&found);
    }
}

#[test]
fn sides_measured_side_by_side_survive_settled_open_and_refused() {
    for (rounds, factor) in [(30, 1.0), (30, 1.3), (10, 0.7), (3, 1.0), (0, 1.0)] {
        let found = side_by_side(rounds, factor);
        assert_eq!(found.look().is_some(), rounds > 3, "{rounds}");
        survives(&found);
    }
}

/// Returns notes that together hold every kind of data, about the host and about other facts.
fn notes(x: f64, count: usize) -> Vec<Note> {
    let side = Side::Base;
    vec![
        Note::NoSamples { side },
        Note::FewProcesses {
            side,
            processes: count,
        },
        Note::LoneProcesses,
        Note::SamplesAsUnits,
        Note::TooFewResamples { needed: u64::MAX },
        Note::LoneFloor { side, gap: x },
        Note::NoCenter {
            center: Statistic::Slope,
        },
        Note::NoSuchMetric {
            metric: Statistic::P999,
        },
        Note::NotSignificant {
            p: x,
            adjusted: x,
            level: x,
        },
        Note::ThresholdRaised {
            controls: count,
            change: x,
            too_noisy: true,
        },
        Note::Host(HostNote::HostMoved { change: x }),
        Note::Host(HostNote::ProcessesDrift {
            side,
            drifting: count,
            processes: count,
        }),
        Note::Host(HostNote::SamplesInterrupted { side, share: x }),
    ]
}

proptest! {
    #[test]
    fn every_number_survives_infinities_and_what_is_no_number_included(
        numbers in prop::array::uniform4(prop::num::f64::ANY),
        count in any::<usize>(),
    ) {
        let [estimate, lower, upper, other] = numbers;
        let mut found = dedicated(&measurement(vec![]), &measurement(vec![]));
        found.change = Some(Estimate { estimate, lower, upper });
        found.smallest_callable = Some(other);
        found.extent = Extent::SideBySide {
            rounds: count,
            stopped_early: true,
            layouts: count,
        };
        found.notes = notes(other, count);
        let bytes = written(&found);
        let again = read(&bytes);
        prop_assert_eq!(written(&again), bytes);
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
        let change = again.change.expect("a change");
        prop_assert!(same(change.estimate, estimate) && same(change.lower, lower));
        prop_assert!(same(change.upper, upper));
        prop_assert!(same(again.smallest_callable.expect("a number"), other));
        prop_assert_eq!(again.extent, found.extent);
    }
}
