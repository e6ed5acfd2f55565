//! A bench executable with a handwritten `main`.

use std::hint::black_box;

use criterion::{Criterion, criterion_group};

fn grouped(c: &mut Criterion) {
    c.bench_function("grouped", |b| b.iter(|| black_box(1)));
}

criterion_group!(benches, grouped);

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    criterion
        .bench_function("first", |b| b.iter(|| black_box(1)))
        .bench_function("second", |b| b.iter(|| black_box(2)));
    criterion.final_summary();
    benches();
}
