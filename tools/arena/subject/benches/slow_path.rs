//! A slow mode that the clock switches on.

use arena_subject::layout;
use arena_subject::slow_path::SlowPath;
use perfcheck::Suite;

fn by_the_clock(suite: &mut Suite) {
    layout::keep();
    suite.bench("slow_path", |b| {
        let mut work = SlowPath::set_up();
        b.iter(|| work.run());
    });
}

perfcheck::main!(by_the_clock);
