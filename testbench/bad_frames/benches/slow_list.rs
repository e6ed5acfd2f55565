//! Announces benchmarks for ever, one in a hundredth of a second: every one is there long before any deadline.

use bad_frames::{has_parent, send_benchmark, send_hello, serve};
use std::thread::sleep;
use std::time::Duration;

fn main() {
    if !has_parent() {
        return;
    }
    send_hello();
    serve(|| {
        for number in 0_u64.. {
            send_benchmark(&number.to_string());
            sleep(Duration::from_millis(10));
        }
    });
}
