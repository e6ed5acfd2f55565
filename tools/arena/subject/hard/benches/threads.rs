//! More than one thread a call.

use arena_hard::threads::{Channels, Pool, Rayon, Spawn, Tokio};
use perfcheck::Suite;

fn threads(suite: &mut Suite) {
    suite.bench("spawn2", |b| {
        let mut work = Spawn::set_up(2);
        b.iter(|| work.run());
    });
    suite.bench("spawn4", |b| {
        let mut work = Spawn::set_up(4);
        b.iter(|| work.run());
    });
    suite.bench("pool", |b| {
        let mut work = Pool::set_up();
        b.iter(|| work.run());
    });
    suite.bench("channels", |b| {
        let mut work = Channels::set_up();
        b.iter(|| work.run());
    });
    suite.bench("rayon", |b| {
        let mut work = Rayon::set_up();
        b.iter(|| work.run());
    });
    suite.bench("tokio", |b| {
        let mut work = Tokio::set_up();
        b.iter(|| work.run());
    });
}

perfcheck::main!(threads);
