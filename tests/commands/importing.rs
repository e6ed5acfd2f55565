//! `store import`: what another program measured becomes a run, whole or not at all, and is compared like any other.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::commands::crates::Crate;
use crate::commands::scripted::{stored, verdicts};
use crate::commands::serializer_log;
use crate::support::{Finished, Machine, Perfcheck};

const JSON: [&str; 2] = ["--message-format", "json"];
/// Little randomness: ranks decide, and the intervals of summaries are not what these tests are about.
const FEW: [&str; 2] = ["--resamples", "1000"];

fn file(machine: &Machine, name: &str, text: &str) -> PathBuf {
    let path = machine.home().join(name);
    std::fs::write(&path, text).expect("a file in our own directory");
    path
}

fn import(machine: &Machine, files: &[&Path], columns: &str, words: &str) -> Perfcheck {
    stored(machine, &["store", "import"])
        .args(files)
        .args(["--columns", columns])
        .args(words.split_whitespace())
}

/// One benchmark `a` with these values in nanoseconds.
fn table(values: impl IntoIterator<Item = f64>) -> String {
    values
        .into_iter()
        .fold("name,ns\n".to_owned(), |mut text, value| {
            let _ = writeln!(text, "a,{value}");
            text
        })
}

fn runs(machine: &Machine) -> Vec<Value> {
    stored(machine, &["store", "runs"])
        .args(JSON)
        .run()
        .messages("run")
}

#[track_caller]
fn last(finished: &Finished, reason: &str) -> Value {
    finished
        .messages(reason)
        .pop()
        .unwrap_or_else(|| panic!("no {reason}:\n{finished}"))
}

/// About a thousand, spread by a few percent, the same for every test.
fn noise(count: u32, around: f64) -> impl Iterator<Item = f64> {
    (0..count).map(move |i| around * (1.0 + 0.04 * (f64::from(i * 7919 % 101) / 101.0 - 0.5)))
}

#[test]
fn s1_rows_that_cannot_be_read_are_listed_by_line_and_column_and_nothing_is_stored() {
    let machine = Machine::new();
    let bad = file(
        &machine,
        "bad.csv",
        "\u{feff}name;ns\r\n\"a;b\";1,5\r\n\r\na;oops\r\na;-3\r\na;nan\r\na;1;2\r\n",
    );
    let layout = "--unit ns --separator ; --decimal-comma";
    let refused = import(&machine, &[&bad], "id=name,value=ns", layout)
        .run()
        .expect_code(2);
    for line in [
        "4 rows cannot be read; nothing was stored",
        "bad.csv:4: column `ns` `oops` is not a number",
        "bad.csv:5: column `ns` `-3` is negative",
        "bad.csv:6: column `ns` `nan` is not a finite number",
        "bad.csv:7: has 3 columns and not 2",
        "--lenient",
    ] {
        assert!(refused.stderr.contains(line), "{line}:\n{refused}");
    }
    assert!(runs(&machine).is_empty());
    let lenient = import(&machine, &[&bad], "id=name,value=ns", layout)
        .arg("--lenient")
        .args(JSON)
        .run()
        .expect_code(0);
    assert_eq!(
        last(&lenient, "import-finished")["source"]["rows_skipped"],
        4
    );
    let imported = last(&lenient, "benchmark-imported");
    assert_eq!(
        (&imported["benchmark"]["id"], &imported["mean"]),
        (&"a;b".into(), &1.5.into())
    );
}

#[test]
fn s2_values_without_a_declared_unit_are_refused_and_a_guess_is_said() {
    let machine = Machine::new();
    let large = file(
        &machine,
        "large.csv",
        "name,t\nfast,1000000\nslow,1000001\n",
    );
    let refused = import(&machine, &[&large], "id=name,value=t", "")
        .run()
        .expect_code(2);
    assert!(refused.stderr.contains("--guess-units"), "{refused}");
    let guessed = import(&machine, &[&large], "id=name,value=t", "--guess-units")
        .args(JSON)
        .run()
        .expect_code(0);
    let means: BTreeMap<String, f64> = (guessed.messages("benchmark-imported").iter())
        .map(|message| {
            (
                message["benchmark"]["id"].to_string(),
                message["mean"].as_f64().expect("a mean"),
            )
        })
        .collect();
    assert_eq!((means["\"fast\""], means["\"slow\""]), (1e6, 100_000_100.0));
    assert!(
        guessed.stderr.contains("t of `slow` are in ticks:100ns"),
        "{guessed}"
    );
    assert!(
        guessed.stderr.contains("t of `fast` are in ns"),
        "{guessed}"
    );
}

