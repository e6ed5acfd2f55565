//! Windows: job objects in place of process groups, pipes that are checked at intervals, the numbers of files, junctions, and facts from the
//! registry.

#![expect(
    unsafe_code,
    reason = "no library that we have wraps these functions of the system"
)]

use std::ffi::{OsStr, OsString, c_void};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::windows::ffi::OsStrExt;
use std::os::windows::fs::{OpenOptionsExt, symlink_dir, symlink_file};
use std::os::windows::io::{AsHandle, AsRawHandle, FromRawHandle, OwnedHandle};
use std::os::windows::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};
use std::{ptr, thread};
use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::Foundation::{ERROR_SUCCESS, INVALID_HANDLE_VALUE, WAIT_TIMEOUT};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_BASIC_INFO, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, FILE_STANDARD_INFO,
    FILE_WRITE_ATTRIBUTES, FileBasicInfo, FileStandardInfo, GetDriveTypeW,
    GetFileInformationByHandle, GetFileInformationByHandleEx, GetVolumePathNameW,
};
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, GenerateConsoleCtrlEvent};
use windows_sys::Win32::System::Diagnostics::Debug::{
    SEM_FAILCRITICALERRORS, SEM_NOGPFAULTERRORBOX, SetErrorMode,
};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_BREAKAWAY_OK,
    JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
    JobObjectExtendedLimitInformation, SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Pipes::PeekNamedPipe;
use windows_sys::Win32::System::ProcessStatus::{GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS_EX};
use windows_sys::Win32::System::Registry::{HKEY_LOCAL_MACHINE, RRF_RT_REG_SZ, RegGetValueW};
use windows_sys::Win32::System::SystemInformation::{GetTickCount64, OSVERSIONINFOW};
use windows_sys::Win32::System::Threading::{
    CREATE_BREAKAWAY_FROM_JOB, CREATE_NEW_PROCESS_GROUP, CREATE_SUSPENDED, GetCurrentProcess,
    INFINITE, OpenProcess, OpenThread, PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_VM_READ,
    ResumeThread, THREAD_SUSPEND_RESUME, WaitForSingleObject,
};
use windows_sys::Win32::System::WindowsProgramming::{DRIVE_REMOTE, QueryUnbiasedInterruptTime};

use super::types::{FileFacts, LeftoverPolicy, OutputPipe, OutputPipes};

/// Whether the system ends the process groups if this process is killed. A group is a job object here, and Windows ends the processes of a job when
/// its last handle is closed, so no helper process is needed.
pub const GROUPS_END_WITH_US: bool = true;

/// The program that opens a file as the desktop does, and the arguments that come before the file. `start` takes its first quoted argument as the
/// title of a window, hence the empty one.
pub const VIEWER: (&str, &[&str]) = ("cmd", &["/C", "start", ""]);

/// The variable with the search path for dynamic libraries.
pub const LIBRARY_PATH: &str = "PATH";

/// Whether an executable still starts after some of its bytes were changed.
pub const EXECUTABLES_CAN_CHANGE: bool = true;

/// A path at which no directory can be created.
pub const NO_DIRECTORY: &str = r"NUL\criterion";

/// Whether a terminal can show characters beyond ASCII with any locale.
pub const TERMINAL_IGNORES_LOCALE: bool = true;

/// The exit code that processes get when this program kills them.
const KILLED: u32 = 1;

/// A job that contains a process and everything that it starts. The leader is also the leader of a group for console events.
#[derive(Debug, Clone)]
pub struct JobGroup {
    handles: Arc<JobHandles>,
    leader: u32,
}

#[derive(Debug)]
struct JobHandles {
    job: OwnedHandle,
    leader: OwnedHandle,
}

pub use JobGroup as GroupHandle;

/// The job of this process itself, once a group has been started that must end with this process.
///
/// A new process is in the jobs of the process that starts it. So if this process is killed before it has put a new leader into the job of its group, the
/// leader still ends.
static OWN_JOB: OnceLock<Option<OwnedHandle>> = OnceLock::new();

