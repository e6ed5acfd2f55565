//! Written runs read back unchanged; damaged files are refused.

use proptest::prelude::*;

use super::super::input::InputContent;
use super::wire::*;
use super::{is_portable, read_portable, write_portable};
use perfcheck_analysis::compare::HostClass;
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::{ComparisonContext, Conclusion, Method, Row};
use perfcheck_analysis::model::*;

fn head(pair: Option<PortablePair>) -> PortableHead {
    PortableHead {
        begun: NewRun {
            build: None,
            partition: None,
            past: None,
            started: Timestamp(1_700_000_000_123_456_789),
            git: Some(GitState {
                commit: "a".repeat(40),
                branch: Some("main".to_owned()),
                dirty: true,
            }),
            environment: Environment::default(),
            load: Some(0.1 + 0.2),
            seed: u64::MAX,
            decision: DecisionSettings::default(),
            tool_version: "0.1.0".to_owned(),
        },
        finished: Timestamp(1_700_000_001_123_456_789),
        acceptance: Acceptance::Automatic,
        exit_code: 0,
        pair,
        plan: pair.map(|_| "{\"looks\": [3, 5]}".to_owned()),
        source: None,
        baselines: vec!["main".to_owned()],
    }
}

fn facts() -> TargetFacts {
    TargetFacts {
        features: vec!["fast".to_owned()],
        size: Some(ExecutableSize {
            text: 4,
            data: 3,
            bss: 2,
            stripped: None,
        }),
    }
}

fn run(samples: &[(u64, u64)], pair: Option<PortablePair>) -> PortableRun {
    let key = BenchmarkKey {
        package: "p".to_owned(),
        target: "t".to_owned(),
        id: "a/\u{1F600}\"\\".to_owned(),
    };
    let sample = |(iterations, elapsed): &(u64, u64)| Sample {
        iterations: *iterations,
        elapsed: Nanos(*elapsed),
    };
    PortableRun {
        head: head(pair),
        processes: vec![ProcessRecord {
            head: ProcessHead {
                package: "p".to_owned(),
                target: "t".to_owned(),
                ordinal: 0,
                attempt: 1,
                started: Timestamp(1_700_000_000_200_000_000),
                padding_bytes: 7,
                layout: None,
                harness: Some(Harness {
                    name: "perfcheck".to_owned(),
                    version: "0.1.0".to_owned(),
                    quantum: Nanos(20),
                }),
                conduct: None,
                failure: Some("it died".to_owned()),
            },
            target_facts: facts(),
            benchmarks: vec![BenchmarkInProcess {
                benchmark: Benchmark {
                    key: key.clone(),
                    version: Some("2".to_owned()),
                    throughput: Throughput {
                        bytes: Some(u64::MAX >> 1),
                        elements: None,
                    },
                    other_throughput: Some("Frames(3)".to_owned()),
                    settings: AuthorSettings::default(),
                    metric: Metric::Time,
                },
                sampling: SamplingSettings::default(),
                noise_threshold: 0.02,
                outcome: ProcessOutcome::Measured(Series {
                    warm_up: sample(&(3, u64::MAX)),
                    linear: Vec::new(),
                    flat: samples.iter().map(sample).collect(),
                }),
                extras: Extras {
                    led: vec![true, false, false],
                    allocations: vec![Allocations {
                        count: 1,
                        bytes: u64::MAX,
                        peak_bytes: 2,
                        other_count: 3,
                        other_bytes: 4,
                    }],
                    latencies: Some(Latencies {
                        counts: vec![HdrCounter { index: 5, count: 6 }],
                        messages: vec!["no".to_owned()],
                        reservoir: vec![Nanos(9)],
                        windows: vec![LatencyWindow::default()],
                        ..Latencies::default()
                    }),
                },
            }],
        }],
        counted: vec![CountedBenchmark {
            benchmark: key.clone(),
            counts: BenchmarkCounts {
                instructions: vec![InstructionCount {
                    iterations: 4,
                    instructions: 9_876,
                    functions: vec![FunctionCount {
                        name: "words::scan<T>".to_owned(),
                        count: 9_000,
                    }],
                }],
                time: Some(TimeSamples {
                    samples: 5_431,
                    functions: vec![FunctionCount {
                        name: "libc.so.6".to_owned(),
                        count: 5_000,
                    }],
                }),
            },
        }],
        verdicts: vec![PortableVerdict {
            benchmark: key,
            verdict: Verdict::Unchanged,
            typical_ns: Some(1.0 / 3.0),
            change: Some(-0.1),
            standard_error: Some(0.003),
            reference: Some(head(None).reference()),
            accepted: true,
        }],
        conclusion: None,
    }
}

fn written(runs: &[PortableRun]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_portable(&mut bytes, runs, "0.1.0", &ProgressReporter::silent()).unwrap();
    bytes
}

fn read(bytes: &[u8]) -> Result<Vec<PortableRun>, String> {
    let file = InputContent {
        name: "a".to_owned(),
        bytes: bytes.to_vec(),
        blake3: String::new(),
    };
    read_portable(&file, (0, file.bytes.len()), &ProgressReporter::silent())
        .map_err(|error| error.to_string())
}

