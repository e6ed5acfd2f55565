//! One benchmark with Criterion's defaults (100 samples, 100,000 resamples): its stored samples are what the script has it analyse.

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;

fn stored(criterion: &mut Criterion) {
    let numbers: Vec<u64> = (0..1_000).collect();
    criterion.bench_function("stored", |bencher| {
        bencher.iter(|| black_box(&numbers).iter().map(|n| n * n).sum::<u64>());
    });
}

criterion_group!(benches, stored);
criterion_main!(benches);
