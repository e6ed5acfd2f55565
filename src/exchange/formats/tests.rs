//! Files in the programs' formats with what is rare in them, and what they may not do. Files that the programs wrote are in `tests/exchange`.

use clap::ValueEnum;
use proptest::prelude::*;

use super::super::input::InputContent;
use super::{FileFormat, ForeignRun, Requested, detect, read_foreign};
use perfcheck_analysis::model::{Metric, Throughput, Work};

/// As `cargo bench` with divan 0.1.21 printed it.
const DIVAN: &str = "\
Timer precision: 20 ns
sample            fastest       │ slowest       │ median        │ mean          │ samples │ iters
├─ add            0.04 ns       │ 0.044 ns      │ 0.041 ns      │ 0.041 ns      │ 100     │ 819200
├─ later          (ignored)     │               │               │               │         │
├─ sum                          │               │               │               │         │
│  ├─ 10          0.948 ns      │ 0.952 ns      │ 0.949 ns      │ 0.95 ns       │ 20      │ 40960
│  ╰─ 1000        0.948 ns      │ 15.25 ns      │ 0.95 ns       │ 1.667 ns      │ 20      │ 40960
╰─ inner                        │               │               │               │         │
   ├─ copy                      │               │               │               │         │
   │  ├─ a b      17.21 ns      │ 24.41 ns      │ 17.61 ns      │ 18.51 ns      │ 20      │ 2560
   │  │           174.2 MB/s    │ 122.8 MB/s    │ 170.2 MB/s    │ 162 MB/s      │         │
   │  │           max alloc:    │               │               │               │         │
   │  │             1           │ 1             │ 1             │ 1             │         │
   │  │             3 B         │ 3 B           │ 3 B           │ 3 B           │         │
   │  ╰─ c        18.28 ns      │ 22.25 ns      │ 18.6 ns       │ 18.82 ns      │ 20      │ 2560
   │              54.68 MB/s    │ 44.93 MB/s    │ 53.74 MB/s    │ 53.12 MB/s    │         │
   ╰─ make                      │               │               │               │         │
      ├─ String   6.021 ns      │ 6.449 ns      │ 6.032 µs      │ 6.053 ns      │ 20      │ 10240
      ╰─ Vec<u8>  6.021 ns      │ 6.043 ns      │ 6.034 ms      │ 6.033 ns      │ 20      │ 10240
";
/// As libtest of Rust 1.95 printed it; the last line as libtest did before 1.80.
const LIBTEST: &str = "
running 3 tests
test add          ... bench:           0.51 ns/iter (+/- 0.13)
test inner::copy  ... bench:       1,026.75 ns/iter (+/- 6.24) = 38461 MB/s
test inner::later ... ignored
test old ... bench:       1,234 ns/iter (+/- 12)

