//! Numbers that are shown next to each other agree with each other, in every output of a run, of a stored run and of a side-by-side measurement. If
//! output leaves the machine, each command in it that reads the store says where the store is.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

use super::scripted::{CLOCK, steady, stored};
use crate::against::project::{Project, compared};
use crate::support::{Finished, Machine, Perfcheck};

/// The reports written in addition to a result, except the job summary of GitHub.
const REPORTS: [&str; 5] = ["markdown", "github", "gitlab", "junit", "gitlab-metrics"];

/// Parses a time as it is printed for people, such as `12.31 µs`. Returns nanoseconds.
fn time(text: &str) -> Option<f64> {
    let (number, unit) = text.trim().split_once([' ', '\u{a0}'])?;
    let units = [
        ("ps", 1e-3),
        ("ns", 1.0),
        ("µs", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
    ];
    let (_, factor) = units.iter().find(|(known, _)| *known == unit)?;
    Some(number.parse::<f64>().ok()? * factor)
}

/// Parses a change such as `+1.01 %` and returns it as a fraction, such as 0.0101.
fn change(text: &str) -> Option<f64> {
    let text = text.trim().replace('−', "-").replace('\u{a0}', " ");
    let number = text.strip_suffix(" %")?;
    let is_signed = number.starts_with(['+', '-']);
    is_signed.then(|| Some(number.parse::<f64>().ok()? / 100.0))?
}

/// Asserts that `said` is the change from `before` to `after`, as exactly as printed digits allow. Times have four digits, changes three.
#[track_caller]
fn agree(before: f64, after: f64, said: f64, whole: &str) {
    let is = after / before - 1.0;
    let rounding = 1.1e-3 * (1.0 + is) + 0.005 * is.abs();
    assert!(
        (is - said).abs() <= rounding,
        "{before} to {after} is {is:+.4}, and not {said:+.4}: {whole}"
    );
}

/// Checks every row of a table that has a change. The two cells before the change must be the times that it compares. Returns the number of such
/// rows.
#[track_caller]
fn rows_agree<'c>(lines: impl Iterator<Item = Vec<&'c str>>, whole: &str) -> usize {
    let mut rows = 0;
    for cells in lines {
        // The first cell that parses as a change is the change. Intervals have brackets, so they do not parse as changes.
        let Some(at) = cells.iter().position(|cell| change(cell).is_some()) else {
            continue;
        };
        let [.., before, after, said] = cells[..=at] else {
            panic!("nothing beside a change: {cells:?}");
        };
        let times = time(before).zip(time(after)).zip(change(said));
        let ((before, after), said) =
            times.unwrap_or_else(|| panic!("no times: {cells:?}\n{whole}"));
        agree(before, after, said, whole);
        rows += 1;
    }
    rows
}

/// Checks a terminal table, whose cells are separated by two blanks.
#[track_caller]
fn table_agrees(finished: &Finished) -> usize {
    let lines = finished.stdout.lines();
    // The row of a benchmark has more than four cells, with or without the bar between the change and its interval. Remarks have fewer.
    let cells = lines.map(|line| {
        let cells = line.split("  ").map(str::trim);
        cells.filter(|cell| !cell.is_empty()).collect::<Vec<_>>()
    });
    let rows = cells.filter(|cells| cells.len() > 4 && !cells.contains(&"change"));
    rows_agree(rows, &finished.stdout)
}

#[track_caller]
fn markdown_agrees(text: &str) -> usize {
    let rows = text.lines().filter(|line| line.starts_with("| "));
    rows_agree(rows.map(|row| row.split('|').collect()), text)
}

/// Checks sentences such as `regressed: +8.30 % (98 % interval [...]), 12.31 µs → 13.33 µs, compared with ...`.
#[track_caller]
fn sentences_agree(text: &str) -> usize {
    let mut found = 0;
    for part in text.split("regressed: +").skip(1) {
        let said = part
            .split(" %")
            .next()
            .and_then(|text| change(&format!("+{text} %")));
        let (before, after) = part.split_once(" → ").expect("two values");
        let before = before.rsplit(", ").next().and_then(time);
        let after = after.split(',').next().and_then(time);
        agree(
            before.expect("a time"),
            after.expect("a time"),
            said.expect("a change"),
            text,
        );
        found += 1;
    }
    found
}

/// Returns a number of a benchmark from `JUnit`'s properties.
#[track_caller]
fn property(text: &str, id: &str, name: &str) -> f64 {
    let value = text
        .split(&format!("name=\"{id}: {name}\" value=\""))
        .nth(1);
    let value = value.and_then(|rest| rest.split('"').next()?.parse().ok());
    value.unwrap_or_else(|| panic!("no {name} of {id}: {text}"))
}

