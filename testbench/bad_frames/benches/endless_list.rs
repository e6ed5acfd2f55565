//! Announces benchmarks forever, as fast as the parent reads them.

use bad_frames::{announce_for_ever, has_parent};
use std::time::Duration;

fn main() {
    if has_parent() {
        announce_for_ever(Duration::ZERO);
    }
}
