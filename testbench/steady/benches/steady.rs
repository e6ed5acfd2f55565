//! Three benchmarks that always do the same work.

use perfcheck::{Suite, black_box};

fn steady(suite: &mut Suite) {
    suite.bench("arithmetic", |b| {
        b.iter(|| {
            (0..black_box(1_000_u64)).fold(7, |state: u64, n| black_box(state.wrapping_mul(31) ^ n))
        });
    });
    suite.bench("memory", |b| {
        let bytes = vec![1_u8; 16 * 1024];
        b.iter(|| {
            black_box(&bytes)
                .iter()
                .map(|&byte| u64::from(byte))
                .sum::<u64>()
        });
    });
    suite.bench("text", |b| {
        let text = "the quick brown fox jumps over the lazy dog ".repeat(20);
        b.iter(|| {
            black_box(&text)
                .split(' ')
                .filter(|word| word.contains('o'))
                .count()
        });
    });
}

perfcheck::main!(steady);
