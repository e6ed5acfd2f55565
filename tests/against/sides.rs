//! Failures on one side, sides that cannot run at the same time, and sides that announce their benchmarks differently.

use perfcheck_analysis::model::RunId;
use perfcheck_store::Store;
use serde_json::Value;
use std::fs;

use crate::against::project::{Project, compared, holding_a_lock, remarks};
use crate::commands::scripted::{QUICK, finish, verdict, verdicts};
use crate::support::{Finished, Machine, testbench};

/// Creates a project in which the library determines what the benchmark `odd` does. The bench declares `odd` between two ordinary benchmarks.
fn with_odd<'m>(machine: &'m Machine, base: &str, candidate: &str) -> Project<'m> {
    let project = Project::without_benches(machine);
    project.add_target("costs");
    project.benchmarks(
        r#"
        planted::at_start();
        suite.bench("before", |b| takes(b, 2 * planted::NANOSECONDS));
        suite.bench("odd", |b| b.iter(planted::odd));
        suite.bench("after", |b| takes(b, planted::NANOSECONDS));
        "#,
    );
    project.write("src/lib.rs", &library(100, base));
    project.commit();
    project.write("src/lib.rs", &library(200, candidate));
    project
}

fn library(nanoseconds: u64, functions: &str) -> String {
    let start = if functions.contains("fn at_start") {
        ""
    } else {
        "pub fn at_start() {}\n"
    };
    let odd = if functions.contains("fn odd") {
        ""
    } else {
        "pub fn odd() {}\n"
    };
    format!("pub const NANOSECONDS: u64 = {nanoseconds};\n{start}{odd}{functions}\n")
}

const PANICS: &str = "pub fn odd() { panic!(\"out of luck\"); }";
const HANGS: &str = "pub fn odd() { std::thread::sleep(std::time::Duration::from_secs(900)); }";
const DIES: &str = "pub fn odd() { std::process::exit(7); }";
const DIES_AT_START: &str = "pub fn at_start() { std::process::exit(5); }";

/// A short deadline, for sides that never answer.
const DEADLINE: &[&str] = &["--timeout", "1s"];

/// Returns the messages of all failures that were stored for the benchmark `odd`.
fn failures(run: &Finished) -> String {
    let measured = run.messages("benchmark-measured");
    let odd = measured
        .iter()
        .find(|message| message["benchmark"]["id"] == "odd");
    odd.map_or(Value::Null, |message| message["failures"].clone())
        .to_string()
}

