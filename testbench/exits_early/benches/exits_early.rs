//! Three benchmarks end the process, one of them with status 0. `before` and `after` succeed.

use perfcheck::{Suite, black_box};

fn exit_if_true(status: i32) {
    if black_box(true) {
        std::process::exit(status);
    }
}

fn exits_early(suite: &mut Suite) {
    suite.bench("before", |b| b.iter(|| black_box(1) + 1));
    suite.bench("with_3", |b| b.iter(|| exit_if_true(3)));
    suite.bench("with_0", |b| b.iter(|| exit_if_true(0)));
    suite.bench("in_set_up", |b| {
        exit_if_true(4);
        b.iter(|| black_box(1) + 1);
    });
    suite.bench("after", |b| b.iter(|| black_box(1) + 1));
}

perfcheck::main!(exits_early);
