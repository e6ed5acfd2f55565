//! So many benchmarks that a time budget leaves less than a second for each; one of them can be slower than the others.

use arena_subject::code::{Format, Shapes, Tree, Utf8, Words};
use arena_subject::layout;
use arena_subject::slow::as_the_slow_one;
use arena_subject::workloads::{Alloc, Alu, Hash, Parse};
use perfcheck::Suite;

const COUNT: usize = 83;
/// An `Alu`, as all of its remainder by nine are.
const SLOW_ONE: usize = 36;

fn many(suite: &mut Suite) {
    layout::keep();
    for number in 0..COUNT {
        let id = format!("m{number:02}");
        suite.bench(&id, move |b| match number % 9 {
            0 => {
                let mut work = if number == SLOW_ONE {
                    as_the_slow_one(Alu::set_up)
                } else {
                    Alu::set_up()
                };
                b.iter(|| work.run());
            }
            1 => {
                let mut work = Alloc::set_up();
                b.iter(|| work.run());
            }
            2 => {
                let mut work = Hash::set_up();
                b.iter(|| work.run());
            }
            3 => {
                let mut work = Parse::set_up();
                b.iter(|| work.run());
            }
            4 => {
                let work = Tree::set_up();
                b.iter(|| work.run());
            }
            5 => {
                let mut work = Shapes::set_up();
                b.iter(|| work.run());
            }
            6 => {
                let work = Utf8::set_up();
                b.iter(|| work.run());
            }
            7 => {
                let mut work = Format::set_up();
                b.iter(|| work.run());
            }
            _ => {
                let work = Words::set_up();
                b.iter(|| work.run());
            }
        });
    }
}

perfcheck::main!(many);