#[track_caller]
fn fails_alone(base: &str, candidate: &str, words: &[&str], text: &str) -> Finished {
    let machine = Machine::new();
    let project = with_odd(&machine, base, candidate);
    let run = project.measure(&["--against", "HEAD"]).args(words).run();
    for id in ["before", "after"] {
        assert_eq!(verdict(&run, id), "regressed", "{run}");
    }
    let run = if base.is_empty() {
        assert_eq!(verdict(&run, "odd"), "failed", "{run}");
        run.expect_code(4)
    } else {
        // A benchmark that failed only in the reference does not fail the run.
        assert_eq!(verdict(&run, "odd"), "new", "{run}");
        assert!(
            remarks(&run, "odd").contains("the benchmark fails in the reference"),
            "{run}"
        );
        run.expect_code(1)
    };
    assert!(failures(&run).contains(text), "{run}");
    let side = if base.is_empty() { "candidate" } else { "base" };
    let side = format!(r#""side":"{side}""#);
    assert!(failures(&run).contains(&side), "{run}");
    assert_eq!(machine.left_behind(), [""; 0]);
    run
}

#[test]
fn a_candidate_that_panics_fails_and_the_other_benchmarks_get_their_verdicts() {
    fails_alone("", PANICS, &[], "out of luck");
}

#[test]
fn a_reference_that_panics_is_told_apart_from_a_candidate_that_does() {
    fails_alone(PANICS, "", &[], "out of luck");
}

#[test]
fn a_side_that_hangs_fails_after_the_deadline() {
    // Run both tests at the same time, because they only wait.
    std::thread::scope(|scope| {
        scope.spawn(|| fails_alone("", HANGS, DEADLINE, "no answer"));
        fails_alone(HANGS, "", DEADLINE, "no answer");
    });
}

#[test]
fn a_side_that_dies_fails() {
    fails_alone("", DIES, &[], "exit status 7");
    fails_alone(DIES, "", &[], "exit status 7");
}

#[test]
fn a_benchmark_that_both_sides_refuse_does_not_keep_the_others_from_a_verdict() {
    let machine = Machine::new();
    let project = with_odd(&machine, "", "");
    project.benchmarks(
        r#"
        planted::at_start();
        suite.bench("before", |b| takes(b, 2 * planted::NANOSECONDS));
        suite.bench("x".repeat(2_000), |b| b.iter(planted::odd));
        "#,
    );
    project.write("src/lib.rs", &library(100, ""));
    project.commit();
    project.write("src/lib.rs", &library(200, ""));
    let run = project.measure(&["--against", "HEAD"]).run().expect_code(4);
    assert_eq!(verdict(&run, "before"), "regressed", "{run}");
    assert!(run.stderr.contains("its id has 2000 bytes"), "{run}");
    // With a filter, the same error occurs, although the code is the same on both sides.
    project.commit();
    project.write("src/lib.rs", &format!("// The same.\n{}", library(200, "")));
    let run = project
        .measure(&["--against", "HEAD", "before"])
        .run()
        .expect_code(4);
    assert_eq!(verdict(&run, "before"), "unchanged", "{run}");
}

#[test]
fn a_reference_that_dies_at_start_leaves_nothing_to_compare_its_target_with() {
    let machine = Machine::new();
    let project = with_odd(&machine, DIES_AT_START, "");
    let run = project
        .measure(&["--against", "HEAD"])
        .run()
        .expect_code(6)
        .expect_stderr(&["exit status 5", "of package `planted` in `HEAD` (commit "]);
    assert_eq!(
        run.stderr.matches("error: bench target").count(),
        1,
        "{run}"
    );
    for id in ["before", "odd", "after"] {
        assert_eq!(verdict(&run, id), "new", "{run}");
        assert!(remarks(&run, id).contains("the reference's bench target"));
    }
}

#[test]
fn a_target_that_fails_alike_on_both_sides_is_told_of_once() {
    let machine = Machine::new();
    let project = with_odd(&machine, DIES_AT_START, DIES_AT_START);
    let run = project.measure(&["--against", "HEAD"]).run().expect_code(4);
    assert_eq!(
        run.stderr.matches("error: bench target").count(),
        1,
        "{run}"
    );
    assert!(!run.stderr.contains("of package `planted` in"), "{run}");
}

#[test]
fn a_candidate_that_dies_at_start_leaves_the_other_targets_their_verdicts() {
    let machine = Machine::new();
    let project = with_odd(&machine, "", "");
    project.add_target("well");
    project.write(
        "benches/well.rs",
        "fn well(suite: &mut perfcheck::Suite) {\n    suite.bench(\"well\", |b| b.iter_custom(|n| \
         std::time::Duration::from_nanos(n * planted::NANOSECONDS)));\n}\n\nperfcheck::main!(well);\n",
    );
    project.write("src/lib.rs", &library(100, ""));
    project.commit();
    project.write("src/lib.rs", &library(200, DIES_AT_START));
    let run = project
        .measure(&["--against", "HEAD"])
        .run()
        .expect_code(4)
        .expect_stderr(&["exit status 5"]);
    assert_eq!(verdict(&run, "well"), "regressed", "{run}");
    for id in ["before", "odd", "after"] {
        assert_eq!(verdict(&run, id), "failed", "{run}");
    }
}

#[test]
fn why_a_benchmark_was_skipped_is_in_every_report() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.measure(&QUICK).run().expect_code(0);
    project.benchmarks(
        r#"
        suite.bench("cost", |b| takes(b, planted::NANOSECONDS));
        suite.bench("constant", |b| b.skip("no <quantum> computer"));
    "#,
    );
    let file = |name: &str| machine.home().join(name).to_str().expect("text").to_owned();
    let [junit, page, markdown] = ["j.xml", "page.html", "m.md"].map(file);
    let reports = [
        format!("junit={junit}"),
        format!("html={page}"),
        format!("markdown={markdown}"),
    ];
    // Measure side by side, and compare with stored numbers.
    for words in [&[][..], &["--no-rerun"]] {
        let run = project.measure(words).args(QUICK);
        let run = run.args(reports.iter().flat_map(|kind| ["--report", kind]));
        let run = run.run().expect_code(0);
        let said = verdicts(&run);
        assert_eq!(said.len(), 1, "neither missing nor new: {said:?}");
        let remarks = finish(&run)["remarks"].to_string();
        assert!(remarks.contains("no <quantum> computer"), "{remarks}");
        let table = project.perfcheck(words).args(QUICK).arg("--offline").run();
        let table = table.expect_code(0);
        let read = |path: &str| fs::read_to_string(path).expect("written");
        for text in [read(&page), read(&markdown), table.stdout] {
            assert!(
                text.contains("constant") && text.contains("quantum"),
                "{text}"
            );
        }
        let cases = read(&junit);
        let case = "<testcase name=\"constant\" classname=\"planted.costs\" time=\"0.000\">\n      <skipped type=\"skipped\" message=\"no &lt;quantum&gt; computer\">";
        assert!(
            cases.contains(case) && cases.contains("tests=\"2\""),
            "{cases}"
        );
    }
}

