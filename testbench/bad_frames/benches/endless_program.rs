//! Goes through its benchmarks by itself, and there is always another one.

use bad_frames::{has_parent, send, send_benchmark};
use std::io::BufRead;

fn main() {
    if !has_parent() {
        return;
    }
    send("");
    send(
        r#"{"type":"hello","protocol":1,"harness":"by hand","version":"0.0.0","capabilities":["sequential"],"quantum_ns":100}"#,
    );
    for (number, _) in std::io::stdin().lock().lines().enumerate() {
        send_benchmark(&number.to_string());
    }
}
