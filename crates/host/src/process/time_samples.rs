//! Samples the program counter of a process at regular intervals of CPU time. Supported on Linux only.
//!
//! `perf_event_open(2)` with a software clock needs no hardware counters, so it works in virtual machines, too. Kernel code is not sampled, therefore
//! no privileges are needed. Threads and processes that the sampled one starts later are included. The kernel gives them a shared buffer only if an
//! event is bound to one processor, so there is an event for each processor.

use std::time::Duration;

/// The reason why sampling is not possible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimeSamplingError {
    /// The system is not Linux.
    #[error("profiling by time is supported only on Linux")]
    System,
    /// The kernel was built without `perf_event_open`.
    #[error("this kernel has no `perf_event_open`")]
    Missing,
    /// The setting `kernel.perf_event_paranoid` forbids sampling; the field is its value.
    #[error("`kernel.perf_event_paranoid` is {0}, so only root may use `perf_event_open`")]
    Paranoid(i64),
    /// Sampling is forbidden in another way, for example by a container.
    #[error("`perf_event_open` is not permitted (many containers block it)")]
    Refused,
    /// Another error.
    #[error("`perf_event_open` failed: {0}")]
    Failed(String),
}

/// A sampled address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSample {
    /// Process id.
    pub process: u32,
    /// Address in user space.
    pub address: u64,
}

/// Checks whether time can be sampled here, by trying it with this process.
pub fn try_time_samples() -> Result<(), TimeSamplingError> {
    TimeSampler::new(std::process::id(), Duration::from_secs(1)).map(drop)
}

#[cfg(not(target_os = "linux"))]
pub use elsewhere::UnsupportedTimeSampler as TimeSampler;
#[cfg(target_os = "linux")]
pub use linux::TimeSampler;

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use super::{TimeSample, TimeSamplingError};
    use std::time::Duration;

    /// The sampler of systems without support.
    #[derive(Debug)]
    pub struct UnsupportedTimeSampler {}

    impl UnsupportedTimeSampler {
        /// Returns an error: this system has no sampling.
        pub fn new(_: u32, _: Duration) -> Result<Self, TimeSamplingError> {
            Err(TimeSamplingError::System)
        }

        /// Does nothing.
        pub fn start(&self) {}

        /// Does nothing.
        pub fn stop(&self) {}

        /// Returns no samples.
        pub fn take(&mut self) -> Vec<TimeSample> {
            Vec::new()
        }
    }
}

#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "no library that we have opens events of perf or maps their buffers"
)]
mod linux {
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

    use super::{TimeSample, TimeSamplingError};

    /// The largest level at which unprivileged processes may sample their own user space. Higher levels are an
    /// addition of Debian.
    const MOST_PARANOID: i64 = 2;
    const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";
    /// Size of the buffer of one processor in bytes, for more than 5,000 samples. A user may lock 516 KiB for each
    /// processor in total.
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
    /// `disabled`, `inherit`, `exclude_kernel` and `exclude_hv`, counted from the first bit of a bit field.
    const FLAGS: u64 = 1 | 1 << 1 | 1 << 5 | 1 << 6;

    /// `PERF_RECORD_SAMPLE`; other records are ignored.
    const SAMPLE: u32 = 9;
    /// Length of such a record in words: header, address, process and thread.
    const SAMPLE_WORDS: u64 = 3;
    /// Offsets in the first page: the end of the written samples, and the end of the samples read.
    const HEAD: usize = 1024;
    const TAIL: usize = 1032;

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
        // Declared before the event to which it belongs, so that it is dropped first.
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

        /// Moves the new samples into `into`, and frees their space.
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