#[test]
fn what_was_skipped_is_not_unchanged_where_the_code_is_the_same() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.benchmarks(
        r#"
        suite.bench("cost", |b| takes(b, planted::NANOSECONDS));
        suite.bench("constant", |b| b.skip("no quantum computer"));
    "#,
    );
    project.measure(&QUICK).run().expect_code(0);
    for _ in 0..2 {
        let run = project.measure(&QUICK).run().expect_code(0);
        let said = verdicts(&run);
        assert_eq!(said.len(), 1, "{run}");
        assert_eq!(said["cost"], "unchanged", "{run}");
        let remarks = finish(&run)["remarks"].to_string();
        assert!(remarks.contains("no quantum computer"), "{run}");
    }
}

#[test]
fn a_benchmark_that_a_side_skips_has_no_verdict_and_does_not_disturb_the_others() {
    let skips = r#"
        suite.bench("SKIPPED", |b| {
            if planted::NANOSECONDS IS 100 {
                b.skip("no quantum computer");
            } else {
                takes(b, 100);
            }
        });
        suite.bench("costs/SKIPPED", |b| takes(b, planted::NANOSECONDS));
    "#;
    let skips = |id: &str, is: &str| skips.replace("SKIPPED", id).replace("IS", is);
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.add_target("costs");
    project.benchmarks(
        &[
            skips("by the candidate", ">"),
            skips("by the reference", "=="),
            skips("by both", ">="),
        ]
        .concat(),
    );
    project.commit();
    project.takes(200);
    // The seed determines the order of sides and benchmarks, so try several.
    for seed in ["1", "2", "3", "4"] {
        let run = project
            .perfcheck(&["--against", "HEAD", "--offline", "--as-built"])
            .args(["--message-format", "json", "--seed", seed])
            .run()
            .expect_code(1)
            .expect_stderr(&["no quantum computer"]);
        let said = verdicts(&run);
        assert_eq!(said.len(), 3, "{run}");
        for id in ["by the candidate", "by the reference", "by both"] {
            assert_eq!(said[&format!("costs/{id}")], "regressed", "{run}");
        }
        for text in ["cannot run at the same time", "no such request", "protocol"] {
            assert!(!run.stderr.contains(text), "{text} in {run}");
        }
    }
}

#[test]
fn sides_that_cannot_live_together_are_launched_side_by_side() {
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.add_target("costs");
    project.benchmarks(&holding_a_lock(
        &machine,
        "cost",
        "takes(b, planted::NANOSECONDS)",
    ));
    project.commit();
    project.takes(200);
    let run = project
        .measure(&["--against", "HEAD"])
        .run()
        .expect_code(1)
        .expect_stderr(&[
            "the two sides cannot run at the same time, so their processes alternate",
        ]);
    assert_eq!(verdict(&run, "cost"), "regressed", "{run}");
    assert_eq!(failures(&run), "null", "{run}");
    let said = compared(&run, "cost");
    let estimate = said["change"]["estimate"].as_f64().expect("a number");
    assert!((estimate - 1.0).abs() < 0.01, "{run}");
    assert_eq!(machine.left_behind(), [""; 0]);
}

