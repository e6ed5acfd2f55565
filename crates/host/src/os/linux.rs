//! Linux: facts from `/proc`, orphaned processes, binding to one processor, and samples of where a process spends its time.
//!
//! The fields of files in `/proc` are described in `proc_pid_stat(5)`, `proc_pid_status(5)` and `proc_stat(5)`.

use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use std::fs;
use std::marker::PhantomData;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use super::types::{EndedUsage, UsageSnapshot};

pub use sampling::{TimeSampler, try_time_samples};

/// The program that opens a file as the desktop does, and the arguments that come before the file.
pub const VIEWER: (&str, &[&str]) = ("xdg-open", &[]);

/// The variable with the additional search path for dynamic libraries.
pub const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// Whether an executable still starts after some of its bytes were changed. It does not on macOS, where executables are signed.
pub const EXECUTABLES_CAN_CHANGE: bool = true;

/// Returns an empty list. On macOS, these are the directories that the dynamic linker searches only if [`LIBRARY_PATH`] is not set.
pub fn fallback_library_directories() -> Vec<PathBuf> {
    Vec::new()
}

/// Returns the version of the kernel.
pub fn kernel_release() -> String {
    let uname = rustix::system::uname();
    uname.release().to_string_lossy().into_owned()
}

/// Returns `None`, because the caller reads the name of the processor from `/proc/cpuinfo`.
pub fn processor_name() -> Option<String> {
    None
}

/// Returns the load average of the last minute.
pub fn load_average() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.trim().split(' ').next()?.parse().ok()
}

/// Returns how long the machine has been suspended since it was started.
pub fn suspended_time() -> Duration {
    let read = |clock| Duration::try_from(clock_gettime(clock)).unwrap_or_default();
    let monotonic = read(ClockId::Monotonic);
    read(ClockId::Boottime).saturating_sub(monotonic)
}

/// Returns the number of clock ticks in a second.
pub fn clock_ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second().max(1)
}

/// Reports whether a file is on a network file system.
pub fn is_on_network(path: &Path) -> bool {
    // Magic numbers of statfs(2): NFS, SMB, CIFS, SMB2, 9P, AFS, Coda, Ceph.
    const NETWORK: [u32; 8] = [
        0x6969,
        0x517B,
        0xFF53_4D42,
        0xFE53_4D42,
        0x0102_1997,
        0x5346_414F,
        0x7375_7245,
        0x00C3_6400,
    ];
    rustix::fs::statfs(path).is_ok_and(|stat| NETWORK.contains(&(stat.f_type as u32)))
}

/// Makes the system acknowledge the data on a connection at once. Each send resets this option. If the call fails, the peer only waits longer.
pub fn acknowledge_at_once(stream: &TcpStream) {
    let _ = std::os::linux::net::TcpStreamExt::set_quickack(stream, true);
}

/// Returns true if the peer of a connection from `peer` to our `port` belongs to the process group `group`. Returns `None` if `/proc` cannot be read.
pub fn owns_connection(group: u32, peer: SocketAddr, port: u16) -> Option<bool> {
    let table = fs::read_to_string("/proc/net/tcp").ok()?;
    let Some(inode) = find_inode(&table, peer.port(), port) else {
        return Some(false);
    };
    let name = format!("socket:[{inode}]");
    // The owner is nearly always the group's leader, and searching all processes takes milliseconds.
    let is_owner = has_open_socket(group, &name)
        || processes_in_group(group).any(|process| has_open_socket(process, &name));
    Some(is_owner)
}

/// Returns the inode of the socket with these local and remote ports; `table` has the format of proc(5).
fn find_inode(table: &str, local: u16, remote: u16) -> Option<&str> {
    let port = |address: &str| u16::from_str_radix(address.split(':').nth(1)?, 16).ok();
    table.lines().skip(1).find_map(|line| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let found = (port(words.next()?)?, port(words.next()?)?);
        let inode = words.nth(6)?;
        // A socket that no process holds any more has the inode 0.
        (found == (local, remote) && inode != "0").then_some(inode)
    })
}

fn processes_in_group(group: u32) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(move |process| process_group(*process) == Some(group))
}

