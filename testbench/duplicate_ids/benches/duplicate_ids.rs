//! Two benchmarks get the id `group/same`, one of them through a group. Another one has an empty name, and `other` is valid.

use perfcheck::{Suite, black_box};

fn duplicate_ids(suite: &mut Suite) {
    suite.bench("other", |b| b.iter(|| black_box(1) + 1));
    suite.bench("group/same", |b| b.iter(|| black_box(1) + 1));
    suite
        .group("group")
        .bench("same", |b| b.iter(|| black_box(2) + 2));
    suite.bench("", |b| b.iter(|| black_box(3) + 3));
}

perfcheck::main!(duplicate_ids);
