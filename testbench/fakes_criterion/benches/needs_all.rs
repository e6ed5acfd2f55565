//! Fails between two benchmarks unless both `small` and `large` have run, like a bench that prints a table of both.

use fakes_criterion::{greeted, wanted};

fn main() {
    let mut runner = greeted();
    let mut ran = Vec::new();
    for id in ["small", "large"] {
        ran.extend(wanted(id).then_some(id));
        runner.measure(id);
    }
    assert_eq!(ran, ["small", "large"], "the table needs both");
    runner.measure("after");
}
