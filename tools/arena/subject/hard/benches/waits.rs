//! Code that asks the system and waits.

use arena_hard::{WAITS, Workload};
use perfcheck::Suite;

fn waits(suite: &mut Suite) {
    for Workload { name, set_up } in WAITS {
        suite.bench(name, |b| {
            let mut work = set_up();
            b.iter(|| work());
        });
    }
}

perfcheck::main!(waits);