/// Puts this process into a job that ends with it. If that fails, groups still end with this process once they have a job.
fn enter_own_job() {
    OWN_JOB.get_or_init(|| {
        let job = create_job().ok()?;
        let limits = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_BREAKAWAY_OK;
        set_job_limits(&job, limits).ok()?;
        // SAFETY: the job is open, and the other handle always means this process.
        require(unsafe { AssignProcessToJobObject(job.as_raw_handle(), GetCurrentProcess()) })
            .ok()?;
        Some(job)
    });
}

/// Returns the flag that keeps a new process out of [`OWN_JOB`]. Without such a job there is no flag, because the system could refuse it.
fn outside_of_own_job() -> u32 {
    match OWN_JOB.get() {
        Some(Some(_)) => CREATE_BREAKAWAY_FROM_JOB,
        _ => 0,
    }
}

/// Makes `command` start a process that lives on when this process ends.
pub fn outlive_us(command: &mut Command) -> &mut Command {
    command.creation_flags(outside_of_own_job())
}

/// Makes `command` start as the leader of a new group, which Ctrl-C at the terminal does not reach. The leader is suspended until [`take_group`] has
/// put it into a job, so every process that it starts is in the job, too. If leftovers are killed, the leader also ends if this process is killed before
/// that.
pub fn lead_new_group(command: &mut Command, leftovers: LeftoverPolicy) -> &mut Command {
    let job = match leftovers {
        LeftoverPolicy::Kill => {
            enter_own_job();
            0
        }
        LeftoverPolicy::Leave => outside_of_own_job(),
    };
    command.creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_SUSPENDED | job)
}

/// Puts a leader that has just been started into a job, and lets it run. If that fails, the leader is killed.
pub fn take_group(leader: &mut Child) -> io::Result<GroupHandle> {
    let taken = put_into_job(leader).and_then(|group| {
        resume_threads(group.leader)?;
        Ok(group)
    });
    if taken.is_err() {
        let _ = leader.kill();
        let _ = leader.wait();
    }
    taken
}

fn create_job() -> io::Result<OwnedHandle> {
    // SAFETY: neither attributes nor a name are given.
    let job = unsafe { CreateJobObjectW(ptr::null(), ptr::null()) };
    if job.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the system has just opened this handle for us, so no other owner closes it.
    Ok(unsafe { OwnedHandle::from_raw_handle(job) })
}

fn put_into_job(leader: &Child) -> io::Result<GroupHandle> {
    let job = create_job()?;
    set_job_limits(&job, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)?;
    // SAFETY: both handles are open.
    require(unsafe { AssignProcessToJobObject(job.as_raw_handle(), leader.as_raw_handle()) })?;
    Ok(JobGroup {
        leader: leader.id(),
        handles: Arc::new(JobHandles {
            job,
            leader: leader.as_handle().try_clone_to_owned()?,
        }),
    })
}

fn set_job_limits(job: &OwnedHandle, flags: u32) -> io::Result<()> {
    let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    limits.BasicLimitInformation.LimitFlags = flags;
    // SAFETY: the call reads a structure of this kind and size.
    require(unsafe {
        SetInformationJobObject(
            job.as_raw_handle(),
            JobObjectExtendedLimitInformation,
            (&raw const limits).cast(),
            size_of_val(&limits) as u32,
        )
    })
}

