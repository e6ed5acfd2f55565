//! Prints whole lines from the function, from set-up and from bodies. Some of them look like frames.

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
    // This is far more than a pipe holds: if the parent does not read it, the bench blocks here.
    suite.bench("flood", |b| {
        for line in 0..50_000 {
            println!("line {line} of the flood");
        }
        b.iter(|| black_box(1) + 1);
    });
    suite.bench("to_stderr", |b| {
        eprintln!("printed to stderr");
        // CI systems obey lines such as these.
        eprintln!("  ::error::a command\n##[error]another");
        println!("::set-output name=a::b");
        println!("a ##vso[task.complete result=Succeeded]");
        // Terminals obey these: a title, a link, overwritten lines and text from right to left. Colors are harmless.
        println!("\u{1b}]0;title\u{7}\u{1b}]8;;http://a\u{1b}\\link\u{1b}]8;;\u{1b}\\");
        println!("\u{1b}[3A\u{1b}[2K\u{202e}\u{1b}[31mred\u{1b}[0m\rback");
        b.iter(|| black_box(1) + 1);
    });
}

perfcheck::main!(prints_to_stdout);