#[test]
fn s8_s9_s10_counts_are_printed_and_stored_and_every_raw_value_is_kept() {
    let machine = Machine::new();
    // The warm-up, ten values and an outlier.
    let values = [
        90.0, 10.0, 11.0, 12.0, 10.5, 11.5, 10.2, 11.1, 12.3, 10.9, 11.7, 900.0,
    ];
    let log = file(&machine, "log.csv", &table(values));
    let words = "--unit ns --drop-first --outliers iqr --save-baseline v1";
    let said = import(&machine, &[&log], "id=name,value=ns", words)
        .run()
        .expect_code(0);
    let identity = "runs_raw 12 = runs 10 + warmup_skipped 1 + outliers_removed 1 (iqr_1.5)";
    assert!(said.stdout.contains(identity), "{said}");
    let shown = stored(&machine, &["show", "v1"])
        .args(JSON)
        .run()
        .expect_code(0);
    let source = &last(&shown, "run-finished")["source"];
    assert_eq!(source["counts"]["runs"], 10);
    assert_eq!(source["files"][0]["name"], "log.csv");
    let launch = &last(&shown, "benchmark-measured")["launches"][0];
    assert_eq!(launch["warm_up"]["elapsed_ns"][0], 900);
    assert_eq!(launch["warm_up"]["iterations"][0], 10);
    let elapsed = launch["flat"]["elapsed_ns"].as_array().expect("a list");
    assert_eq!((elapsed.len(), &elapsed[10]), (11, &9000.into()));
    let human = stored(&machine, &["show", "v1"]).run().expect_code(0);
    assert!(
        human.stdout.contains("machine and build are not known"),
        "{human}"
    );
    let told = stored(&machine, &["explain", "a", "--run", "v1"])
        .args(JSON)
        .run()
        .expect_code(0);
    let told = last(&told, "explanation");
    let place = crate::commands::scripted::about(&told, "place")["text"].clone();
    assert_eq!(
        place,
        "Another program measured it (csv: log.csv): machine and build are not known."
    );
}

#[test]
fn a_dry_run_stores_nothing_and_a_run_is_no_reference_by_itself() {
    let machine = Machine::new();
    let log = file(&machine, "log.csv", &table(noise(20, 1e3)));
    let dry = import(&machine, &[&log], "id=name,value=ns", "--unit ns -n")
        .run()
        .expect_code(0);
    assert!(dry.stdout.contains("Nothing was stored"), "{dry}");
    assert!(runs(&machine).is_empty());
    import(&machine, &[&log], "id=name,value=ns", "--unit ns")
        .run()
        .expect_code(0);
    let run = runs(&machine).pop().expect("a run");
    assert_eq!(
        (&run["acceptance"], &run["status"]),
        (&"pending".into(), &"complete".into())
    );
}

#[test]
fn a_name_that_cannot_be_given_leaves_no_run() {
    let machine = Machine::new();
    let log = file(&machine, "log.csv", &table([1.0, 2.0]));
    import(
        &machine,
        &[&log],
        "id=name,value=ns",
        "--unit ns --save-baseline latest",
    )
    .run()
    .expect_code(2);
    assert!(runs(&machine).is_empty());
}

#[test]
fn m4_rates_have_harmonic_means_and_their_changes_say_what_the_sign_means() {
    let machine = Machine::new();
    let before = file(
        &machine,
        "before.csv",
        "name,rate\na,2000\na,4000\na,5000\n",
    );
    let after = file(&machine, "after.csv", "name,rate\na,1000\na,2000\na,2500\n");
    for path in [&before, &after] {
        import(&machine, &[path], "id=name,value=rate[ops/s]", "")
            .run()
            .expect_code(0);
    }
    let shown = stored(&machine, &["show", "1"])
        .args(JSON)
        .run()
        .expect_code(0);
    let measured = last(&shown, "benchmark-measured");
    assert_eq!(
        measured["metric"],
        serde_json::json!({"kind": "rate", "unit": "ops"})
    );
    let mean = measured["rate_per_second"]["mean"]["estimate"]
        .as_f64()
        .expect("a mean");
    let harmonic = 3.0 / (1.0 / 2000.0 + 1.0 / 4000.0 + 1.0 / 5000.0);
    assert!((mean - harmonic).abs() < 1e-6 * harmonic, "{mean}");
    let compared = stored(&machine, &["compare", "1", "2"]).args(FEW).run();
    assert!(compared.stdout.contains("+ is slower"), "{compared}");
    assert!(compared.stdout.contains("kops/s"), "{compared}");
}

