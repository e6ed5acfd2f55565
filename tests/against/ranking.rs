//! `rank`: benchmarks of one build are ordered by their speed, equal ones share a rank, and whatever cannot be ranked is refused.

use serde_json::{Value, json};
use std::fs;

use crate::against::project::Project;
use crate::commands::scripted::CLOCK;
use crate::support::{Finished, Machine, Perfcheck};

/// Prepares a ranking of testbench/steady with scripted times.
fn rank_steady(machine: &Machine, script: &str, words: &[&str]) -> Perfcheck {
    machine
        .perfcheck()
        .args(["rank", "--seed", "7", "-p", "steady"])
        .testbench("")
        .args(words)
        .env(CLOCK, script)
}

/// Returns the id, rank and standing of each benchmark, in the order of the output.
#[track_caller]
fn ranks(finished: &Finished) -> Vec<Value> {
    let rows = finished.messages("benchmark-ranked");
    rows.iter()
        .map(|row| json!([row["benchmark"]["id"], row["rank"], row["standing"]]))
        .collect()
}

/// Returns the message that ends a ranking.
#[track_caller]
fn finish(finished: &Finished) -> Value {
    let mut messages = finished.messages("rank-finished");
    assert_eq!(messages.len(), 1, "{finished}");
    messages.remove(0)
}

#[test]
fn steps_of_two_percent_are_ordered_beside_the_fastest_and_nothing_is_stored() {
    let machine = Machine::new();
    let script = "arithmetic=104.04;memory=100;text=102";
    let words = ["--message-format", "json"];
    let finished = rank_steady(&machine, script, &words).run().expect_code(0);
    assert_eq!(
        ranks(&finished),
        [
            json!(["memory", 1, "reference"]),
            json!(["text", 2, "slower"]),
            json!(["arithmetic", 3, "slower"]),
        ],
        "{finished}"
    );
    let rows = finished.messages("benchmark-ranked");
    let change = rows[1]["change"]["estimate"].as_f64().expect("a number");
    assert!((change - 0.02).abs() < 1e-3, "{finished}");
    assert_eq!(rows[0]["change"], Value::Null);
    let found = finish(&finished);
    assert_eq!(found["groups"][0]["reference"]["id"], "memory");
    assert_eq!(found["groups"][0]["replaced"], Value::Null);
    assert_eq!(found["significance_level"], 0.01);
    assert_eq!(found["exit_code"], 0);
    assert!(!machine.store().exists(), "nothing is stored");
    assert_eq!(machine.left_behind(), [""; 0]);
}

#[test]
fn equal_benchmarks_share_the_first_rank_and_the_table_says_so_in_words() {
    let machine = Machine::new();
    let script = "arithmetic=100;memory=100;text=150";
    let finished = rank_steady(&machine, script, &[]).run().expect_code(0);
    for text in [
        "  arithmetic  ",
        "fastest",
        "about as fast",
        "+50.0 %",
        "slower",
        "The chance that any two equally fast benchmarks are told apart is at most 1 %.",
    ] {
        assert!(
            finished.stdout.contains(text.trim_start()),
            "no {text:?} in {finished}"
        );
    }
    let words = ["--report", "markdown-table"];
    let finished = rank_steady(&machine, script, &words).run().expect_code(0);
    let rows: Vec<&str> = finished.stdout.lines().collect();
    assert!(rows[0].starts_with("| benchmark | rank |"), "{finished}");
    assert!(rows[2].ends_with("| fastest |"), "{finished}");
    assert!(rows[4].starts_with("| text | 3 |"), "{finished}");
}

#[test]
fn a_named_reference_may_be_the_slowest() {
    let machine = Machine::new();
    let script = "arithmetic=100;memory=120;text=110";
    let words = ["--against", "memory", "--message-format", "json"];
    let finished = rank_steady(&machine, script, &words).run().expect_code(0);
    assert_eq!(
        ranks(&finished),
        [
            json!(["arithmetic", 1, "faster"]),
            json!(["text", 2, "faster"]),
            json!(["memory", 3, "reference"]),
        ],
        "{finished}"
    );
}

#[test]
fn benchmarks_in_program_order_are_measured_beside_an_earlier_and_a_later_one() {
    let machine = Machine::new();
    let words = ["-p", "sequential", "--rounds", "20", "--message-format"];
    for (reference, standings) in [
        ("first", ["reference", "slower", "slower"]),
        ("third", ["faster", "faster", "reference"]),
    ] {
        let finished = machine
            .perfcheck()
            .args(["rank", "--against", reference, "--seed", "7"])
            .testbench("")
            .args(words)
            .arg("json")
            .run()
            .expect_code(0);
        // Each benchmark does ten times as much as the one before it.
        let expected = (["first", "second", "third"].iter().zip(1..)).zip(standings);
        let expected: Vec<Value> = expected
            .map(|((id, rank), standing)| json!([id, rank, standing]))
            .collect();
        assert_eq!(ranks(&finished), expected, "{finished}");
    }
}

