//! Bodies that allocate known numbers of blocks under an allocator that counts; `ALLOCATES_MORE=1` makes two of them allocate more.

use std::env;

use perfcheck::{BatchSize, CountingAllocator, Suite, black_box};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::system();

/// So many blocks of 64 bytes, of which one lives at a time.
fn blocks(count: u64) {
    for _ in 0..count {
        drop(black_box(Vec::<u8>::with_capacity(black_box(64))));
    }
}

fn allocations(suite: &mut Suite) {
    let more = env::var_os("ALLOCATES_MORE").is_some();
    // The number of the process: what differs between processes in real benches is a hasher's seed or an address.
    let process: u64 = env::var("PERFCHECK_PROCESS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    suite.bench("nothing", |b| b.iter(|| black_box(1) + 1));
    suite.bench("twelve", |b| {
        let count = if more { 14 } else { 12 };
        b.iter(|| blocks(count));
    });
    // 64 KiB are allocated in set-up and dropped in tear-down.
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
