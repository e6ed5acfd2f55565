//! Comparison of the machine code of two builds: benchmarks whose code is the same are not measured, and functions that differ are named.

use serde_json::{Value, json};

use crate::against::project::{Project, compared, remarks};
use crate::commands::scripted::finish;
use crate::support::Machine;

/// A library that reads the times of two benchmarks from a table.
const LIBRARY: &str =
    "#[inline(never)]\npub fn nanoseconds(at: usize) -> u64 {\n    [100, 50][at]\n}\n";

/// The benchmarks `cost` and `constant`.
const BENCHMARKS: &str = r#"
    suite.bench("cost", |b| takes(b, planted::nanoseconds(0)));
    suite.bench("constant", |b| takes(b, 50));
"#;

fn project(machine: &Machine) -> Project<'_> {
    Project::of(machine, LIBRARY, BENCHMARKS)
}

#[test]
fn executables_that_differ_in_lines_alone_run_the_same_code_and_nothing_is_measured() {
    let machine = Machine::new();
    let project = project(&machine);
    let moved =
        format!("//! Documented.\n\n/// Nobody calls it.\npub fn unused() {{}}\n\n{LIBRARY}");
    project.write("src/lib.rs", &moved);
    let against = ["--against", "HEAD"];
    let run = project.measure_in_layouts(&against).run().expect_code(0);
    for id in ["cost", "constant"] {
        let said = compared(&run, id);
        assert_eq!(said["verdict"], "unchanged", "{run}");
        assert_eq!(said["same"], "reachable", "{run}");
        assert!(
            remarks(&run, id)
                .contains("all machine code and data that the benchmark can reach are the same"),
            "{run}"
        );
    }
    assert_eq!(run.messages("benchmark-measured").len(), 0, "{run}");
    assert_eq!(finish(&run)["code"], json!([]), "{run}");
    let text = project
        .perfcheck(&["explain", "cost", "--full"])
        .run()
        .expect_code(0);
    assert!(
        text.stdout.contains("All machine code and data that"),
        "{text}"
    );

    let shown = project.perfcheck(&["show"]).run().expect_code(0);
    let said =
        "2 benchmarks unchanged: both builds run the same machine code, so nothing was measured.";
    assert!(shown.stdout.contains(said), "{shown}");

    let all = project.measure(&[&against[..], &["--measure-identical"]].concat());
    let all = all.run().expect_code(0);
    assert_eq!(all.messages("benchmark-measured").len(), 2, "{all}");
    assert_eq!(compared(&all, "cost")["same"], Value::Null, "{all}");
}

#[test]
fn a_function_that_changed_is_named_with_its_sizes_wherever_the_run_is_told_of() {
    let machine = Machine::new();
    let project = project(&machine);
    project.write("src/lib.rs", &LIBRARY.replace("[100, 50]", "[200, 50]"));
    let markdown = project.root().join("report.md");
    let written = format!("markdown={}", markdown.display());
    let run = project
        .measure_in_layouts(&["--against", "HEAD", "--report", &written])
        .run()
        .expect_code(1);
    assert_eq!(compared(&run, "cost")["verdict"], "regressed", "{run}");
    let finished = finish(&run);
    let code = &finished["code"][0];
    assert_eq!(code["target"], "costs", "{run}");
    let functions = code["functions"].as_array().expect("functions");
    let named = functions
        .iter()
        .find(|one| one["name"] == "planted::nanoseconds");
    let bytes = &named.expect("named")["bytes"];
    // Only the table of times differs. The function has the same size on both sides.
    assert_eq!(bytes["base"], bytes["candidate"], "{run}");
    assert!(bytes["base"].as_u64().expect("a size") > 0, "{run}");
    let text = project
        .perfcheck(&["explain", "cost", "--full"])
        .run()
        .expect_code(0);
    assert!(text.stdout.contains("`planted::nanoseconds`"), "{text}");
    let markdown = std::fs::read_to_string(markdown).expect("a report");
    assert!(markdown.contains("planted::nanoseconds"), "{markdown}");
}

/// These benchmarks report real times. The benchmarks of all other tests in this file report made-up times.
const TIMED: &str = r#"
    suite.bench("first", |b| b.iter(|| planted::first(std::hint::black_box(7))));
    suite.bench("second", |b| b.iter(|| planted::second(std::hint::black_box(7))));
"#;

#[test]
fn a_benchmark_that_comes_to_nothing_that_differs_is_not_measured_and_the_others_are() {
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.add_target("costs");
    project.benchmarks(TIMED);
    let library = |divisor: u64| {
        format!(
            "#[inline(never)]\npub fn first(n: u64) -> u64 {{\n    n % {divisor}\n}}\n\n#[inline(never)]\npub fn second(n: u64) -> u64 {{\n    n * 3\n}}\n"
        )
    };
    project.write("src/lib.rs", &library(1001));
    project.commit();
    project.write("src/lib.rs", &library(1003));
    let words = [
        "--against",
        "HEAD",
        "--rounds",
        "5",
        "--message-format",
        "json",
    ];
    let run = project.perfcheck(&words).run();
    let second = compared(&run, "second");
    assert_eq!(
        (&second["verdict"], &second["same"]),
        (&json!("unchanged"), &json!("run")),
        "{run}"
    );
    assert_eq!(compared(&run, "first")["same"], Value::Null, "{run}");
    let measured = run.messages("benchmark-measured");
    assert_eq!(measured.len(), 1, "{run}");
    assert_eq!(measured[0]["benchmark"]["id"], "first", "{run}");
    assert_eq!(machine.left_behind(), [""; 0]);

    let all = project
        .perfcheck(&[&words[..], &["--measure-identical", "--as-built"]].concat())
        .run();
    assert_eq!(all.messages("benchmark-measured").len(), 2, "{all}");
}
