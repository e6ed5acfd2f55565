//! `aborts` dies of SIGABRT, as every panic does under `panic = "abort"`; `before` and `after` are fine.

use perfcheck::{Suite, black_box};

fn aborts(suite: &mut Suite) {
    suite.bench("before", |b| b.iter(|| black_box(1) + 1));
    suite.bench("aborts", |b| {
        b.iter(|| {
            if black_box(true) {
                std::process::abort();
            }
        });
    });
    suite.bench("after", |b| b.iter(|| black_box(1) + 1));
}

perfcheck::main!(aborts);
