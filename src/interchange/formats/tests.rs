//! Hand-made files with rare or invalid content. Files that the programs themselves wrote are in `tests/exchange`.

use clap::ValueEnum;
use proptest::prelude::*;

use super::super::input::InputContent;
use super::{FileFormat, ForeignInput, ForeignRun, detect, read_runs};
use perfcheck_analysis::model::{ProgressReporter, Throughput};

/// Output of `cargo bench` with divan 0.1.21.
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
/// Output of libtest of Rust 1.95; the last line has the format before 1.80.
const LIBTEST: &str = "
running 3 tests
test add          ... bench:           0.51 ns/iter (+/- 0.13)
test inner::copy  ... bench:       1,026.75 ns/iter (+/- 6.24) = 38461 MB/s
test inner::later ... ignored
test old ... bench:       1,234 ns/iter (+/- 12)

test result: ok. 0 passed; 0 failed; 1 ignored; 3 measured; 0 filtered out; finished in 7.58s
";
/// Output of `hyperfine --export-json`; older versions do not write memory.
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
/// Output of hyperfine 2.0 with parameters that are not part of the command, shortened to the members that are read and some others.
const HYPERFINE_2: &str = r#"{
  "schema_version": 2,
  "metadata": {"hyperfine_version": "2.0.0", "platform": {"os": "Linux", "architecture": "x86_64"}},
  "primary_metric": "time_wall_clock",
  "results": [
    {
      "command": "sleep 0.01",
      "measurements": [
        {"time_wall_clock": {"value": 0.0115, "unit": "second"}, "time_cpu": {"value": 0.001, "unit": "second"}, "exit_code": 3},
        {"time_wall_clock": {"value": 0.0125, "unit": "second"}, "time_cpu": {"value": 0.001, "unit": "second"}, "exit_code": null}
      ],
      "parameters": {"threads": {"value": "1"}},
      "summary": {"time_wall_clock": {"unit": "second", "count": 2, "mean": 0.012, "stddev": null, "median": 0.012, "min": 0.0115, "max": 0.0125}}
    },
    {
      "command": "sleep 0.01",
      "measurements": [
        {"time_wall_clock": {"value": 0.021, "unit": "second"}, "memory_peak_resident": {"value": 3170304.0, "unit": "byte"}, "exit_code": 0}
      ],
      "parameters": {"threads": {"value": "2"}},
      "summary": {}
    }
  ]
}"#;
/// Output of `critcmp --export base` 0.1.8.
const CRITCMP: &str = r#"{"name":"base","benchmarks":{"grp/fib/10":{"baseline":"base","fullname":"grp/fib/10",
"criterion_benchmark_v1":{"group_id":"grp","function_id":"fib","value_str":"10","throughput":{"Bytes":10,"Elements":null},"full_id":"grp/fib/10","directory_name":"grp/fib/10"},
"criterion_estimates_v1":{"mean":{"confidence_interval":{"confidence_level":0.95,"lower_bound":130.0,"upper_bound":140.0},"point_estimate":135.25,"standard_error":2.5},
"median":{"confidence_interval":{"confidence_level":0.95,"lower_bound":130.0,"upper_bound":140.0},"point_estimate":134.0,"standard_error":2.5},
"median_abs_dev":{"confidence_interval":{"confidence_level":0.95,"lower_bound":1.0,"upper_bound":2.0},"point_estimate":1.5,"standard_error":0.5},
"slope":null,
"std_dev":{"confidence_interval":{"confidence_level":0.95,"lower_bound":1.0,"upper_bound":2.0},"point_estimate":1.5,"standard_error":0.5}}}}}"#;

const ALL: [(&str, FileFormat); 5] = [
    (DIVAN, FileFormat::Divan),
    (LIBTEST, FileFormat::Libtest),
    (HYPERFINE, FileFormat::Hyperfine),
    (HYPERFINE_2, FileFormat::Hyperfine),
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
    let mut runs = read_runs(
        &ForeignInput::Files(&files, format),
        None,
        &ProgressReporter::silent(),
    )
    .map_err(|error| error.to_string())?;
    assert_eq!(runs.len(), 1);
    Ok(runs.remove(0))
}

