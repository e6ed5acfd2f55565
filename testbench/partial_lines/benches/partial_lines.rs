//! Prints output that is hard to read line by line: text without a newline, a line of 10 MB, bytes that are not UTF-8.

use perfcheck::{Suite, black_box};
use std::io::Write;

fn print_bytes(bytes: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    // Ignore errors: the pipe may be closed.
    let _ = stdout.write_all(bytes).and_then(|()| stdout.flush());
}

fn partial_lines(suite: &mut Suite) {
    print_bytes(b"no newline from the function");
    suite.bench("no_newline", |b| {
        print_bytes(b"no newline from set-up");
        let mut prints_left = 3;
        b.iter(|| {
            if prints_left > 0 {
                prints_left -= 1;
                print_bytes(b"no newline from the body");
            }
        });
    });
    suite.bench("half_a_frame", |b| {
        print_bytes(br#"{"type":"samples","iterations":[1"#);
        b.iter(|| black_box(1) + 1);
    });
    suite.bench("long_line", |b| {
        print_bytes(&vec![b'x'; 10_000_000]);
        b.iter(|| black_box(1) + 1);
    });
    suite.bench("binary", |b| {
        let all_bytes: Vec<u8> = (0..=255).collect();
        print_bytes(&all_bytes.repeat(16));
        b.iter(|| black_box(1) + 1);
    });
}

perfcheck::main!(partial_lines);
