//! macOS: facts about the machine from `sysctl`, the time that it was suspended, and the memory, CPU times and threads of processes.

#![expect(
    unsafe_code,
    reason = "no library that we have wraps these functions of the system"
)]

use nix::time::ClockId;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::ptr;
use std::time::Duration;

use super::types::{EndedUsage, UsageSnapshot};

/// The program that opens a file as the desktop does, and the arguments that come before the file.
pub const VIEWER: (&str, &[&str]) = ("open", &[]);

/// The variable with the additional search path for dynamic libraries.
pub const LIBRARY_PATH: &str = "DYLD_FALLBACK_LIBRARY_PATH";

/// Whether an executable still starts after some of its bytes were changed. On macOS it does not, because executables are signed.
pub const EXECUTABLES_CAN_CHANGE: bool = false;

/// Returns the directories that the dynamic linker searches only if [`LIBRARY_PATH`] is not set.
pub fn fallback_library_directories() -> Vec<PathBuf> {
    let home = std::env::home_dir().map(|home| home.join("lib"));
    let fixed = ["/usr/local/lib", "/usr/lib"].map(PathBuf::from);
    home.into_iter().chain(fixed).collect()
}

/// Returns the version of the kernel.
pub fn kernel_release() -> String {
    let uname = rustix::system::uname();
    uname.release().to_string_lossy().into_owned()
}

/// Returns the name of the processor.
pub fn processor_name() -> Option<String> {
    let mut name = [0_u8; 256];
    let mut length = name.len();
    // SAFETY: the call writes at most `length` bytes to `name`, and the name of the value ends with a zero.
    let failed = unsafe {
        libc::sysctlbyname(
            c"machdep.cpu.brand_string".as_ptr(),
            name.as_mut_ptr().cast(),
            &raw mut length,
            ptr::null_mut(),
            0,
        )
    };
    if failed != 0 {
        return None;
    }
    let name = CStr::from_bytes_until_nul(&name).ok()?.to_str().ok()?;
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// Returns the load average of the last minute.
pub fn load_average() -> Option<f64> {
    let mut average = 0.0;
    // SAFETY: the call writes one number.
    let written = unsafe { libc::getloadavg(&raw mut average, 1) };
    (written == 1).then_some(average)
}

/// Returns how long the machine has been suspended since it was started.
pub fn suspended_time() -> Duration {
    let read = |clock| -> Duration {
        let now = ClockId::from_raw(clock).now();
        now.map_or(Duration::ZERO, Into::into)
    };
    // `CLOCK_UPTIME_RAW` stops while the machine sleeps. `CLOCK_MONOTONIC_RAW` goes on.
    let awake = read(libc::CLOCK_UPTIME_RAW);
    read(libc::CLOCK_MONOTONIC_RAW).saturating_sub(awake)
}

/// Returns the number of clock ticks in a second.
pub fn clock_ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second().max(1)
}

/// Returns the memory of the process `pid` that is not shared, in bytes.
pub fn private_memory(pid: u32) -> Option<u64> {
    let pid = i32::try_from(pid).ok()?;
    // SAFETY: the structure consists of numbers, for which zero is valid.
    let mut usage: libc::rusage_info_v0 = unsafe { std::mem::zeroed() };
    // SAFETY: the call fills a structure of the version that it is asked for, which is `rusage_info_v0`.
    let failed =
        unsafe { libc::proc_pid_rusage(pid, libc::RUSAGE_INFO_V0, (&raw mut usage).cast()) };
    (failed == 0).then_some(usage.ri_phys_footprint)
}

/// The length of a step of the system's clock as a fraction: `numer / denom` nanoseconds.
#[repr(C)]
#[derive(Default)]
struct ClockStep {
    numer: u32,
    denom: u32,
}

unsafe extern "C" {
    // The declaration in `libc` is deprecated.
    fn mach_timebase_info(step: *mut ClockStep) -> libc::c_int;
}