test result: ok. 0 passed; 0 failed; 1 ignored; 3 measured; 0 filtered out; finished in 7.58s
";
/// As Go's `go test -bench . -benchmem -count 2` prints it.
const GO: &str = "\
goos: linux
goarch: amd64
pkg: example.org/fib
cpu: Intel(R) Xeon(R) CPU @ 2.20GHz
BenchmarkFib/10-8         \t 5000000\t       253.4 ns/op\t      16 B/op\t       1 allocs/op
BenchmarkFib/10-8         \t 5000000\t       251 ns/op\t      16 B/op\t       1 allocs/op
BenchmarkCopy-8           \t  100000\t     10250 ns/op\t 399.61 MB/s
PASS
ok  \texample.org/fib\t7.302s
";
/// As hyperfine writes it with `--export-json`; older versions have no memory.
const HYPERFINE: &str = r#"{
  "results": [
    {
      "command": "sleep 0.01",
      "mean": 0.0112, "stddev": 0.0001, "median": 0.0112, "user": 0.0005, "system": 0.0004,
      "min": 0.0111, "max": 0.0113,
      "times": [0.0111, 0.0112, 0.0113],
      "exit_codes": [0, 0, 1]
    },
    {
      "command": "sleep 0.02",
      "mean": 0.021, "stddev": null, "median": 0.021, "user": 0.0, "system": 0.0,
      "min": 0.021, "max": 0.021,
      "times": [0.021],
      "exit_codes": [0],
      "parameters": {"time": "0.02"}
    }
  ]
}"#;
/// As Google Benchmark writes it with `--benchmark_repetitions=2 --benchmark_format=json`.
const GOOGLE: &str = r#"{
  "context": {"date": "2025-01-05T10:00:00+00:00", "host_name": "h", "executable": "./b", "num_cpus": 8, "mhz_per_cpu": 3000,
    "cpu_scaling_enabled": false, "caches": [], "load_avg": [0.1,0.2,0.3], "library_version": "v1.9.1", "library_build_type": "release", "json_schema_version": 1},
  "benchmarks": [
    {"name": "BM_copy/8", "family_index": 0, "per_family_instance_index": 0, "run_name": "BM_copy/8", "run_type": "iteration",
     "repetitions": 2, "repetition_index": 0, "threads": 1, "iterations": 1000, "real_time": 1.25e+01, "cpu_time": 12.4, "time_unit": "us"},
    {"name": "BM_copy/8", "family_index": 0, "per_family_instance_index": 0, "run_name": "BM_copy/8", "run_type": "iteration",
     "repetitions": 2, "repetition_index": 1, "threads": 1, "iterations": 1000, "real_time": 1.275e+01, "cpu_time": 12.5, "time_unit": "us"},
    {"name": "BM_copy/8_mean", "family_index": 0, "per_family_instance_index": 0, "run_name": "BM_copy/8", "run_type": "aggregate",
     "repetitions": 2, "threads": 1, "aggregate_name": "mean", "aggregate_unit": "time", "iterations": 2, "real_time": 12.625, "cpu_time": 12.45, "time_unit": "us"},
    {"name": "BM_sum_mean", "run_name": "BM_sum", "run_type": "aggregate", "aggregate_name": "mean", "aggregate_unit": "time",
     "iterations": 2, "real_time": 3, "cpu_time": 3, "time_unit": "ns"},
    {"name": "BM_bad", "run_name": "BM_bad", "run_type": "iteration", "error_occurred": true, "error_message": "no file",
     "iterations": 0, "real_time": 0, "cpu_time": 0, "time_unit": "ns"}
  ]
}"#;
/// As pytest-benchmark writes it with `--benchmark-json`, shortened to what is read and some of what is not.
const PYTEST: &str = r#"{
  "machine_info": {"node": "n", "processor": "x86_64", "machine": "x86_64", "system": "Linux", "release": "6.8.0", "cpu": {"brand_raw": "AMD EPYC"}},
  "commit_info": {"id": "abc", "dirty": false},
  "benchmarks": [
    {"group": null, "name": "test_a", "fullname": "tests/test_x.py::test_a", "params": null, "extra_info": {},
     "stats": {"min": 1e-06, "max": 2e-06, "mean": 1.5e-06, "stddev": 1e-07, "rounds": 2, "median": 1.5e-06, "iterations": 1, "data": [1e-06, 2e-06]}},
    {"group": null, "name": "test_b", "fullname": "tests/test_x.py::test_b", "params": null, "extra_info": {},
     "stats": {"min": 1e-06, "max": 2e-06, "mean": 1.75e-06, "stddev": 1e-07, "rounds": 2, "median": 1.5e-06, "iterations": 10}}
  ],
  "datetime": "2025-01-05T10:00:00+00:00", "version": "5.1.0"
}"#;
/// As critcmp 0.1.8 writes it with `--export base`.
const CRITCMP: &str = r#"{"name":"base","benchmarks":{"grp/fib/10":{"baseline":"base","fullname":"grp/fib/10",
"criterion_benchmark_v1":{"group_id":"grp","function_id":"fib","value_str":"10","throughput":{"Bytes":10,"Elements":null},"full_id":"grp/fib/10","directory_name":"grp/fib/10"},
"criterion_estimates_v1":{"mean":{"confidence_interval":{"confidence_level":0.95,"lower_bound":130.0,"upper_bound":140.0},"point_estimate":135.25,"standard_error":2.5},
"median":{"confidence_interval":{"confidence_level":0.95,"lower_bound":130.0,"upper_bound":140.0},"point_estimate":134.0,"standard_error":2.5},
"median_abs_dev":{"confidence_interval":{"confidence_level":0.95,"lower_bound":1.0,"upper_bound":2.0},"point_estimate":1.5,"standard_error":0.5},
"slope":null,
"std_dev":{"confidence_interval":{"confidence_level":0.95,"lower_bound":1.0,"upper_bound":2.0},"point_estimate":1.5,"standard_error":0.5}}}}}"#;