#[test]
fn an_accident_beside_the_other_side_does_not_part_the_two() {
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.add_target("costs");
    let once = machine.home().join("once");
    let declarations = r#"
        suite.bench("cost", |b| {
            if std::fs::File::create_new(ONCE).is_ok() {
                panic!("only once");
            }
            takes(b, planted::NANOSECONDS);
        });
    "#;
    project.benchmarks(&declarations.replace("ONCE", &format!("{once:?}")));
    project.commit();
    project.takes(200);
    let run = project.measure(&["--against", "HEAD"]).run();
    let run = run.expect_code(1);
    assert!(once.exists(), "{run}");
    assert_eq!(verdict(&run, "cost"), "regressed", "{run}");
    assert!(!run.stderr.contains("cannot run at the same time"), "{run}");
}

#[test]
fn ids_in_another_order_are_paired_by_their_names() {
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.add_target("costs");
    let declared = |ids: [(&str, u64); 3]| {
        let one = |(id, nanoseconds)| {
            format!("suite.bench({id:?}, |b| takes(b, {nanoseconds} * planted::NANOSECONDS));\n")
        };
        ids.map(one).concat()
    };
    project.benchmarks(&declared([("a", 1), ("b", 20), ("c", 300)]));
    project.commit();
    project.benchmarks(&declared([("c", 300), ("a", 1), ("b", 40)]));
    let run = project.measure(&["--against", "HEAD"]).run().expect_code(1);
    let verdicts = ["a", "b", "c"].map(|id| verdict(&run, id));
    assert_eq!(verdicts, ["unchanged", "regressed", "unchanged"], "{run}");
}

#[test]
fn a_harness_that_knows_program_order_alone_is_measured_side_by_side() {
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.add_target("costs");
    let source = testbench("sequential").with_file_name("benches/sequential.rs");
    let source = fs::read_to_string(source).expect("there");
    // Replace the harness' stopwatch with made-up times. Only the time of the second benchmark differs between the sides.
    let head = source.find("fn time(").expect("its stopwatch");
    let tail = source.find("/// Sends a frame").expect("what follows");
    let timed = |second: u64| {
        let stopwatch = format!(
            "fn time(index: usize, iterations: u64) -> u64 {{\n    black_box((BENCHMARKS[index].body)());\n    \
             let _ = Instant::now();\n    iterations * [100, {second}, 300][index]\n}}\n\n"
        );
        source[..head].to_owned() + &stopwatch + &source[tail..]
    };
    project.write("benches/costs.rs", &timed(200));
    project.commit();
    project.write("benches/costs.rs", &timed(400));
    let run = project.measure(&["--against", "HEAD"]).run().expect_code(1);
    let verdicts = ["first", "second", "third"].map(|id| verdict(&run, id));
    assert_eq!(verdicts, ["unchanged", "regressed", "unchanged"], "{run}");
    let processes = Store::open(&machine.store())
        .expect("opens")
        .processes(RunId(2))
        .expect("reads");
    assert!(
        processes.iter().all(|process| process.attempt == 0),
        "one process is enough for all benchmarks of a round"
    );
    // All benchmarks are measured even if the sides run them in different orders.
    let exchanged = timed(200)
        .replace("\"first\"", "\"last\"")
        .replace("\"third\"", "\"first\"")
        .replace("\"last\"", "\"third\"");
    project.write("benches/costs.rs", &exchanged);
    let run = project.measure(&["--against", "HEAD"]).run().expect_code(1);
    let verdicts = ["first", "second", "third"].map(|id| verdict(&run, id));
    assert_eq!(verdicts, ["regressed", "unchanged", "improved"], "{run}");
    assert_eq!(machine.left_behind(), [""; 0]);
}
