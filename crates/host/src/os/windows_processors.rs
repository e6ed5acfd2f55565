//! Windows: the CPU times, threads and children of a process, and binding to one processor.
//!
//! Windows counts CPU time in clock ticks of about 16 ms. It attributes each tick to one thread, so the time of a process is the sum of its threads.

#![expect(
    unsafe_code,
    reason = "no library that we have wraps these functions of the system"
)]

use std::marker::PhantomData;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle, RawHandle};
use std::time::Duration;
use windows_sys::Win32::Foundation::{FILETIME, INVALID_HANDLE_VALUE, WAIT_OBJECT_0};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, PROCESSENTRY32W, Process32FirstW, Process32NextW, TH32CS_SNAPPROCESS,
    TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetProcessAffinityMask, GetProcessTimes, GetThreadTimes,
    OpenProcess, OpenThread, PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_SET_INFORMATION,
    PROCESS_SYNCHRONIZE, SetProcessAffinityMask, SetThreadAffinityMask,
    THREAD_QUERY_LIMITED_INFORMATION, WaitForSingleObject,
};

use super::types::{EndedUsage, UsageSnapshot};

/// The times of a process or a thread.
struct TimesSnapshot {
    /// When it was created, in steps of 100 ns.
    created: u64,
    /// Its CPU time.
    cpu: Duration,
}

/// `GetProcessTimes` or `GetThreadTimes`.
type ReadTimes = unsafe extern "system" fn(
    RawHandle,
    *mut FILETIME,
    *mut FILETIME,
    *mut FILETIME,
    *mut FILETIME,
) -> i32;

/// Reads times with `read`, which must fit the kind of the handle.
fn read_times(handle: &OwnedHandle, read: ReadTimes) -> Option<TimesSnapshot> {
    let [mut created, mut ended, mut kernel, mut user] = [FILETIME::default(); 4];
    // SAFETY: the handle is open, and the call writes four numbers.
    let outcome = unsafe {
        read(
            handle.as_raw_handle(),
            &raw mut created,
            &raw mut ended,
            &raw mut kernel,
            &raw mut user,
        )
    };
    let steps =
        |time: FILETIME| u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    let cpu = steps(kernel).saturating_add(steps(user));
    (outcome != 0).then(|| TimesSnapshot {
        created: steps(created),
        cpu: Duration::from_nanos(cpu.saturating_mul(100)),
    })
}

/// Takes a handle that the system has returned; `None` if the call has failed.
fn own_handle(handle: RawHandle) -> Option<OwnedHandle> {
    if handle.is_null() || handle == INVALID_HANDLE_VALUE {
        return None;
    }
    // SAFETY: the system has just opened this handle for us, so no other owner closes it.
    Some(unsafe { OwnedHandle::from_raw_handle(handle) })
}

fn open_process(pid: u32, access: u32) -> Option<OwnedHandle> {
    // SAFETY: the call only returns a handle.
    own_handle(unsafe { OpenProcess(access, 0, pid) })
}

fn process_times(pid: u32) -> Option<TimesSnapshot> {
    let process = open_process(pid, PROCESS_QUERY_LIMITED_INFORMATION)?;
    read_times(&process, GetProcessTimes)
}

/// Reads the usage of the process `pid`; `None` if it has ended.
pub fn read_usage(pid: u32) -> Option<UsageSnapshot> {
    let process = process_times(pid)?;
    // SAFETY: the call only returns a handle.
    let snapshot =
        own_handle(unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS | TH32CS_SNAPTHREAD, 0) })?;
    let mut threads = list_threads(&snapshot, pid);
    threads.sort_by_key(|thread| thread.created);
    let (main_thread, others) = threads.split_first()?;
    let working = others.iter().filter(|thread| !thread.cpu.is_zero());
    Some(UsageSnapshot {
        threads: 1 + u32::try_from(working.count()).ok()?,
        cpu: process.cpu,
        main_thread: main_thread.cpu,
        has_children: has_children(&snapshot, pid, process.created),
        involuntary_switches: 0,
    })
}

