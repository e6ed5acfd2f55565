//! Announces one benchmark, but says that there are two.

use bad_frames::{Fault, has_parent, send, send_benchmark, send_hello, serve};

fn main() {
    if !has_parent() {
        return;
    }
    send_hello();
    serve(|| {
        send_benchmark(Fault::None.id());
        send(r#"{"type":"listed","count":2}"#);
    });
}
