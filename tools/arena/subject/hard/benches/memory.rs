//! Code that waits for memory.

use arena_hard::memory::{Chase, Graph, Table};
use perfcheck::Suite;

fn memory(suite: &mut Suite) {
    suite.bench("graph", |b| {
        let mut work = Graph::set_up();
        b.iter(|| work.run());
    });
    suite.bench("table64", |b| {
        let mut work = Table::set_up();
        b.iter(|| work.run());
    });
    suite.bench("chase16", |b| {
        let mut work = Chase::set_up(16);
        b.iter(|| work.run());
    });
    suite.bench("chase64", |b| {
        let mut work = Chase::set_up(64);
        b.iter(|| work.run());
    });
}

perfcheck::main!(memory);
