//! Processes that left their group (`setsid`, a double fork) and outlive the one that started them.
//!
//! On Linux they become our children when their parent ends, and can be found and ended. Elsewhere they escape.

#[cfg(target_os = "linux")]
mod imp {
    use rustix::process::{
        Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
    };
    use std::fs;

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
}

#[cfg(not(target_os = "linux"))]
mod imp {
    pub(in super::super) fn adopt() {}
    pub(in super::super) fn children() -> Vec<u32> {
        Vec::new()
    }
    pub(in super::super) fn kill_all_but(_known: &[u32]) {}
}

pub(super) use imp::{adopt, children, kill_all_but};
