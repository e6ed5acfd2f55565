//! `aborts` is killed by SIGABRT, as after every panic with `panic = "abort"`. `before` and `after` succeed.

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
