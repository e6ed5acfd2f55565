//! The three workloads under the harness of `cargo perfcheck`.

use arena_subject::workloads::{Alloc, Alu, Sort};
use perfcheck::Suite;

fn main_three(suite: &mut Suite) {
    arena_peers::set_cost();
    let mut work = Alu::set_up();
    suite.bench("alu", |b| b.iter(|| work.run()));
    let mut work = Sort::set_up();
    suite.bench("sort", |b| b.iter(|| work.run()));
    let mut work = Alloc::set_up();
    suite.bench("alloc", |b| b.iter(|| work.run()));
}

perfcheck::main!(main_three);