/// Resumes the threads of a suspended process.
fn resume_threads(process: u32) -> io::Result<()> {
    // SAFETY: the call only returns a handle.
    let threads = unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0) };
    if threads == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the system has just opened this handle for us, so no other owner closes it.
    let threads = unsafe { OwnedHandle::from_raw_handle(threads) };
    let mut entry = THREADENTRY32 {
        dwSize: size_of::<THREADENTRY32>() as u32,
        ..THREADENTRY32::default()
    };
    // SAFETY: the entry has the size that it says.
    let mut is_there = unsafe { Thread32First(threads.as_raw_handle(), &raw mut entry) };
    while is_there != 0 {
        if entry.th32OwnerProcessID == process {
            // SAFETY: the call only returns a handle.
            let thread = unsafe { OpenThread(THREAD_SUSPEND_RESUME, 0, entry.th32ThreadID) };
            if thread.is_null() {
                return Err(io::Error::last_os_error());
            }
            // SAFETY: as above.
            let thread = unsafe { OwnedHandle::from_raw_handle(thread) };
            // SAFETY: the handle is open.
            if unsafe { ResumeThread(thread.as_raw_handle()) } == u32::MAX {
                return Err(io::Error::last_os_error());
            }
        }
        // SAFETY: the entry has the size that it says.
        is_there = unsafe { Thread32Next(threads.as_raw_handle(), &raw mut entry) };
    }
    Ok(())
}

/// Converts the result of a call to the system. Zero means that the call failed.
fn require(outcome: i32) -> io::Result<()> {
    if outcome == 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

impl JobGroup {
    /// Returns the id of the leader.
    pub fn id(&self) -> i32 {
        self.leader.cast_signed()
    }

    /// Interrupts the whole group as Ctrl-Break does, because a new group ignores Ctrl-C. Only programs at the same console are interrupted.
    pub fn interrupt(&self) {
        // SAFETY: the call takes numbers only.
        let _ = unsafe { GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, self.leader) };
    }

    /// Kills all processes of the job.
    pub fn kill(&self) {
        // SAFETY: the handle is open.
        let _ = unsafe { TerminateJobObject(self.handles.job.as_raw_handle(), KILLED) };
    }

    /// Lets the other processes of the job live on after the leader has ended.
    pub fn spare_rest(&self) {
        let _ = set_job_limits(&self.handles.job, 0);
    }

    /// Reports whether the leader has ended.
    pub fn leader_has_ended(&self) -> bool {
        // SAFETY: the handle is open.
        let waited = unsafe { WaitForSingleObject(self.handles.leader.as_raw_handle(), 0) };
        waited != WAIT_TIMEOUT
    }

    /// Waits for the end of the leader.
    pub fn wait_for_leader(&self) {
        // SAFETY: the handle is open.
        let _ = unsafe { WaitForSingleObject(self.handles.leader.as_raw_handle(), INFINITE) };
    }
}

/// Does nothing. A group is a job object, and Windows ends its processes when the last handle to it is closed, even if this process was killed.
pub fn kill_group(_: i32) {}

/// The smallest exit code that means that the system ended a process. For example, 0xC0000005 is an access violation.
const FIRST_EXCEPTION: u32 = 0xC000_0000;

/// Describes how the system ended a process, such as `exception 0xc0000005`; `None` if the process ended by itself.
pub fn describe_death(status: ExitStatus) -> Option<String> {
    let code = status.code()?.cast_unsigned();
    (code >= FIRST_EXCEPTION).then(|| format!("exception {code:#x}"))
}

/// Interval for checking whether there is output in the pipes.
const LOOK: Duration = Duration::from_millis(1);

impl OutputPipes {
    /// Waits up to `limit` for output, reads from both pipes, and reports whether there was any output.
    pub fn read(&mut self, limit: Duration) -> io::Result<bool> {
        // Windows cannot wait for output in anonymous pipes, so check them at intervals.
        for _ in 0..limit.div_duration_f64(LOOK) as u32 {
            let stdout = self.stdout.take_available()?;
            let stderr = self.stderr.take_available()?;
            if stdout || stderr {
                return Ok(true);
            }
            thread::sleep(LOOK);
        }
        Ok(false)
    }
}

