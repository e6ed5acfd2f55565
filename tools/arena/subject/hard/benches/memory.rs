//! Code that waits for memory.

use arena_hard::{MEMORY, Workload};
use perfcheck::Suite;

fn memory(suite: &mut Suite) {
    for Workload { name, set_up } in MEMORY {
        suite.bench(name, |b| {
            let mut work = set_up();
            b.iter(|| work());
        });
    }
}

perfcheck::main!(memory);