/// Returns the process group of a process. In the file `stat`, it is the third word after the name, which may contain any character.
fn process_group(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_ascii_whitespace().nth(2)?.parse().ok()
}

fn has_open_socket(process: u32, name: &str) -> bool {
    let entries = fs::read_dir(format!("/proc/{process}/fd"));
    let mut entries = entries.into_iter().flatten().flatten();
    entries.any(|entry| fs::read_link(entry.path()).is_ok_and(|target| target.as_os_str() == name))
}

/// The time between two searches for marked processes. One search is not enough, because a process that replaces its program (`exec`) shows no
/// environment for a moment.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(20);

/// Makes processes that leave their group children of this process when their parent ends.
pub fn adopt_orphans() {
    let _ = set_child_subreaper(Some(getpid()));
}

/// Returns the children of this process.
pub fn list_children() -> Vec<u32> {
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

/// Kills the children of this process that are not `known`, and all their descendants.
pub fn kill_children_except(known: &[u32]) {
    // The children of a killed orphan become ours, so repeat until there are none, but not forever.
    for _ in 0..64 {
        let orphans: Vec<Pid> = list_children()
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

/// Kills processes whose environment contains `variable` (`NAME=VALUE`) until two searches in a row find none, with a limit on the number of
/// searches.
pub fn kill_marked(variable: &str) {
    let mut clear_looks = 0;
    for _ in 0..64 {
        let marked = find_marked(variable);
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

fn find_marked(wanted: &str) -> Vec<Pid> {
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

/// A binding of threads to one processor: of the thread that creates this value, and of the main threads of some processes. It ends when the value is
/// dropped. But threads and processes that a bound thread starts meanwhile stay bound.
#[derive(Debug)]
pub struct ThreadPinning {
    processor: u32,
    /// Not `Send`: the binding must be undone by the thread that it binds.
    _of_this_thread: PhantomData<*const ()>,
    before: Vec<FormerBinding>,
}

/// The processors that a thread could use before it was bound to one.
#[derive(Debug)]
struct FormerBinding {
    /// The process whose main thread was bound; `None` for the thread that created the binding.
    process: Option<Pid>,
    processors: CpuSet,
}

impl ThreadPinning {
    /// Binds this thread and `processes` to one of the processors that this thread may use. `choose` gets their
    /// number and returns an index. Returns `None` if there is only one processor.
    pub fn to_one(processes: &[u32], choose: impl FnOnce(u32) -> usize) -> Option<Self> {
        let ours = sched_getaffinity(None).ok()?;
        let allowed: Vec<usize> = (0..CpuSet::MAX_CPU)
            .filter(|cpu| ours.is_set(*cpu))
            .collect();
        if allowed.len() < 2 {
            return None;
        }
        let processor = *allowed.get(choose(u32::try_from(allowed.len()).ok()?))?;
        let mut one = CpuSet::new();
        one.set(processor);
        // From here on, an early return drops the binding and so undoes it.
        let mut binding = Self {
            processor: u32::try_from(processor).ok()?,
            _of_this_thread: PhantomData,
            before: Vec::new(),
        };
        let ids = processes
            .iter()
            .map(|pid| Pid::from_raw(i32::try_from(*pid).ok()?));
        let ids: Vec<Pid> = ids.collect::<Option<_>>()?;
        for pid in std::iter::once(None).chain(ids.into_iter().map(Some)) {
            let allowed = sched_getaffinity(pid).ok()?;
            // Do not bind at all if a process has chosen its processors by itself.
            if allowed != ours {
                return None;
            }
            binding.before.push(FormerBinding {
                process: pid,
                processors: allowed,
            });
            sched_setaffinity(pid, &one).ok()?;
        }
        Some(binding)
    }

    /// Returns the number of the processor.
    pub fn processor(&self) -> u32 {
        self.processor
    }
}

impl Drop for ThreadPinning {
    fn drop(&mut self) {
        for former in self.before.iter().rev() {
            // Can fail if the process has ended or its processors were restricted meanwhile.
            let _ = sched_setaffinity(former.process, &former.processors);
        }
    }
}

/// Positions of fields in `/proc/PID/stat`. They count from the field after the name of the program, which is in parentheses and can contain any
/// character.
const FAULTS_OF_CHILDREN: usize = 8;
const TIMES_OF_CHILDREN: std::ops::Range<usize> = 13..15;
const THREADS: usize = 17;
/// Position of the stolen time, which a hypervisor gave to other machines, in the line of `/proc/stat` for all processors.
const STOLEN: usize = 8;

/// Reads the usage of the process `pid`; `None` if it has ended.
pub fn read_usage(pid: u32) -> Option<UsageSnapshot> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(TIMES_OF_CHILDREN)?.iter();
    let ticks: u64 = ticks.filter_map(|field| field.parse::<u64>().ok()).sum();
    Some(UsageSnapshot {
        threads: fields.get(THREADS)?.parse().ok()?,
        cpu: own_time(pid)? + time(ticks),
        main_thread: main_thread_time(pid)?,
        has_children: has_children(pid)?,
        involuntary_switches: involuntary_switches(pid)?,
    })
}

/// Whether the system reports the peak memory of a process that has ended.
pub const REPORTS_PEAK_MEMORY: bool = true;

/// Makes `command` start in a copy of this process. Otherwise it starts in the memory of this process until it executes its program, and the peak of
/// this process counts as its own.
#[expect(unsafe_code, reason = "the only way to have the process copied")]
pub fn copy_at_start(command: &mut Command) -> &mut Command {
    // SAFETY: the function that runs in the copy does nothing.
    unsafe { command.pre_exec(|| Ok(())) }
}

/// Returns the resources that the process `pid`, which has ended but has not been reaped, and the children that it waited for have used. Returns `None`
/// if it is still running.
#[expect(
    unsafe_code,
    reason = "the only call that reports the usage of one process without reaping it"
)]
pub fn usage_of_ended(pid: u32) -> Option<EndedUsage> {
    // SAFETY: both structures are plain numbers, for which all zeros are valid.
    let (mut info, mut usage): (libc::siginfo_t, libc::rusage) = unsafe { std::mem::zeroed() };
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the system call writes only to the two structures. The library's `waitid` lacks the argument for the usage.
    let found = unsafe {
        libc::syscall(
            libc::SYS_waitid,
            libc::P_PID,
            pid,
            &raw mut info,
            options,
            &raw mut usage,
        )
    };
    // SAFETY: the field has been written, or is 0 if the process is still running.
    if found != 0 || unsafe { info.si_pid() } == 0 {
        return None;
    }
    let time = |time: libc::timeval| -> Option<Duration> {
        let seconds = Duration::from_secs(u64::try_from(time.tv_sec).ok()?);
        Some(seconds + Duration::from_micros(u64::try_from(time.tv_usec).ok()?))
    };
    // The system counts in KiB.
    let peak_memory = u64::try_from(usage.ru_maxrss).ok();
    let peak_memory = peak_memory.map(|kibibytes| kibibytes.saturating_mul(1024));
    let cpu = time(usage.ru_utime)? + time(usage.ru_stime)?;
    Some(EndedUsage {
        cpu,
        peak_memory,
        waiting: waiting_time_of_ended(pid, cpu),
        had_children: has_waited_for_children(pid),
    })
}

/// Reports whether the process has waited for children. Their page faults count as its own, and no process runs without one.
fn has_waited_for_children(pid: u32) -> Option<bool> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let faults: u64 = fields.nth(FAULTS_OF_CHILDREN)?.parse().ok()?;
    Some(faults > 0)
}

/// How much the two measurements of the CPU time of a process may differ: this much, and this fraction of it.
const CPU_TIME_ERROR: (Duration, f64) = (Duration::from_micros(50), 0.005);

/// Returns how long the process `pid`, which has ended but has not been reaped, was ready to run but had no processor. Returns `None` if it is unknown,
/// or if the first thread did not do all the work, which took `cpu`.
fn waiting_time_of_ended(pid: u32, cpu: Duration) -> Option<Duration> {
    let SchedulingTimes { running, waiting } = read_scheduling(&format!("/proc/{pid}/schedstat"))?;
    let (absolute, relative) = CPU_TIME_ERROR;
    let others = cpu.saturating_sub(running);
    (others <= absolute + running.mul_f64(relative)).then_some(waiting)
}

/// Returns how long this thread has been ready to run but had no processor.
pub fn own_waiting_time() -> Duration {
    read_scheduling("/proc/thread-self/schedstat").map_or(Duration::ZERO, |times| times.waiting)
}

/// Times of a thread since its start.
struct SchedulingTimes {
    running: Duration,
    /// The time in which the thread was ready to run but had no processor.
    waiting: Duration,
}

/// Reads the first two numbers of a file `schedstat`, which are nanoseconds.
fn read_scheduling(path: &str) -> Option<SchedulingTimes> {
    let text = fs::read_to_string(path).ok()?;
    let mut numbers = text.split_ascii_whitespace().map(str::parse);
    let mut next = || Some(Duration::from_nanos(numbers.next()?.ok()?));
    Some(SchedulingTimes {
        running: next()?,
        waiting: next()?,
    })
}

/// Returns the CPU time of the process, from its CPU-time clock, which counts nanoseconds.
fn own_time(pid: u32) -> Option<Duration> {
    let pid = nix::unistd::Pid::from_raw(i32::try_from(pid).ok()?);
    Some(nix::time::clock_getcpuclockid(pid).ok()?.now().ok()?.into())
}

/// Returns the CPU time of the main thread. It is the first number in the scheduler's statistics, and counts nanoseconds.
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

/// Returns the time that the hypervisor gave to other virtual machines since this one was started, summed over all processors.
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
    Duration::from_nanos(ticks.saturating_mul(1_000_000_000 / clock_ticks_per_second()))
}

/// Samples of the program counter of a process at regular intervals of CPU time.
///
/// `perf_event_open(2)` with a software clock needs no hardware counters, so it works in virtual machines, too. Kernel code is not sampled, therefore
/// no privileges are needed. Threads and processes that the sampled process starts later are sampled, too. They can share a buffer with it only if
/// the event is bound to one processor, so there is one event for each processor.
#[expect(
    unsafe_code,
    reason = "no library that we have opens events of perf or maps their buffers"
)]
mod sampling {
    use std::ffi::c_void;
    use std::fs;
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
    use std::ptr::{self, NonNull};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use rustix::io::Errno;
    use rustix::ioctl::{NoArg, Opcode, ioctl, opcode};
    use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
    use rustix::thread::{CpuSet, sched_getaffinity};

