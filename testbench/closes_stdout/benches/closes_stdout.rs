//! Each benchmark closes one standard descriptor. The protocol runs on duplicates, so this must not disturb it.

use perfcheck::{Suite, black_box};

#[cfg(unix)]
#[expect(unsafe_code, reason = "std cannot close a standard descriptor")]
fn close_descriptor(descriptor: i32) {
    unsafe extern "C" {
        fn close(descriptor: i32) -> i32;
    }
    // SAFETY: std keeps no `OwnedFd` for descriptors 0, 1 and 2, and can do without them.
    unsafe {
        close(descriptor);
    }
}

#[cfg(not(unix))]
fn close_descriptor(_: i32) {}

fn closes_stdout(suite: &mut Suite) {
    suite.bench("before", |b| b.iter(|| black_box(1) + 1));
    for (id, descriptor) in [("stdout", 1), ("stdin", 0), ("stderr", 2)] {
        suite.bench(id, move |b| {
            close_descriptor(descriptor);
            b.iter(|| black_box(1) + 1);
        });
    }
    suite.bench("after", |b| b.iter(|| black_box(1) + 1));
}

perfcheck::main!(closes_stdout);
