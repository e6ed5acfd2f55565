//! A bench executable whose set-up fails.

use criterion::{Criterion, criterion_group, criterion_main};

fn broken(c: &mut Criterion) {
    c.bench_function("before", |b| b.iter(|| 1));
    panic!("no corpus");
}

criterion_group!(benches, broken);
criterion_main!(benches);
