//! Where a process is from time to time: the addresses of the instructions that it is about to execute, by the system's clock. Known on Linux alone.
//!
//! `perf_event_open(2)` with a clock of software needs no counter of the processor, so it works in virtual machines, too. What the system does for the
//! process is not sampled, which nobody needs a right for. Threads and processes that begin later are sampled like the one that begins them. The system takes
//! one buffer for all of these only where it has one for each processor.

use std::time::Duration;

/// Why nothing can be sampled here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoTimeSamples {
    /// Another system than Linux.
    #[error("only Linux samples the time of a process")]
    System,
    /// A Linux that was built without.
    #[error("this kernel has no `perf_event_open`")]
    Missing,
    /// The machine's owner forbids it.
    #[error("`kernel.perf_event_paranoid` is {0}, which leaves `perf_event_open` to root")]
    Paranoid(i64),
    /// Something else forbids it.
    #[error("`perf_event_open` is not permitted, as in many containers")]
    Refused,
    /// Anything else.
    #[error("`perf_event_open` failed: {0}")]
    Failed(String),
}

/// An address that a process was at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSample {
    /// The process.
    pub process: u32,
    /// The address, of user space.
    pub address: u64,
}

/// Tells whether the time of processes can be sampled here, by trying it with this one.
pub fn try_time_samples() -> Result<(), NoTimeSamples> {
    TimeSampler::of(std::process::id(), Duration::from_secs(1)).map(drop)
}

