//! Code that asks the system and waits.

use arena_hard::waits::{Blocks, CurrentThread, Socket};
use perfcheck::Suite;

fn waits(suite: &mut Suite) {
    suite.bench("tokio1", |b| {
        let mut work = CurrentThread::set_up();
        b.iter(|| work.run());
    });
    suite.bench("socket", |b| {
        let mut work = Socket::set_up();
        b.iter(|| work.run());
    });
    suite.bench("file", |b| {
        let mut work = Blocks::set_up();
        b.iter(|| work.run());
    });
}

perfcheck::main!(waits);
