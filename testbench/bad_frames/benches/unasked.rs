//! Sends a `samples` frame right after its hello, before any request.

use bad_frames::{Fault, has_parent, send, send_benchmark, send_hello, serve};

fn main() {
    if !has_parent() {
        return;
    }
    send_hello();
    send(r#"{"type":"samples","iterations":[1],"elapsed_ns":[1]}"#);
    serve(|| {
        send_benchmark(Fault::None.id());
        send(r#"{"type":"listed","count":1}"#);
    });
}
