//! `compare A B C ...`: several runs in columns as text, Markdown, CSV and messages, and the exit status of the whole comparison.

use serde_json::Value;
use std::fs;

use crate::commands::crates::Crate;
use crate::commands::scripted::{CLOCK, steady, stored};
use crate::support::{Finished, Machine};

/// Flags for six processes that take hardly any time.
const QUICK: [&str; 8] = [
    "--rounds",
    "6",
    "--warm-up-time",
    "1ms",
    "--measurement-time",
    "5ms",
    "--resamples",
    "1000",
];

/// Measures the runs `main`, `slow` (with a slower `memory`) and `fast` (with a faster `arithmetic`).
fn three_runs(machine: &Machine) {
    for (name, changed, code) in [
        ("main", &[][..], 0),
        ("slow", &[("memory", 200.0)], 1),
        ("fast", &[("arithmetic", 50.0)], 0),
    ] {
        let run = steady(machine, changed).args(["--baseline", "main"]);
        let run = if name == "main" {
            steady(machine, changed)
        } else {
            run
        };
        run.args(["--save-baseline", name]).run().expect_code(code);
    }
}

fn compare(machine: &Machine, words: &str) -> Finished {
    stored(machine, &["compare"]).args(words.split(' ')).run()
}

/// Returns the message about the benchmark `id`, which has one entry per column.
#[track_caller]
fn about(finished: &Finished, id: &str) -> Value {
    let messages = finished.messages("benchmark-columns");
    let found = messages
        .into_iter()
        .find(|message| message["benchmark"]["id"] == id);
    found.unwrap_or_else(|| panic!("nothing about {id:?}:\n{finished}"))
}

#[test]
fn m1_m6_every_run_has_a_column_and_what_differs_has_stars() {
    let machine = Machine::new();
    three_runs(&machine);
    let found = compare(&machine, "main slow fast").expect_code(1);
    let expected = "
steady/steady                  main                  slow                  fast
                              run 1                 run 2                 run 3
  arithmetic    100.6 ns (   0.00%)  100.6 ns (   0.00%)   50.32 ns * −50.00%*▼
  memory        100.6 ns (   0.00%)  201.3 ns *+100.00%*▲  100.6 ns (   0.00%)
  text          100.6 ns (   0.00%)  100.6 ns (   0.00%)   100.6 ns (   0.00%)
geometric mean    1.0000 (   0.00%)    1.2599 ( +25.99%)     0.7937 ( −20.63%)
";
    assert!(
        format!("\n{}", found.stdout).starts_with(expected),
        "{found}"
    );
    let text = found
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    for words in [
        "+ is worse",
        "at most 1 % chance of any false alarm in each column",
        "slow (run 2): 1 regressed",
    ] {
        assert!(text.contains(words), "{found}");
    }
}

#[test]
fn each_column_says_what_a_comparison_of_it_alone_says() {
    let machine = Machine::new();
    three_runs(&machine);
    let together = compare(&machine, "main slow fast --message-format json").expect_code(1);
    for (column, name) in [(1, "slow"), (2, "fast")] {
        let alone = compare(&machine, &format!("main {name} --message-format json"));
        for message in alone.messages("benchmark-compared") {
            let id = message["benchmark"]["id"].as_str().expect("an id");
            let line = about(&together, id);
            for member in ["verdict", "change", "p_value"] {
                assert_eq!(line["columns"][column][member], message[member], "{line}");
            }
        }
    }
    let finished = &together.messages("columns-finished")[0];
    assert_eq!(finished["exit_code"], 1);
    assert_eq!(finished["columns"][1]["verdicts"]["regressed"], 1);
    assert_eq!(finished["columns"][2]["verdicts"]["improved"], 1);
    assert!(finished["columns"][0]["geometric_mean"].is_null());
}

#[test]
fn a_regression_in_any_column_fails() {
    let machine = Machine::new();
    three_runs(&machine);
    compare(&machine, "main fast slow").expect_code(1);
    compare(&machine, "main slow fast").expect_code(1);
    compare(&machine, "main fast slow --filter text").expect_code(0);
    compare(&machine, "main slow fast --fail-on none").expect_code(0);
    compare(&machine, "slow main fast").expect_code(0);
    compare(&machine, "slow main fast --fail-on improved").expect_code(1);
}

