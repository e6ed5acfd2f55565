//! Sends a hello without capabilities.

use bad_frames::{Fault, has_parent, send, send_benchmark, serve};

fn main() {
    if !has_parent() {
        return;
    }
    send("");
    send(r#"{"type":"hello","protocol":1,"harness":"by hand","version":"0.0.0","quantum_ns":100}"#);
    serve(|| {
        send_benchmark(Fault::None.id());
        send(r#"{"type":"listed","count":1}"#);
    });
}
