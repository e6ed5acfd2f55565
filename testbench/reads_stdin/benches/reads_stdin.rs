//! Reads its standard input, which must be empty and must not be the requests of the parent.

use perfcheck::{Suite, black_box};
use std::io::Read;

fn read_stdin() -> usize {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .expect("standard input can be read");
    assert_eq!(text, "", "standard input is empty");
    text.len()
}

fn reads_stdin(suite: &mut Suite) {
    suite.bench("in_set_up", |b| {
        read_stdin();
        b.iter(|| black_box(1) + 1);
    });
    suite.bench("in_body", |b| b.iter(read_stdin));
}

perfcheck::main!(reads_stdin);
