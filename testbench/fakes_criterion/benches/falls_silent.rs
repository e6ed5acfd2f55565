//! A benchmark that begins and never says a word again, and one that stops within a word.

use fakes_criterion::greeted;

fn main() {
    let mut runner = greeted();
    runner.measure("first");
    if runner.begin("silent") {
        std::thread::park();
    }
    if runner.begin("stalls") {
        // In the middle of a message.
        runner.write(b"\0\0\x01\0abc");
        std::thread::park();
    }
    runner.measure("last");
}
