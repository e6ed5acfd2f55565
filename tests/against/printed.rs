//! Side-by-side measurement of benches that print their results: for each benchmark, processes of both sides take turns.

use crate::against::project::{Project, compared};
use crate::commands::scripted::verdict;
use crate::support::Machine;

/// A bench that prints results as libtest does. The times of its processes differ by less than a thousandth.
const BENCH: &str = r#"
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    if has("--list") {
        if !has("--ignored") {
            println!("cost: benchmark\nconstant: benchmark");
        }
        return;
    }
    let process = std::env::var("PERFCHECK_PROCESS").unwrap_or_default();
    let jitter = process.bytes().map(u64::from).sum::<u64>() * 5 % 7;
    println!("running 1 test");
    let hundredths = if has("cost") { 100 * printed::NANOSECONDS } else { 5000 } * 100 + jitter;
    println!("test it ... bench:  {}.{:02} ns/iter (+/- 1.00)", hundredths / 100, hundredths % 100);
}
"#;

#[test]
fn thirty_percent_more_regresses_beside_the_revision_and_the_same_work_does_not() {
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.add_target("costs");
    project.write("benches/costs.rs", &BENCH.replace("printed::", "planted::"));
    project.commit();
    project.takes(130);
    let slower = project.measure(&["--against", "HEAD"]).run().expect_code(1);
    assert_eq!(verdict(&slower, "cost"), "regressed", "{slower}");
    let change = &compared(&slower, "cost")["change"]["estimate"];
    let change = change.as_f64().expect("a number");
    assert!((change - 0.3).abs() < 0.01, "{slower}");
    assert_eq!(verdict(&slower, "constant"), "unchanged", "{slower}");
    // The sources differ, but the times are the same.
    project.takes(100);
    project.write(
        "benches/costs.rs",
        &BENCH
            .replace("printed::", "planted::")
            .replace("test it", "test all"),
    );
    let control = project.measure(&["--against", "HEAD"]).run().expect_code(0);
    for id in ["cost", "constant"] {
        assert_eq!(verdict(&control, id), "unchanged", "{control}");
    }
}