/// The library of a project whose benchmarks count how often they have started, in a file that the test names.
const COUNTING: &str = r#"
pub fn starts() -> u64 {
    use std::io::Write;
    let path = std::env::var_os("STARTS").expect("named by the test");
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    let mut file = file.expect("a file of the test");
    file.write_all(b"x").expect("written");
    file.metadata().expect("there").len()
}
"#;

#[test]
fn a_benchmark_that_proves_faster_becomes_the_reference_of_a_second_measurement() {
    let machine = Machine::new();
    // The first look has three rounds, in which `early` is the faster one.
    let project = Project::of(
        &machine,
        COUNTING,
        r#"
    suite.bench("early", |b| takes(b, if planted::starts() > 3 { 110 } else { 90 }));
    suite.bench("late", |b| takes(b, 100));
"#,
    );
    let starts = machine.home().join("starts");
    let finished = project.measure(&["rank"]).env("STARTS", &starts).run();
    let finished = finished.expect_code(0);
    assert_eq!(
        ranks(&finished),
        [
            json!(["late", 1, "reference"]),
            json!(["early", 2, "slower"])
        ],
        "{finished}"
    );
    let group = &finish(&finished)["groups"][0];
    assert_eq!(group["replaced"]["id"], "early", "{finished}");
    assert_eq!(group["reference"]["id"], "late");
}

#[test]
fn parts_of_ids_form_groups_that_are_ranked_apart_in_varying_layouts() {
    let machine = Machine::new();
    let project = Project::of(
        &machine,
        "",
        r#"
    suite.bench("parse/one/10", |b| takes(b, 100));
    suite.bench("parse/two/10", |b| takes(b, 105));
    suite.bench("parse/one/200", |b| takes(b, 3_000));
    suite.bench("parse/two/200", |b| takes(b, 2_000));
    suite.bench("write/one/10", |b| takes(b, 10));
    suite.bench("whole", |b| takes(b, 10));
"#,
    );
    let finished = project
        .measure_in_layouts(&["rank", "--by", "2"])
        .run()
        .expect_code(0);
    assert_eq!(
        ranks(&finished),
        [
            json!(["parse/one/10", 1, "reference"]),
            json!(["parse/two/10", 2, "slower"]),
            json!(["parse/two/200", 1, "reference"]),
            json!(["parse/one/200", 2, "slower"]),
        ],
        "{finished}"
    );
    let rows = finished.messages("benchmark-ranked");
    assert_eq!(rows[0]["group"], "parse/*/10");
    assert_eq!(rows[1]["label"], "two");
    let found = finish(&finished);
    assert_eq!(found["left_out"], 2, "{finished}");
    if found["remarks"] == json!([]) {
        assert_eq!(rows[1]["layouts"], rows[1]["rounds"], "{finished}");
    }
    // The label names the reference of each group.
    let words = ["rank", "parse/*", "--by", "function", "--against", "two"];
    let finished = project.measure(&words).run().expect_code(0);
    let groups = &finish(&finished)["groups"];
    for (place, id) in ["parse/two/10", "parse/two/200"].iter().enumerate() {
        assert_eq!(groups[place]["reference"]["id"], *id, "{finished}");
    }
}

#[test]
fn programs_of_one_binary_are_ranked() {
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.write(
        "src/main.rs",
        "fn main() {\n    let time = std::env::args().nth(1).and_then(|text| text.parse().ok());\n    \
         std::thread::sleep(std::time::Duration::from_millis(time.unwrap_or(0)));\n}\n",
    );
    project.commit();
    let quick = "planted 0 <b>";
    let programs = ["rank", "--program", "planted 30", "--program", quick];
    let finished = project.measure(&programs).run().expect_code(0);
    assert_eq!(
        ranks(&finished),
        [
            json!([quick, 1, "reference"]),
            json!(["planted 30", 2, "slower"])
        ],
        "{finished}"
    );
    let start_up = &finish(&finished)["groups"][0]["start_up_ns"];
    assert!(start_up.as_f64() > Some(0.0), "{finished}");
    let page = machine.home().join("ranks.html");
    let html = format!("html={}", page.display());
    let finished = project
        .perfcheck(&programs)
        .args(["--against", "planted 30", "--offline", "--as-built"])
        .args(["--report", &html])
        .run()
        .expect_code(0);
    let page = fs::read_to_string(page).expect("a page");
    // Both show the sentence, and the page escapes the name in it.
    for (text, id) in [(&finished.stdout, quick), (&page, "planted 0 &lt;b&gt;")] {
        let named = text.lines().find(|line| line.contains("empty program"));
        let said = named.unwrap_or_else(|| panic!("no start-up in {text}"));
        assert!(said.contains(&format!("`{id}`: of ")), "{said}");
        assert!(said.contains("It is not subtracted."), "{said}");
    }
    assert!(!page.contains("<b>"), "{page}");
}

