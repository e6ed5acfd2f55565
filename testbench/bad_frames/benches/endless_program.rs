//! A sequential child that always announces one more benchmark.

use bad_frames::{has_parent, send_benchmark, send_hello_of};
use std::io::BufRead;

fn main() {
    if !has_parent() {
        return;
    }
    send_hello_of(r#""sequential""#, 100);
    for (number, _) in std::io::stdin().lock().lines().enumerate() {
        send_benchmark(&number.to_string());
    }
}