impl<R: Read + AsRawHandle> OutputPipe<R> {
    /// Reads the bytes that are in the pipe. Returns true if there were any, or if the pipe has just ended.
    fn take_available(&mut self) -> io::Result<bool> {
        let Some(pipe) = &mut self.pipe else {
            return Ok(false);
        };
        let mut available = 0;
        // SAFETY: the call writes one number; the other pointers may be null.
        let is_open = unsafe {
            PeekNamedPipe(
                pipe.as_raw_handle(),
                ptr::null_mut(),
                0,
                ptr::null_mut(),
                &raw mut available,
                ptr::null_mut(),
            )
        };
        if is_open == 0 {
            // All processes that could write to the pipe have closed it.
            self.pipe = None;
            return Ok(true);
        }
        if available == 0 {
            return Ok(false);
        }
        let mut piece = vec![0; available as usize];
        let length = pipe.read(&mut piece)?;
        self.bytes.extend_from_slice(&piece[..length]);
        Ok(true)
    }
}

/// Runs `work`. Processes that it starts show no window when they crash.
pub fn without_core_dumps<T>(work: impl FnOnce() -> T) -> T {
    // SAFETY: the call takes and returns a number.
    let before = unsafe { SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX) };
    let done = work();
    // SAFETY: as above.
    unsafe { SetErrorMode(before) };
    done
}

/// Does nothing, because Windows has no limit on the size of files that ends a process.
pub fn survive_file_size_limit() {}

/// Opens a file, a directory or a link to read or change its attributes.
fn open_for_attributes(path: &Path, access: u32) -> io::Result<File> {
    OpenOptions::new()
        .access_mode(access)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT)
        .open(path)
}

/// Reads the facts about a file, or about the link itself if `path` is a link.
pub fn read_file_facts(path: &Path) -> io::Result<FileFacts> {
    let file = open_for_attributes(path, 0)?;
    let handle = file.as_raw_handle();
    let mut identity =
        windows_sys::Win32::Storage::FileSystem::BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open, and the call fills a structure of this kind.
    require(unsafe { GetFileInformationByHandle(handle, &raw mut identity) })?;
    let mut times = FILE_BASIC_INFO::default();
    let mut size = FILE_STANDARD_INFO::default();
    // SAFETY: the handle is open, and the call fills a structure of this kind and size.
    require(unsafe {
        GetFileInformationByHandleEx(
            handle,
            FileBasicInfo,
            (&raw mut times).cast::<c_void>(),
            size_of_val(&times) as u32,
        )
    })?;
    // SAFETY: as above.
    require(unsafe {
        GetFileInformationByHandleEx(
            handle,
            FileStandardInfo,
            (&raw mut size).cast::<c_void>(),
            size_of_val(&size) as u32,
        )
    })?;
    Ok(FileFacts {
        device: identity.dwVolumeSerialNumber.into(),
        number: u64::from(identity.nFileIndexHigh) << 32 | u64::from(identity.nFileIndexLow),
        bytes: size.EndOfFile.cast_unsigned(),
        disk_bytes: size.AllocationSize.cast_unsigned(),
        changed: since_1970(times.ChangeTime),
        written: since_1970(times.LastWriteTime),
    })
}

/// Converts a time in steps of 100 ns since 1601 to seconds since 1970, and nanoseconds.
fn since_1970(time: i64) -> (i64, i64) {
    const STEPS: i64 = 10_000_000;
    const SECONDS_FROM_1601_TO_1970: i64 = 11_644_473_600;
    let seconds = time.div_euclid(STEPS) - SECONDS_FROM_1601_TO_1970;
    (seconds, time.rem_euclid(STEPS) * 100)
}

/// Creates a directory and its parents. They inherit the rights of the directory above them. In the user's profile, these are the user's.
pub fn create_private_dirs(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).create(directory)
}

/// Creates a directory with the rights of the directory above it. Fails if it exists.
pub fn create_private_dir(directory: &Path) -> io::Result<()> {
    fs::create_dir(directory)
}

/// Creates a file with the rights of its directory. Fails if it exists.
pub fn create_private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Returns true for a file or directory that exists. Its rights are inherited from the user's profile, and they are not examined.
pub fn is_safe_from_others(path: &Path) -> io::Result<bool> {
    fs::metadata(path).map(|_| true)
}