#[test]
fn m3_m4_m7_m_x6_all_statistics_stand_in_a_block_and_the_mean_has_the_stars() {
    let machine = Machine::new();
    three_runs(&machine);
    let found = compare(&machine, "main slow --statistic all --filter memory").expect_code(1);
    for label in [
        "Min",
        "Amean",
        "Stddev",
        "ProcessSD",
        "CoeffVar",
        "Max",
        "BAmean-50",
        "BAmean-95",
        "BAmean-99",
        "Pctile-50",
        "Pctile-95",
        "Pctile-99",
        "SubAmean",
        "SubAmeanCI",
    ] {
        let lines: Vec<&str> = found
            .stdout
            .lines()
            .filter(|line| line.split_whitespace().next() == Some(label))
            .collect();
        assert_eq!(lines.len(), 1, "{label}: {found}");
        assert_eq!(lines[0].contains('*'), label == "Amean", "{found}");
    }
}

#[test]
fn m8_m9_m10_m11_m_x5_m_x7_a_statistic_is_chosen_by_name_and_is_of_the_stored_samples() {
    let machine = Machine::new();
    three_runs(&machine);
    let samples = stored(&machine, &["show", "1", "--message-format", "json"]).run();
    let measured = samples.messages("benchmark-measured");
    let text = measured
        .iter()
        .find(|message| message["benchmark"]["id"] == "text");
    let processes: Vec<Vec<f64>> = text.expect("measured")["processes"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|process| {
            let list = |name: &str| process["flat"][name].as_array().expect("a list").clone();
            let (elapsed, iterations) = (list("elapsed_ns"), list("iterations"));
            let numbers = elapsed.iter().zip(&iterations);
            numbers
                .map(|(time, count)| time.as_f64().unwrap() / count.as_f64().unwrap())
                .collect()
        })
        .collect();
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let means: Vec<f64> = processes.iter().map(|process| mean(process)).collect();
    let squares: f64 = means.iter().map(|x| (x - mean(&means)).powi(2)).sum();
    let mut all: Vec<f64> = processes.into_iter().flatten().collect();
    all.sort_by(f64::total_cmp);
    let rank = |percent: usize| all[(all.len() * percent).div_ceil(100).max(1) - 1];
    for (word, expected) in [
        ("mean", mean(&means)),
        (
            "process-std-dev",
            (squares / (means.len() - 1) as f64).sqrt(),
        ),
        // All samples of a scripted process are nearly equal, so these statistics equal the mean, too.
        ("subselection", mean(&means)),
        ("subselection-replaced", mean(&means)),
        ("p95", rank(95)),
        ("p10", rank(10)),
        ("min", all[0]),
        ("max", all[all.len() - 1]),
        ("best-95", mean(&all[..(all.len() * 95 / 100).max(1)])),
    ] {
        let words = format!("main fast --statistic {word} --message-format json");
        let statistic =
            about(&compare(&machine, &words), "text")["columns"][0]["statistics"][0].clone();
        assert_eq!(statistic["statistic"], word);
        let value = statistic["value"].as_f64().expect("a number");
        assert!(
            (value - expected).abs() / expected < 1e-9,
            "{word}: {value} is not {expected}"
        );
    }
}

#[test]
fn m_x11_the_geometric_mean_leaves_out_what_has_no_ratio_and_says_so() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a", "b", "c"], "");
    made.measure(&machine, &["a", "b", "c"], &[])
        .run()
        .expect_code(0);
    made.list(&["a", "b", "d"]);
    made.measure(&machine, &["b", "d"], &[("a", 400.0)])
        .run()
        .expect_code(1);
    let compare = |more: &[&str]| {
        let words = [&["compare", "1", "2", "--statistic", "mean"], more].concat();
        made.perfcheck(&machine, &words).run().expect_code(1)
    };
    let text = compare(&[]);
    assert!(text.stdout.contains("covers 2 of 4 benchmarks"), "{text}");
    let row = text
        .stdout
        .lines()
        .find(|line| line.starts_with("  c"))
        .expect("a row");
    assert!(row.trim_end().ends_with('-'), "{text}");
    let json = compare(&["--message-format", "json"]);
    let finished = &json.messages("columns-finished")[0];
    let mean = &finished["columns"][1]["geometric_mean"];
    assert_eq!((&mean["used"], &mean["excluded"]), (&2.into(), &2.into()));
    let values = about(&json, "a")["columns"].clone();
    let value = |at: usize| values[at]["statistics"][0]["value"].as_f64().unwrap();
    let ratio = mean["ratio"].as_f64().unwrap();
    assert!(
        (ratio - (value(1) / value(0)).sqrt()).abs() < 1e-9,
        "{finished}"
    );
}

