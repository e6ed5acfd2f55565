//! Connects to the runner's port, but does not greet as Criterion does.

use fakes_criterion::{Runner, connected};

fn main() {
    let mut runner = Runner(connected());
    runner.write(b"HTTP/1.1 200 OK\r\n\r\n");
    runner.wait(1.0, "ns");
}
