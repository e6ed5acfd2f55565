//! Announces the same id twice, which our own harness never does.

use bad_frames::{Fault, has_parent, send, send_benchmark, send_hello, serve};

fn main() {
    if !has_parent() {
        return;
    }
    send_hello();
    serve(|| {
        send_benchmark(Fault::None.id());
        send_benchmark(Fault::None.id());
        send(r#"{"type":"listed","count":2}"#);
    });
}
