//! Resources of threads and processes: binds them to one processor for a time (Linux only), suppresses core files of processes that are expected to
//! crash, and starts threads.
//!
//! The system may refuse a thread, because limits on processes also count threads. These functions then return an error or do the work in this
//! thread.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;
use std::marker::PhantomData;
use std::thread::{self, Scope};

/// Binds the thread that created it, and the main threads of some processes, to one processor until it is dropped. Threads and processes that these
/// start meanwhile keep the binding for good.
#[derive(Debug)]
pub struct ThreadPinning {
    processor: u32,
    /// Not `Send`: the binding must be undone by the thread that it binds.
    _of_this_thread: PhantomData<*const ()>,
    #[cfg(target_os = "linux")]
    before: Vec<FormerBinding>,
}

/// The processors that a thread could use before it was bound to one.
#[cfg(target_os = "linux")]
#[derive(Debug)]
struct FormerBinding {
    /// The process whose main thread was bound; `None` for the thread that created the binding.
    process: Option<rustix::process::Pid>,
    processors: rustix::thread::CpuSet,
}

impl ThreadPinning {
    /// Binds this thread and `processes` to one of the processors that this thread may use. `choose` gets their
    /// number and returns an index. Returns `None` if there is only one processor, or the system does not support
    /// binding.
    #[cfg(target_os = "linux")]
    pub fn to_one(processes: &[u32], choose: impl FnOnce(u32) -> usize) -> Option<Self> {
        use rustix::process::Pid;
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
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

    /// Returns `None`: this system has no binding.
    #[cfg(not(target_os = "linux"))]
    pub fn to_one(_: &[u32], _: impl FnOnce(u32) -> usize) -> Option<Self> {
        None
    }

    /// Returns the number of the processor.
    pub fn processor(&self) -> u32 {
        self.processor
    }
}

#[cfg(target_os = "linux")]
impl Drop for ThreadPinning {
    fn drop(&mut self) {
        for former in self.before.iter().rev() {
            // Can fail if the process has ended or its processors were restricted meanwhile.
            let _ = rustix::thread::sched_setaffinity(former.process, &former.processors);
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::ThreadPinning;

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
}

/// Runs `work`. Processes that it starts write no core files.
pub fn without_core_dumps<T>(work: impl FnOnce() -> T) -> T {
    let before = getrlimit(Resource::Core);
    // If this fails, a core file may be written, which does no harm.
    let _ = setrlimit(
        Resource::Core,
        Rlimit {
            current: Some(0),
            maximum: before.maximum,
        },
    );
    let done = work();
    let _ = setrlimit(Resource::Core, before);
    done
}

/// Starts a thread that the caller does not wait for.
pub fn start_thread(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().spawn(work).map(drop)
}

/// Starts `work` in a thread of `scope`, and returns a function for its result. If no thread can be started, that
/// function does the work.
pub fn start_scoped_work<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl Fn() -> T + Copy + Send + 'scope,
) -> impl FnOnce() -> T {
    let started = thread::Builder::new().spawn_scoped(scope, work);
    move || match started {
        Ok(thread) => (thread.join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        Err(_) => work(),
    }
}

#[cfg(test)]
mod core_dump_tests {
    use super::*;

    #[test]
    fn the_limit_is_nothing_for_as_long_as_the_work_lasts() {
        let before = getrlimit(Resource::Core);
        let within = without_core_dumps(|| getrlimit(Resource::Core).current);
        assert_eq!(within, Some(0));
        assert_eq!(getrlimit(Resource::Core), before);
    }
}
