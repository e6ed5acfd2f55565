//! One to fifty milliseconds a call.

use arena_hard::millis::{Blocks, Texts};
use perfcheck::Suite;

fn millis(suite: &mut Suite) {
    suite.bench("texts1", |b| {
        let mut work = Texts::set_up(4_000);
        b.iter(|| work.run());
    });
    suite.bench("texts8", |b| {
        let mut work = Texts::set_up(25_000);
        b.iter(|| work.run());
    });
    suite.bench("blocks8", |b| {
        let mut work = Blocks::set_up(100);
        b.iter(|| work.run());
    });
    suite.bench("texts50", |b| {
        let mut work = Texts::set_up(120_000);
        b.iter(|| work.run());
    });
}

perfcheck::main!(millis);
