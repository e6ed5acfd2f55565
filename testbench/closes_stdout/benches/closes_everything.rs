//! `everything` closes all descriptors, as code that turns itself into a daemon does: the parent loses the child.

use perfcheck::{Suite, black_box};

#[cfg(unix)]
#[expect(
    unsafe_code,
    reason = "std cannot close descriptors that it does not own"
)]
fn close_all_descriptors() {
    unsafe extern "C" {
        fn close(descriptor: i32) -> i32;
    }
    for descriptor in 0..256 {
        // SAFETY: unsound for owned descriptors, and meant: this is the situation. No memory is touched.
        unsafe {
            close(descriptor);
        }
    }
}

#[cfg(not(unix))]
fn close_all_descriptors() {
    std::process::exit(6);
}

fn closes_everything(suite: &mut Suite) {
    suite.bench("before", |b| b.iter(|| black_box(1) + 1));
    suite.bench("everything", |b| {
        close_all_descriptors();
        b.iter(|| black_box(1) + 1);
    });
    suite.bench("after", |b| b.iter(|| black_box(1) + 1));
}

perfcheck::main!(closes_everything);
