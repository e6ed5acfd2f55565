//! A helper process that outlives us by a moment: when we die without warning (`kill -9`), it ends what we started.
//!
//! It is our own executable, started with [`REAPER_ARGUMENT`] in a group of its own. It reads `+GROUP` and
//! `-GROUP` lines from a pipe whose other end only we hold; at end of file it kills every group still listed.
//! It works on every Unix, where the parent-death signal is Linux's alone and does not reach grandchildren.

#![expect(clippy::disallowed_methods, reason = "starts itself as the reaper")]

use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

/// The argument that makes our executable a reaper.
pub const REAPER_ARGUMENT: &str = "__reap";

/// Our end of a running reaper.
#[derive(Debug)]
pub(super) struct Reaper {
    process: Child,
    list: Option<ChildStdin>,
}

impl Reaper {
    pub(super) fn start() -> io::Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg(REAPER_ARGUMENT)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let list = process.stdin.take();
        Ok(Self { process, list })
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.id()
    }

    pub(super) fn watch(&mut self, group: Pid) {
        self.tell('+', group);
    }

    pub(super) fn forget(&mut self, group: Pid) {
        self.tell('-', group);
    }

    /// A reaper that is gone cannot help any more; that is no reason to stop measuring.
    fn tell(&mut self, sign: char, group: Pid) {
        if let Some(list) = &mut self.list {
            let _ = writeln!(list, "{sign}{}", group.as_raw_nonzero());
        }
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        drop(self.list.take());
        let _ = self.process.wait();
    }
}

/// The reaper's whole life: reads the list to its end, then kills what is left on it.
pub fn reap(list: impl BufRead) {
    // The terminal's signals go to its own group, a `kill` of everything by name does not spare it: then nothing is left to do.
    let mut groups = BTreeSet::new();
    for line in list.lines().map_while(Result::ok) {
        let (sign, number) = line.split_at(line.len().min(1));
        let Ok(number) = number.parse::<i32>() else {
            continue;
        };
        match sign {
            "+" => groups.insert(number),
            "-" => groups.remove(&number),
            _ => continue,
        };
    }
    for group in groups.into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}
