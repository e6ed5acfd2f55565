//! Has the same ids as the package's other target and as the package `two_targets_again`. Their results must stay apart.

use perfcheck::{Suite, black_box};

fn same_ids(suite: &mut Suite) {
    suite.bench("first", |b| b.iter(|| black_box(1) + 1));
    suite.bench("second", |b| b.iter(|| black_box(2) + 2));
}

perfcheck::main!(same_ids);
