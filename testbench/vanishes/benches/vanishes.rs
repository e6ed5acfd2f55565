//! `first_process_only` is declared in the first process of a run and in no other, as if a file had been there once.

use perfcheck::{Suite, black_box};

fn vanishes(suite: &mut Suite) {
    suite.bench("always", |b| b.iter(|| black_box(1) + 1));
    if std::env::var("PERFCHECK_PROCESS").is_ok_and(|process| process == "0") {
        suite.bench("first_process_only", |b| b.iter(|| black_box(1) + 1));
    }
}

perfcheck::main!(vanishes);
