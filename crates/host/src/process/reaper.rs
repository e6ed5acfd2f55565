//! A helper process that ends started groups if this process is killed (`kill -9`), and the search for processes that left their group.
//!
//! The helper is the same executable in its own group. Groups work on every Unix; the parent-death signal exists only on Linux and does not reach
//! grandchildren. Processes that leave their group (`setsid`, a double fork) become children of this process on Linux when their parent ends, and so
//! can be found and killed. If this process dies first, the helper finds them by the [`Mark`] in their environment. On macOS they escape. On Windows
//! no helper is started, because the system itself ends the processes of a group (see [`os::GROUPS_END_WITH_US`]).

#![expect(clippy::disallowed_methods, reason = "starts itself as the reaper")]

use std::collections::BTreeSet;
use std::fmt::Display;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::os::{self, LeftoverPolicy};

/// The argument that starts the executable as a reaper. The `main` of every executable that supervises processes must handle it; otherwise each helper
/// starts another one, without end.
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
        command
            .arg(REAPER_ARGUMENT)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut process = os::lead_new_group(&mut command, LeftoverPolicy::Leave).spawn()?;
        let mut list = process.stdin.take();
        if let Some(list) = &mut list {
            let _ = writeln!(list, "={}", mark.word());
        }
        Ok(Self { process, list })
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Announces a group that is being started and whose processes have `mark`. The announcement ends when the next group is watched.
    pub(super) fn announce(&mut self, mark: &Mark) {
        self.send_line('?', mark.word());
    }

    pub(super) fn watch(&mut self, group: i32) {
        self.send_line('+', group);
    }

    pub(super) fn forget(&mut self, group: i32) {
        self.send_line('-', group);
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
///
/// Lines of the list: `=MARK` first, then `+GROUP` and `-GROUP`. A `?MARK` line announces the mark of a group that is being started and has no number
/// before its `+GROUP` line. At end of file, unless the last line was `.`, all listed groups and all processes with the marks are killed.
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
    for group in groups {
        os::kill_group(group);
    }
    for mark in [mark, announced].into_iter().flatten() {
        os::kill_marked(&format!("{VARIABLE}={}", mark.word()));
    }
}

/// An environment variable with a random value, by which the descendants of a started program are recognized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark(String);

/// Name of the environment variable. Its value always has the same length, because the size of the environment shifts the stack of a bench.
const VARIABLE: &str = "PERFCHECK_MARK";

impl Mark {
    pub(super) fn new_random() -> Self {
        // The standard library seeds its hash tables with random numbers of the system.
        let number = RandomState::new().hash_one(std::process::id());
        Self(format!("{number:016x}"))
    }

    /// Returns the mark for a word that [`Mark::word`] returned.
    pub(super) fn from_word(word: &str) -> Self {
        Self(word.to_owned())
    }

    pub(super) fn word(&self) -> &str {
        &self.0
    }

    pub(super) fn add_to(&self, command: &mut Command) {
        command.env(VARIABLE, &self.0);
    }

    /// Removes the mark from a command. The reaper needs this: it must survive when the marked processes are killed.
    pub(super) fn remove_from(command: &mut Command) {
        command.env_remove(VARIABLE);
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