#[test]
fn d15_times_and_rates_are_not_compared_and_unknown_machines_are_told_from_known_ones() {
    let machine = Machine::new();
    let log = file(&machine, "log.csv", &table(noise(20, 1e3)));
    for words in [
        "--unit ns",
        "--unit ops/s",
        "--unit ns --fact cpu=abacus",
        "--unit ns",
    ] {
        import(&machine, &[&log], "id=name,value=ns", words)
            .run()
            .expect_code(0);
    }
    let compare = |base: &str, new: &str| stored(&machine, &["compare", base, new]).args(FEW).run();
    let of_metrics = compare("1", "2").expect_code(6);
    assert!(
        of_metrics.stdout.contains("metric: time -> rate of ops"),
        "{of_metrics}"
    );
    let of_machines = compare("1", "3").expect_code(6);
    assert!(
        of_machines.stdout.contains("cpu: unknown -> abacus"),
        "{of_machines}"
    );
    compare("1", "4").expect_code(0);
    compare("1", "1").expect_code(2);
    let refused = import(
        &machine,
        &[&log],
        "id=name,value=ns",
        "--unit ns --fact weather=fine",
    )
    .run()
    .expect_code(2);
    assert!(refused.stderr.contains("`weather` is no fact"), "{refused}");
}

#[test]
fn s22_the_limits_of_imported_comparisons_are_stated() {
    let machine = Machine::new();
    for (name, around) in [("a.csv", 1e3), ("b.csv", 1.5e3)] {
        let log = file(&machine, name, &table(noise(30, around)));
        import(&machine, &[&log], "id=name,value=ns", "--unit ns")
            .run()
            .expect_code(0);
    }
    let compared = stored(&machine, &["compare", "1", "2"])
        .args(FEW)
        .run()
        .expect_code(1);
    for words in [
        "another program measured them",
        "direction and no size",
        "nothing tells launches apart",
    ] {
        assert!(
            compared.stderr.contains(words) || compared.stdout.contains(words),
            "{words}:\n{compared}"
        );
    }
}

#[test]
fn amounts_are_shown_drawn_and_explained_in_their_unit_and_no_limit_in_time_is_for_them() {
    let machine = Machine::new();
    for (name, around) in [("a.csv", 1e3), ("b.csv", 1.5e3)] {
        let log = file(&machine, name, &table(noise(30, around)));
        import(&machine, &[&log], "id=name,value=ns", "--unit amount:steps")
            .run()
            .expect_code(0);
    }
    let picture = stored(&machine, &["show", "2", "a", "--report", "svg"])
        .run()
        .expect_code(0);
    assert!(
        picture.stdout.contains("steps of an iteration"),
        "{picture}"
    );
    assert!(!picture.stdout.contains(" ns"), "{picture}");
    let summary = ["--center", "mean", "--outliers", "top5"];
    let compared = stored(&machine, &["compare", "1", "2", "--limit", "mean:1ns"])
        .args(FEW)
        .args(summary)
        .run()
        .expect_code(1);
    assert!(compared.stdout.contains(" steps → "), "{compared}");
    assert!(!compared.stdout.contains(" ns"), "{compared}");
    assert!(
        compared.stdout.contains(
            "`mean:1ns` says nothing of `a`: its samples do not give it, or are no times"
        ),
        "{compared}"
    );
}

#[test]
fn sessions_are_launches_and_then_the_usual_test_decides() {
    let machine = Machine::new();
    let sessions = |around: f64| -> Vec<PathBuf> {
        (0..3)
            .map(|day| {
                let name = format!("{around}-{day}.csv");
                file(
                    &machine,
                    &name,
                    &table(noise(40, around * (1.0 + 0.001 * f64::from(day)))),
                )
            })
            .collect()
    };
    for around in [1e3, 1e3 * 1.5] {
        let files = sessions(around);
        let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        let said = import(&machine, &paths, "id=name,value=ns", "--unit ns")
            .args(JSON)
            .run()
            .expect_code(0);
        assert_eq!(last(&said, "import-finished")["launches"], 3);
        assert!(!said.stderr.contains("nothing tells launches"), "{said}");
    }
    let compared = stored(&machine, &["compare", "1", "2"])
        .args(FEW)
        .args(JSON)
        .run()
        .expect_code(1);
    let message = last(&compared, "benchmark-compared");
    assert_eq!(
        (&message["decided_by"], &message["verdict"]),
        (&"bootstrap-t".into(), &"regressed".into())
    );
}

