//! `never` calls no `iter`, `twice` calls it twice; `fine` is fine.

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
