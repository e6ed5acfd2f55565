//! Has the same target name and ids as the package `two_targets`. Their results must stay apart.

use perfcheck::{Suite, black_box};

fn same_ids(suite: &mut Suite) {
    suite.bench("first", |b| b.iter(|| black_box(1) + 1));
    suite.bench("second", |b| b.iter(|| black_box(2) + 2));
}

perfcheck::main!(same_ids);
