//! `everything` closes all descriptors, as a program does when it becomes a daemon. The parent then loses its connection to the child.

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
        // SAFETY: closing descriptors that have an owner is unsound, but this is the situation to test. The call touches no memory.
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
