//! A hundred trivial benchmarks.

use perfcheck::{Suite, black_box};

fn many(suite: &mut Suite) {
    let mut group = suite.group("many");
    group.bench_inputs("n", 0..100_u32, |b, n| b.iter(|| black_box(n) + 1));
}

perfcheck::main!(many);