#[test]
fn the_standard_input_and_totals_of_iterations_are_read() {
    let machine = Machine::new();
    let log = file(&machine, "iters.csv", "100,250\n200,500\n");
    let said = import(
        &machine,
        &[&log],
        "id=#1,value=#2,iterations=#1",
        "--unit ns --no-header",
    )
    .args(JSON)
    .run()
    .expect_code(0);
    let means: Vec<f64> = said
        .messages("benchmark-imported")
        .iter()
        .filter_map(|message| message["mean"].as_f64())
        .collect();
    assert_eq!(means, [2.5, 2.5]);
    // A test's standard input is empty.
    let empty = import(
        &machine,
        &[Path::new("-")],
        "id=#1,value=#2",
        "--unit ns --no-header",
    )
    .run()
    .expect_code(2);
    assert!(empty.stderr.contains("there are no values in -"), "{empty}");
}

#[test]
fn an_import_takes_the_words_of_comparisons_and_the_fences_of_the_workspace() {
    let machine = Machine::new();
    let values = [
        90.0, 10.0, 11.0, 12.0, 10.5, 11.5, 10.2, 11.1, 12.3, 10.9, 11.7, 20.0,
    ];
    let log = file(&machine, "log.csv", &table(values));
    let fences = "[workspace.metadata.perfcheck.thresholds]\niqr-fence = 9\nmad-fence = 12\n";
    let plain = Crate::write(machine.home().join("plain"), &["a"], "");
    let wide = Crate::write(machine.home().join("wide"), &["a"], fences);
    let left_out = |made: &Crate, policy: &str| {
        let said = made
            .perfcheck(&machine, &["store", "import"])
            .arg(&log)
            .args(["--columns", "id=name,value=ns", "--unit", "ns"])
            .args(["--outliers", policy, "--dry-run"])
            .args(JSON)
            .run()
            .expect_code(0);
        let source = &last(&said, "import-finished")["source"];
        let filter = &source["filter"];
        let word = filter["outliers"].as_str().expect("a policy");
        let fence = filter["fence"].as_f64();
        let policy = fence.map_or(word.to_owned(), |fence| format!("{word}_{fence}"));
        (source["counts"]["outliers_removed"].as_u64(), policy)
    };
    for (made, policy, removed, name) in [
        (&plain, "iqr,first", 1, "iqr_1.5"),
        (&wide, "iqr,first", 0, "iqr_9"),
        (&wide, "iqr_1.5", 2, "iqr_1.5"),
        (&plain, "mad,first", 1, "mad_3"),
        (&wide, "mad,first", 0, "mad_12"),
        (&wide, "mad_3", 2, "mad_3"),
        (&plain, "top5", 1, "top5"),
        (&plain, "both5", 0, "both5"),
        (&plain, "all", 0, "none"),
        (&plain, "winsorize_5_95", 0, "winsorized"),
    ] {
        assert_eq!(left_out(made, policy), (Some(removed), name.to_owned()));
    }
}

#[test]
fn degenerate_tables_get_no_verdict_and_no_crash() {
    let machine = Machine::new();
    for (name, text) in [
        ("one.csv", table([5.0])),
        ("other.csv", table([7.0])),
        ("same.csv", table([5.0; 20])),
        ("same-again.csv", table([5.0; 20]) + "b,1\n"),
        ("zeros.csv", table([0.0; 20])),
    ] {
        let log = file(&machine, name, &text);
        import(
            &machine,
            &[&log],
            "id=name,value=ns",
            "--unit ns --outliers iqr",
        )
        .run()
        .expect_code(0);
    }
    let verdict = |base: &str, new: &str| {
        let compared = stored(&machine, &["compare", base, new])
            .args(FEW)
            .args(JSON)
            .run();
        verdicts(&compared)["a"].clone()
    };
    assert_eq!(verdict("1", "2"), "inconclusive");
    assert_eq!(verdict("3", "4"), "unchanged");
}