#[track_caller]
fn junit_agrees(text: &str) -> usize {
    let mut found = 0;
    for line in text.lines().filter(|line| line.contains(": change\"")) {
        let id = line
            .split('"')
            .nth(1)
            .and_then(|name| name.strip_suffix(": change"));
        let number = |name: &str| property(text, id.expect("an id"), name);
        agree(
            number("before_ns"),
            number("after_ns"),
            number("change"),
            text,
        );
        found += 1;
    }
    found
}

#[track_caller]
fn page_agrees(text: &str) -> usize {
    let data = text
        .split("id=\"data\">")
        .nth(1)
        .and_then(|rest| rest.split("</script>").next());
    let data: Value = serde_json::from_str(data.expect("data")).expect("JSON");
    let all = data["benchmarks"].as_array().expect("a list");
    let compared = all
        .iter()
        .map(|one| &one["compared"])
        .filter(|one| !one["change"].is_null());
    compared
        .map(|one| {
            let text = |at: usize| {
                one["values"][1][at]
                    .as_str()
                    .and_then(time)
                    .expect("a time")
            };
            let said = one["change"][0].as_f64().expect("a change");
            agree(text(0), text(1), said, &one.to_string());
        })
        .count()
}

/// Checks the JSON messages, which have all digits.
#[track_caller]
fn messages_agree(finished: &Finished) -> usize {
    let messages = finished.messages("benchmark-compared");
    let judged = messages.iter().filter(|one| !one["change"].is_null());
    judged
        .map(|one| {
            let side = |side: &str| one["compared"][side].as_f64().expect("a value");
            let is = side("candidate") / side("base") - 1.0;
            let said = one["change"]["estimate"].as_f64().expect("a change");
            assert!((is - said).abs() < 1e-12, "{one}");
        })
        .count()
}

/// Checks the columns of a comparison of several runs, in all formats. The value in the first column and the change in another column must give the
/// value in that column. `changes` is the expected number of changes.
#[track_caller]
fn columns_agree(machine: &Machine, words: &[&str], changes: usize) {
    let exact = stored(machine, words).args(["--message-format", "json"]);
    let exact = exact.run();
    let mut found = 0;
    for message in exact.messages("benchmark-columns") {
        let of = |column: usize| &message["columns"][column]["statistics"][0];
        let value = |column: usize| of(column)["value"].as_f64().expect("a value");
        assert_eq!(of(0)["statistic"], "judged", "{message}");
        for column in 1..message["columns"].as_array().expect("a list").len() {
            let is = value(column) / value(0) - 1.0;
            let said = of(column)["worse_by"].as_f64().expect("a change");
            assert!((is - said).abs() < 1e-12, "{message}");
            found += 1;
        }
    }
    assert_eq!(found, changes, "{exact}");
    // In text, a cell looks like `5.50 us *-28.0%*`. Values have four digits and changes two decimals.
    let text = stored(machine, words).run();
    let mut found = 0;
    for line in text
        .stdout
        .lines()
        .filter(|line| line.contains("   0.00%)"))
    {
        let line = line
            .replace(['(', ')', '*', '?', '▲', '▼'], " ")
            .replace('%', " %");
        let words: Vec<&str> = line.split_whitespace().collect();
        let cells = words[1..].chunks(4);
        let cells = cells
            .filter_map(|cell| Some((time(&cell[..2].join(" "))?, change(&cell[2..].join(" ")))));
        let cells: Vec<(f64, Option<f64>)> = cells.collect();
        for (value, said) in cells.iter().skip(1) {
            agree(cells[0].0, *value, said.unwrap_or(0.0), &text.stdout);
            found += 1;
        }
    }
    assert_eq!(found, changes, "{text}");
}

/// Returns flags that write each report, and the HTML page, to a file of its own.
fn reports(directory: &Path) -> Vec<String> {
    fs::create_dir_all(directory).expect("a directory");
    let place = |name: &str| directory.join(name).display().to_string();
    REPORTS
        .iter()
        .flat_map(|kind| ["--report".to_owned(), format!("{kind}={}", place(kind))])
        .chain(["--report".to_owned(), format!("html={}", place("html"))])
        .collect()
}

