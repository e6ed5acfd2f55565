//! `doubled` takes twice as long if the environment variable `DOUBLED` is 1. `unaffected` always takes the same time.
//!
//! The variable is read at run time, not at build time: a cargo feature would make the two runs incomparable.

use perfcheck::{Suite, black_box};

fn spin(rounds: u64) -> u64 {
    (0..black_box(rounds)).fold(7, |state: u64, n| {
        black_box(state.wrapping_mul(6_364_136_223_846_793_005) ^ n)
    })
}

fn doubled(suite: &mut Suite) {
    let factor = if std::env::var("DOUBLED").is_ok_and(|value| value == "1") {
        2
    } else {
        1
    };
    suite.bench("doubled", |b| b.iter(|| spin(200 * factor)));
    suite.bench("unaffected", |b| b.iter(|| spin(200)));
}

perfcheck::main!(doubled);
