//! Processes that left their group (`setsid`, a double fork) and outlive the one that started them.
//!
//! On Linux they become our children when their parent ends, and can be found and ended. If we die first they are
//! nobody's children any more: then the reaper knows them by the [`Mark`] in their environment. Elsewhere they escape.

use std::hash::{BuildHasher, RandomState};
use std::process::Command;

/// A variable in the environment of every program that we start, and so of what it starts, that nobody else's has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark(String);

/// The variable. Its value always has the same length: it must not shift the stack of a bench.
const VARIABLE: &str = "PERFCHECK_MARK";

impl Mark {
    pub(super) fn fresh() -> Self {
        // The standard library seeds its hash tables from the system's random numbers.
        let number = RandomState::new().hash_one(std::process::id());
        Self(format!("{number:016x}"))
    }

    /// The mark that `word`, as [`Mark::word`] gave it, stands for.
    pub(super) fn from_word(word: &str) -> Self {
        Self(word.to_owned())
    }

    pub(super) fn word(&self) -> &str {
        &self.0
    }

    pub(super) fn put_on(&self, command: &mut Command) {
        command.env(VARIABLE, &self.0);
    }

    /// Takes any mark off: a reaper has its own work to do when its parent's parent dies.
    pub(super) fn take_off(command: &mut Command) {
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

    /// A process shows no environment while it is becoming another program.
    const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(20);

    pub(in super::super) fn adopt() {
        let _ = set_child_subreaper(Some(getpid()));
    }

    pub(in super::super) fn kill_all_but(known: &[u32]) {
        // Killing one may hand us its own children: again until none is new, boundedly.
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

    /// Kills until two looks in a row find nobody, boundedly.
    pub(in super::super) fn kill_marked(mark: &Mark) {
        let mut clear_looks = 0;
        for _ in 0..64 {
            let marked = marked(mark);
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

    fn marked(mark: &Mark) -> Vec<Pid> {
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

pub(super) use imp::{adopt, children, kill_all_but, kill_marked};