/// Returns the CPU time of the process `pid`, which has ended. This process must have a handle of it, because otherwise its id is no longer valid.
/// Returns `None` if the process is still running.
pub fn usage_of_ended(pid: u32) -> Option<EndedUsage> {
    let process = open_process(pid, PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_SYNCHRONIZE)?;
    // SAFETY: the handle is open.
    let waited = unsafe { WaitForSingleObject(process.as_raw_handle(), 0) };
    if waited != WAIT_OBJECT_0 {
        return None;
    }
    Some(EndedUsage {
        cpu: read_times(&process, GetProcessTimes)?.cpu,
        waiting: None,
        peak_memory: None,
        had_children: None,
    })
}

/// Returns the times of the living threads of the process `pid`.
fn list_threads(snapshot: &OwnedHandle, pid: u32) -> Vec<TimesSnapshot> {
    let mut entry = THREADENTRY32 {
        dwSize: size_of::<THREADENTRY32>() as u32,
        ..THREADENTRY32::default()
    };
    let mut found = Vec::new();
    // SAFETY: the entry has the size that it says.
    let mut is_there = unsafe { Thread32First(snapshot.as_raw_handle(), &raw mut entry) };
    while is_there != 0 {
        if entry.th32OwnerProcessID == pid {
            // SAFETY: the call only returns a handle.
            let thread =
                unsafe { OpenThread(THREAD_QUERY_LIMITED_INFORMATION, 0, entry.th32ThreadID) };
            found.extend(own_handle(thread).and_then(|thread| read_times(&thread, GetThreadTimes)));
        }
        // SAFETY: as above.
        is_there = unsafe { Thread32Next(snapshot.as_raw_handle(), &raw mut entry) };
    }
    found
}

/// The program that shows the window of a console. The system starts it as a child of the first program that uses the console.
const CONSOLE: &str = "conhost.exe";

/// Reports whether the process `pid` has living children, apart from its console. `created` is the time at which the process was created.
fn has_children(snapshot: &OwnedHandle, pid: u32, created: u64) -> bool {
    let mut entry = PROCESSENTRY32W {
        dwSize: size_of::<PROCESSENTRY32W>() as u32,
        ..PROCESSENTRY32W::default()
    };
    // SAFETY: the entry has the size that it says.
    let mut is_there = unsafe { Process32FirstW(snapshot.as_raw_handle(), &raw mut entry) };
    while is_there != 0 {
        let name = entry.szExeFile.iter().take_while(|unit| **unit != 0);
        let name = String::from_utf16_lossy(&name.copied().collect::<Vec<u16>>());
        if entry.th32ParentProcessID == pid && !name.eq_ignore_ascii_case(CONSOLE) {
            // A process that is older than its parent is the child of an ended process that had the same id.
            let child = process_times(entry.th32ProcessID);
            if child.is_none_or(|child| child.created >= created) {
                return true;
            }
        }
        // SAFETY: as above.
        is_there = unsafe { Process32NextW(snapshot.as_raw_handle(), &raw mut entry) };
    }
    false
}

/// A binding of threads to one processor: of the thread that creates this value, and of all threads of some processes. It ends when the value is
/// dropped.
#[derive(Debug)]
pub struct AffinityPinning {
    processor: u32,
    /// Not `Send`: the binding must be undone by the thread that it binds.
    _of_this_thread: PhantomData<*const ()>,
    /// The processors that this process could use before.
    before: usize,
    bound: Vec<BoundItem>,
}

pub use AffinityPinning as ThreadPinning;

/// Something that was bound to one processor.
#[derive(Debug)]
enum BoundItem {
    ThisThread,
    ThisProcess,
    Process(OwnedHandle),
}

