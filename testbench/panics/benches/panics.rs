//! Panics at every place in a benchmark. `before` and `after` succeed.

use perfcheck::{BatchSize, Suite, black_box};

struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "panic in drop");
    }
}

fn panics(suite: &mut Suite) {
    suite.bench("before", |b| b.iter(|| black_box(1) + 1));
    suite.bench("in_body", |b| {
        let empty: Vec<u32> = Vec::new();
        b.iter(|| black_box(&empty)[black_box(3)]);
    });
    suite.bench("in_set_up", |_| panic!("panic in set-up of {}", 42));
    suite.bench("in_batch_set_up", |b| {
        b.iter_batched(
            || -> u32 { panic!("panic in batch set-up") },
            |n| n + 1,
            BatchSize::SmallInput,
        );
    });
    suite.bench("in_drop", |b| {
        b.iter_batched_ref(|| PanicsOnDrop, |_| black_box(1), BatchSize::SmallInput);
    });
    // Fails late, after the first answers have been sent.
    suite.bench("in_iteration_1000", |b| {
        let mut iterations = 0_u32;
        b.iter(|| {
            iterations += 1;
            assert!(iterations < 1_000, "panic in iteration 1000");
        });
    });
    suite.bench("of_no_text", |_| std::panic::panic_any(42_i32));
    suite.bench("of_two\nlines", |_| panic!("first line\nsecond \"line\""));
    suite.bench("after", |b| b.iter(|| black_box(1) + 1));
}

perfcheck::main!(panics);
