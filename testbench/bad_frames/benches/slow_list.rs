//! Announces a benchmark every 10 ms, forever. No single frame is late, so only a deadline for the whole answer stops it.

use bad_frames::{announce_for_ever, has_parent};
use std::time::Duration;

fn main() {
    if has_parent() {
        announce_for_ever(Duration::from_millis(10));
    }
}
