//! The three workloads that other harnesses were measured on.

use arena_subject::layout;
use arena_subject::workloads::{Alloc, Alu, Sort};
use perfcheck::Suite;

fn main_three(suite: &mut Suite) {
    layout::keep();
    suite.bench("alu", |b| {
        let mut work = Alu::set_up();
        b.iter(|| work.run());
    });
    suite.bench("sort", |b| {
        let mut work = Sort::set_up();
        b.iter(|| work.run());
    });
    suite.bench("alloc", |b| {
        let mut work = Alloc::set_up();
        b.iter(|| work.run());
    });
}

perfcheck::main!(main_three);
