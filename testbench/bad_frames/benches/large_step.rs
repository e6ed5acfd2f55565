//! A hello whose clock steps by 2^64-1 ns.

use bad_frames::{Fault, has_parent, send, send_benchmark, serve};

fn main() {
    if !has_parent() {
        return;
    }
    send("");
    send(
        r#"{"type":"hello","protocol":1,"harness":"by hand","version":"0.0.0","capabilities":["addressable"],"quantum_ns":18446744073709551615}"#,
    );
    serve(|| {
        send_benchmark(Fault::None.id());
        send(r#"{"type":"listed","count":1}"#);
    });
}
