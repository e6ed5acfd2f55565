//! Seven whose time hangs on where their functions lie.

use arena_subject::code::{Format, Graph, Hot, Shapes, Tree, Utf8, Words};
use arena_subject::layout;
use perfcheck::Suite;

fn code(suite: &mut Suite) {
    layout::keep();
    suite.bench("tree", |b| {
        let work = Tree::set_up();
        b.iter(|| work.run());
    });
    suite.bench("dyn", |b| {
        let mut work = Shapes::set_up();
        b.iter(|| work.run());
    });
    suite.bench("graph", |b| {
        let mut work = Graph::set_up();
        b.iter(|| work.run());
    });
    suite.bench("utf8", |b| {
        let work = Utf8::set_up();
        b.iter(|| work.run());
    });
    suite.bench("format", |b| {
        let mut work = Format::set_up();
        b.iter(|| work.run());
    });
    suite.bench("hot", |b| {
        let work = Hot::set_up();
        b.iter(|| work.run());
    });
    suite.bench("words", |b| {
        let work = Words::set_up();
        b.iter(|| work.run());
    });
}

perfcheck::main!(code);