const ALL: [(&str, FileFormat); 7] = [
    (DIVAN, FileFormat::Divan),
    (LIBTEST, FileFormat::Libtest),
    (GO, FileFormat::Go),
    (HYPERFINE, FileFormat::Hyperfine),
    (GOOGLE, FileFormat::Google),
    (PYTEST, FileFormat::Pytest),
    (CRITCMP, FileFormat::Critcmp),
];

fn content(name: &str, bytes: &[u8]) -> InputContent {
    InputContent {
        name: name.to_owned(),
        bytes: bytes.to_vec(),
        blake3: String::new(),
    }
}

fn read(texts: &[&str], format: FileFormat) -> Result<ForeignRun, String> {
    let files: Vec<InputContent> = (texts.iter().zip(["a", "b", "c"]))
        .map(|(text, name)| content(name, text.as_bytes()))
        .collect();
    let mut runs = read_foreign(&Requested::Files(&files, format), None, &Work::silent())
        .map_err(|error| error.to_string())?;
    assert_eq!(runs.len(), 1);
    Ok(runs.remove(0))
}

/// Id, metric and values of one iteration by launch.
type Values = (String, String, Vec<(u32, f64)>);

fn values(run: &ForeignRun) -> Vec<Values> {
    (run.imported.groups.iter())
        .map(|group| {
            let rows = group.rows.iter();
            let values = rows.map(|row| (row.launch, row.samples[0].per_iteration()));
            (
                group.id.clone(),
                group.metrics[0].to_string(),
                values.collect(),
            )
        })
        .collect()
}

fn time(id: &str, values: &[(u32, f64)]) -> Values {
    (id.to_owned(), "time".to_owned(), values.to_vec())
}

#[track_caller]
fn assert_values(run: &ForeignRun, expected: &[Values]) {
    assert_eq!(values(run), expected);
}

#[test]
fn every_format_is_known_by_its_content() {
    for (text, format) in ALL {
        assert_eq!(detect(&content("a", text.as_bytes())), Some(format));
        let marked = format!("\u{feff}{text}");
        assert_eq!(detect(&content("a", marked.as_bytes())), Some(format));
    }
    for text in [
        "",
        "name,ns\na,1\n",
        "{}",
        "[1]",
        "{\"benchmarks\":[]}",
        "\u{0}",
    ] {
        assert_eq!(detect(&content("a", text.as_bytes())), None, "{text}");
    }
}

#[test]
fn divans_medians_are_read_with_the_path_in_the_tree_as_id() {
    let run = read(&[DIVAN], FileFormat::Divan).unwrap();
    assert_values(
        &run,
        &[
            time("add", &[(0, 0.041)]),
            time("sum/10", &[(0, 0.949)]),
            time("sum/1000", &[(0, 0.95)]),
            time("inner/copy/a b", &[(0, 17.61)]),
            time("inner/copy/c", &[(0, 18.6)]),
            time("inner/make/String", &[(0, 6_032.0)]),
            time("inner/make/Vec<u8>", &[(0, 6_034_000.0)]),
        ],
    );
    assert!(run.caveats[0].contains("no samples"), "{:?}", run.caveats);
    assert!(!run.imported.launches_known);
}

#[test]
fn the_same_output_several_times_in_one_file_is_several_launches() {
    for (text, format) in [(DIVAN, FileFormat::Divan), (LIBTEST, FileFormat::Libtest)] {
        let thrice = [text, text, text].concat();
        let run = read(&[&thrice], format).unwrap();
        assert_eq!(run.imported.launches.len(), 3);
        assert!(run.imported.launches_known);
        let beside = read(&[text, text, text], format).unwrap();
        assert_eq!(values(&run), values(&beside));
    }
}

#[test]
fn libtests_medians_are_read_old_and_new() {
    let run = read(&[LIBTEST], FileFormat::Libtest).unwrap();
    assert_values(
        &run,
        &[
            time("add", &[(0, 0.51)]),
            time("inner::copy", &[(0, 1026.75)]),
            time("old", &[(0, 1234.0)]),
        ],
    );
    // What a quiet libtest has printed of other tests stands before.
    let quiet = read(
        &["..iFtest a ... bench: 5 ns/iter (+/- 0)"],
        FileFormat::Libtest,
    );
    assert_values(&quiet.unwrap(), &[time("a", &[(0, 5.0)])]);
    let refused = read(
        &["test a ... bench: 12 apples/iter (+/- 1)"],
        FileFormat::Libtest,
    );
    assert!(refused.unwrap_err().starts_with("a:1: "));
}

