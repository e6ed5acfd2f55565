//! macOS: facts about the machine from `sysctl`, the time that it was suspended, and the memory of processes.

#![expect(
    unsafe_code,
    reason = "no library that we have wraps these functions of the system"
)]

use nix::time::ClockId;
use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::ptr;
use std::time::Duration;

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

/// Reports whether a file is on a network file system.
pub fn is_on_network(path: &Path) -> bool {
    let is_local = |flags: u32| flags & libc::MNT_LOCAL.unsigned_abs() != 0;
    rustix::fs::statfs(path).is_ok_and(|stat| !is_local(stat.f_flags))
}
