//! Announces benchmarks for ever, one in a hundredth of a second: every one is there long before any deadline.

use bad_frames::{announce_for_ever, has_parent};
use std::time::Duration;

fn main() {
    if has_parent() {
        announce_for_ever(Duration::from_millis(10));
    }
}
