//! One benchmark that begins and never says a word again.

use fakes_criterion::greeted;

fn main() {
    let mut runner = greeted();
    runner.measure("first");
    if runner.begin("silent") {
        std::thread::park();
    }
    runner.measure("last");
}
