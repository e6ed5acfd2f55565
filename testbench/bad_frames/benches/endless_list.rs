//! Announces benchmarks for ever, as fast as they are read.

use bad_frames::{has_parent, send_benchmark, send_hello, serve};

fn main() {
    if !has_parent() {
        return;
    }
    send_hello();
    serve(|| {
        for number in 0_u64.. {
            send_benchmark(&number.to_string());
        }
    });
}
