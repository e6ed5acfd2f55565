//! The three workloads under Criterion.

use arena_subject::workloads::{Alloc, Alu, Sort};
use criterion::{Criterion, criterion_group, criterion_main};

fn main_three(criterion: &mut Criterion) {
    arena_peers::set_cost();
    let mut work = Alu::set_up();
    criterion.bench_function("alu", |b| b.iter(|| work.run()));
    let mut work = Sort::set_up();
    criterion.bench_function("sort", |b| b.iter(|| work.run()));
    let mut work = Alloc::set_up();
    criterion.bench_function("alloc", |b| b.iter(|| work.run()));
}

criterion_group!(benches, main_three);
criterion_main!(benches);