fn pair() -> Vec<PortableRun> {
    let pair_of = |partner, side| {
        Some(PortablePair {
            partner,
            side,
            purpose: Purpose::Comparison,
        })
    };
    vec![
        run(&[(1, 2)], pair_of(1, Side::Base)),
        run(&[(1, 3)], pair_of(0, Side::Candidate)),
    ]
}

#[test]
fn both_sides_of_a_pair_come_back_and_one_alone_is_refused() {
    let runs = pair();
    assert_eq!(read(&written(&runs)), Ok(runs.clone()));
    let alone = read(&written(&runs[..1])).unwrap_err();
    assert!(alone.contains("one side of a pair"), "{alone}");
    // The base must come first.
    let mut turned = runs;
    for run in &mut turned {
        let pair = run.head.pair.as_mut().expect("a side");
        pair.side = match pair.side {
            Side::Base => Side::Candidate,
            Side::Candidate => Side::Base,
        };
    }
    let refused = read(&written(&turned)).unwrap_err();
    assert!(refused.contains("comes after its candidate"), "{refused}");
}

#[test]
fn a_run_is_the_same_measurement_under_other_names_and_another_one_with_another_sample() {
    let one = run(&[(10, 20)], None);
    let mut renamed = one.clone();
    renamed.head.baselines.clear();
    renamed.head.acceptance = Acceptance::ByCommand;
    renamed.verdicts[0].reference = None;
    assert!(one.is_same_measurement(&renamed));
    assert!(!one.is_same_measurement(&run(&[(10, 21)], None)));
}

#[test]
fn a_run_may_end_in_the_moment_in_which_it_began() {
    let mut brief = run(&[(10, 1_000)], None);
    brief.head.finished = brief.head.begun.started;
    let read = read(&written(&[brief])).expect("it holds together");
    assert_eq!(read[0].head.finished, read[0].head.begun.started);
}

#[test]
fn what_does_not_hold_together_is_refused_with_its_line() {
    let good = String::from_utf8(written(&[run(&[(10, 20)], None)])).unwrap();
    let lines: Vec<&str> = good.lines().collect();
    let without = |line: usize| {
        let kept = lines.iter().enumerate().filter(|(at, _)| *at != line);
        let kept: Vec<&str> = kept.map(|(_, line)| *line).collect();
        kept.join("\n") + "\n"
    };
    for (text, place, reason) in [
        (String::new(), "a:1", "does not begin"),
        (without(6), "a:6", "cut short"),
        (without(5), "a:6", "expected 7 lines, found 6"),
        (without(3), "a:4", "was not measured in this run"),
        (
            good.replace("\"instructions\":9876", "\"instructions\":0"),
            "a:5",
            "are outside the range from 1 to 2^63",
        ),
        (
            good.replace("\"samples\":5431", "\"samples\":0"),
            "a:5",
            "the number of samples of ",
        ),
        (
            good.replace(lines[4], &[lines[4], lines[4]].join("\n")),
            "a:6",
            "twice or are out of order",
        ),
        (without(2), "a:3", "no process begins"),
        (without(1), "a:2", "no run begins"),
        (
            format!("{good}{}", lines[1]),
            "a:8",
            "lines after the `end` line",
        ),
        (
            good.replace("\"format\":1", "\"format\":2"),
            "a:1",
            "in format 2",
        ),
        (good.replace("[[10,20]]", "[[0,20]]"), "a:4", "0 iterations"),
        (
            good.replace("[[10,20]]", "[[10,-20]]"),
            "a:4",
            "invalid value",
        ),
        (
            good.replace("[[10,20]]", "[[10,2.5]]"),
            "a:4",
            "invalid type",
        ),
        (
            good.replace("[[5,6]]", "[[5,6],[5,1]]"),
            "a:4",
            "counters that are out of order",
        ),
        (
            good.replace("[[5,6]]", "[[4000000000,6]]"),
            "a:4",
            "zero or out of range",
        ),
        (
            good.replace("\"reservoir\":[9]", "\"reservoir\":[9,1]"),
            "a:4",
            "sampled times that are out of order",
        ),
        (
            good.replace("\"finished\":17", "\"finished\":16"),
            "a:2",
            "before it began",
        ),
        (
            good.replace("\"significance_level\":0.01", "\"significance_level\":1.5"),
            "a:2",
            "not between 0 and 1",
        ),
        (
            good.replace("\"target\":\"t\",\"id\"", "\"target\":\"u\",\"id\""),
            "a:4",
            "does not belong to the target",
        ),
        (
            good.replace(
                "\"target\":\"t\",\"ordinal\"",
                "\"target\":\"\\u0000\",\"ordinal\"",
            ),
            "a:3",
            "without NUL",
        ),
    ] {
        is_refused(&good, &text, place, reason);
    }
}