    use super::super::types::{TimeSample, TimeSamplingError};

    /// The largest value of `perf_event_paranoid` at which unprivileged processes may sample their own user space. Larger
    /// values are an addition of Debian.
    const MOST_PARANOID: i64 = 2;
    const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";
    /// Size of the buffer for one processor, in bytes. It holds more than 5,000 samples. By default, the kernel lets a user
    /// lock 516 KiB for each processor.
    const BUFFER_BYTES: usize = 128 << 10;
    /// `PERF_EVENT_IOC_ENABLE` and `PERF_EVENT_IOC_DISABLE` of `linux/perf_event.h`.
    const ENABLE: Opcode = opcode::none(b'$', 0);
    const DISABLE: Opcode = opcode::none(b'$', 1);
    /// Number of processors that a `CpuSet` can contain.
    const PROCESSORS: usize = CpuSet::MAX_CPU;

    /// `struct perf_event_attr` in its first version, which every kernel accepts.
    #[repr(C)]
    #[derive(Default)]
    struct Attributes {
        kind: u32,
        size: u32,
        config: u64,
        sample_period: u64,
        sample_type: u64,
        read_format: u64,
        flags: u64,
        wakeup_events: u32,
        breakpoint_type: u32,
        config1: u64,
    }

    /// `PERF_FLAG_FD_CLOEXEC`: programs started later do not inherit the event.
    const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;
    const SOFTWARE: u32 = 1;
    const PROCESSOR_CLOCK: u64 = 0;
    /// A sample contains its address, process id and thread id.
    const ADDRESS_AND_PROCESS: u64 = 1 | 1 << 1;
    /// The bits `disabled`, `inherit`, `exclude_kernel` and `exclude_hv` of a bit field. They are counted from its first bit,
    /// which is the lowest one on little-endian processors.
    const FLAGS: u64 = 1 | 1 << 1 | 1 << 5 | 1 << 6;

