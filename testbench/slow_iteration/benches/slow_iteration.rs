//! Iterations that are longer than a sample should be: 30 ms, and 1.2 s, which is longer than the time of a whole process.

use perfcheck::Suite;
use std::time::Duration;

fn slow_iteration(suite: &mut Suite) {
    suite.bench("30ms", |b| {
        b.iter(|| std::thread::sleep(Duration::from_millis(30)));
    });
    suite.bench("1200ms", |b| {
        b.iter(|| std::thread::sleep(Duration::from_millis(1_200)));
    });
}

perfcheck::main!(slow_iteration);