/// Returns false for a file that exists. Its rights are inherited from the user's profile, and they are not examined.
pub fn is_open_to_others(path: &Path) -> io::Result<bool> {
    fs::metadata(path).map(|_| false)
}

/// Removes the read-only attribute from the permissions of a file.
#[expect(
    clippy::permissions_set_readonly_false,
    reason = "on Windows it gives no rights to anybody"
)]
pub fn make_writable(permissions: &mut Permissions) {
    permissions.set_readonly(false);
}

/// Sets the modification time of a file, even if the file is read-only.
pub fn set_modified(path: &Path, time: SystemTime) -> io::Result<()> {
    open_for_attributes(path, FILE_WRITE_ATTRIBUTES)?.set_modified(time)
}

/// Creates the link `link`, which leads to `leads_to`. Symbolic links need a right that most users lack. So a link to a directory becomes a junction
/// if `leads_to` is absolute. If a symbolic link to a file cannot be made, `link` becomes a hard link or a copy of the file.
pub fn create_link(leads_to: &Path, link: &Path) -> io::Result<()> {
    let there = link.parent().unwrap_or(link).join(leads_to);
    // Wine reports success, but makes no symbolic link.
    let check = |()| {
        let is_made = link.is_symlink();
        is_made
            .then_some(())
            .ok_or(io::ErrorKind::Unsupported.into())
    };
    let join = || {
        let made = junction::create(&there, link);
        // On a file system without junctions, this leaves an empty directory, and then no other kind of link can be made at this path.
        if made.is_err() && !link.is_symlink() {
            let _ = fs::remove_dir(link);
        }
        made
    };
    if there.is_dir() && leads_to.is_absolute() {
        return join().or_else(|_| symlink_dir(leads_to, link).and_then(check));
    }
    if there.is_dir() {
        return symlink_dir(leads_to, link)
            .and_then(check)
            .or_else(|_| join());
    }
    symlink_file(leads_to, link)
        .and_then(check)
        .or_else(|_| fs::hard_link(&there, link))
        .or_else(|_| fs::copy(&there, link).map(drop))
}

/// Removes a file, even if it is read-only, or a link, but not what the link leads to.
pub fn remove_file_or_link(path: &Path) -> io::Result<()> {
    let error = match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => error,
        outcome => return outcome,
    };
    let metadata = fs::symlink_metadata(path)?;
    if metadata.is_symlink() {
        // Links to directories are removed as directories.
        return fs::remove_dir(path);
    }
    let mut permissions = metadata.permissions();
    if !permissions.readonly() || metadata.is_dir() {
        return Err(error);
    }
    // Old versions of Windows refuse to remove read-only files.
    make_writable(&mut permissions);
    fs::set_permissions(path, permissions)?;
    fs::remove_file(path)
}

/// Converts a path that git printed, which is UTF-8 with slashes. Bytes that are not UTF-8 become replacement characters. The file is then not found,
/// but its name can be shown.
pub fn path_from_bytes(name: &[u8]) -> PathBuf {
    let name = String::from_utf8_lossy(name).into_owned();
    PathBuf::from(name).components().collect()
}

/// Converts a path to the bytes by which git names it.
pub fn path_to_bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().replace('\\', "/").into_bytes()
}

/// Formats a path for a manifest or a configuration of cargo. Slashes need no escapes there, and mean the same.
pub fn display_with_slashes(path: &Path) -> String {
    path.display().to_string().replace('\\', "/")
}

/// Converts bytes to an argument of git.
pub fn text_from_bytes(text: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&text).into_owned().into()
}

/// Returns an empty list, because [`LIBRARY_PATH`] is always set.
pub fn fallback_library_directories() -> Vec<PathBuf> {
    Vec::new()
}

