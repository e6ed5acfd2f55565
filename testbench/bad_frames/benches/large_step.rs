//! Sends a hello with a clock step of 2^64-1 ns.

use bad_frames::{Fault, has_parent, send, send_benchmark, send_hello_of, serve};

fn main() {
    if !has_parent() {
        return;
    }
    send_hello_of(r#""addressable""#, u64::MAX);
    serve(|| {
        send_benchmark(Fault::None.id());
        send(r#"{"type":"listed","count":1}"#);
    });
}