impl AffinityPinning {
    /// Binds this thread and `processes` to one of the processors that this process may use. If there are no `processes`, binds this process, because
    /// those that it starts inherit its processors, not those of the thread that starts them. `choose` gets the number of processors and returns an
    /// index. Returns `None` if there is only one processor, or if a process cannot be bound or may use other processors than this one.
    pub fn to_one(processes: &[u32], choose: impl FnOnce(u32) -> usize) -> Option<Self> {
        // SAFETY: the handle always means this process.
        let ours = allowed_processors(unsafe { GetCurrentProcess() })?;
        let allowed: Vec<u32> = (0..usize::BITS)
            .filter(|processor| ours >> processor & 1 == 1)
            .collect();
        if allowed.len() < 2 {
            return None;
        }
        let processor = *allowed.get(choose(u32::try_from(allowed.len()).ok()?))?;
        // From here on, an early return drops the binding and so undoes it.
        let mut binding = Self {
            processor,
            _of_this_thread: PhantomData,
            before: ours,
            bound: Vec::new(),
        };
        let access = PROCESS_SET_INFORMATION | PROCESS_QUERY_LIMITED_INFORMATION;
        let mut items = vec![BoundItem::ThisThread];
        if processes.is_empty() {
            items.push(BoundItem::ThisProcess);
        }
        for pid in processes {
            let process = open_process(*pid, access)?;
            // Do not bind at all if a process has chosen its processors by itself.
            if allowed_processors(process.as_raw_handle())? != ours {
                return None;
            }
            items.push(BoundItem::Process(process));
        }
        for item in items {
            item.allow(1 << processor).then_some(())?;
            binding.bound.push(item);
        }
        Some(binding)
    }

    /// Returns the number of the processor.
    pub fn processor(&self) -> u32 {
        self.processor
    }
}

impl Drop for AffinityPinning {
    fn drop(&mut self) {
        for item in self.bound.iter().rev() {
            // Can fail if the process has ended meanwhile.
            item.allow(self.before);
        }
    }
}

impl BoundItem {
    /// Sets the processors that the item may use. Reports whether that was possible.
    fn allow(&self, processors: usize) -> bool {
        // SAFETY: the first two calls use the handles that always mean this thread and this process. The handle of the third one is open.
        unsafe {
            match self {
                Self::ThisThread => SetThreadAffinityMask(GetCurrentThread(), processors) != 0,
                Self::ThisProcess => SetProcessAffinityMask(GetCurrentProcess(), processors) != 0,
                Self::Process(process) => {
                    SetProcessAffinityMask(process.as_raw_handle(), processors) != 0
                }
            }
        }
    }
}