/// Returns the version of Windows, such as `10.0.22631`.
pub fn kernel_release() -> String {
    let mut version = OSVERSIONINFOW {
        dwOSVersionInfoSize: size_of::<OSVERSIONINFOW>() as u32,
        ..OSVERSIONINFOW::default()
    };
    // SAFETY: the call fills a structure of the size that it says, and never fails.
    unsafe { RtlGetVersion(&raw mut version) };
    format!(
        "{}.{}.{}",
        version.dwMajorVersion, version.dwMinorVersion, version.dwBuildNumber
    )
}

/// Returns the name of the processor.
pub fn processor_name() -> Option<String> {
    let key = wide(OsStr::new(
        r"HARDWARE\DESCRIPTION\System\CentralProcessor\0",
    ));
    let value = wide(OsStr::new("ProcessorNameString"));
    let mut name = [0_u16; 128];
    let mut bytes = size_of_val(&name) as u32;
    // SAFETY: the call writes at most `bytes` bytes to `name`; both names end with a zero.
    let failed = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            key.as_ptr(),
            value.as_ptr(),
            RRF_RT_REG_SZ,
            ptr::null_mut(),
            name.as_mut_ptr().cast(),
            &raw mut bytes,
        )
    };
    if failed != ERROR_SUCCESS {
        return None;
    }
    let length = name.iter().position(|unit| *unit == 0)?;
    let name = String::from_utf16_lossy(&name[..length]);
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// Converts a text to UTF-16 with a zero at the end, as the functions of Windows expect it.
fn wide(text: &OsStr) -> Vec<u16> {
    text.encode_wide().chain([0]).collect()
}

/// Returns `None`, because Windows has no load average.
pub fn load_average() -> Option<f64> {
    None
}

/// Returns how long the machine has been suspended since it was started. The result is accurate to about 16 ms.
pub fn suspended_time() -> Duration {
    let mut steps = 0;
    // SAFETY: the call writes one number.
    if unsafe { QueryUnbiasedInterruptTime(&raw mut steps) } == 0 {
        return Duration::ZERO;
    }
    let awake = Duration::from_nanos(steps.saturating_mul(100));
    // SAFETY: the call only returns a number.
    let all = Duration::from_millis(unsafe { GetTickCount64() });
    all.saturating_sub(awake)
}

/// Returns a number of clock ticks in a second. It does not matter, because nothing that is read on Windows counts in ticks.
pub fn clock_ticks_per_second() -> u64 {
    100
}

/// Returns the memory of the process `pid` that is not shared, in bytes.
pub fn private_memory(pid: u32) -> Option<u64> {
    let access = PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_VM_READ;
    // SAFETY: the call only returns a handle.
    let process = unsafe { OpenProcess(access, 0, pid) };
    if process.is_null() {
        return None;
    }
    // SAFETY: the system has just opened this handle for us, so no other owner closes it.
    let process = unsafe { OwnedHandle::from_raw_handle(process) };
    let mut memory = PROCESS_MEMORY_COUNTERS_EX::default();
    let bytes = size_of_val(&memory) as u32;
    // SAFETY: the call fills as many bytes as it is told, and that is the size of this structure.
    let outcome =
        unsafe { GetProcessMemoryInfo(process.as_raw_handle(), (&raw mut memory).cast(), bytes) };
    (outcome != 0 && memory.PrivateUsage > 0).then_some(memory.PrivateUsage as u64)
}