#[test]
fn m12_m_x12_only_what_differs_is_named_and_the_incomparable_is_marked() {
    let machine = Machine::new();
    three_runs(&machine);
    let dev = steady(&machine, &[("text", 200.0)]);
    dev.args(["--profile", "dev", "--save-baseline", "dev"])
        .run()
        .expect_code(0);
    let found = compare(&machine, "main dev fast --statistic median").expect_code(6);
    assert!(
        found
            .stdout
            .contains("not comparable: profile bench->dev in dev"),
        "{found}"
    );
    for fact in ["rustc", "cpu", "kernel", "governor"] {
        assert!(!found.stdout.contains(&format!("{fact} ")), "{found}");
    }
    let row = found
        .stdout
        .lines()
        .find(|line| line.starts_with("  text"))
        .expect("a row");
    assert!(row.contains("200.6 ns (     n/c)"), "{found}");
    let allowed = compare(&machine, "main dev fast --allow-different profile").expect_code(1);
    assert!(
        allowed
            .stdout
            .contains("environment differs: profile bench->dev in dev"),
        "{allowed}"
    );
}

#[test]
fn the_worst_come_first_if_they_are_asked_to() {
    let machine = Machine::new();
    three_runs(&machine);
    let found = compare(
        &machine,
        "main slow fast --sort worst --message-format json",
    );
    let ids: Vec<Value> = found
        .messages("benchmark-columns")
        .iter()
        .map(|message| message["benchmark"]["id"].clone())
        .collect();
    assert_eq!(ids[0], "memory");
}

#[test]
fn a_run_twice_and_two_forms_at_once_are_wrong_use() {
    let machine = Machine::new();
    three_runs(&machine);
    compare(&machine, "main slow main")
        .expect_code(2)
        .expect_stderr(&["the same run (1)"]);
    compare(&machine, "main slow slow")
        .expect_code(2)
        .expect_stderr(&["the same run (2)"]);
    compare(&machine, "main slow --report csv --message-format json")
        .expect_code(2)
        .expect_stderr(&["both written to stdout"]);
    compare(&machine, "main slow --statistic average")
        .expect_code(2)
        .expect_stderr(&["`average` is not a statistic", "best-95"]);
}

#[test]
fn columns_go_into_files_as_csv_and_markdown() {
    let machine = Machine::new();
    three_runs(&machine);
    let file = machine.home().join("columns.csv");
    let path = file.to_str().expect("a path");
    let words = format!("main slow fast --statistic median --color always --report csv={path}");
    let shown = compare(&machine, &words).expect_code(1);
    assert!(shown.stdout.contains("memory"), "{shown}");
    let text = fs::read_to_string(&file).expect("written");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[0].starts_with(
        "package,target,id,statistic,unit,main (run 1),slow (run 2),slow (run 2) worse by,"
    ));
    assert!(
        lines[2].starts_with("steady,steady,memory,median,ns,100.3,200.6,1,regressed,"),
        "{text}"
    );
    let markdown = compare(&machine, "main slow fast --report markdown-table").expect_code(1);
    assert!(
        markdown.stdout.contains("| steady/steady memory | 100.6 ns (0.00%) | 201.3 ns \\*+100.00%\\*▲ | 100.6 ns (0.00%) |"),
        "{markdown}"
    );
    let dash = compare(&machine, "main slow fast --report markdown-table=-").expect_code(1);
    assert_eq!(dash.stdout, markdown.stdout);
    let plain = machine.home().join("plain.txt");
    let words = format!("main slow --color always --report text={}", plain.display());
    compare(&machine, &words).expect_code(1);
    let plain = fs::read_to_string(plain).expect("written");
    assert!(
        plain.contains("regressed") && !plain.contains('\u{1b}'),
        "{plain}"
    );
}

