//! `never` calls no method `iter*`, `twice` calls `iter` twice, and `fine` succeeds.

use perfcheck::{Suite, black_box};

fn never_iterates(suite: &mut Suite) {
    suite.bench("never", |_| {});
    suite.bench("twice", |b| {
        b.iter(|| black_box(1) + 1);
        b.iter(|| black_box(2) + 2);
    });
    suite.bench("fine", |b| b.iter(|| black_box(1) + 1));
}

perfcheck::main!(never_iterates);
