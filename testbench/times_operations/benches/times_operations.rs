//! Benchmarks that time every operation: one that always succeeds, one of which every fourth operation fails, and one that is timed as usual.

use perfcheck::{Suite, black_box};

fn operations(suite: &mut Suite) {
    suite.bench("steady", |b| b.iter_latency(|| black_box(1) + 1));
    suite.bench("fails_at_times", |b| {
        let mut operation = 0_u32;
        b.try_iter_latency(|| {
            operation = (operation + 1) % 4;
            if operation == 0 {
                Err("every fourth is refused")
            } else {
                Ok(black_box(operation))
            }
        });
    });
    suite.bench("usual", |b| b.iter(|| black_box(1) + 1));
}

perfcheck::main!(operations);
