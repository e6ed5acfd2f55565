//! Each benchmark leaves a `sleep 1000` behind that holds the inherited pipes open.
//!
//! All three are measured, and none of these processes outlives the run.

use perfcheck::{Suite, black_box};
use std::process::Command;

fn forks(suite: &mut Suite) {
    suite.bench("child", |b| {
        leave_behind(Command::new("sleep").arg("1000"));
        b.iter(|| black_box(1) + 1);
    });
    // The parent of this `sleep` has ended, but its process group still exists.
    suite.bench("orphan", |b| {
        leave_behind(Command::new("sh").args(["-c", "sleep 1000 &"]));
        b.iter(|| black_box(1) + 1);
    });
    // This `sleep` has left the process group, so killing the group does not reach it.
    suite.bench("session", |b| {
        leave_behind(Command::new("setsid").args(["--fork", "sleep", "1000"]));
        b.iter(|| black_box(1) + 1);
    });
}

#[expect(
    clippy::zombie_processes,
    reason = "leaving processes behind is the situation"
)]
fn leave_behind(command: &mut Command) {
    command.spawn().expect("the program is installed");
}

perfcheck::main!(forks);