/// Id, metric and values per iteration by process.
type Values = (String, String, Vec<(u32, f64)>);

fn values(run: &ForeignRun) -> Vec<Values> {
    (run.imported.groups.iter())
        .map(|group| {
            let rows = group.rows.iter();
            let values = rows.map(|row| (row.process, row.samples[0].per_iteration()));
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
        let found = detect(&content("a", text.as_bytes()));
        assert_eq!(found.unwrap(), format);
        let marked = format!("\u{feff}{text}");
        let found = detect(&content("a", marked.as_bytes()));
        assert_eq!(found.unwrap(), format);
    }
    for text in [
        "",
        "name,ns\na,1\n",
        "{}",
        "[1]",
        "{\"benchmarks\":[]}",
        "\u{0}",
    ] {
        let refused = detect(&content("a", text.as_bytes())).unwrap_err();
        let refused = refused.to_string();
        assert!(refused.contains("is not known"), "{refused}");
    }
    // The first line of an export that another program has rewritten.
    let export = "{ \"reason\" : \"perfcheck-export\", \"format\": 1 }\n{}\n";
    let found = detect(&content("a", export.as_bytes()));
    assert_eq!(found.unwrap(), FileFormat::Portable);
}

#[test]
fn json_that_cannot_be_read_is_refused_with_line_column_and_reason() {
    for (text, reason) in [
        (
            "{\"results\": [\n{\"mean\": NaN}]}",
            "a:2:10: `NaN` is not valid in JSON; write null or a number instead",
        ),
        (
            "{\"results\": [\n{\"mean\": -Infinity}]}",
            "a:2:11: `Infinity` is not valid in JSON",
        ),
        ("{\"results\": [{\"mean\": 1", "a:1:23: EOF while parsing"),
    ] {
        let refused = detect(&content("a", text.as_bytes())).unwrap_err();
        let refused = refused.to_string();
        assert!(refused.starts_with(reason), "{reason}: {refused}");
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
    assert!(!run.imported.processes_known);
}

#[test]
fn the_same_output_several_times_in_one_file_is_several_processes() {
    for (text, format) in [(DIVAN, FileFormat::Divan), (LIBTEST, FileFormat::Libtest)] {
        let thrice = [text, text, text].concat();
        let run = read(&[&thrice], format).unwrap();
        assert_eq!(run.imported.processes.len(), 3);
        assert!(run.imported.processes_known);
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
    // With `--quiet`, libtest prints marks for other tests before the result.
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
fn a_result_of_libtest_behind_output_of_its_benchmark_is_read_and_a_missing_one_is_said() {
    let printed = "\
test slow ... bench:    60,078,621 ns/iter (+/- 4,352,944)

test fast ... Criterion.rs ERROR: error: Failed to access file \"sample.json\"
bench:          33 ns/iter (+/- 7)

test talks ... one, two: bench:  5 ns/iter (+/- 1)
test dies ... thread 'main' panicked
test passes ... ok
bench:          34 ns/iter (+/- 7)
";
    assert_eq!(
        detect(&content("a", printed.as_bytes())).unwrap(),
        FileFormat::Libtest
    );
    let run = read(&[printed], FileFormat::Libtest).unwrap();
    assert_values(
        &run,
        &[
            time("slow", &[(0, 60_078_621.0)]),
            time("fast", &[(0, 33.0)]),
            time("talks", &[(0, 5.0)]),
        ],
    );
    assert_eq!(
        run.caveats[..2],
        [
            "a:7: `dies` has no result",
            "a:9: left out a result without a benchmark name"
        ]
    );
}

#[test]
fn hyperfines_runs_are_processes_of_one_sample_each() {
    let run = read(&[HYPERFINE], FileFormat::Hyperfine).unwrap();
    assert_values(
        &run,
        &[
            time("sleep 0.01", &[(0, 11.1e6), (1, 11.2e6), (2, 11.3e6)]),
            exit_codes("sleep 0.01", &[(0, 0.0), (1, 0.0), (2, 1.0)]),
            time("sleep 0.02 (time = 0.02)", &[(0, 21e6)]),
        ],
    );
    assert!(run.imported.processes_known);
    assert!(
        run.caveats[0].contains("1 run of `sleep 0.01`"),
        "{:?}",
        run.caveats
    );
}

fn exit_codes(id: &str, values: &[(u32, f64)]) -> Values {
    let metric = "amount of exit_code".to_owned();
    (format!("{id} (exit code)"), metric, values.to_vec())
}

#[test]
fn what_hyperfine_2_measures_is_read_and_parameters_not_order_tell_results_apart() {
    let run = read(&[HYPERFINE_2], FileFormat::Hyperfine).unwrap();
    let memory = (
        "sleep 0.01 (threads = 2) (peak memory)".to_owned(),
        "amount of bytes".to_owned(),
        vec![(0, 3_170_304.0)],
    );
    let expected = [
        time("sleep 0.01 (threads = 1)", &[(0, 11.5e6), (1, 12.5e6)]),
        exit_codes("sleep 0.01 (threads = 1)", &[(0, 3.0)]),
        time("sleep 0.01 (threads = 2)", &[(0, 21e6)]),
        memory,
    ];
    assert_values(&run, &expected);
    assert!(run.caveats[0].contains("2 runs of"), "{:?}", run.caveats);
    // Results in another order are the same benchmarks.
    let mut swapped: serde_json::Value = serde_json::from_str(HYPERFINE_2).unwrap();
    swapped["results"].as_array_mut().unwrap().swap(0, 1);
    let swapped = read(&[&swapped.to_string()], FileFormat::Hyperfine).unwrap();
    let mut found = values(&swapped);
    found.rotate_left(2);
    assert_eq!(found, expected);
    // Without parameters only the order distinguishes the results, and a caveat says so.
    let same = HYPERFINE_2.replace("\"parameters\"", "\"other\"");
    let same = read(&[&same], FileFormat::Hyperfine).unwrap();
    let text = same.caveats.join("\n");
    assert!(
        text.contains("several results are called `sleep 0.01`"),
        "{text}"
    );
    let newer = HYPERFINE_2.replace("\"schema_version\": 2", "\"schema_version\": 3");
    let refused = read(&[&newer], FileFormat::Hyperfine).unwrap_err();
    assert!(refused.contains("3 is newer than 2"), "{refused}");
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
            "is not valid in JSON",
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
            "has 5000 bytes (limit: 1000)",
        ),
        (
            LIBTEST.replace("add", "a\u{0}b"),
            FileFormat::Libtest,
            "a:3",
            "control characters",
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
        ("nothing", FileFormat::Libtest),
        ("{\"results\":[]}", FileFormat::Hyperfine),
    ] {
        let refused = read(&[text], format).unwrap_err();
        assert!(refused.contains("there are no values in a"), "{refused}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Damaged input either yields consistent runs or an error, and never a panic.
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
        let _ = detect(&file[0]);
        if let Ok(runs) = read_runs(&ForeignInput::Files(&file, format), None, &ProgressReporter::silent()) {
            for group in runs.iter().flat_map(|run| &run.imported.groups) {
                prop_assert!(!group.rows.is_empty());
                prop_assert!(group.rows.iter().all(|row| row.samples[0].iterations > 0));
            }
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), which in 0..ALL.len()) {
        let file = [content("a", &bytes)];
        let _ = detect(&file[0]);
        let _ = read_runs(&ForeignInput::Files(&file, ALL[which].1), None, &ProgressReporter::silent());
    }
}

#[test]
fn a_format_is_called_what_the_command_line_takes() {
    for format in FileFormat::value_variants() {
        assert_eq!(FileFormat::from_str(&format.name(), false), Ok(*format));
    }
}
