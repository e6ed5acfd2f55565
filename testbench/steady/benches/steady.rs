//! Three benchmarks that always do the same work, a few nanoseconds each.
//!
//! The work is short because, under a scripted clock, the scripted times decide how many iterations a process runs.

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