    /// `PERF_RECORD_SAMPLE`; other records are ignored.
    const SAMPLE: u32 = 9;
    /// Length of a `PERF_RECORD_SAMPLE` in words of 8 bytes: one for the header, one for the address, and one for process and thread.
    const SAMPLE_WORDS: u64 = 3;
    /// Offsets of two positions in the first page of a buffer: where the kernel will write next, and up to where we have read.
    const HEAD: usize = 1024;
    const TAIL: usize = 1032;

    /// Checks whether time can be sampled here, by trying it with this process.
    pub fn try_time_samples() -> Result<(), TimeSamplingError> {
        TimeSampler::new(std::process::id(), Duration::from_secs(1)).map(drop)
    }

    /// A sampler of a process, active between `start` and `stop`. Dropping it ends sampling.
    #[derive(Debug)]
    pub struct TimeSampler {
        /// One event for each processor that the process may use.
        events: Vec<ClockEvent>,
    }

    impl TimeSampler {
        /// Prepares sampling of the process `process`, which must have one thread, once per `period` of CPU time.
        /// Sampling begins with [`Self::start`].
        pub fn new(process: u32, period: Duration) -> Result<Self, TimeSamplingError> {
            let process = i32::try_from(process).unwrap_or(i32::MAX);
            let pid = rustix::process::Pid::from_raw(process);
            let allowed = sched_getaffinity(pid).map_err(sampling_error)?;
            let processors = (0..PROCESSORS).filter(|processor| allowed.is_set(*processor));
            let events = processors.map(|processor| ClockEvent::open(process, processor, period));
            let events: Vec<ClockEvent> =
                events.collect::<Result<_, _>>().map_err(sampling_error)?;
            Ok(Self { events })
        }

