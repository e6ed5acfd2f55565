//! `first_process_only` is declared only in the first process of a run, as if it depended on a file that has disappeared.

use perfcheck::{Suite, black_box};

fn vanishes(suite: &mut Suite) {
    suite.bench("always", |b| b.iter(|| black_box(1) + 1));
    if std::env::var("PERFCHECK_PROCESS").is_ok_and(|process| process == "0") {
        suite.bench("first_process_only", |b| b.iter(|| black_box(1) + 1));
    }
}

perfcheck::main!(vanishes);
