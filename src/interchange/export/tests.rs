//! Exported files must be readable by the other programs.

use proptest::prelude::*;
use serde_json::Value;

use super::super::formats::{ForeignInput, read_runs};
use super::{ExportedRun, file_name, write_benchstat, write_bmf, write_criterion, write_csv};
use perfcheck_analysis::model::*;

fn measurement(id: &str, metric: Metric, processes: &[&[(u64, u64)]]) -> Measurement {
    Measurement {
        benchmark: Benchmark {
            key: BenchmarkKey {
                package: "p".to_owned(),
                target: "t".to_owned(),
                id: id.to_owned(),
            },
            version: None,
            throughput: Throughput {
                bytes: Some(100),
                elements: None,
            },
            other_throughput: None,
            settings: AuthorSettings::default(),
            metric,
        },
        target_facts: TargetFacts::default(),
        sampling: SamplingSettings::default(),
        noise_threshold: 0.02,
        processes: (processes.iter().zip(0..))
            .map(|(samples, process)| ProcessSeries {
                layout: None,
                process,
                quantum: Nanos(1),
                conduct: None,
                series: Series {
                    warm_up: Sample {
                        iterations: 1,
                        elapsed: Nanos(5),
                    },
                    linear: Vec::new(),
                    flat: (samples.iter())
                        .map(|(iterations, elapsed)| Sample {
                            iterations: *iterations,
                            elapsed: Nanos(*elapsed),
                        })
                        .collect(),
                },
                extras: Extras {
                    allocations: vec![Allocations {
                        count: 2,
                        bytes: 64,
                        ..Allocations::default()
                    }],
                    ..Extras::default()
                },
            })
            .collect(),
        failures: Vec::new(),
        counts: BenchmarkCounts::default(),
        verdict: None,
        described: None,
        expired: None,
    }
}

fn exported(measurements: Vec<Measurement>) -> ExportedRun {
    let mut environment = Environment::default();
    environment.host.cpu = "A\nB".to_owned();
    ExportedRun {
        name: "v/1".to_owned(),
        run: Run {
            id: RunId(1),
            finished: None,
            status: RunStatus::Complete,
            acceptance: Acceptance::Pending,
            begun: NewRun {
                started: Timestamp(0),
                build: None,
                partition: None,
                past: None,
                git: None,
                environment,
                load: None,
                seed: 1,
                decision: DecisionSettings::default(),
                tool_version: String::new(),
            },
            pair: None,
            plan: None,
            source: None,
        },
        measurements,
    }
}

const TWO_PROCESSES: [&[(u64, u64)]; 2] = [&[(10, 1000), (10, 1200)], &[(10, 1100), (20, 2200)]];

fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes);
    String::from_utf8(bytes).unwrap()
}

#[test]
fn benchstat_gets_a_line_for_each_process_with_its_median() {
    let run = exported(vec![measurement("fib 10/x", Metric::Time, &TWO_PROCESSES)]);
    let found = text(|bytes| write_benchstat(bytes, &run, &ProgressReporter::silent()).unwrap());
    let expected = "\
cpu: A B
pkg: p/t
BenchmarkFib_10/x\t20\t110 ns/op\t64 B/op\t2 allocs/op\t909.0909090909091 MB/s
BenchmarkFib_10/x\t30\t110 ns/op\t64 B/op\t2 allocs/op\t909.0909090909091 MB/s
";
    assert_eq!(found, expected);
}

#[test]
fn benchstat_gets_values_of_several_units_under_one_name_again() {
    let rate = Metric::Rate {
        unit: "bytes".to_owned(),
    };
    let terms = Metric::Amount {
        unit: "terms".to_owned(),
    };
    let run = exported(vec![
        measurement("Copy (MB/s)", rate, &[&[(1000, 1_000_000_000)]]),
        measurement("Copy (terms/op)", terms, &[&[(1, 8)]]),
    ]);
    let found = text(|bytes| write_benchstat(bytes, &run, &ProgressReporter::silent()).unwrap());
    let lines: Vec<&str> = found.lines().skip(2).collect();
    assert_eq!(
        lines,
        [
            "BenchmarkCopy\t1000\t1000 B/s",
            "BenchmarkCopy\t1\t8 terms/op"
        ]
    );
}

#[test]
fn bencher_gets_means_within_their_bounds() {
    let rate = Metric::Rate {
        unit: "ops".to_owned(),
    };
    let run = exported(vec![
        measurement("a", Metric::Time, &TWO_PROCESSES),
        measurement("r", rate, &[&[(1000, 1_000_000_000)]]),
    ]);
    let found: Value = serde_json::from_str(&text(|bytes| {
        write_bmf(bytes, &run, &ProgressReporter::silent()).unwrap();
    }))
    .unwrap();
    let latency = &found["a"]["latency"];
    assert_eq!(latency["value"], 110.0);
    let bound = |name: &str| latency[name].as_f64().unwrap();
    assert!(bound("lower_value") <= 110.0 && 110.0 <= bound("upper_value"));
    assert_eq!(found["r"]["throughput"]["value"], 1000.0);
}

