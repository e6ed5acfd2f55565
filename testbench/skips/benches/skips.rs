//! `declines` skips itself with a reason. `runs` is measured.

use perfcheck::{Suite, black_box};

fn skips(suite: &mut Suite) {
    suite.bench("declines", |b| b.skip("needs a quantum computer"));
    suite.bench("runs", |b| b.iter(|| black_box(1) + 1));
}

perfcheck::main!(skips);
