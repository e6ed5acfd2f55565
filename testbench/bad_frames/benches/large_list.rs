//! Announces a thousand benchmarks, each with a version of a million characters.

use bad_frames::{has_parent, send, send_hello, serve};

fn main() {
    if !has_parent() {
        return;
    }
    send_hello();
    let version = "x".repeat(1_000_000);
    serve(|| {
        for number in 0..1000 {
            send(format!(
                r#"{{"type":"benchmark","id":"{number}","version":"{version}"}}"#
            ));
        }
        send(r#"{"type":"listed","count":1000}"#);
    });
}
