//! Three of other natures: memory, hashing, text.

use arena_subject::layout;
use arena_subject::workloads::{Hash, Mem, Parse};
use perfcheck::Suite;

fn more(suite: &mut Suite) {
    layout::keep();
    suite.bench("mem", |b| {
        let mut work = Mem::set_up();
        b.iter(|| work.run());
    });
    suite.bench("hash", |b| {
        let mut work = Hash::set_up();
        b.iter(|| work.run());
    });
    suite.bench("parse", |b| {
        let mut work = Parse::set_up();
        b.iter(|| work.run());
    });
}

perfcheck::main!(more);
