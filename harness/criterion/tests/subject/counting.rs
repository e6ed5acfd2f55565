//! A bench executable that counts the allocations of its iterations.

use criterion::async_executor::FuturesExecutor;
use criterion::{BatchSize, CountingAllocator, Criterion, criterion_group, criterion_main};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::system();

fn boxes(c: &mut Criterion) {
    c.bench_function("two boxes", |b| {
        let _set_up = vec![0; 100];
        b.iter(|| (Box::new([0_u8; 32]), Box::new([0_u8; 64])));
    });
    c.bench_function("in batches", |b| {
        b.iter_batched(
            || vec![0; 1000],
            |_| Box::new([0_u8; 64]),
            BatchSize::SmallInput,
        );
    });
    c.bench_function("in futures", |b| {
        b.to_async(FuturesExecutor).iter_batched(
            || vec![0; 1000],
            |input| async move {
                let bytes = Box::new([0_u8; 64]);
                drop(input);
                bytes
            },
            BatchSize::SmallInput,
        );
    });
}

criterion_group!(benches, boxes);
criterion_main!(benches);