#[cfg(not(target_os = "linux"))]
pub use elsewhere::NoTimeSampler as TimeSampler;
#[cfg(target_os = "linux")]
pub use linux::TimeSampler;

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use super::{NoTimeSamples, TimeSample};
    use std::time::Duration;

    /// There is none here.
    #[derive(Debug)]
    pub struct NoTimeSampler {}

    impl NoTimeSampler {
        /// There is none here.
        pub fn of(_: u32, _: Duration) -> Result<Self, NoTimeSamples> {
            Err(NoTimeSamples::System)
        }

        /// Nothing begins.
        pub fn start(&self) {}

        /// Nothing ends.
        pub fn stop(&self) {}

        /// There are none.
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

    use super::{NoTimeSamples, TimeSample};

    /// The level above which unprivileged processes may not sample their own user space: Debian has added it.
    const MOST_PARANOID: i64 = 2;
    const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";
    /// Bytes of the buffer of one processor: more than 5,000 samples. All buffers of a user may have 516 KiB for each processor.
    const BUFFER_BYTES: usize = 128 << 10;
    /// Of `PERF_EVENT_IOC_ENABLE` and `PERF_EVENT_IOC_DISABLE` in `linux/perf_event.h`.
    const ENABLE: Opcode = opcode::none(b'$', 0);
    const DISABLE: Opcode = opcode::none(b'$', 1);
    /// Processors that a set has room for.
    const PROCESSORS: usize = CpuSet::MAX_CPU;

    /// `struct perf_event_attr` in its first version, which every kernel takes.
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

    /// `PERF_FLAG_FD_CLOEXEC`: what is started later does not have the event.
    const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;
    const SOFTWARE: u32 = 1;
    const PROCESSOR_CLOCK: u64 = 0;
    /// A sample has its address, and the process with its thread.
    const ADDRESS_AND_PROCESS: u64 = 1 | 1 << 1;
    /// `disabled`, `inherit`, `exclude_kernel` and `exclude_hv`, as they count from the first bit of a field of bits.
    const FLAGS: u64 = 1 | 1 << 1 | 1 << 5 | 1 << 6;

    /// `PERF_RECORD_SAMPLE`, the only records that count.
    const SAMPLE: u32 = 9;
    /// Words of a record of this kind: its head, the address, process and thread.
    const SAMPLE_WORDS: u64 = 3;
    /// Where the page before the samples says how far they reach and how far they were read.
    const HEAD: usize = 1024;
    const TAIL: usize = 1032;

    /// Samples a process while it is told to. Dropping it ends that.
    #[derive(Debug)]
    pub struct TimeSampler {
        /// One for each processor that the process may use.
        events: Vec<ClockEvent>,
    }

    impl TimeSampler {
        /// Of the process `process`, which has one thread, after each `period` of time on a processor; not before it is started.
        pub fn of(process: u32, period: Duration) -> Result<Self, NoTimeSamples> {
            let process = i32::try_from(process).unwrap_or(i32::MAX);
            let pid = rustix::process::Pid::from_raw(process);
            let allowed = sched_getaffinity(pid).map_err(in_words)?;
            let processors = (0..PROCESSORS).filter(|processor| allowed.is_set(*processor));
            let events = processors.map(|processor| ClockEvent::of(process, processor, period));
            let events: Vec<ClockEvent> = events.collect::<Result<_, _>>().map_err(in_words)?;
            Ok(Self { events })
        }

        /// Begins to sample.
        pub fn start(&self) {
            for event in &self.events {
                event.tell::<ENABLE>();
            }
        }

        /// Ends sampling until it is started again.
        pub fn stop(&self) {
            for event in &self.events {
                event.tell::<DISABLE>();
            }
        }

        /// The samples since this was asked last.
        pub fn take(&mut self) -> Vec<TimeSample> {
            let mut taken = Vec::new();
            for event in &mut self.events {
                event.buffer.take(&mut taken);
            }
            taken
        }
    }

    /// Why the system refuses.
    fn in_words(error: Errno) -> NoTimeSamples {
        match error {
            Errno::NOSYS => NoTimeSamples::Missing,
            Errno::ACCESS | Errno::PERM => match paranoid() {
                Some(level) if level > MOST_PARANOID => NoTimeSamples::Paranoid(level),
                _ => NoTimeSamples::Refused,
            },
            other => NoTimeSamples::Failed(other.to_string()),
        }
    }

    fn paranoid() -> Option<i64> {
        let level = fs::read_to_string(PARANOID).ok()?;
        level.trim().parse().ok()
    }

    /// A clock that interrupts a process on one processor.
    #[derive(Debug)]
    struct ClockEvent {
        // Before the event it is of.
        buffer: SampleBuffer,
        event: OwnedFd,
    }

    impl ClockEvent {
        fn of(process: i32, processor: usize, period: Duration) -> Result<Self, Errno> {
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
            // SAFETY: the call reads as many bytes of the attributes as these say that they have, and keeps nothing of them.
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
            // SAFETY: the system has just opened it for us, so nobody else closes it.
            let event = unsafe { OwnedFd::from_raw_fd(event) };
            let buffer = SampleBuffer::of(&event)?;
            Ok(Self { buffer, event })
        }

        /// What fails here leaves the event as it is: then there are no samples, which is noticed.
        fn tell<const WHAT: Opcode>(&self) {
            // SAFETY: both requests take no argument, and touch no memory of ours.
            let told = unsafe { ioctl(&self.event, NoArg::<WHAT>::new()) };
            debug_assert!(told.is_ok(), "{told:?} of {}", self.event.as_raw_fd());
        }
    }

    /// What the system writes samples into: a page that says how far it has come, and a ring of words.
    #[derive(Debug)]
    struct SampleBuffer {
        start: NonNull<c_void>,
        page: usize,
        /// Bytes of the ring, a power of two.
        ring: usize,
    }

    impl SampleBuffer {
        fn of(event: &OwnedFd) -> Result<Self, Errno> {
            let page = rustix::param::page_size();
            let ring = BUFFER_BYTES.max(page);
            // SAFETY: the system chooses where it lies, so nothing that is there is replaced.
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

        /// A number in the first page.
        fn number(&self, at: usize) -> &AtomicU64 {
            // SAFETY: the page is longer than `at`, which is a multiple of 8, and mapped as long as `self` lives; both sides access the number atomically.
            unsafe { AtomicU64::from_ptr(self.start.as_ptr().byte_add(at).cast()) }
        }

        /// A word of the ring.
        fn word(&self, at: u64) -> u64 {
            let place = self.page + (at as usize & (self.ring - 1));
            // SAFETY: the place lies in the ring and is a multiple of 8, as all records have such lengths; the system writes nothing there before it is told
            // that this was read.
            unsafe { self.start.as_ptr().byte_add(place).cast::<u64>().read() }
        }

        /// Takes what is new, and makes room.
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
            // SAFETY: it was mapped so, once, and nothing refers to it any more.
            let unmapped = unsafe { munmap(self.start.as_ptr(), self.page + self.ring) };
            debug_assert!(unmapped.is_ok(), "{unmapped:?}");
        }
    }
}