#[test]
fn s12_s20_eight_percent_of_one_serializer_are_found_with_holm_and_nothing_else_is() {
    let machine = Machine::new();
    let columns =
        "id=SerializerName/TestDataName/StringOrStream,value=TimeSer,repetition=RepetitionIndex";
    for (seed, version, slower) in [(1, "v1", None), (2, "v2", Some("S07"))] {
        let log = file(
            &machine,
            &format!("{version}.csv"),
            &serializer_log::log(seed, slower),
        );
        let words =
            format!("--unit ticks:100ns --drop-first --outliers iqr --save-baseline {version}");
        let said = import(&machine, &[&log], columns, &words)
            .args(JSON)
            .run()
            .expect_code(0);
        let counts = &last(&said, "import-finished")["source"]["counts"];
        assert_eq!(
            (&counts["runs_raw"], &counts["warmup_skipped"]),
            (&12_120.into(), &120.into())
        );
    }
    let compared = stored(&machine, &["compare", "v1", "v2"])
        .args(FEW)
        .args(JSON)
        .run()
        .expect_code(1);
    let found = verdicts(&compared);
    assert_eq!(found.len(), 120);
    for (id, verdict) in found {
        let expected = if id.starts_with("S07/") {
            "regressed"
        } else {
            "unchanged"
        };
        assert_eq!(verdict, expected, "{id}");
    }
    let pivot = stored(
        &machine,
        &[
            "compare",
            "v2",
            "--pivot",
            "rows=SerializerName,cols=TestDataName,value=median",
            "--report",
            "csv",
        ],
    )
    .args(["--filter", "string"])
    .run()
    .expect_code(0);
    assert!(
        pivot.stdout.contains("Integer,ObjectGraph,Person"),
        "{pivot}"
    );
    assert_eq!(
        pivot
            .stdout
            .lines()
            .filter(|line| line.starts_with("S0"))
            .count(),
        10,
        "{pivot}"
    );
}

#[test]
fn a_slash_within_a_cell_is_shown_as_it_was_and_found_by_it() {
    let machine = Machine::new();
    let cells =
        "codec,kind,ns\nfast,application/json,100\nfast,application/json,101\nfast,100%2,7\n";
    let path = file(&machine, "cells.csv", cells);
    import(&machine, &[&path], "id=codec/kind,value=ns", "--unit ns")
        .args(FEW)
        .run()
        .expect_code(0);
    let shown = stored(&machine, &["show", "1"]).run().expect_code(0);
    assert!(shown.stdout.contains("application/json"), "{shown}");
    assert!(shown.stdout.contains("100%2"), "{shown}");
    assert!(
        !shown.stdout.contains("%2F") && !shown.stdout.contains("%252"),
        "{shown}"
    );
    // Machines get the id itself, in which parts stay apart.
    let told = stored(&machine, &["show", "1", "application/json"])
        .args(JSON)
        .run();
    let told = told.expect_code(0);
    assert_eq!(
        last(&told, "benchmark-measured")["benchmark"]["id"],
        "fast/application%2Fjson"
    );
    assert_eq!(told.messages("benchmark-measured").len(), 1, "{told}");
    // Where nothing is called like a word, the names that there are stand as they were, too.
    let unknown = stored(&machine, &["explain", "nothing"]).run();
    let unknown = unknown.expect_stderr(&["fast/application/json"]);
    assert!(!unknown.stderr.contains("%2F"), "{unknown}");
}

#[test]
fn a_name_without_end_pads_no_other_row() {
    let machine = Machine::new();
    let endless = "x".repeat(900);
    let rows = format!("name,ns\n{endless},100\n{endless},101\nb,7\nb,7.1\nc,8\nc,8.1\n");
    let path = file(&machine, "endless.csv", &rows);
    import(&machine, &[&path], "id=name,value=ns", "--unit ns")
        .args(FEW)
        .run()
        .expect_code(0);
    for words in [&["show", "1"][..], &["history"]] {
        let shown = stored(&machine, words).run().expect_code(0);
        let long: Vec<&str> = shown
            .stdout
            .lines()
            .filter(|line| line.len() > 200)
            .collect();
        assert_eq!(long.len(), 1, "{shown}");
        assert!(long[0].contains(&endless), "{shown}");
    }
}