/// Checks all reports in `directory`. They must have `changes` changes, `regressed` of which are regressions, and each command in them must name the
/// store.
#[track_caller]
fn reports_agree(directory: &Path, store: &Path, changes: usize, regressed: usize) {
    let read = |name: &str| fs::read_to_string(directory.join(name)).expect("a report");
    // A regressed benchmark is in the first table and in the table of all benchmarks.
    assert_eq!(markdown_agrees(&read("markdown")), changes + regressed);
    assert_eq!(junit_agrees(&read("junit")), changes);
    assert_eq!(page_agrees(&read("html")), changes);
    // The JUnit report has each sentence twice: as an attribute and as text.
    for (kind, times) in [("github", 1), ("gitlab", 1), ("junit", 2)] {
        assert_eq!(sentences_agree(&read(kind)), times * regressed, "{kind}");
    }
    for kind in REPORTS.into_iter().chain(["html"]) {
        is_complete(&read(kind), kind, store);
    }
}

/// Asserts that a text with commands that read a store says where the store is.
#[track_caller]
fn is_complete(text: &str, name: &str, store: &Path) {
    let reading = [
        "accept", "compare", "explain", "history", "report", "show", "store",
    ];
    let named = reading
        .iter()
        .find(|word| text.contains(&format!("cargo perfcheck {word}")));
    let place = store.display().to_string();
    if let Some(word) = named {
        assert!(
            text.contains(&place),
            "{name} names `cargo perfcheck {word}` and no store"
        );
    }
}

/// Measures two runs in which one process of `arithmetic` is far below the others, and a third in which all processes are that fast. The medians fall
/// by 39 %; the means of the processes, which are compared, fall by 28 %. `text` takes twice as long.
fn quick_and_slow(machine: &Machine, directory: &Path) -> Finished {
    let first = "arithmetic=5400/9000/9100;memory=100/101/100;text=1000/1010/1000";
    let second = "arithmetic=5410/9010/9110;memory=100/101/100;text=1000/1010/1000";
    let third = "arithmetic=5450/5500/5600;memory=100/101/100;text=2000/2020/2000";
    let run = |script: &str| steady(machine, &[]).env(CLOCK, script);
    run(first).run().expect_code(0);
    run(second).run().expect_code(0);
    run(third)
        .args(reports(directory))
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_STEP_SUMMARY", directory.join("summary"))
        .run()
        .expect_code(1)
}

#[test]
fn the_change_of_stored_runs_is_that_of_the_two_values_beside_it_in_every_output() {
    let machine = Machine::new();
    let directory = machine.home().join("reports");
    let run = quick_and_slow(&machine, &directory);
    // All three benchmarks have a row with a change.
    assert_eq!(table_agrees(&run), 3, "{run}");
    reports_agree(&directory, &machine.store(), 3, 1);
    let summary = fs::read_to_string(directory.join("summary")).expect("a summary");
    assert_eq!(markdown_agrees(&summary), 4);
    is_complete(&summary, "summary", &machine.store());
    // The reference is the mean of two runs, computed from the logarithms of the times of their processes. It is not the median, which is 9 us. The
    // scripted clock adds 0.3 %.
    let junit = fs::read_to_string(directory.join("junit")).expect("a report");
    let base = property(&junit, "arithmetic", "before_ns");
    let processes: [f64; 6] = [5400.0, 9000.0, 9100.0, 5410.0, 9010.0, 9110.0];
    let mean = processes.map(f64::ln).iter().sum::<f64>() / 6.0;
    assert!((base / mean.exp() - 1.0).abs() < 5e-3, "{base}");
    let json = ["--message-format", "json"];
    // `show` prints measured values without changes.
    assert_eq!(table_agrees(&stored(&machine, &["show", "3"]).run()), 0);
    for words in [["compare", "2", "3"], ["compare", "1", "3"]] {
        assert_eq!(
            table_agrees(&stored(&machine, &words).run()),
            3,
            "{words:?}"
        );
        assert_eq!(
            messages_agree(&stored(&machine, &words).args(json).run()),
            3,
            "{words:?}"
        );
    }
    columns_agree(&machine, &["compare", "1", "2", "3"], 6);
    let side_by_side = stored(
        &machine,
        &["compare", "2", "3", "--report", "markdown-table"],
    )
    .run();
    assert_eq!(markdown_agrees(&side_by_side.stdout), 3, "{side_by_side}");
    let csv = stored(&machine, &["compare", "2", "3", "--report", "csv"]).run();
    let rows = csv.stdout.lines().skip(1).map(|line| {
        let cells: Vec<f64> = line
            .split(',')
            .skip(2)
            .take(3)
            .map(|cell| cell.parse().expect("a number"))
            .collect();
        assert!((cells[1] / cells[0] - 1.0 - cells[2]).abs() < 1e-9, "{csv}");
    });
    assert_eq!(rows.count(), 3);
    for format in ["jsonl", "benchstat", "bmf", "csv"] {
        let exported = stored(&machine, &["store", "export", "3", "--format", format])
            .run()
            .expect_code(0);
        is_complete(&exported.stdout, format, &machine.store());
    }
}

