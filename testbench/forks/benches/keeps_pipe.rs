//! A child, written without the harness, that dies while a `sleep 1000` still holds its pipe for frames open.
//!
//! The parent sees no end of file, so it must learn from the system that the child has ended.

use std::io::BufRead;
use std::process::{Command, Stdio};

fn main() {
    if std::env::var_os("PERFCHECK_PROTOCOL").is_none() {
        eprintln!("keeps_pipe has something to say to `cargo perfcheck` only");
        return;
    }
    println!();
    println!(
        r#"{{"type":"hello","protocol":1,"harness":"by hand","version":"0.0.0","capabilities":["addressable"],"quantum_ns":100}}"#
    );
    for request in std::io::stdin().lock().lines().map_while(Result::ok) {
        match request.as_str() {
            "list" => {
                println!(
                    r#"{{"type":"benchmark","id":"dies","version":null,"throughput":{{"bytes":null,"elements":null}},"settings":{{}}}}"#
                );
                println!(r#"{{"type":"listed","count":1}}"#);
            }
            "bye" => {
                println!(r#"{{"type":"bye"}}"#);
                return;
            }
            _ => die_and_leave_a_sleeper(),
        }
    }
}

fn die_and_leave_a_sleeper() -> ! {
    Command::new("sleep")
        .arg("1000")
        .stdin(Stdio::null())
        .spawn()
        .expect("the program is installed");
    std::process::exit(7);
}