#[test]
fn gos_values_are_read_by_unit_and_repetition_and_its_facts_are_facts() {
    let run = read(&[GO], FileFormat::Go).unwrap();
    let amount = |unit: &str, value: f64| {
        let metric = Metric::Amount {
            unit: unit.to_owned(),
        };
        (metric.to_string(), vec![(0, value), (0, value)])
    };
    let (bytes, sixteen) = amount("bytes", 16.0);
    let (allocations, one) = amount("allocations", 1.0);
    assert_values(
        &run,
        &[
            time("example.org/fib/Fib/10-8", &[(0, 253.4), (0, 251.0)]),
            ("example.org/fib/Fib/10-8 (B/op)".to_owned(), bytes, sixteen),
            (
                "example.org/fib/Fib/10-8 (allocs/op)".to_owned(),
                allocations,
                one,
            ),
            time("example.org/fib/Copy-8", &[(0, 10250.0)]),
            (
                "example.org/fib/Copy-8 (MB/s)".to_owned(),
                "rate of bytes".to_owned(),
                vec![(0, 1e9 / 399.61e6)],
            ),
        ],
    );
    let cpu = (
        "cpu".to_owned(),
        "Intel(R) Xeon(R) CPU @ 2.20GHz".to_owned(),
    );
    assert!(run.facts.contains(&cpu), "{:?}", run.facts);
    let failed = GO.replace("PASS", "--- FAIL: BenchmarkBad\nFAIL");
    let said = read(&[&failed], FileFormat::Go).unwrap().caveats;
    assert_eq!(said, ["a:8: `--- FAIL: BenchmarkBad`"]);
    // The head of a package again is another process.
    let twice = read(&[&[GO, GO].concat()], FileFormat::Go).unwrap();
    assert_eq!(twice.imported.launches.len(), 2);
}

#[test]
fn hyperfines_runs_are_launches_of_one_sample_each() {
    let run = read(&[HYPERFINE], FileFormat::Hyperfine).unwrap();
    assert_values(
        &run,
        &[
            time("sleep 0.01", &[(0, 11.1e6), (1, 11.2e6), (2, 11.3e6)]),
            time("sleep 0.02", &[(0, 21e6)]),
        ],
    );
    assert!(run.imported.launches_known);
    assert!(
        run.caveats[0].contains("1 runs of `sleep 0.01`"),
        "{:?}",
        run.caveats
    );
}

