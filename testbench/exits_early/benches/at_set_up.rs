//! The function that declares the benchmarks ends the process, so they are never listed.

use perfcheck::{Suite, black_box};

fn at_set_up(suite: &mut Suite) {
    suite.bench("registered", |b| b.iter(|| black_box(1) + 1));
    if black_box(true) {
        println!("the licence server cannot be reached");
        std::process::exit(5);
    }
}

perfcheck::main!(at_set_up);
