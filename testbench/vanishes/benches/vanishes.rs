//! `first_launch_only` is declared in the first launch of a run and in no other, as if a file had been there once.

use perfcheck::{Suite, black_box};

fn vanishes(suite: &mut Suite) {
    suite.bench("always", |b| b.iter(|| black_box(1) + 1));
    if std::env::var("PERFCHECK_LAUNCH").is_ok_and(|launch| launch == "0") {
        suite.bench("first_launch_only", |b| b.iter(|| black_box(1) + 1));
    }
}

perfcheck::main!(vanishes);