#[test]
fn google_benchmarks_repetitions_are_read_and_its_aggregates_kept_apart() {
    let run = read(&[GOOGLE], FileFormat::Google).unwrap();
    assert_values(
        &run,
        &[
            time("BM_copy/8", &[(0, 12_500.0), (0, 12_750.0)]),
            time("BM_sum", &[(0, 3.0)]),
        ],
    );
    let said = run.caveats.join("\n");
    for part in ["`BM_sum` has aggregates", "no file", "1 in all"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn pytest_benchmarks_data_are_read_or_else_the_mean() {
    let run = read(&[PYTEST], FileFormat::Pytest).unwrap();
    assert_values(
        &run,
        &[
            time("tests/test_x.py::test_a", &[(0, 1000.0), (0, 2000.0)]),
            time("tests/test_x.py::test_b", &[(0, 1750.0)]),
        ],
    );
    assert!(run.caveats[0].contains("no data of single rounds"));
    let facts: Vec<&str> = run.facts.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(facts, ["AMD EPYC", "x86_64", "6.8.0", "linux"]);
}

#[test]
fn critcmps_means_are_one_value_a_benchmark_with_a_caveat_and_its_name_is_the_runs() {
    let run = read(&[CRITCMP], FileFormat::Critcmp).unwrap();
    assert_values(&run, &[time("grp/fib/10", &[(0, 135.25)])]);
    assert_eq!(run.name.as_deref(), Some("base"));
    let throughput = Throughput {
        bytes: Some(10),
        elements: None,
    };
    assert_eq!(run.imported.groups[0].throughput, throughput);
    assert!(run.caveats[0].contains("no samples"));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let deep = format!("{{\"results\":{}", "[".repeat(100_000));
    let long = LIBTEST.replace("add", &"x".repeat(5000));
    for (text, format, place, reason) in [
        (
            HYPERFINE
                .replace("0.0113,\n", "-1,\n")
                .replace("0.0112, 0.0113", "0.0112, -2"),
            FileFormat::Hyperfine,
            "a: results[0].times[2]",
            "`-2` is negative",
        ),
        (
            HYPERFINE.replace("0.0112, 0.0113", "0.0112, NaN"),
            FileFormat::Hyperfine,
            "a:7:33",
            "expected",
        ),
        (
            HYPERFINE.replace("0.0112, 0.0113", "0.0112, \"x\""),
            FileFormat::Hyperfine,
            "a:7:",
            "invalid type: string",
        ),
        (
            deep,
            FileFormat::Hyperfine,
            "a:1:",
            "invalid type: sequence",
        ),
        (
            GOOGLE.replace("\"us\"", "\"parsec\""),
            FileFormat::Google,
            "a: benchmarks[0]",
            "`parsec`",
        ),
        (
            PYTEST.replace("test_x.py::test_b", "test_x.py::test_a"),
            FileFormat::Pytest,
            "a: benchmarks[1]",
            "is there twice",
        ),
        (
            CRITCMP.replace("135.25", "1e400"),
            FileFormat::Critcmp,
            "a:3:",
            "out of range",
        ),
        (
            CRITCMP.replace("\"name\":\"base\"", "\"name\":\"base\",\"name\":\"b\""),
            FileFormat::Critcmp,
            "a:1:",
            "duplicate field",
        ),
        (
            long,
            FileFormat::Libtest,
            "a:3",
            "has 5000 bytes, more than 1000",
        ),
        (
            LIBTEST.replace("add", "a\u{0}b"),
            FileFormat::Libtest,
            "a:3",
            "control characters",
        ),
        (
            GO.replace("253.4 ns/op", "253.4"),
            FileFormat::Go,
            "a:5",
            "do not come in pairs",
        ),
        (
            DIVAN.replace("17.61 ns", "17.61 h"),
            FileFormat::Divan,
            "a:10",
            "is not a time",
        ),
    ] {
        let refused = read(&[&text], format).expect_err(reason);
        assert!(refused.starts_with(place), "{place}: {refused}");
        assert!(refused.contains(reason), "{reason}: {refused}");
        assert!(refused.contains("nothing was stored"), "{refused}");
    }
    let twice = CRITCMP.replace("{\"grp/fib/10\":", "{\"x\":1,\"x\":2,\"grp/fib/10\":");
    assert!(read(&[&twice], FileFormat::Critcmp).is_err());
}

#[test]
fn a_file_without_benchmarks_is_refused() {
    for (text, format) in [
        ("nothing", FileFormat::Divan),
        ("nothing", FileFormat::Go),
        ("{\"results\":[]}", FileFormat::Hyperfine),
    ] {
        let refused = read(&[text], format).unwrap_err();
        assert!(refused.contains("there are no values in a"), "{refused}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// What comes out holds together; most of all, nothing panics.
    #[test]
    fn damaged_files_are_read_or_refused_and_never_panic(
        which in 0..ALL.len(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 0..6)), 1..6),
    ) {
        let (text, format) = ALL[which];
        let mut bytes = text.as_bytes().to_vec();
        for (from, length, put) in cuts {
            let from = from.index(bytes.len().max(1)).min(bytes.len());
            let to = (from + length.index(8)).min(bytes.len());
            bytes.splice(from..to, put);
        }
        let file = [content("a", &bytes)];
        detect(&file[0]);
        if let Ok(runs) = read_foreign(&Requested::Files(&file, format), None, &Work::silent()) {
            for group in runs.iter().flat_map(|run| &run.imported.groups) {
                prop_assert!(!group.rows.is_empty());
                prop_assert!(group.rows.iter().all(|row| row.samples[0].iterations > 0));
            }
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), which in 0..ALL.len()) {
        let file = [content("a", &bytes)];
        detect(&file[0]);
        let _ = read_foreign(&Requested::Files(&file, ALL[which].1), None, &Work::silent());
    }
}

#[test]
fn a_format_is_called_what_the_command_line_takes() {
    for format in FileFormat::value_variants() {
        assert_eq!(FileFormat::from_str(&format.name(), false), Ok(*format));
    }
}
