//! Benchmarks that allocate nothing, a known number of blocks and bytes, or memory only in set-up.

use perfcheck::{BatchSize, Suite, black_box};

fn allocates(suite: &mut Suite) {
    suite.bench("nothing", |b| b.iter(|| black_box(1) + 1));
    suite.bench("one_block_of_1_kib", |b| {
        b.iter(|| Vec::<u8>::with_capacity(black_box(1024)));
    });
    suite.bench("ten_boxes", |b| {
        b.iter(|| -> Vec<Box<u64>> { (0..black_box(10)).map(Box::new).collect() });
    });
    // Each input of 1 MiB is allocated in set-up and dropped outside the timed window.
    suite.bench("in_set_up", |b| {
        b.iter_batched(|| vec![0_u8; 1 << 20], black_box, BatchSize::LargeInput);
    });
}

perfcheck::main!(allocates);
