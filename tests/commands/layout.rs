//! Tests which parts of a result are shown to people, and in which order. Also tests comparisons of the benchmarks of a single run.

use std::fs;

use crate::commands::crates::Crate;
use crate::commands::scripted::{CLOCK, QUICK, script, steady, stored};
use crate::support::{Finished, Machine, run, skipped, testbench};

const JSON: [&str; 2] = ["--message-format", "json"];

/// Returns the benchmarks of a table of `steady`, from top to bottom.
fn order(finished: &Finished) -> Vec<String> {
    let ids = ["arithmetic", "memory", "text"];
    let lines = finished.stdout.lines().filter_map(|line| {
        let first = line.strip_prefix("  ")?.split_whitespace().next()?;
        ids.contains(&first).then(|| first.to_owned())
    });
    lines.collect()
}

#[test]
fn results_are_sorted_by_name_change_time_or_verdict() {
    let machine = Machine::new();
    let times = [("arithmetic", 50.0), ("memory", 300.0)];
    steady(&machine, &times).run().expect_code(0);
    let slower = [("arithmetic", 120.0), ("memory", 330.0)];
    steady(&machine, &slower).run().expect_code(1);
    let sorted = |by: &str| {
        let words = ["compare", "1", "2", "--sort", by, "--fail-on", "none"];
        order(&stored(&machine, &words).run().expect_code(0))
    };
    assert_eq!(sorted("name"), ["arithmetic", "memory", "text"]);
    assert_eq!(sorted("change"), ["arithmetic", "memory", "text"]);
    assert_eq!(sorted("time"), ["memory", "arithmetic", "text"]);
    assert_eq!(sorted("worst")[0], "arithmetic");
    let list = |by: &str| {
        let list = stored(&machine, &["history", "--sort", by]).args(JSON);
        let messages = list.run().expect_code(0).messages("benchmark");
        messages[0]["benchmark"]["id"].clone()
    };
    assert_eq!(list("time"), "memory");
    assert_eq!(list("change"), "arithmetic");
}

#[test]
fn rows_can_be_hidden_and_counts_exit_status_and_messages_stay() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    let regressed = || steady(&machine, &[("text", 300.0)]);
    let only = regressed().args(["--verdict", "regressed,improved"]).run();
    let only = only.expect_code(1);
    assert!(only.stdout.contains("1 of 3 regressed"), "{only}");
    assert!(
        only.stdout.contains("2 benchmarks not shown (--verdict)"),
        "{only}"
    );
    assert_eq!(order(&only), ["text"]);
    let quiet = regressed().arg("--quiet").run().expect_code(1);
    assert!(
        quiet.stdout.contains("2 benchmarks not shown (--quiet)"),
        "{quiet}"
    );
    assert!(!quiet.stderr.contains("Process"), "{quiet}");
    let messages = regressed().args(["--verdict", "improved"]).args(JSON).run();
    assert_eq!(messages.messages("benchmark-compared").len(), 3);
    let first = Machine::new();
    let first = steady(&first, &[]).arg("--quiet").run().expect_code(0);
    assert_eq!(order(&first).len(), 3, "results are all there is: {first}");
    let both = regressed().args(["--quiet", "--verbose"]).run();
    both.expect_code(2);
}

#[test]
fn what_regressed_can_be_explained_by_the_command_that_is_printed() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    let run = steady(&machine, &[("text", 300.0)]).run().expect_code(1);
    assert!(
        run.stdout
            .contains("Why: cargo perfcheck explain text --run 2"),
        "{run}"
    );
    stored(&machine, &["explain", "text", "--run", "2"])
        .run()
        .expect_code(0);
}

#[test]
fn functions_of_one_run_stand_side_by_side_and_the_fastest_is_marked() {
    let machine = Machine::new();
    let ids = [
        "sort/heap/10",
        "sort/heap/9",
        "sort/quick/10",
        "sort/quick/9",
        "sum",
    ];
    let made = Crate::of(&machine, &ids, "");
    let times = [("sort/heap/10", 200.0), ("sort/quick/9", 100.1)];
    made.perfcheck(&machine, &QUICK)
        .env(CLOCK, script(&ids, &times))
        .run()
        .expect_code(0);
    let group = |words: &[&str]| {
        let words = [&["compare", "1", "--group-by"][..], words].concat();
        made.perfcheck(&machine, &words).run()
    };
    let table = group(&["sort/([^/]+)"]).expect_code(0).stdout;
    let line = |start: &str| {
        let found = table.lines().find(|line| line.starts_with(start));
        let words = found.unwrap_or_else(|| panic!("no {start} in {table}"));
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("benchmark"), "benchmark heap quick");
    assert!(line("sort/*/10").ends_with("1.00 *"), "{table}");
    assert!(line("sort/*/10").contains(" 2.00 "), "{table}");
    assert!(line("sort/*/9").contains("1.00 * "), "{table}");
    assert!(line("sort/*/9").ends_with("1.00 ~"), "{table}");
    assert!(table.contains("Exploratory"), "{table}");
    assert!(table.contains("1 benchmark left out"), "{table}");

    let json = group(&["[0-9]+$", "--message-format", "json"]).expect_code(0);
    let rows = json.messages("group-row");
    assert_eq!(rows.len(), 2, "{json}");
    assert_eq!(rows[0]["row"], "sort/heap/*");
    let cells = rows[0]["cells"].as_array().expect("cells");
    assert_eq!(
        cells[0]["column"], "9",
        "numbers are in their order: {json}"
    );
    assert_eq!(cells[0]["rank"], "fastest");
    assert_eq!(cells[1]["rank"], "slower");
    assert_eq!(json.messages("group-finished")[0]["left_out"], 1);

    group(&["nothing"])
        .expect_code(2)
        .expect_stderr(&["matches no id", "sort/heap/10"]);
    group(&["("])
        .expect_code(2)
        .expect_stderr(&["unclosed group"]);
    let two = ["compare", "1", "2", "--group-by", "x"];
    made.perfcheck(&machine, &two).run().expect_code(2);
    let csv = group(&["sort/([^/]+)", "--report", "csv"]).expect_code(0);
    assert!(
        csv.stdout.starts_with("package,target,row,column,id,"),
        "{csv}"
    );
    assert_eq!(csv.stdout.lines().count(), 5, "{csv}");
}

