//! For each `Fault` in an answer, a benchmark with its id that gives this answer. `fine` has no fault, and `zero_times` is allowed.

use bad_frames::{Fault, has_parent, send, send_benchmark, send_hello, serve};

fn main() {
    if !has_parent() {
        return;
    }
    send_hello();
    serve(|| {
        for fault in Fault::ALL {
            send_benchmark(fault.id());
        }
        send(format!(
            r#"{{"type":"listed","count":{}}}"#,
            Fault::ALL.len()
        ));
    });
}
