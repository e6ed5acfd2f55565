//! `store import`: measurements of another program become a run, completely or not at all.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::commands::crates::Crate;
use crate::commands::scripted::stored;
use crate::support::{Finished, Machine, Perfcheck};

pub(super) const JSON: [&str; 2] = ["--message-format", "json"];

pub(super) fn file(machine: &Machine, name: &str, text: &str) -> PathBuf {
    let path = machine.home().join(name);
    std::fs::write(&path, text).expect("a file in our own directory");
    path
}

pub(super) fn import(machine: &Machine, files: &[&Path], columns: &str, words: &str) -> Perfcheck {
    stored(machine, &["store", "import"])
        .args(files)
        .args(["--columns", columns])
        .args(words.split_whitespace())
}

/// Returns a table of the benchmark `a` with these values in nanoseconds.
pub(super) fn table(values: impl IntoIterator<Item = f64>) -> String {
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
pub(super) fn last(finished: &Finished, reason: &str) -> Value {
    finished
        .messages(reason)
        .pop()
        .unwrap_or_else(|| panic!("no {reason}:\n{finished}"))
}

/// Returns `count` values that vary by a few percent around `around`. They are the same in every test run.
pub(super) fn noise(count: u32, around: f64) -> impl Iterator<Item = f64> {
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
        "bad.csv:7: has 3 columns instead of 2",
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
fn s2_a_language_tells_which_values_without_a_unit_are_ticks() {
    let machine = Machine::new();
    let log = "name,Language,t\nfast,csharp,10\nslow,python,2000000\n";
    let log = file(&machine, "languages.csv", log);
    let columns = "id=name,value=t,dimension=Language";
    let guessed = import(&machine, &[&log], columns, "--guess-units")
        .args(JSON)
        .run()
        .expect_code(0);
    let means: Vec<f64> = (guessed.messages("benchmark-imported").iter())
        .map(|message| message["mean"].as_f64().expect("a mean"))
        .collect();
    assert_eq!(means, [1_000.0, 2_000_000.0]);
    assert!(
        guessed
            .stderr
            .contains("t in `fast`: ticks:100ns (the language is csharp)"),
        "{guessed}"
    );
    let of_ids = import(
        &machine,
        &[&log],
        "id=name/Language,value=t",
        "--guess-units",
    )
    .args(JSON)
    .run()
    .expect_code(0);
    let first = of_ids.messages("benchmark-imported").remove(0);
    assert_eq!(first["mean"], 1_000.0, "{of_ids}");
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
        guessed.stderr.contains("t in `slow`: ticks:100ns"),
        "{guessed}"
    );
    assert!(guessed.stderr.contains("t in `fast`: ns"), "{guessed}");
}

#[test]
fn s8_s9_s10_counts_are_printed_and_stored_and_every_raw_value_is_kept() {
    let machine = Machine::new();
    // A warm-up, ten ordinary values and an outlier.
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
    let process = &last(&shown, "benchmark-measured")["processes"][0];
    assert_eq!(process["warm_up"]["elapsed_ns"][0], 900);
    assert_eq!(process["warm_up"]["iterations"][0], 10);
    let elapsed = process["flat"]["elapsed_ns"].as_array().expect("a list");
    assert_eq!((elapsed.len(), &elapsed[10]), (11, &9000.into()));
    let human = stored(&machine, &["show", "v1"]).run().expect_code(0);
    assert!(
        human.stdout.contains("machine and build are unknown"),
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
        "Another program measured this benchmark (csv: log.csv): machine and build are unknown."
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
    // The standard input of a test is empty.
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
fn numbers_are_kept_within_the_range_that_the_book_states_and_others_are_refused() {
    let machine = Machine::new();
    for (value, unit, is_kept) in [
        ("0", "ns", true),
        ("1.2345678901234567e-19", "ns", true),
        ("1e-20", "ns", false),
        ("1.8e19", "bytes", true),
        ("1.9e19", "ns", false),
        ("1.8e10", "s", true),
        ("1.23456789e-10", "ops/s", true),
        ("1e-20", "ops/s", false),
        ("9.87654321e24", "ops/s", true),
        ("1e26", "ops/s", false),
    ] {
        let log = file(&machine, "one.csv", &format!("name,v\na,{value}\n"));
        let words = format!("--unit {unit} --dry-run");
        let done = import(&machine, &[&log], "id=name,value=v", &words).run();
        let done = done.expect_code(if is_kept { 0 } else { 2 });
        let refusal = "one.csv:2: column `v`";
        assert_eq!(done.stderr.contains(refusal), !is_kept, "{value}: {done}");
    }
}

#[test]
fn an_import_outside_of_a_package_says_what_to_name() {
    let machine = Machine::new();
    let log = file(&machine, "log.csv", &table([1.0, 2.0]));
    let refused = machine
        .perfcheck()
        .current_dir(machine.home())
        .args(["store", "import"])
        .arg(&log)
        .args(["--columns", "id=name,value=ns", "--unit", "ns"])
        .run()
        .expect_code(2);
    assert!(
        refused.stderr.contains(
            "help: run the command in a package, or name its Cargo.toml with `--manifest-path`"
        ),
        "{refused}"
    );
}
