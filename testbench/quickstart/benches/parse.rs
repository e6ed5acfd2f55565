//! Set-up is not measured: code before `b.iter` runs once and is not timed.

use perfcheck::{Suite, Throughput, black_box};
use regex::Regex;
use serde_json::Value;

fn json(suite: &mut Suite) {
    let text = include_str!("../data/orders.json");

    let mut group = suite.group("json");
    group.bench("parse", |b| {
        b.throughput(Throughput::bytes(text.len() as u64));
        // The drop of the parsed document is not timed; `iter` would include it.
        b.iter_with_large_drop(|| serde_json::from_str::<Value>(black_box(text)));
    });
    group.bench("print", |b| {
        let orders: Value = serde_json::from_str(text).expect("orders.json is JSON");
        b.throughput(Throughput::bytes(orders.to_string().len() as u64));
        b.iter(|| black_box(&orders).to_string());
    });
}

fn regex(suite: &mut Suite) {
    let text = include_str!("../data/source.txt");

    let mut group = suite.group("regex");
    // This applies to all following benchmarks of the group.
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

// One executable can have several functions.
perfcheck::main!(json, regex);
