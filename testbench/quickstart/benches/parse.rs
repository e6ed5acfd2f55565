//! Set-up outside the measurement: what comes before `b.iter` runs once and is not timed.

use perfcheck::{Suite, Throughput, black_box};
use regex::Regex;
use serde_json::Value;

fn json(suite: &mut Suite) {
    let text = include_str!("../data/orders.json");

    let mut group = suite.group("json");
    group.throughput(Throughput::bytes(text.len() as u64));
    // What the closure returns is dropped outside the measurement.
    group.bench("parse", |b| {
        b.iter(|| serde_json::from_str::<Value>(black_box(text)))
    });
    group.bench("print", |b| {
        let orders: Value = serde_json::from_str(text).expect("orders.json is JSON");
        b.iter(|| black_box(&orders).to_string());
    });
}

fn regex(suite: &mut Suite) {
    let text = include_str!("../data/source.txt");

    let mut group = suite.group("regex");
    group.throughput(Throughput::bytes(text.len() as u64));
    for (name, pattern) in [
        ("literal", "Throughput"),
        ("functions", r"fn (\w+)\("),
        ("numbers", r"\b\d+(_\d+)*\b"),
    ] {
        group.bench(name, |b| {
            let regex = Regex::new(pattern).expect("the pattern is valid");
            b.iter(|| regex.find_iter(black_box(text)).count());
        });
    }
}

// Several functions, one executable.
perfcheck::main!(json, regex);
