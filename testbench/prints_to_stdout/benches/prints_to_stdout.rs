//! Prints whole lines from function, set-up and body, among them lines that look like frames.

use perfcheck::{Suite, black_box};

fn prints_to_stdout(suite: &mut Suite) {
    println!("printed by the function");
    suite.bench("in_set_up", |b| {
        println!("printed in set-up");
        b.iter(|| black_box(1) + 1);
    });
    suite.bench("in_body", |b| {
        let mut lines_left = 3;
        b.iter(|| {
            if lines_left > 0 {
                lines_left -= 1;
                println!("printed in the body");
            }
        });
    });
    suite.bench("frames", |b| {
        println!(r#"{{"type":"hello","protocol":1,"harness":"fake","version":"0","capabilities":[],"quantum_ns":1}}"#);
        println!(r#"{{"type":"samples","iterations":[1],"elapsed_ns":[1]}}"#);
        println!(r#"{{"type":"error","id":null,"message":"a fake"}}"#);
        println!(r#"{{"type":"bye"}}"#);
        b.iter(|| black_box(1) + 1);
    });
    // Far more than a pipe holds: a parent that does not read stops the bench here.
    suite.bench("flood", |b| {
        for line in 0..50_000 {
            println!("line {line} of the flood");
        }
        b.iter(|| black_box(1) + 1);
    });
    suite.bench("to_stderr", |b| {
        eprintln!("printed to stderr");
        // What a CI system would obey.
        eprintln!("  ::error::a command\n##[error]another");
        println!("::set-output name=a::b");
        println!("a ##vso[task.complete result=Succeeded]");
        // What a terminal would: a title, a link, lines that are taken back, text that runs from right to left; colours are harmless.
        println!("\u{1b}]0;title\u{7}\u{1b}]8;;http://a\u{1b}\\link\u{1b}]8;;\u{1b}\\");
        println!("\u{1b}[3A\u{1b}[2K\u{202e}\u{1b}[31mred\u{1b}[0m\rback");
        b.iter(|| black_box(1) + 1);
    });
}

perfcheck::main!(prints_to_stdout);