#[test]
fn members_that_nobody_knows_are_refused_with_their_line() {
    let good = String::from_utf8(written(&[run(&[(10, 20)], None)])).unwrap();
    for (known, unknown, place, reason) in [
        ("\"padding_bytes\":", "\"padding\":", "a:3", "unknown field"),
        ("\"measured\":", "\"timed\":", "a:4", "unknown variant"),
        ("\"flat\":", "\"plain\":", "a:4", "unknown field"),
        ("\"led\":", "\"first\":", "a:4", "unknown field"),
        ("\"led\":[true,", "\"led\":[1,", "a:4", "invalid type"),
    ] {
        is_refused(&good, &good.replace(known, unknown), place, reason);
    }
}

#[test]
fn what_is_beyond_the_limits_is_refused_with_its_line() {
    let good = String::from_utf8(written(&[run(&[(10, 20)], None)])).unwrap();
    for (text, place, reason) in [
        (
            good.replace(
                "\"target\":\"t\",\"ordinal\"",
                &format!("\"target\":\"{}\",\"ordinal\"", "t".repeat(1001)),
            ),
            "a:3",
            "a target name has 1001 bytes (limit: 1000)",
        ),
        (
            good.replace("\"settings\":{}", "\"settings\":{\"processes\":0}"),
            "a:4",
            "0 is not a whole number from 1 to 10000",
        ),
        (
            good.replace("\"settings\":{}", "\"settings\":{\"noise_threshold\":-1}"),
            "a:4",
            "to -1, but it must be at least 0 and below 1",
        ),
        (
            good.replace("9223372036854775807", "9223372036854775808"),
            "a:4",
            "its throughput is 9223372036854775808, but must be below 2^63",
        ),
    ] {
        is_refused(&good, &text, place, reason);
    }
}

#[track_caller]
fn is_refused(good: &str, text: &str, place: &str, reason: &str) {
    assert_ne!(text, good, "{reason}");
    let refused = read(text.as_bytes()).expect_err(reason);
    assert!(refused.starts_with(place), "{place}: {refused}");
    assert!(refused.contains(reason), "{reason}: {refused}");
}

proptest! {
    #[test]
    fn every_run_comes_back_number_for_number(
        samples in prop::collection::vec((1..=u64::MAX, any::<u64>()), 1..40),
        load in prop::option::of(0.0..1e9_f64),
        change in -1.0..1e9_f64,
    ) {
        let mut one = run(&samples, None);
        one.head.begun.load = load;
        one.verdicts[0].change = Some(change);
        let runs = vec![one];
        prop_assert_eq!(read(&written(&runs)), Ok(runs));
    }

    #[test]
    fn a_damaged_file_is_refused_or_read_and_never_panics(
        place in any::<prop::sample::Index>(), length in 0..9_usize, put in prop::collection::vec(any::<u8>(), 0..5),
    ) {
        let mut bytes = written(&pair());
        let from = place.index(bytes.len());
        let to = (from + length).min(bytes.len());
        bytes.splice(from..to, put);
        is_portable(&bytes);
        let _ = read(&bytes);
    }
}

/// Returns a run with a conclusion that names run 7 and a run that does not exist anymore.
fn concluded() -> PortableRun {
    let mut run = run(&[(1, 2)], None);
    let mut row = Row::unmeasured(run.verdicts[0].benchmark.clone(), Verdict::Unchanged, None);
    row.reference = vec![Some(RunId(7)), None];
    let verdicts = ComparisonContext::new(
        "`main` (run 7)".to_owned(),
        Method::Stored(Test::BootstrapT),
        run.head.begun.decision,
        HostClass::Dedicated,
    );
    run.conclusion = Some(PortableConclusion {
        concluded: Conclusion {
            rows: vec![row],
            verdicts,
            failed_targets: Vec::new(),
            exit_code: ExitCode::Clean,
        },
        runs: [(RunId(7), run.head.reference())].into(),
    });
    run
}

#[test]
fn a_conclusion_comes_back_and_one_that_is_damaged_or_of_another_run_is_refused() {
    let run = concluded();
    assert_eq!(
        read(&written(std::slice::from_ref(&run))),
        Ok(vec![run.clone()])
    );
    let refused = |alter: &dyn Fn(&mut PortableRun), reason: &str| {
        let mut other = run.clone();
        alter(&mut other);
        let error = read(&written(&[other])).unwrap_err();
        assert!(error.contains(reason), "{error}");
        assert!(error.contains("of run 1 in the file"), "{error}");
    };
    refused(
        &|run| run.verdicts[0].verdict = Verdict::Improved,
        "its verdicts differ",
    );
    refused(&|run| run.verdicts.clear(), "its verdicts differ");
    refused(&|run| run.head.exit_code = 1, "its exit code differs");
    let of_no_run = |run: &mut PortableRun| run.conclusion.as_mut().unwrap().runs.clear();
    refused(&of_no_run, "it names run 7");
    let text = String::from_utf8(written(&[run])).unwrap();
    let (before, cbor) = text.split_once("\"cbor\":\"").unwrap();
    for cbor in [
        &cbor[1..],
        &cbor[2..],
        &format!("x{}", &cbor[1..]),
        &format!("ff{cbor}"),
    ] {
        let broken = format!("{before}\"cbor\":\"{cbor}");
        let error = read(broken.as_bytes()).unwrap_err();
        assert!(error.contains("damaged or from another version"), "{error}");
    }
}
