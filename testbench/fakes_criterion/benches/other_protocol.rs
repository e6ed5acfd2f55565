//! Imitates a future Criterion, which speaks version 2 of the protocol.

use fakes_criterion::{Runner, connected};

fn main() {
    let mut runner = Runner(connected());
    runner.write(b"Criterion\x01\x00\x00\x00\x02\x00\x01");
    runner.wait(1.0, "ns");
}