#[test]
fn the_table_has_every_sample_with_its_phase() {
    let run = exported(vec![measurement("a,b", Metric::Time, &TWO_PROCESSES)]);
    let found = text(|bytes| write_csv(bytes, &[run], &ProgressReporter::silent()).unwrap());
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines.len(), 7, "{found}");
    assert_eq!(lines[1], "v/1,p,t,\"a,b\",time,ns,0,warm-up,0,1,5");
    assert_eq!(lines[6], "v/1,p,t,\"a,b\",time,ns,1,flat,1,20,2200");
}

#[test]
fn a_tree_is_read_again_as_it_was_written() {
    let place = tempfile::tempdir().unwrap();
    let rate = Metric::Rate {
        unit: "ops".to_owned(),
    };
    let run = exported(vec![
        measurement("g/f/1", Metric::Time, &TWO_PROCESSES),
        measurement("g/f:1", Metric::Time, &TWO_PROCESSES[..1]),
        measurement("g/f_1", Metric::Time, &TWO_PROCESSES[..1]),
        measurement("rate", rate, &TWO_PROCESSES),
    ]);
    let (count, left_out) =
        write_criterion(place.path(), &[run], &ProgressReporter::silent()).unwrap();
    assert_eq!((count, left_out.len()), (3, 1));
    let directory = place.path().join("g/f/1/v_1");
    let json = |name: &str| -> Value {
        serde_json::from_slice(&std::fs::read(directory.join(name)).unwrap()).unwrap()
    };
    assert_eq!(json("sample.json")["sampling_mode"], "Flat");
    assert_eq!(json("benchmark.json")["throughput"]["Bytes"], 100);
    assert_eq!(json("benchmark.json")["value_str"], "1");
    assert_eq!(json("tukey.json").as_array().unwrap().len(), 4);
    let estimates = json("estimates.json");
    assert_eq!(estimates["mean"]["point_estimate"], 110.0);
    assert!(estimates["slope"].is_null());
    // `f:1` and `f_1` would be the same directory.
    assert!(place.path().join("g/f_1_2/v_1/sample.json").is_file());
    let trees = [place.path().to_owned()];
    let read = read_runs(
        &ForeignInput::Trees(&trees),
        None,
        &ProgressReporter::silent(),
    )
    .unwrap();
    assert_eq!(read.len(), 1);
    assert_eq!(read[0].name.as_deref(), Some("v_1"));
    let ids: Vec<&str> = (read[0].imported.groups.iter())
        .map(|group| group.id.as_str())
        .collect();
    assert_eq!(ids, ["g/f/1", "g/f:1", "g/f_1"]);
    let samples: Vec<(u64, u64)> = (read[0].imported.groups[0].rows.iter())
        .map(|row| (row.samples[0].iterations, row.samples[0].elapsed.0))
        .collect();
    assert_eq!(samples, TWO_PROCESSES.concat());
}

#[test]
fn names_of_directories_follow_criterions_rule_and_never_lead_out() {
    for (part, expected) in [
        ("plain", "plain"),
        ("a?\"/\\*<>:|^b", "a__________b"),
        ("..", "__"),
        (".", "_"),
        ("", "_"),
        ("a\0b\n", "a_b_"),
        ("../../etc/passwd", ".._.._etc_passwd"),
    ] {
        assert_eq!(file_name(part), expected);
    }
    assert_eq!(file_name(&"x".repeat(300)).len(), 64);
    // The cut falls between characters: 32 characters of two bytes each.
    assert_eq!(file_name(&"é".repeat(300)).chars().count(), 32);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_tree_of_any_ids_stays_below_its_root(ids in prop::collection::btree_set("(\\.\\.|/|[a-c]|\u{0}|~|\\PC){1,30}", 1..4)) {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("inner/root");
        let measurements = ids.iter().map(|id| measurement(id, Metric::Time, &TWO_PROCESSES[..1]));
        let run = exported(measurements.collect());
        let (count, _) = write_criterion(&root, &[run], &ProgressReporter::silent()).unwrap();
        prop_assert_eq!(count, ids.len());
        let outside = std::fs::read_dir(place.path().join("inner")).unwrap().count();
        prop_assert_eq!((outside, std::fs::read_dir(place.path()).unwrap().count()), (1, 1));
        let read = read_runs(&ForeignInput::Trees(&[root]), None, &ProgressReporter::silent());
        if ids.iter().all(|id| !id.chars().any(char::is_control) && !id.trim().is_empty()) {
            prop_assert_eq!(read.unwrap()[0].imported.groups.len(), ids.len());
        }
    }
}
