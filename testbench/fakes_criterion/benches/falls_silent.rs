//! `silent` begins and then sends nothing. `stalls` stops in the middle of a message.

use fakes_criterion::greeted;

fn main() {
    let mut runner = greeted();
    runner.measure("first");
    if runner.begin("silent") {
        std::thread::park();
    }
    if runner.begin("stalls") {
        // Announce a message of 256 bytes, but send only three.
        runner.write(b"\0\0\x01\0abc");
        std::thread::park();
    }
    runner.measure("last");
}
