//! Ends in the middle of its greeting.

use fakes_criterion::{GREETING, Runner, connected};

fn main() {
    Runner(connected()).write(&GREETING[..5]);
}
