//! Each benchmark leaves a `sleep 1000` behind that holds the inherited pipes open.
//!
//! All three are measured, and the sleepers are gone when the run is over.

use perfcheck::{Suite, black_box};
use std::process::Command;

fn forks(suite: &mut Suite) {
    suite.bench("child", |b| {
        leave_behind(Command::new("sleep").arg("1000"));
        b.iter(|| black_box(1) + 1);
    });
    // Forks twice: the sleeper's parent is gone, its process group is not.
    suite.bench("orphan", |b| {
        leave_behind(Command::new("sh").args(["-c", "sleep 1000 &"]));
        b.iter(|| black_box(1) + 1);
    });
    // Out of the process group as well: killing the group does not reach it.
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
