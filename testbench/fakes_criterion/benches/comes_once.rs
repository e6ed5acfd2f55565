//! Connects when it is asked who it is, and never again.

use fakes_criterion::greeted;

fn main() {
    if std::env::args().count() > 2 {
        std::thread::park();
    }
    let mut runner = greeted();
    runner.measure("never");
}