        /// Begins sampling.
        pub fn start(&self) {
            for event in &self.events {
                event.send_request::<ENABLE>();
            }
        }

        /// Pauses sampling until the next start.
        pub fn stop(&self) {
            for event in &self.events {
                event.send_request::<DISABLE>();
            }
        }

        /// Returns the samples since the last call.
        pub fn take(&mut self) -> Vec<TimeSample> {
            let mut taken = Vec::new();
            for event in &mut self.events {
                event.buffer.take(&mut taken);
            }
            taken
        }
    }

    /// Converts an error of the system to a reason.
    fn sampling_error(error: Errno) -> TimeSamplingError {
        match error {
            Errno::NOSYS => TimeSamplingError::Missing,
            Errno::ACCESS | Errno::PERM => match paranoid() {
                Some(level) if level > MOST_PARANOID => TimeSamplingError::Paranoid(level),
                _ => TimeSamplingError::Refused,
            },
            other => TimeSamplingError::Failed(other.to_string()),
        }
    }

    fn paranoid() -> Option<i64> {
        let level = fs::read_to_string(PARANOID).ok()?;
        level.trim().parse().ok()
    }

    /// A clock event for a process on one processor.
    #[derive(Debug)]
    struct ClockEvent {
        // Fields are dropped in the order of their declaration, so the buffer is unmapped before its event is closed.
        buffer: SampleBuffer,
        event: OwnedFd,
    }