/// Returns the processors that a process may use, one bit for each. The handle must be that of a process.
fn allowed_processors(process: RawHandle) -> Option<usize> {
    let (mut allowed, mut all) = (0, 0);
    // SAFETY: the call writes two numbers.
    let outcome = unsafe { GetProcessAffinityMask(process, &raw mut allowed, &raw mut all) };
    (outcome != 0).then_some(allowed)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test that starts itself")]
mod tests {
    use std::process::{Child, Command, Stdio};
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};
    use std::{env, thread};

    use super::*;

    /// The variable that tells [`program`] what to do.
    const ROLE: &str = "PERFCHECK_TEST_PROCESSOR_ROLE";

    /// A program for other tests. It does nothing unless [`ROLE`] is set.
    #[test]
    fn program() {
        match env::var(ROLE).as_deref() {
            Ok("sleep") => thread::sleep(Duration::from_secs(60)),
            Ok("work") => {
                let began = std::time::Instant::now();
                while began.elapsed() < Duration::from_millis(300) {
                    std::hint::spin_loop();
                }
            }
            _ => {}
        }
    }

    fn start(role: &str) -> Child {
        let mut command = Command::new(env::current_exe().expect("a path"));
        command
            .args(["--exact", "os::windows_processors::tests::program"])
            .env(ROLE, role)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().expect("it starts")
    }

    fn end(mut child: Child) {
        child.kill().expect("it was running");
        child.wait().expect("it ends");
    }

    /// Waits until no other test binds this process or reads its processors.
    fn lock_processors() -> MutexGuard<'static, ()> {
        static IN_USE: Mutex<()> = Mutex::new(());
        IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn processors_of(child: &Child) -> usize {
        allowed_processors(child.as_raw_handle()).expect("known")
    }

    #[test]
    fn a_binding_holds_for_this_thread_and_processes_and_ends() {
        let _alone = lock_processors();
        let child = start("sleep");
        let before = processors_of(&child);
        let Some(binding) = ThreadPinning::to_one(&[child.id()], |count| count as usize - 1) else {
            assert_eq!(before.count_ones(), 1, "one processor is no choice");
            return end(child);
        };
        let last = usize::BITS - 1 - before.leading_zeros();
        assert_eq!(binding.processor(), last);
        assert_eq!(processors_of(&child), 1 << last);
        // SAFETY: the handle always means this thread.
        let of_thread = unsafe { SetThreadAffinityMask(GetCurrentThread(), 1 << last) };
        assert_eq!(of_thread, 1 << last);
        drop(binding);
        assert_eq!(processors_of(&child), before);
        end(child);
    }

    #[test]
    fn what_is_started_inherits_a_binding_without_processes() {
        let _alone = lock_processors();
        let free = start("sleep");
        let before = processors_of(&free);
        end(free);
        let Some(binding) = ThreadPinning::to_one(&[], |_| 0) else {
            assert_eq!(before.count_ones(), 1, "one processor is no choice");
            return;
        };
        let bound = start("sleep");
        assert_eq!(processors_of(&bound), 1 << binding.processor());
        drop(binding);
        end(bound);
        let free = start("sleep");
        assert_eq!(processors_of(&free), before);
        end(free);
    }

    #[test]
    fn a_process_that_is_not_there_undoes_it_all() {
        let _alone = lock_processors();
        let of_us = || {
            // SAFETY: the handle always means this process.
            allowed_processors(unsafe { GetCurrentProcess() })
        };
        let before = of_us();
        assert!(ThreadPinning::to_one(&[u32::MAX], |_| 0).is_none());
        assert_eq!(of_us(), before);
    }

    #[test]
    fn our_own_threads_and_time_are_seen() {
        let of_us = || read_usage(std::process::id()).expect("alive");
        let before = of_us();
        let (has_seen, gathered) = (AtomicBool::new(false), Barrier::new(3));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !has_seen.load(Relaxed) {
                        std::hint::spin_loop();
                    }
                    gathered.wait();
                });
            }
            let during = loop {
                let during = of_us();
                let is_enough = during.cpu > before.cpu + Duration::from_millis(100);
                if is_enough && during.threads >= 3 {
                    break during;
                }
            };
            has_seen.store(true, Relaxed);
            gathered.wait();
            let of_main = during.main_thread.saturating_sub(before.main_thread);
            assert!(during.cpu > before.cpu + of_main);
        });
    }

    #[test]
    fn children_are_seen_until_they_end() {
        let child = start("sleep");
        assert!(read_usage(std::process::id()).expect("alive").has_children);
        let usage = read_usage(child.id()).expect("alive");
        assert_eq!((usage.threads, usage.has_children), (1, false));
        end(child);
        assert_eq!(read_usage(u32::MAX), None);
    }

    #[test]
    fn the_time_of_a_process_is_known_once_it_has_ended() {
        let mut child = start("work");
        let while_it_runs = usage_of_ended(child.id());
        assert_eq!(while_it_runs, None);
        child.wait().expect("it ends");
        let time = usage_of_ended(child.id()).expect("we have its handle").cpu;
        assert!(time >= Duration::from_millis(150), "{time:?}");
    }
}