/// A benchmark whose fastest samples take 100 ns in the base, while most others take 180 ns. All samples of the candidate are within a hundredth of
/// 130 ns.
const SKEWED: &str = r#"
    suite.bench("cost", |b| {
        let mut sample = 0;
        b.iter_custom(|iterations| {
            sample += 1;
            let slow = if planted::NANOSECONDS == 100 && sample % 3 != 0 { 80 } else { 0 };
            Duration::from_nanos(iterations * (planted::NANOSECONDS + slow) * (1000 + sample % 7) / 1000)
        });
    });
    suite.bench("constant", |b| takes(b, 50));
"#;

#[test]
fn the_change_of_both_sides_side_by_side_is_that_of_the_two_values_beside_it_in_every_output() {
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.add_target("costs");
    project.benchmarks(SKEWED);
    project.commit();
    project.takes(130);
    let directory = machine.home().join("reports");
    let side_by_side = |words: &[&str]| -> Perfcheck {
        let run = project.perfcheck(words);
        run.args([
            "--offline",
            "--seed",
            "7",
            "--measure-identical",
            "--as-built",
        ])
    };
    let run = side_by_side(&["--against", "HEAD"])
        .args(reports(&directory))
        .run();
    let regressed = usize::from(run.stdout.contains("regressed"));
    assert_eq!(table_agrees(&run), 2, "{run}");
    reports_agree(&directory, &machine.store(), 2, regressed);
    assert_eq!(table_agrees(&project.perfcheck(&["show"]).run()), 0);
    // The compared values are the floors (the times of the fastest samples), not the medians; the median of the base is 180 ns.
    let messages = side_by_side(&["--against", "HEAD", "--message-format", "json"]).run();
    assert_eq!(messages_agree(&messages), 2, "{messages}");
    let cost = compared(&messages, "cost");
    let base = cost["compared"]["base"].as_f64().expect("a value");
    assert!((99.0..101.0).contains(&base), "{cost}");
}

/// Writes a table to import and returns its path.
fn table(machine: &Machine, name: &str, at: f64) -> PathBuf {
    let path = machine.home().join(name);
    let rows = (0..60).map(|row| format!("x,{}\n", at + f64::from(row % 7)));
    let text: String = std::iter::once("name,ns\n".to_owned())
        .chain(rows)
        .collect();
    fs::write(&path, text).expect("a file in our own directory");
    path
}

#[test]
fn no_time_has_an_interval_below_zero_and_two_modes_are_named_beside_it() {
    let machine = Machine::new();
    // Three of five processes are near 10 us, the other two near 5.4 us.
    let at = [5_400.0, 10_000.0, 10_010.0, 5_410.0, 10_020.0];
    let files = (0..)
        .zip(at)
        .map(|(process, at)| table(&machine, &format!("{process}.csv"), at));
    let imported = stored(
        &machine,
        &[
            "store",
            "import",
            "--columns",
            "id=name,value=ns",
            "--unit",
            "ns",
        ],
    );
    imported.args(files).run().expect_code(0);
    let shown = stored(
        &machine,
        &["show", "1", "--stats", "--message-format", "json"],
    )
    .run();
    let [statistics] = &shown.messages("benchmark-statistics")[..] else {
        panic!("not one benchmark: {shown}");
    };
    let statistics = &statistics["statistics"];
    for name in ["mean_ns", "median_ns", "mean_over_processes_ns"] {
        let number = |of: &str| statistics[name][of].as_f64().expect("a number");
        let (lower, middle, upper) = (number("lower"), number("estimate"), number("upper"));
        assert!(
            0.0 < lower && lower < middle && middle < upper,
            "{name}: {shown}"
        );
        // The estimate is the geometric center of the interval. The median is an exception: its interval is centered on the mean of the logarithms of
        // the processes' medians.
        assert!(
            name == "median_ns" || (lower * upper / (middle * middle) - 1.0).abs() < 1e-9,
            "{name}: {shown}"
        );
    }
    for words in [&["show", "1"][..], &["show", "1", "--stats"]] {
        let text = stored(&machine, words).run().stdout;
        let said = "the samples form two groups, near 5.408 µs and 10.01 µs, and the interval of the median spans both";
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            text.replace('\u{a0}', " ").contains(said),
            "{words:?}: {text}"
        );
        assert!(!text.contains("[−"), "{text}");
    }
}