#[test]
fn two_benchmarks_of_one_cell_are_refused_and_cells_without_a_value_are_told() {
    let machine = Machine::new();
    let ids = ["x/y-z", "x-y/z"];
    let made = Crate::of(&machine, &ids, "");
    made.perfcheck(&machine, &QUICK)
        .env(CLOCK, script(&ids, &[]))
        .run()
        .expect_code(0);
    made.perfcheck(
        &machine,
        &["compare", "1", "--group-by", "(?<a>.+)-(?<b>.+)"],
    )
    .run()
    .expect_code(2)
    .expect_stderr(&["into one cell", "`x/y-z`", "`x-y/z`"]);

    let table = machine.home().join("table.csv");
    let file = table.display().to_string();
    let grouped = |lines: &str, pattern: &str| {
        fs::write(&table, format!("function,size,value\n{lines}")).expect("written");
        let columns = ["--columns", "id=function/size,value=value", "--unit", "ns"];
        let words = [&["store", "import", file.as_str()][..], &columns].concat();
        stored(&machine, &words).run().expect_code(0);
        let found = stored(&machine, &["compare", "latest", "--group-by", pattern]);
        found.run().expect_code(0).stdout
    };
    let zero = grouped("one,1,0\ntwo,1,2\n", "^[^/]+");
    assert!(zero.contains("1 benchmark without a value here"), "{zero}");
    assert!(zero.contains("No row has two benchmarks"), "{zero}");
    let lines = "one,1,1\ntwo,1,2\none,2,1\ntwo,2,2\none,3,1\n";
    let partly = grouped(lines, "^[^/]+");
    assert!(partly.contains("every column: 2 of 3"), "{partly}");
    let nothing = grouped(lines, "x*");
    assert!(nothing.contains("(nothing)"), "{nothing}");
}

#[test]
fn a_terminal_that_does_not_know_its_width_gets_whole_lines() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    let shown = stored(&machine, &["show", "1"]).run().expect_code(0);
    let columns_0 = stored(&machine, &["show", "--help"]).env("COLUMNS", "0");
    let columns_0 = columns_0.run().expect_code(0);
    assert!(
        columns_0
            .stdout
            .starts_with("Show what a stored run measured\n"),
        "{columns_0}"
    );
    let command = format!(
        "stty cols 1 rows 24 && exec {} perfcheck show 1 --manifest-path {} --store {}",
        env!("CARGO_BIN_EXE_cargo-perfcheck"),
        testbench("").display(),
        machine.store().display()
    );
    let mut terminal = machine.command("script");
    terminal.args(["--quiet", "--return", "--command", &command, "/dev/null"]);
    terminal.env("NO_COLOR", "1");
    let in_terminal = run(terminal).expect_code(0);
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let (whole, seen) = (lines(&shown.stdout), lines(&in_terminal.stdout));
    assert_eq!(seen.len(), whole.len(), "{in_terminal}\nbeside\n{shown}");
}

#[test]
fn what_is_escaped_for_a_terminal_without_utf_8_still_fits_its_lines() {
    let machine = Machine::new();
    let table = machine.home().join("table.csv");
    let file = table.display().to_string();
    let (short, long) = ("名前/並べ替え", "長い名前の計算".repeat(3));
    for factor in [1, 2] {
        let rows = (0..4).map(|session| {
            let value = factor * (100 + session);
            format!("{short},{session},{value}\n{long},{session},{value}\n")
        });
        let rows = format!("name,session,value\n{}", rows.collect::<String>());
        fs::write(&table, rows).expect("written");
        let columns = "id=name,process=session,value=value";
        let words = ["store", "import", &file, "--columns", columns];
        let import = stored(&machine, &words).args(["--unit", "ns"]);
        import.run().expect_code(0);
    }
    for words in [
        &["show", "2"][..],
        &["compare", "1", "2", "--fail-on", "none"],
        &["compare", "1", "2", "--statistic", "median"],
        &["history", "--all-branches"],
        &["history", short, "--all-branches"],
        &["history", &long, "--all-branches"],
    ] {
        let command = stored(&machine, words).env("LC_ALL", "C");
        let Some(command) = command.env("TERM", "xterm").in_terminal_of(80) else {
            skipped("`script` of util-linux is not there, which lends a terminal");
            return;
        };
        let shown = command.run();
        let text = anstream::adapter::strip_str(&shown.stdout).to_string();
        assert!(text.contains("\\u{540d}\\u{524d}"), "no id in {shown}");
        // Only the text after the last carriage return remains visible. What stands before it is a progress bar that was redrawn.
        let lines = text.lines();
        let lines = lines.map(|line| line.rsplit('\r').next().unwrap_or(line));
        for line in lines {
            // Commands stay whole, so that they can be copied.
            let is_command = line.contains("cargo perfcheck ");
            assert!(line.is_ascii(), "{line}");
            assert!(is_command || line.len() <= 80, "{words:?}: {line}");
        }
    }
}
