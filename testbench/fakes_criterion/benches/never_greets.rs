//! Connects to the runner, but does not answer its greeting.

use fakes_criterion::connected;

fn main() {
    let _socket = connected();
    std::thread::park();
}
