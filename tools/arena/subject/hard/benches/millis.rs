//! One to fifty milliseconds a call.

use arena_hard::{MILLIS, Workload};
use perfcheck::Suite;

fn millis(suite: &mut Suite) {
    for Workload { name, set_up } in MILLIS {
        suite.bench(name, |b| {
            let mut work = set_up();
            b.iter(|| work());
        });
    }
}

perfcheck::main!(millis);
