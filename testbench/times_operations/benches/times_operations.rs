//! `steady` and `fails_at_times` time each operation. Every fourth operation of `fails_at_times` fails. `usual` times whole samples.

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