/// Reports whether a file is on a drive of another machine.
pub fn is_on_network(path: &Path) -> bool {
    let Ok(path) = std::path::absolute(path) else {
        return false;
    };
    let path = wide(path.as_os_str());
    let mut volume = vec![0_u16; path.len().max(260)];
    // SAFETY: the path ends with a zero, and the call writes at most as many units as it is told.
    let found =
        unsafe { GetVolumePathNameW(path.as_ptr(), volume.as_mut_ptr(), volume.len() as u32) };
    // SAFETY: the call has ended the name with a zero.
    found != 0 && unsafe { GetDriveTypeW(volume.as_ptr()) } == DRIVE_REMOTE
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test that starts itself")]
mod tests {
    use std::env;
    use std::process::Stdio;
    use windows_sys::Win32::System::Threading::{
        PROCESS_SYNCHRONIZE, PROCESS_TERMINATE, TerminateProcess,
    };

    use super::*;
    use crate::process::{LeftoverPolicy, ProcessGroup, Supervisor};

    /// The variable that tells [`program`] what to do.
    const ROLE: &str = "PERFCHECK_TEST_ROLE";
    /// The variable with the path of the file into which [`program`] writes the id of the process that it has started.
    const NOTE: &str = "PERFCHECK_TEST_NOTE";

    /// A program for other tests. It does nothing unless [`ROLE`] is set.
    #[test]
    fn program() {
        match env::var(ROLE).as_deref() {
            Ok("sleep") => thread::sleep(Duration::from_secs(900)),
            Ok("start and wait") => {
                let mut child = start_sleeper();
                let _ = child.wait();
            }
            Ok("start and end") => drop(start_sleeper()),
            Ok("crash") => std::process::exit(0xC000_0005_u32.cast_signed()),
            _ => {}
        }
    }

    fn command(role: &str) -> Command {
        let mut command = Command::new(env::current_exe().expect("a path"));
        command
            .args(["--exact", "os::windows::tests::program", "--nocapture"])
            .env(ROLE, role)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        command
    }

    fn start_sleeper() -> Child {
        let mut command = command("sleep");
        let child = command.stdout(Stdio::null()).spawn().expect("it starts");
        let note = PathBuf::from(env::var_os(NOTE).expect("set"));
        let unfinished = note.with_extension("new");
        fs::write(&unfinished, child.id().to_string()).expect("written");
        fs::rename(&unfinished, &note).expect("renamed");
        child
    }

    /// Starts a program that starts a process that only sleeps. Returns the program's group and a handle of the sleeping process.
    fn start_group(role: &str, leftovers: LeftoverPolicy) -> (ProcessGroup, OwnedHandle) {
        let home = tempfile::tempdir().expect("a directory");
        let note = home.path().join("sleeper");
        let started = Supervisor::default().spawn(command(role).env(NOTE, &note), leftovers);
        let group = started.expect("it starts");
        while !note.exists() {
            assert!(!group.await_leader(LOOK) || note.exists(), "it has failed");
        }
        let id = fs::read_to_string(&note).expect("there");
        let id = id.parse().expect("a number");
        // SAFETY: the call only returns a handle.
        let process = unsafe { OpenProcess(PROCESS_SYNCHRONIZE | PROCESS_TERMINATE, 0, id) };
        assert!(!process.is_null(), "{}", io::Error::last_os_error());
        // SAFETY: the system has just opened this handle for us.
        (group, unsafe { OwnedHandle::from_raw_handle(process) })
    }

    fn ends_within(process: &OwnedHandle, limit: u32) -> bool {
        // SAFETY: the handle is open.
        unsafe { WaitForSingleObject(process.as_raw_handle(), limit) != WAIT_TIMEOUT }
    }

    #[test]
    fn a_group_ends_with_what_it_started() {
        let (group, sleeper) = start_group("start and wait", LeftoverPolicy::Kill);
        assert!(!ends_within(&sleeper, 50));
        drop(group);
        assert!(ends_within(&sleeper, 20_000));
    }

    #[test]
    fn a_server_that_is_left_behind_lives_on() {
        let (mut group, sleeper) = start_group("start and end", LeftoverPolicy::Leave);
        let status = group.end(Duration::from_secs(20)).expect("it ends");
        assert!(status.success());
        drop(group);
        assert!(!ends_within(&sleeper, 200));
        // SAFETY: the handle is open.
        unsafe { TerminateProcess(sleeper.as_raw_handle(), KILLED) };
    }

    #[test]
    fn a_long_output_is_read_to_its_end() {
        let mut command = Command::new("cmd");
        command.args([
            "/C",
            "for /L %i in (1,1,2000) do @echo line %i of the output",
        ]);
        let output = Supervisor::default().output(&mut command).expect("it runs");
        let lines = String::from_utf8_lossy(&output.stdout).lines().count();
        assert_eq!((lines, output.status.code()), (2000, Some(0)));
    }

    #[test]
    fn an_exception_is_told_from_an_exit_code() {
        let of = |role: &str| {
            let output = Supervisor::default().output(&mut command(role));
            describe_death(output.expect("it runs").status)
        };
        assert_eq!(of("crash").as_deref(), Some("exception 0xc0000005"));
        assert_eq!(of("nothing"), None);
    }

    #[test]
    fn a_file_is_recognized_by_its_number_and_its_changes() {
        let home = tempfile::tempdir().expect("a directory");
        let (one, two) = (home.path().join("one"), home.path().join("two"));
        fs::write(&one, "text").expect("written");
        fs::hard_link(&one, &two).expect("linked");
        let facts = |path: &Path| read_file_facts(path).expect("there");
        let before = facts(&one);
        assert_eq!(before.number, facts(&two).number);
        assert_eq!(before.bytes, 4);
        fs::write(&two, "longer").expect("written");
        assert_eq!((facts(&one).number, facts(&one).bytes), (before.number, 6));
        assert!(read_file_facts(home.path()).is_ok(), "of a directory");
        assert!(read_file_facts(&home.path().join("none")).is_err());
    }

    #[test]
    fn a_link_to_a_directory_is_removed_without_the_directory() {
        let home = tempfile::tempdir().expect("a directory");
        let (directory, link) = (home.path().join("directory"), home.path().join("link"));
        fs::create_dir(&directory).expect("made");
        fs::write(directory.join("file"), "text").expect("written");
        if create_link(&directory, &link).is_err() {
            // Some versions of Wine have neither junctions nor symbolic links.
            return;
        }
        assert_eq!(
            fs::read_to_string(link.join("file")).expect("there"),
            "text"
        );
        assert!(link.is_symlink());
        remove_file_or_link(&link).expect("removed");
        assert!(!link.exists() && directory.join("file").exists());
    }

    #[test]
    fn a_read_only_file_gets_a_time_and_becomes_writable() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("file");
        fs::write(&path, "text").expect("written");
        let mut permissions = fs::metadata(&path).expect("there").permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions.clone()).expect("set");
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        set_modified(&path, time).expect("set");
        let metadata = fs::metadata(&path).expect("there");
        assert_eq!(metadata.modified().expect("known"), time);
        assert_eq!(
            read_file_facts(&path).expect("there").written,
            (1_000_000_000, 0)
        );
        make_writable(&mut permissions);
        fs::set_permissions(&path, permissions).expect("set");
        fs::write(&path, "more").expect("written");
    }

    #[test]
    fn paths_are_those_of_people_and_of_git() {
        let home = tempfile::tempdir().expect("a directory");
        let canonical = super::super::canonicalize(home.path()).expect("there");
        assert!(
            !canonical.to_string_lossy().starts_with(r"\\?\"),
            "{canonical:?}"
        );
        assert!(!is_on_network(&canonical));
        let path = path_from_bytes("src/ä b.rs".as_bytes());
        assert_eq!(path.to_string_lossy(), r"src\ä b.rs");
        assert_eq!(path_to_bytes(&path), "src/ä b.rs".as_bytes());
    }

    #[test]
    fn facts_are_known() {
        assert!(kernel_release().split('.').count() == 3);
        assert!(suspended_time() < Duration::from_secs(10 * 365 * 86_400));
        // Wine does not report the private memory of a process.
        if let Some(before) = private_memory(std::process::id()) {
            let memory = std::hint::black_box(vec![1_u8; 64 << 20]);
            let after = private_memory(std::process::id()).expect("known");
            drop(memory);
            assert!(after > before + (32 << 20), "{before} {after}");
        }
        assert_eq!(private_memory(u32::MAX), None);
    }
}