#[test]
fn a_page_has_the_table_and_a_plot_of_the_intervals() {
    let machine = Machine::new();
    let script = "arithmetic=100;memory=100;text=150";
    let html = format!("html={}/", machine.home().join("public").display());
    let finished = rank_steady(&machine, script, &["--report", &html]).run();
    let finished = finished.expect_code(0);
    assert!(finished.stdout.contains("about as fast"), "{finished}");
    let page = machine.home().join("public").join("index.html");
    let page = fs::read_to_string(page).expect("a page");
    for id in ["arithmetic", "memory", "text"] {
        let cell = format!("<th scope=\"row\">{id}</th>");
        assert!(page.contains(&cell), "no {id} in {page}");
    }
    for text in [
        "<td class=\"number\">+50.0 %</td>",
        "<td class=\"regressed\">slower</td>",
        "<td class=\"improved\">fastest</td>",
        "<p>The chance that any two equally fast benchmarks are told apart is at most 1 %.</p>",
    ] {
        assert!(page.contains(text), "no {text} in {page}");
    }
    assert_eq!(page.matches("<circle").count(), 3, "a dot each: {page}");
    // Nothing but the page goes to stdout if it has no file.
    let finished = rank_steady(&machine, script, &["--report", "html"]).run();
    let finished = finished.expect_code(0);
    assert!(finished.stdout.starts_with("<!doctype html>"), "{finished}");
    assert!(finished.stdout.ends_with("</html>\n"), "{finished}");
}

/// Benchmarks of which some decline or fail. With as many iterations as `quick`, a sample of `slow` would take 10 s.
const UNRELIABLE: &str = r#"
    suite.bench("declines", |b| b.skip("needs a quantum computer"));
    suite.bench("broken", |_| panic!("on purpose"));
    suite.bench("slow", |b| b.iter_custom(|iterations| {
        assert!(iterations < 10, "{iterations} iterations of 20 ms");
        Duration::from_millis(20 * iterations)
    }));
    suite.bench("quick", |b| takes(b, 1_000));
    suite.bench("flaky", |b| {
        assert!(planted::starts() < 2, "it worked once");
        takes(b, 1_000);
    });
"#;

#[test]
fn benchmarks_that_fail_or_decline_are_last_and_those_of_any_speed_are_ranked() {
    let machine = Machine::new();
    let project = Project::of(&machine, COUNTING, UNRELIABLE);
    let rank = |words: &[&str], starts: &str| {
        let starts = machine.home().join(starts);
        let call = project.measure(&["rank"]).args(words);
        call.env("STARTS", starts).run()
    };
    // The first two cannot be the reference of the first look.
    let page = machine.home().join("ranks.html");
    let html = format!("html={}", page.display());
    let finished = rank(&["--report", &html], "all").expect_code(4);
    assert_eq!(
        ranks(&finished),
        [
            json!(["quick", 1, "reference"]),
            json!(["slow", 2, "slower"]),
            json!(["declines", null, "skipped"]),
            json!(["broken", null, "failed"]),
            json!(["flaky", null, "failed"]),
        ],
        "{finished}"
    );
    let page = fs::read_to_string(page).expect("a page");
    for text in [
        "`declines` was skipped: needs a quantum",
        "on purpose",
        "it worked once",
    ] {
        assert!(page.contains(text), "no {text} in {page}");
    }

    // A benchmark that fails after its first round is not ranked by that round.
    let finished = rank(&["flaky", "quick", "--against", "quick"], "two").expect_code(4);
    let failed = json!(["flaky", null, "failed"]);
    assert_eq!(ranks(&finished)[1], failed, "{finished}");
    let failure = finished.messages("benchmark-ranked")[1]["failure"].to_string();
    assert!(failure.contains("it worked once"), "{finished}");

    // Nothing failed, so nothing is wrong.
    for (words, reference) in [
        (&["declines", "quick"][..], "reference"),
        (
            &["declines", "quick", "--against", "declines"][..],
            "skipped",
        ),
    ] {
        let finished = rank(words, "none").expect_code(0);
        let rows = finished.messages("benchmark-ranked");
        for row in &rows {
            let reason = match row["benchmark"]["id"].as_str() {
                Some("declines") => json!("needs a quantum computer"),
                _ => Value::Null,
            };
            assert_eq!(row["skipped"], reason, "{finished}");
            assert_eq!(row["rank"], Value::Null, "{finished}");
        }
        assert_eq!(rows[0]["standing"], reference, "{finished}");
        assert_eq!(rows[1]["standing"], "skipped", "{finished}");
    }
}

#[test]
fn a_ranking_without_rivals_or_of_unknown_parts_is_wrong_usage() {
    let machine = Machine::new();
    for (words, said) in [
        ("memory", "a ranking needs at least two benchmarks"),
        (
            "--by 2",
            "no two of the selected benchmarks differ only in function",
        ),
        ("--by run", "does not distinguish benchmarks of one build"),
        ("--by speed", "group (first part of an id)"),
        (
            "--against nobody",
            "none of the selected benchmarks is called `nobody`",
        ),
        ("--report junit=x.xml", "a ranking has no verdicts"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        rank_steady(&machine, "", &words)
            .run()
            .expect_code(2)
            .expect_stderr(&[said]);
    }
    rank_steady(&machine, "", &["nothing-like-it"])
        .run()
        .expect_code(4)
        .expect_stderr(&["no benchmark whose id contains `nothing-like-it`"]);
}
