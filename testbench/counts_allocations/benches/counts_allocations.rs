//! Benchmarks that allocate known numbers of blocks, with a counting allocator. `ALLOCATES_MORE=1` makes two of them allocate more.

use std::env;

use perfcheck::{BatchSize, CountingAllocator, Suite, black_box};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::system();

/// Allocates `count` blocks of 64 bytes, one after another.
fn blocks(count: u64) {
    for _ in 0..count {
        drop(black_box(Vec::<u8>::with_capacity(black_box(64))));
    }
}

fn allocations(suite: &mut Suite) {
    let more = env::var_os("ALLOCATES_MORE").is_some();
    // In `varies`, the number of the process stands for anything that differs between processes, such as the seed of a hasher.
    let process: u64 = env::var("PERFCHECK_PROCESS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    suite.bench("nothing", |b| b.iter(|| black_box(1) + 1));
    suite.bench("twelve", |b| {
        let count = if more { 14 } else { 12 };
        b.iter(|| blocks(count));
    });
    // Each input of 64 KiB is allocated in set-up and dropped outside the timed window.
    suite.bench("beside_set_up", |b| {
        b.iter_batched_ref(
            || vec![0_u8; 1 << 16],
            |_| blocks(3),
            BatchSize::PerIteration,
        );
    });
    suite.bench("varies", |b| {
        let count = if more { 150 } else { 100 } + process % 5;
        b.iter(|| blocks(count));
    });
}

perfcheck::main!(allocations);