    impl ClockEvent {
        fn open(process: i32, processor: usize, period: Duration) -> Result<Self, Errno> {
            let attributes = Attributes {
                kind: SOFTWARE,
                size: size_of::<Attributes>() as u32,
                config: PROCESSOR_CLOCK,
                sample_period: period.as_nanos() as u64,
                sample_type: ADDRESS_AND_PROCESS,
                flags: if cfg!(target_endian = "big") {
                    FLAGS.reverse_bits()
                } else {
                    FLAGS
                },
                ..Attributes::default()
            };
            let no_group = -1_i32;
            // SAFETY: the call reads as many bytes of the attributes as their `size` says, and does not keep the
            // pointer.
            let event = unsafe {
                libc::syscall(
                    libc::SYS_perf_event_open,
                    &raw const attributes,
                    process,
                    i32::try_from(processor).unwrap_or(i32::MAX),
                    no_group,
                    CLOSE_ON_EXEC,
                )
            };
            let Ok(event) = RawFd::try_from(event) else {
                return Err(Errno::INVAL);
            };
            if event < 0 {
                let error = std::io::Error::last_os_error();
                return Err(Errno::from_io_error(&error).unwrap_or(Errno::INVAL));
            }
            // SAFETY: the system has just opened this descriptor for us, so no other owner closes it.
            let event = unsafe { OwnedFd::from_raw_fd(event) };
            let buffer = SampleBuffer::map(&event)?;
            Ok(Self { buffer, event })
        }

        /// Sends a request to the event. On failure there are no samples, which the caller notices.
        fn send_request<const WHAT: Opcode>(&self) {
            // SAFETY: both requests take no argument and access no memory of this process.
            let result = unsafe { ioctl(&self.event, NoArg::<WHAT>::new()) };
            debug_assert!(result.is_ok(), "{result:?} of {}", self.event.as_raw_fd());
        }
    }

    /// The buffer that the kernel writes samples into: a page with positions, and a ring of words.
    #[derive(Debug)]
    struct SampleBuffer {
        start: NonNull<c_void>,
        page: usize,
        /// Size of the ring in bytes, a power of two.
        ring: usize,
    }

    impl SampleBuffer {
        fn map(event: &OwnedFd) -> Result<Self, Errno> {
            let page = rustix::param::page_size();
            let ring = BUFFER_BYTES.max(page);
            // SAFETY: the system chooses the address, so no existing mapping is replaced.
            let start = unsafe {
                mmap(
                    ptr::null_mut(),
                    page + ring,
                    ProtFlags::READ | ProtFlags::WRITE,
                    MapFlags::SHARED,
                    event,
                    0,
                )
            }?;
            let start = NonNull::new(start).ok_or(Errno::NOMEM)?;
            Ok(Self { start, page, ring })
        }

        /// Returns the number at the offset `at` of the first page.
        fn number(&self, at: usize) -> &AtomicU64 {
            // SAFETY: the page is longer than `at`, which is a multiple of 8, and mapped as long as `self` lives;
            // both sides access the number atomically.
            unsafe { AtomicU64::from_ptr(self.start.as_ptr().byte_add(at).cast()) }
        }

        /// Returns the word of the ring at the position `at`. Positions keep increasing beyond the ring's size.
        fn word(&self, at: u64) -> u64 {
            let place = self.page + (at as usize & (self.ring - 1));
            // SAFETY: the place is within the ring and a multiple of 8, because all records have such lengths. The
            // kernel does not write there before `TAIL` says that it was read.
            unsafe { self.start.as_ptr().byte_add(place).cast::<u64>().read() }
        }

        /// Appends the new samples to `into`, and lets the kernel write over them.
        fn take(&mut self, into: &mut Vec<TimeSample>) {
            let head = self.number(HEAD).load(Ordering::Acquire);
            let mut at = self.number(TAIL).load(Ordering::Relaxed);
            while at < head {
                let [k0, k1, k2, k3, _, _, l0, l1] = self.word(at).to_ne_bytes();
                let kind = u32::from_ne_bytes([k0, k1, k2, k3]);
                let length = u64::from(u16::from_ne_bytes([l0, l1]));
                if length == 0 {
                    break;
                }
                if kind == SAMPLE && length == 8 * SAMPLE_WORDS {
                    let [p0, p1, p2, p3, ..] = self.word(at + 16).to_ne_bytes();
                    into.push(TimeSample {
                        process: u32::from_ne_bytes([p0, p1, p2, p3]),
                        address: self.word(at + 8),
                    });
                }
                at += length;
            }
            self.number(TAIL).store(head, Ordering::Release);
        }
    }

