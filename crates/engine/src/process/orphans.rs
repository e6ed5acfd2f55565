//! Finds processes that left their group (`setsid`, a double fork) and outlive the process that started them.
//!
//! On Linux they become children of this process when their parent ends, and so can be found and killed. If this
//! process dies first, the reaper finds them by the [`Mark`] in their environment. On other systems they escape.

use std::hash::{BuildHasher, RandomState};
use std::process::Command;

/// An environment variable with a random value, by which the descendants of a started program are recognized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark(String);

/// The variable. Its value always has the same length, because the size of the environment shifts the stack of a
/// bench.
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

#[cfg(target_os = "linux")]
mod imp {
    use rustix::process::{
        Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
    };
    use std::fs;
    use std::thread;
    use std::time::Duration;

    use super::{Mark, VARIABLE};

    /// Time until the next search. A process that is executing another program shows no environment for a moment.
    const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(20);

    pub(in super::super) fn become_subreaper() {
        let _ = set_child_subreaper(Some(getpid()));
    }

    pub(in super::super) fn kill_all_but(known: &[u32]) {
        // The children of a killed orphan become ours, so repeat until there are none, but not forever.
        for _ in 0..64 {
            let orphans: Vec<Pid> = children()
                .into_iter()
                .filter(|pid| !known.contains(pid))
                .filter_map(|pid| i32::try_from(pid).ok().and_then(Pid::from_raw))
                .collect();
            if orphans.is_empty() {
                return;
            }
            for orphan in orphans {
                let _ = kill_process(orphan, Signal::KILL);
                let _ = waitpid(Some(orphan), WaitOptions::empty());
            }
        }
    }

    pub(in super::super) fn children() -> Vec<u32> {
        let Ok(threads) = fs::read_dir("/proc/self/task") else {
            return Vec::new();
        };
        threads
            .filter_map(Result::ok)
            .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok())
            .flat_map(|list| {
                list.split_whitespace()
                    .filter_map(|pid| pid.parse().ok())
                    .collect::<Vec<u32>>()
            })
            .collect()
    }

    /// Kills marked processes until two searches in a row find none, but not forever.
    pub(in super::super) fn kill_marked(mark: &Mark) {
        let mut clear_looks = 0;
        for _ in 0..64 {
            let marked = find_marked(mark);
            clear_looks = if marked.is_empty() {
                clear_looks + 1
            } else {
                0
            };
            if clear_looks == 2 {
                return;
            }
            for process in marked {
                let _ = kill_process(process, Signal::KILL);
            }
            thread::sleep(LOOK_AGAIN_AFTER);
        }
    }

    fn find_marked(mark: &Mark) -> Vec<Pid> {
        let wanted = format!("{VARIABLE}={}", mark.word());
        let Ok(processes) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        processes
            .filter_map(Result::ok)
            .filter_map(|entry| {
                let number: i32 = entry.file_name().to_str()?.parse().ok()?;
                let environment = fs::read(entry.path().join("environ")).ok()?;
                environment
                    .split(|byte| *byte == 0)
                    .any(|variable| variable == wanted.as_bytes())
                    .then(|| Pid::from_raw(number))?
            })
            .collect()
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    pub(in super::super) fn adopt() {}
    pub(in super::super) fn kill_all_but(_known: &[u32]) {}
    pub(in super::super) fn kill_marked(_mark: &super::Mark) {}
    pub(in super::super) fn children() -> Vec<u32> {
        Vec::new()
    }
}

pub(super) use imp::{become_subreaper, children, kill_all_but, kill_marked};