#[test]
fn s17_s18_s20_two_versions_are_a_table_of_changes_adjusted_p_and_effect_sizes() {
    let machine = Machine::new();
    three_runs(&machine);
    let found = compare(&machine, "main slow --report markdown-table").expect_code(1);
    let row = found
        .stdout
        .lines()
        .find(|line| line.contains(" memory "))
        .expect("a row");
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    assert_eq!(cells[2], "regressed");
    assert_eq!((cells[5], cells[9]), ("+100 %", "+1.000 large"), "{row}");
    assert!(cells[10].parse::<f64>().is_ok_and(|g| g > 1.0), "{row}");
    assert!(found.stdout.contains("(Holm)"), "{found}");
    // The table shows the same p-values as the messages. Both are adjusted for the number of benchmarks.
    let csv = compare(&machine, "main slow --report csv").expect_code(1);
    let json = compare(&machine, "main slow --message-format json");
    for message in json.messages("benchmark-compared") {
        let id = message["benchmark"]["id"].as_str().expect("an id");
        let row = csv
            .stdout
            .lines()
            .find(|line| line.contains(&format!(" {id},")))
            .expect("a row");
        let p: f64 = row
            .split(',')
            .nth(7)
            .expect("a cell")
            .parse()
            .expect("a number");
        assert_eq!(Some(p), message["p_value"].as_f64(), "{row}");
    }
}

#[test]
fn n_x10_behind_a_test_of_all_runs_together_no_single_difference_counts() {
    let machine = Machine::new();
    // Six processes, each 1 ns slower than the one before; `first` is the time of the first.
    let run = |first: f64, name: &str| {
        let times: Vec<String> = (0..6).map(|i| (first + f64::from(i)).to_string()).collect();
        let run = machine.perfcheck().testbench("").args(QUICK);
        let run = run.args(["-p", "steady", "text", "--fail-on", "none"]);
        let run = run.args(["--save-baseline", name]);
        let run = run.env(CLOCK, format!("text={}", times.join("/")));
        run.run().expect_code(0);
    };
    let kruskal = "--test kruskal --noise-threshold 0.01% --message-format json";
    let judged = |words: &str| about(&compare(&machine, &format!("{words} {kruskal}")), "text");
    for (first, name) in [
        (100.0, "main"),
        (103.5, "slow"),
        (101.25, "a"),
        (101.55, "b"),
    ] {
        run(first, name);
    }
    let alone = compare(&machine, &format!("main slow {kruskal}")).expect_code(1);
    assert_eq!(
        alone.messages("benchmark-compared")[0]["verdict"],
        "regressed"
    );
    // scipy.stats.kruskal(main, slow, a, b) gives this p-value. For `main` and `slow` alone, p would be 0.0163.
    let closed = judged("main slow a b");
    let p = closed["gate"]["p_value"].as_f64().expect("a number");
    assert!((p - 0.058_074_570_476_566).abs() < 1e-9, "{closed}");
    assert_eq!(closed["gate"]["open"], false);
    for column in [1, 2, 3] {
        assert_eq!(closed["columns"][column]["p_value"], 1.0, "{closed}");
        assert_eq!(closed["columns"][column]["verdict"], "inconclusive");
    }
    let text = compare(&machine, "main slow a b --test kruskal").expect_code(0);
    assert!(text.stdout.contains("Kruskal-Wallis"), "{text}");
    let open = judged("main slow a");
    assert_eq!(open["gate"]["open"], true);
    assert_eq!(open["columns"][1]["verdict"], "regressed");
    // The exact p-value of scipy.stats.mannwhitneyu(slow, main) is 14/924. With `a` instead of `slow`, it is 222/924. Holm's procedure doubles the
    // smaller one.
    for (column, expected) in [(1, 28.0 / 924.0), (2, 222.0 / 924.0)] {
        let p = open["columns"][column]["p_value"].as_f64().expect("a p");
        assert!((p - expected).abs() < 1e-12, "{open}");
    }
}

#[test]
fn rules_of_fail_hold_for_every_column() {
    let machine = Machine::new();
    three_runs(&machine);
    let broken =
        compare(&machine, "main slow fast --fail-on none --limit median:5%").expect_code(1);
    assert!(broken.stdout.contains("median:5%"), "{broken}");
    compare(
        &machine,
        "main slow fast --fail-on none --limit median:300%",
    )
    .expect_code(0);
    let words = "main slow fast --fail-on none --limit median:5% --message-format json";
    let json = compare(&machine, words).expect_code(1);
    let exceeded = json.messages("limit-exceeded");
    assert_eq!(exceeded.len(), 1, "{json}");
    assert_eq!(
        (&exceeded[0]["run"], &exceeded[0]["benchmark"]["id"]),
        (&2.into(), &"memory".into())
    );
}
