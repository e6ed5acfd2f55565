//! The cost of the harness itself: `b.iter(|| {})` and the shortest possible loop, alternating in the same process.
//!
//! `cargo bench -p perfcheck --bench empty_loop` prints the table. If the executable is started without the flag `--bench`, each benchmark runs once.

use perfcheck::{Suite, black_box};
use std::time::{Duration, Instant};

/// A counted loop that the compiler may not remove.
#[inline(never)]
fn bare_loop(iterations: u64) -> Duration {
    let start = Instant::now();
    for _ in 0..iterations {
        black_box(());
    }
    start.elapsed()
}

fn empty(suite: &mut Suite) {
    for round in 1..=5 {
        suite.bench(format!("bare loop/{round}"), |b| b.iter_custom(bare_loop));
        suite.bench(format!("iter/{round}"), |b| b.iter(|| {}));
    }
}

perfcheck::main!(empty);
