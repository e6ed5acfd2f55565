//! Three benchmarks that always do the same work, a few nanoseconds each.
//!
//! Short, because under a scripted clock a body runs as often as its scripted time asks for.

use perfcheck::{Suite, black_box};

fn steady(suite: &mut Suite) {
    suite.bench("arithmetic", |b| {
        b.iter(|| black_box(7_u64).wrapping_mul(31) ^ 5);
    });
    suite.bench("memory", |b| {
        let bytes = [1_u8; 16];
        b.iter(|| {
            black_box(&bytes)
                .iter()
                .fold(0, |sum: u8, &byte| sum ^ byte)
        });
    });
    suite.bench("text", |b| b.iter(|| black_box("perfcheck").ends_with('k')));
}

perfcheck::main!(steady);