    impl Drop for SampleBuffer {
        fn drop(&mut self) {
            // SAFETY: the memory was mapped once, with this address and length, and nothing refers to it any more.
            let unmapped = unsafe { munmap(self.start.as_ptr(), self.page + self.ring) };
            debug_assert!(unmapped.is_ok(), "{unmapped:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    use super::*;
    use crate::process::{LeftoverPolicy, ProcessGroup, Supervisor};

    #[test]
    fn the_inode_is_found_by_both_ports() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
             0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 111 1\n   \
             1: 0100007F:C001 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 222 1\n";
        assert_eq!(find_inode(table, 0xC001, 0x1F90), Some("222"));
        assert_eq!(find_inode(table, 0xC002, 0x1F90), None);
    }

    #[test]
    fn a_connection_of_our_own_is_ours_and_not_another_groups() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("bound");
        let stream = TcpStream::connect(address).expect("it listens");
        let peer = stream.local_addr().expect("connected");
        let ours = process_group(std::process::id()).expect("proc is there");
        let port = address.port();
        assert_eq!(owns_connection(ours, peer, port), Some(true));
        assert_eq!(owns_connection(1, peer, port), Some(false));
    }

    #[test]
    fn a_binding_holds_for_what_is_started_and_ends() {
        let allowed = || std::thread::available_parallelism().expect("known").get();
        let before = allowed();
        let Some(binding) = ThreadPinning::to_one(&[], |count| count as usize - 1) else {
            assert_eq!(before, 1, "one processor is no choice");
            return;
        };
        assert_eq!(allowed(), 1);
        assert_eq!(std::thread::spawn(allowed).join().expect("ends"), 1);
        drop(binding);
        assert_eq!(allowed(), before);
    }

    #[test]
    fn a_process_that_is_not_there_undoes_it_all() {
        let before = std::thread::available_parallelism().expect("known");
        assert!(ThreadPinning::to_one(&[i32::MAX.unsigned_abs()], |_| 0).is_none());
        assert_eq!(std::thread::available_parallelism().expect("known"), before);
    }

    #[test]
    fn what_we_allocate_is_private_memory() {
        let of_us = || private_memory(std::process::id()).expect("alive");
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
        assert_eq!(private_memory(u32::MAX), None, "no such process");
    }

    #[test]
    fn our_own_threads_and_time_are_seen() {
        let of_us = || read_usage(std::process::id()).expect("alive");
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
    fn waiting_for_a_processor_is_told_from_work() {
        const WORK: &str = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
        let supervisor = Supervisor::default();
        let start = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            // The other policy would kill what the processes of other tests leave behind.
            supervisor.spawn(&mut command, LeftoverPolicy::Leave)
        };
        let waiting = |group: &mut ProcessGroup| {
            group.end_channel().recv().expect("it ends");
            let waiting = group.usage().expect("it has ended").waiting;
            group.end(Duration::ZERO).expect("it has ended");
            waiting
        };
        let pinning = ThreadPinning::to_one(&[], |_| 0).expect("a processor");
        let [mut one, mut other] = [WORK, WORK].map(|script| start(script).expect("a shell"));
        drop(pinning);
        let (one, other) = (waiting(&mut one), waiting(&mut other));
        let both = one.expect("one thread works") + other.expect("one thread works");
        // They share a processor, so while one of them works, the other waits.
        assert!(both > Duration::from_millis(1), "{one:?} {other:?}");
        let mut parent = start(&format!("({WORK}) & wait")).expect("a shell");
        assert_eq!(waiting(&mut parent), None, "its child works");
    }

    #[test]
    fn processes_that_are_alive_are_seen() {
        let of_us = || read_usage(std::process::id()).expect("alive").has_children;
        let mut command = Command::new("sleep");
        let started = Supervisor::default().spawn(command.arg("900"), LeftoverPolicy::Leave);
        // Dropping the child would end the process.
        let _child = started.expect("starts");
        assert!(of_us());
    }

    #[test]
    fn of_a_process_that_is_not_there_nothing_is_known() {
        assert_eq!(read_usage(u32::MAX), None);
    }
}