/// Converts steps of the system's clock, in which CPU times are counted. On Apple's processors, a step is longer than a nanosecond.
fn time_from_steps(steps: u64) -> Option<Duration> {
    let mut step = ClockStep::default();
    // SAFETY: the call writes the two numbers of the structure.
    if unsafe { mach_timebase_info(&raw mut step) } != 0 || step.denom == 0 {
        return None;
    }
    let nanoseconds = u128::from(steps) * u128::from(step.numer) / u128::from(step.denom);
    Some(Duration::from_nanos(u64::try_from(nanoseconds).ok()?))
}

/// Returns the CPU time of a process, which may have ended, and of the children that it has waited for.
fn cpu_time(pid: i32) -> Option<Duration> {
    // SAFETY: the structure consists of numbers, for which zero is valid.
    let mut usage: libc::rusage_info_v1 = unsafe { std::mem::zeroed() };
    // SAFETY: the call fills a structure of the version that it is asked for, which is `rusage_info_v1`.
    let failed =
        unsafe { libc::proc_pid_rusage(pid, libc::RUSAGE_INFO_V1, (&raw mut usage).cast()) };
    let own = usage.ri_user_time.checked_add(usage.ri_system_time)?;
    let children = usage
        .ri_child_user_time
        .checked_add(usage.ri_child_system_time)?;
    (failed == 0).then(|| time_from_steps(own.checked_add(children)?))?
}

/// Reads the usage of the process `pid`; `None` if it has ended. If the process has several threads, the time of the main thread is unknown, and 0.
pub fn read_usage(pid: u32) -> Option<UsageSnapshot> {
    let pid = i32::try_from(pid).ok()?;
    // SAFETY: the structure consists of numbers, for which zero is valid.
    let mut task: libc::proc_taskinfo = unsafe { std::mem::zeroed() };
    let bytes = i32::try_from(size_of_val(&task)).ok()?;
    // SAFETY: the call writes at most as many bytes as it is told, and that is the size of this structure.
    let written = unsafe {
        libc::proc_pidinfo(
            pid,
            libc::PROC_PIDTASKINFO,
            0,
            (&raw mut task).cast(),
            bytes,
        )
    };
    if written != bytes {
        return None;
    }
    let mut children = [0_i32; 1];
    let bytes = i32::try_from(size_of_val(&children)).ok()?;
    // SAFETY: the call writes at most as many bytes as it is told.
    let children = unsafe { libc::proc_listchildpids(pid, children.as_mut_ptr().cast(), bytes) };
    let threads = u32::try_from(task.pti_threadnum).ok()?;
    let of_living = time_from_steps(task.pti_threads_user.checked_add(task.pti_threads_system)?)?;
    Some(UsageSnapshot {
        threads,
        cpu: cpu_time(pid)?,
        main_thread: if threads == 1 {
            of_living
        } else {
            Duration::ZERO
        },
        has_children: children > 0,
        involuntary_switches: 0,
    })
}

/// Returns the CPU time of the process `pid`, which has ended but has not been reaped, and of the children that it waited for. Returns `None` if it is
/// still running.
pub fn usage_of_ended(pid: u32) -> Option<EndedUsage> {
    let pid = i32::try_from(pid).ok()?;
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let ended = waitid(WaitId::Pid(Pid::from_raw(pid)?), options).ok()?;
    ended?;
    Some(EndedUsage {
        cpu: cpu_time(pid)?,
        waiting: None,
        peak_memory: None,
        had_children: None,
    })
}

/// The binding of threads to one processor, which macOS does not support. It has no values, because nothing is ever bound.
#[derive(Debug)]
pub enum AbsentPinning {}

pub use AbsentPinning as ThreadPinning;

impl AbsentPinning {
    /// Returns `None`, because macOS does not bind threads to processors.
    pub fn to_one(_: &[u32], _: impl FnOnce(u32) -> usize) -> Option<Self> {
        None
    }

    /// Returns the number of the processor. It is never called, because there is no value of this type.
    pub fn processor(&self) -> u32 {
        match *self {}
    }
}

/// Reports whether a file is on a network file system.
pub fn is_on_network(path: &Path) -> bool {
    let is_local = |flags: u32| flags & libc::MNT_LOCAL.unsigned_abs() != 0;
    rustix::fs::statfs(path).is_ok_and(|stat| !is_local(stat.f_flags))
}
