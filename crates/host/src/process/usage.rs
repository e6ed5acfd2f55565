//! Reads resource usage of a living process: threads, CPU time, context switches. Supported on Linux only.
//!
//! Fields are those of `proc_pid_stat(5)`, `proc_pid_status(5)` and `proc_stat(5)`.

use std::time::Duration;

/// The resource usage of a process so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageSnapshot {
    /// Number of living threads.
    pub threads: u32,
    /// CPU time of all its threads, including ended ones, and of the processes that it has waited for (the latter in
    /// clock ticks of 10 ms).
    pub cpu: Duration,
    /// CPU time of its main thread.
    pub main_thread: Duration,
    /// Whether it has living child processes.
    pub has_children: bool,
    /// Number of involuntary context switches of its living threads.
    pub involuntary_switches: u64,
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::time::Duration;

    use nix::time::clock_getcpuclockid;
    use nix::unistd::Pid;

    use super::UsageSnapshot;

    /// Positions in `/proc/PID/stat`, counted after the name of the program, which is in parentheses and can contain any character.
    const TIMES_OF_CHILDREN: std::ops::Range<usize> = 13..15;
    const THREADS: usize = 17;
    /// Position of the time taken by a hypervisor, in the line for all processors.
    const STOLEN: usize = 8;

    impl UsageSnapshot {
        /// Reads the usage of the process `pid`; `None` if it has ended.
        pub fn read(pid: u32) -> Option<Self> {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
            let ticks = fields.get(TIMES_OF_CHILDREN)?.iter();
            let ticks: u64 = ticks.filter_map(|field| field.parse::<u64>().ok()).sum();
            Some(Self {
                threads: fields.get(THREADS)?.parse().ok()?,
                cpu: own_time(pid)? + time(ticks),
                main_thread: main_thread_time(pid)?,
                has_children: has_children(pid)?,
                involuntary_switches: involuntary_switches(pid)?,
            })
        }
    }

    /// Returns the CPU time of the process, from its CPU-time clock, which counts nanoseconds.
    fn own_time(pid: u32) -> Option<Duration> {
        let pid = Pid::from_raw(i32::try_from(pid).ok()?);
        Some(clock_getcpuclockid(pid).ok()?.now().ok()?.into())
    }

    /// Returns the CPU time of the main thread: the first number in the scheduler's statistics, in nanoseconds.
    fn main_thread_time(pid: u32) -> Option<Duration> {
        let statistics = fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
        let nanoseconds = statistics.split_whitespace().next()?.parse().ok()?;
        Some(Duration::from_nanos(nanoseconds))
    }

    fn has_children(pid: u32) -> Option<bool> {
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
        let mut children = tasks
            .filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok())
            .peekable();
        // Return `None` if the kernel does not provide the lists.
        children.peek()?;
        Some(children.any(|list| !list.trim().is_empty()))
    }

    fn involuntary_switches(pid: u32) -> Option<u64> {
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
        let of_one = |status: String| -> Option<u64> {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"));
            line?.trim().parse().ok()
        };
        let switches = tasks
            .filter_map(|task| fs::read_to_string(task.ok()?.path().join("status")).ok())
            .filter_map(of_one);
        Some(switches.sum())
    }

    /// Returns the time that a hypervisor gave to other machines since this one was started, summed over processors.
    pub fn stolen_time() -> Option<Duration> {
        let stat = fs::read_to_string("/proc/stat").ok()?;
        let ticks = stat.lines().next()?.split_whitespace().nth(STOLEN)?;
        Some(time(ticks.parse().ok()?))
    }

    /// Returns the resident private memory of the process `pid` in bytes.
    pub fn private_memory(pid: u32) -> Option<u64> {
        let statm = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
        let mut pages = statm.split_whitespace().skip(1).map(str::parse::<u64>);
        let (resident, shared) = (pages.next()?.ok()?, pages.next()?.ok()?);
        Some(resident.checked_sub(shared)? * rustix::param::page_size() as u64)
    }

    fn time(ticks: u64) -> Duration {
        let per_second = rustix::param::clock_ticks_per_second().max(1);
        Duration::from_nanos(ticks.saturating_mul(1_000_000_000 / per_second))
    }
}

#[cfg(target_os = "linux")]
pub use linux::{private_memory, stolen_time};

#[cfg(not(target_os = "linux"))]
impl UsageSnapshot {
    /// Returns `None`: not known on this system.
    pub fn read(_: u32) -> Option<Self> {
        None
    }
}

/// Returns `None`: not known on this system.
#[cfg(not(target_os = "linux"))]
pub fn private_memory(_: u32) -> Option<u64> {
    None
}

/// Returns `None`: not known on this system.
#[cfg(not(target_os = "linux"))]
pub fn stolen_time() -> Option<Duration> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::time::Duration;

    use super::super::group::{LeftoverPolicy, Supervisor};
    use super::UsageSnapshot;

    #[test]
    fn what_we_allocate_is_private_memory() {
        let of_us = || super::private_memory(std::process::id()).expect("alive");
        let bytes = 256 << 20;
        let is_seen = || {
            let before = of_us();
            let memory = std::hint::black_box(vec![1_u8; bytes]);
            let after = of_us();
            drop(memory);
            after > before + bytes as u64 / 2
        };
        // Other tests may free memory meanwhile, sometimes as much as this one allocates.
        assert!((0..5).any(|_| is_seen()));
        assert_eq!(super::private_memory(u32::MAX), None, "no such process");
    }

    #[test]
    fn our_own_threads_and_time_are_seen() {
        let of_us = || UsageSnapshot::read(std::process::id()).expect("alive");
        let before = of_us();
        let seen = AtomicBool::new(false);
        // Enough threads that those of other tests do not matter.
        let (threads, gathered) = (64, Barrier::new(65));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !seen.load(Relaxed) {
                    std::hint::spin_loop();
                }
            });
            for _ in 0..threads {
                scope.spawn(|| gathered.wait());
            }
            let during = loop {
                let during = of_us();
                if during.cpu > before.cpu + Duration::from_millis(20) {
                    break during;
                }
            };
            seen.store(true, Relaxed);
            gathered.wait();
            assert!(during.threads > threads);
            let of_main = during.main_thread.saturating_sub(before.main_thread);
            assert!(during.cpu > before.cpu + of_main);
        });
    }

    #[test]
    fn processes_that_are_alive_are_seen() {
        let of_us = || {
            UsageSnapshot::read(std::process::id())
                .expect("alive")
                .has_children
        };
        let mut command = std::process::Command::new("sleep");
        let started = Supervisor::default().spawn(command.arg("900"), LeftoverPolicy::Leave);
        // Dropping it would end the process.
        let _child = started.expect("starts");
        assert!(of_us());
    }

    #[test]
    fn of_a_process_that_is_not_there_nothing_is_known() {
        assert_eq!(UsageSnapshot::read(u32::MAX), None);
    }
}
