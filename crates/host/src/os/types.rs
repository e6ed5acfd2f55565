//! The types that all systems share: the values that the functions of this folder return, and the two output pipes of a process. Each system waits
//! for output in its own way: see [`OutputPipes::read`].

use std::process::{Child, ChildStderr, ChildStdout};
use std::time::Duration;

/// Facts by which a file is recognized. If the file changes, at least one of them changes, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileFacts {
    /// The file system that contains the file.
    pub device: u64,
    /// Number of the file in its file system.
    pub number: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// Space that it takes on the disk, in bytes.
    pub disk_bytes: u64,
    /// Time of the last change of content or attributes: seconds since 1970, and nanoseconds.
    pub changed: (i64, i64),
    /// Time of the last change of content: seconds since 1970, and nanoseconds.
    pub written: (i64, i64),
}

impl FileFacts {
    /// Returns the device and the number, which are the same for all names of a file, and different for different files.
    pub fn identity(&self) -> (u64, u64) {
        (self.device, self.number)
    }
}

/// The fate of processes that a group's leader leaves behind when it ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftoverPolicy {
    /// They are killed, even if they left the group, because nothing may run during the next measurement.
    Kill,
    /// They are left running: a build may start a server that must outlive it, such as that of a compiler cache.
    Leave,
}

/// The resource usage of a process so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageSnapshot {
    /// Number of living threads. On Windows, threads that have not used any CPU time do not count, because the system starts some in each process.
    pub threads: u32,
    /// CPU time of all its threads, including those that have ended, and of the child processes that it has waited for. On Linux, the time of child
    /// processes is counted in clock ticks of 10 ms. On Windows, child processes do not count, and all times are counted in clock ticks of 16 ms.
    pub cpu: Duration,
    /// CPU time of its main thread.
    pub main_thread: Duration,
    /// Whether it has living child processes.
    pub has_children: bool,
    /// Number of involuntary context switches of its living threads. It is 0 on systems other than Linux, which do not report it.
    pub involuntary_switches: u64,
}

/// The resources that a process and the children that it waited for have used from their start to their end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedUsage {
    /// CPU time in user and system mode.
    pub cpu: Duration,
    /// How long the process was ready to run but had no processor. `None` if the system does not report it, or if several threads or child processes did
    /// work, because some of them may have gone on while others waited.
    pub waiting: Option<Duration>,
    /// The most memory that one of the processes had at any time, in bytes. It is at least the memory that the process had before it executed its
    /// program. `None` if the system does not report it.
    pub peak_memory: Option<u64>,
    /// Whether there were children that the process waited for. `None` if the system does not report it.
    pub had_children: Option<bool>,
}

/// The reason why a process cannot be sampled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimeSamplingError {
    /// The system is not Linux.
    #[error("profiling by time is supported only on Linux")]
    System,
    /// The kernel was built without `perf_event_open`.
    #[error("this kernel has no `perf_event_open`")]
    Missing,
    /// The setting `kernel.perf_event_paranoid` has this value, which forbids sampling.
    #[error("`kernel.perf_event_paranoid` is {0}, so only root may use `perf_event_open`")]
    Paranoid(i64),
    /// Sampling is forbidden, but not by `kernel.perf_event_paranoid`. For example, many containers forbid it.
    #[error("`perf_event_open` is not permitted (many containers block it)")]
    Refused,
    /// `perf_event_open` failed with an error that has no variant of its own.
    #[error("`perf_event_open` failed: {0}")]
    Failed(String),
}

/// An address that a process was executing when it was sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSample {
    /// Process id.
    pub process: u32,
    /// Address in user space.
    pub address: u64,
}

/// A pipe, and the bytes that were read from it.
pub(super) struct OutputPipe<R> {
    /// The pipe. `None` once it has ended.
    pub(super) pipe: Option<R>,
    pub(super) bytes: Vec<u8>,
}

impl<R> OutputPipe<R> {
    fn new(pipe: Option<R>) -> Self {
        Self {
            pipe,
            bytes: Vec::new(),
        }
    }
}

/// The two output pipes of a process, read by one thread.
pub struct OutputPipes {
    pub(super) stdout: OutputPipe<ChildStdout>,
    pub(super) stderr: OutputPipe<ChildStderr>,
}

impl OutputPipes {
    /// Takes the pipes of a process.
    pub fn from_child(child: &mut Child) -> Self {
        Self {
            stdout: OutputPipe::new(child.stdout.take()),
            stderr: OutputPipe::new(child.stderr.take()),
        }
    }

    /// Reports whether at least one of the pipes can still deliver output.
    pub fn is_open(&self) -> bool {
        self.stdout.pipe.is_some() || self.stderr.pipe.is_some()
    }

    /// Returns all bytes that were read from stdout and from stderr.
    pub fn into_bytes(self) -> (Vec<u8>, Vec<u8>) {
        (self.stdout.bytes, self.stderr.bytes)
    }
}
