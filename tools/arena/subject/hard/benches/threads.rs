//! More than one thread a call.

use arena_hard::{THREADS, Workload};
use perfcheck::Suite;

fn threads(suite: &mut Suite) {
    for Workload { name, set_up } in THREADS {
        suite.bench(name, |b| {
            let mut work = set_up();
            b.iter(|| work());
        });
    }
}

perfcheck::main!(threads);
