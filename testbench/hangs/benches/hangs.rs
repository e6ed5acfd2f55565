//! `in_body`, `in_set_up` and `busy` hang. `before` and `after` succeed.
//!
//! They hang for a quarter of an hour instead of forever, so that a failed test leaves no process behind for good.

use perfcheck::{Suite, black_box};
use std::time::{Duration, Instant};

const FOREVER: Duration = Duration::from_mins(15);

fn hangs(suite: &mut Suite) {
    suite.bench("before", |b| b.iter(|| black_box(1) + 1));
    suite.bench("in_body", |b| b.iter(|| std::thread::sleep(FOREVER)));
    suite.bench("in_set_up", |b| {
        std::thread::sleep(FOREVER);
        b.iter(|| black_box(1) + 1);
    });
    suite.bench("busy", |b| {
        b.iter(|| {
            let start = Instant::now();
            while start.elapsed() < FOREVER {
                std::hint::spin_loop();
            }
        });
    });
    suite.bench("after", |b| b.iter(|| black_box(1) + 1));
}

perfcheck::main!(hangs);
