//! Fails between two benchmarks unless both `small` and `large` have run, like a bench that prints a table of both.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};

fn table(c: &mut Criterion) {
    let ran = RefCell::new(BTreeSet::new());
    for id in ["small", "large"] {
        c.bench_function(id, |b| {
            ran.borrow_mut().insert(id);
            b.iter(|| black_box(1));
        });
    }
    assert_eq!(ran.borrow().len(), 2, "the table needs both");
}

fn after(c: &mut Criterion) {
    c.bench_function("after", |b| b.iter(|| black_box(1)));
}

criterion_group!(benches, table, after);
criterion_main!(benches);
