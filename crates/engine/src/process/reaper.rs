//! A helper process that outlives this one for a moment: if this process is killed (`kill -9`), the helper ends the
//! groups that it started.
//!
//! The helper is the same executable, started with [`REAPER_ARGUMENT`] in its own group. It reads lines from a pipe:
//! `=MARK` first, then `+GROUP` and `-GROUP`. A `?MARK` line announces the mark of a group that is being started and
//! has no number before its `+GROUP` line. At end of file, unless the last line was `.`, the helper kills all listed
//! groups and all processes with the marks. Groups work on every Unix; the parent-death signal exists only on Linux
//! and does not reach grandchildren.

#![expect(clippy::disallowed_methods, reason = "starts itself as the reaper")]

use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

use super::orphans::{Mark, kill_marked};

/// The argument that starts the executable as a reaper.
pub const REAPER_ARGUMENT: &str = "__reap";

/// The last line after an orderly end, when there is nothing to kill.
const ALL_IS_WELL: &[u8] = b".\n";

/// A running reaper and the pipe to it.
#[derive(Debug)]
pub(super) struct Reaper {
    process: Child,
    list: Option<ChildStdin>,
}

impl Reaper {
    pub(super) fn start(mark: &Mark) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        Mark::remove_from(&mut command);
        let mut process = command
            .arg(REAPER_ARGUMENT)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let mut list = process.stdin.take();
        if let Some(list) = &mut list {
            let _ = writeln!(list, "={}", mark.word());
        }
        Ok(Self { process, list })
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Announces a group whose processes have `mark`, until it is watched.
    pub(super) fn announce(&mut self, mark: &Mark) {
        self.send_line('?', mark.word());
    }

    pub(super) fn watch(&mut self, group: Pid) {
        self.send_line('+', group.as_raw_nonzero());
    }

    pub(super) fn forget(&mut self, group: Pid) {
        self.send_line('-', group.as_raw_nonzero());
    }

    /// Sends a line. Errors are ignored: without a reaper the measurement can still go on.
    fn send_line(&mut self, sign: char, word: impl Display) {
        if let Some(list) = &mut self.list {
            let _ = writeln!(list, "{sign}{word}");
        }
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        if let Some(mut list) = self.list.take() {
            let _ = list.write_all(ALL_IS_WELL);
        }
        let _ = self.process.wait();
    }
}

/// Runs the reaper: reads the list to its end, then kills the groups that are left.
pub fn reap(list: impl BufRead) {
    // The reaper has its own group, so signals of the terminal do not reach it. It can still be killed by name, which
    // cannot be prevented.
    let mut groups = BTreeSet::new();
    let (mut mark, mut announced) = (None, None);
    for line in list.lines().map_while(Result::ok) {
        let (sign, rest) = line.split_at(line.len().min(1));
        match (sign, rest.parse::<i32>()) {
            ("+", Ok(group)) => {
                groups.insert(group);
                announced = None;
            }
            ("-", Ok(group)) => {
                groups.remove(&group);
            }
            ("=", _) => mark = Some(Mark::from_word(rest)),
            ("?", _) => announced = Some(Mark::from_word(rest)),
            (".", _) => return,
            _ => {}
        }
    }
    for group in groups.into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    for mark in [mark, announced].into_iter().flatten() {
        kill_marked(&mark);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_group_that_was_announced_ends_though_its_number_was_never_told() {
        let start = |mark: &Mark| {
            let mut command = Command::new("sleep");
            mark.add_to(&mut command);
            command.arg("900").spawn().expect("starts")
        };
        let (announced, watched) = (Mark::new_random(), Mark::new_random());
        let (mut lost, mut known) = (start(&announced), start(&watched));
        let list = format!(
            "=none\n?{}\n+2147483647\n?{}\n",
            watched.word(),
            announced.word()
        );
        reap(list.as_bytes());
        assert!(!lost.wait().expect("waited for").success());
        // The announcement ended when its group was watched.
        assert_eq!(known.try_wait().expect("asked"), None);
        known.kill().expect("killed");
        known.wait().expect("waited for");
    }
}
