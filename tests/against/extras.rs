//! Allocations and latencies of two builds that are measured side by side.

use std::fs;

use crate::against::project::{Project, compared};
use crate::commands::measuring_loop::phase;
use crate::commands::scripted::{CLOCK, explanation, says};
use crate::support::Machine;

/// Source of a bench with two benchmarks. `cost` takes a constant time and allocates as often as the library says. `operation` is a latency
/// benchmark, which times each operation separately.
const BENCH: &str = r#"
use perfcheck::{CountingAllocator, Suite, black_box};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::system();

fn costs(suite: &mut Suite) {
    suite.bench("cost", |b| {
        b.iter(|| {
            for _ in 0..planted::NANOSECONDS {
                drop(black_box(Box::new(1_u64)));
            }
        });
    });
    suite.bench("operation", |b| b.iter_latency(|| black_box(1) + 1));
}

perfcheck::main!(costs);
"#;

#[test]
fn both_sides_are_counted_in_the_first_rounds_and_timed_in_all() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    let manifest = project.root().join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("there");
    let with_feature = text.replace(
        "perfcheck = { ",
        "perfcheck = { features = [\"allocations\"], ",
    );
    project.write("Cargo.toml", &with_feature);
    project.write("benches/costs.rs", BENCH);
    project.takes(12);
    project.commit();
    project.takes(13);
    // The scripted clock determines the times of both sides.
    let run = project
        .measure(&["--against", "HEAD", "--rounds", "10"])
        .env(
            CLOCK,
            "cost=10000/10100/10050;operation=5000~20000/5100~20000",
        )
        .run()
        .expect_code(0);
    let cost = compared(&run, "cost");
    let count = &cost["allocations"]["count"];
    assert_eq!(
        (&count["base"], &count["candidate"]),
        (&12.0.into(), &13.0.into()),
        "{cost}"
    );
    assert_eq!(
        (&count["exact"], &count["verdict"]),
        (&true.into(), &"regressed".into())
    );
    assert_eq!(cost["latencies"], serde_json::Value::Null);
    let operation = compared(&run, "operation");
    let percentiles = operation["latencies"]["percentiles"]
        .as_array()
        .expect("a list");
    assert_eq!(percentiles.len(), 5, "{operation}");
    for one in percentiles {
        assert_eq!(
            (&one["change"]["estimate"], &one["verdict"]),
            (&0.0.into(), &"unchanged".into())
        );
    }
    assert_eq!(
        operation["allocations"]["bytes"]["verdict"], "unchanged",
        "{operation}"
    );
    let messages = run.messages("benchmark-measured");
    let processes = |id: &str| {
        let found = messages
            .iter()
            .find(|message| message["benchmark"]["id"] == id);
        found.expect("measured")["processes"]
            .as_array()
            .expect("a list")
            .clone()
    };
    let counted: Vec<bool> = processes("cost")
        .iter()
        .map(|process| !process["allocations"].is_null())
        .collect();
    assert_eq!(counted, [[true; 5], [false; 5]].concat());
    assert!(
        processes("operation")
            .iter()
            .all(|process| process["latencies"].is_object())
    );
    let explained = project
        .perfcheck(&["explain", "operation", "--message-format", "json"])
        .run()
        .expect_code(0);
    let explained = explanation(&explained);
    says(
        &explained,
        "latencies",
        &["round by round", "p99", "unchanged at"],
    );
    says(&explained, "allocations", &["is unchanged: allocations 0"]);
    assert_eq!(machine.left_behind(), [""; 0]);
}

#[test]
fn a_counted_warm_up_is_that_of_both_sides_in_every_round() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    let words = "--against HEAD --rounds 6 --warm-up-iterations 25";
    let words: Vec<&str> = words.split(' ').collect();
    project.takes(101);
    let run = project
        .measure(&words)
        .env(CLOCK, "cost=10000/11000/12000;constant=5000")
        .run()
        .expect_code(0);
    assert_eq!(compared(&run, "cost")["decided_by"], "paired");
    for side in ["1/base", "1"] {
        let shown = project.perfcheck(&["show", side, "--message-format", "json"]);
        let shown = shown.run().expect_code(0);
        for message in shown.messages("benchmark-measured") {
            assert_eq!(message["sampling"]["warm_up_iterations"], 25, "{message}");
            let warm_up = phase(&message, "warm_up");
            assert!(warm_up.len() >= 5, "{message}");
            for (process, found) in warm_up.iter().enumerate() {
                let ns = match message["benchmark"]["id"].as_str() {
                    Some("cost") => [10_000, 11_000, 12_000][process % 3],
                    _ => 5_000,
                };
                assert_eq!(found[..], [(25, 25 * ns)], "{side}, {process}");
            }
        }
    }
    assert_eq!(machine.left_behind(), [""; 0]);
}
