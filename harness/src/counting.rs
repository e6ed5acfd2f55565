//! The counting global allocator (the bench protocol, section 9), present with the feature `allocations`. It counts only while a *window* is
//! open, and windows open only while counts are requested: at all other times an allocation costs one more relaxed load. Counting never allocates:
//! the thread's counters are `const` and have no destructor, so the allocator can use them at any time of a thread's life.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};

use crate::allocations::Counts;

/// The state in which no counts are requested.
const OFF: u8 = 0;
/// The state in which the next window will count.
const ARMED: u8 = 1;
/// The state in which a window is open and allocations are counted.
const OPEN: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(OFF);

/// The counts of the whole process in the open window.
static PROCESS: ProcessCounts = ProcessCounts {
    allocations: AtomicU64::new(0),
    bytes: AtomicU64::new(0),
    live: AtomicI64::new(0),
    peak: AtomicI64::new(0),
};

/// The sums over the windows closed since [`count_in_windows`] began, and the highest peak.
static CLOSED: Mutex<Counts> = Mutex::new(Counts::NONE);

thread_local! {
    /// The counts of the current thread in the open window.
    static THREAD: Thread = const {
        Thread { allocations: Cell::new(0), bytes: Cell::new(0), live: Cell::new(0), peak: Cell::new(0) }
    };
}

struct ProcessCounts {
    allocations: AtomicU64,
    bytes: AtomicU64,
    /// Bytes allocated minus bytes freed in the window. Negative if more memory from before the window was freed in it than was allocated
    live: AtomicI64,
    peak: AtomicI64,
}

struct Thread {
    allocations: Cell<u64>,
    bytes: Cell<u64>,
    live: Cell<i64>,
    peak: Cell<i64>,
}

impl ProcessCounts {
    fn reset(&self) {
        self.allocations.store(0, SeqCst);
        self.bytes.store(0, SeqCst);
        self.live.store(0, SeqCst);
        self.peak.store(0, SeqCst);
    }

    fn record(&self, allocations: u64, grown: u64, live: i64) {
        self.allocations.fetch_add(allocations, Relaxed);
        self.bytes.fetch_add(grown, Relaxed);
        let live = self.live.fetch_add(live, Relaxed) + live;
        self.peak.fetch_max(live, Relaxed);
    }
}

impl Thread {
    fn reset(&self) {
        self.allocations.set(0);
        self.bytes.set(0);
        self.live.set(0);
        self.peak.set(0);
    }

    fn record(&self, allocations: u64, grown: u64, live: i64) {
        self.allocations.set(self.allocations.get() + allocations);
        self.bytes.set(self.bytes.get() + grown);
        self.live.set(self.live.get() + live);
        self.peak.set(self.peak.get().max(self.live.get()));
    }
}

/// A global allocator that counts allocations for `cargo perfcheck` and for the table of `cargo bench`, and passes all calls on to another
/// allocator. Requires the feature `allocations`.
///
/// The results of each benchmark say how many times an iteration allocates, how many bytes, and the largest number of bytes alive at once. The
/// counts cover the same code as the times: set-up, the creation of inputs and the drop of large outputs are not included. No allocations are
/// counted while samples are taken, so times are those of the inner allocator plus one load and one branch per allocation.
///
/// # Examples
///
/// ```
/// use perfcheck::CountingAllocator;
///
/// #[global_allocator]
/// static ALLOCATOR: CountingAllocator = CountingAllocator::system();
///
/// fn boxes(suite: &mut perfcheck::Suite) {
///     suite.bench("two boxes", |b| b.iter(|| (Box::new(1), Box::new(2))));
/// }
///
/// perfcheck::main!(boxes);
/// ```
#[derive(Debug, Default, Clone, Copy)]
pub struct CountingAllocator<A = System> {
    inner: A,
}

impl CountingAllocator {
    /// Makes an allocator that counts allocations of the system allocator, which is Rust's default.
    pub const fn system() -> Self {
        Self::new(System)
    }
}

impl<A> CountingAllocator<A> {
    /// Makes an allocator that counts allocations of `inner`.
    ///
    /// # Examples
    ///
    /// ```
    /// use perfcheck::CountingAllocator;
    /// use std::alloc::System;
    ///
    /// #[global_allocator]
    /// static ALLOCATOR: CountingAllocator<System> = CountingAllocator::new(System);
    /// ```
    pub const fn new(inner: A) -> Self {
        Self { inner }
    }
}

#[inline]
fn is_open() -> bool {
    STATE.load(Relaxed) == OPEN
}

/// Records one call of the allocator that replaces a block of `from` bytes with one of `to` bytes.
#[cold]
#[expect(
    clippy::cast_possible_wrap,
    reason = "no layout is larger than `isize::MAX`"
)]
fn record_call(allocations: u64, from: usize, to: usize) {
    let grown = to.saturating_sub(from) as u64;
    let live = to as i64 - from as i64;
    PROCESS.record(allocations, grown, live);
    // On some platforms, a thread that is ending has no counters any more. Ignore this error: the allocations count for the process.
    let _ = THREAD.try_with(|thread| thread.record(allocations, grown, live));
}

// SAFETY: every call goes to the inner allocator unchanged; the code around it only changes counters, never allocates and never unwinds.
#[expect(unsafe_code, reason = "a global allocator is unsafe to write")]
unsafe impl<A: GlobalAlloc> GlobalAlloc for CountingAllocator<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: our caller upholds the contract of the inner allocator's method.
        let pointer = unsafe { self.inner.alloc(layout) };
        if is_open() && !pointer.is_null() {
            record_call(1, 0, layout.size());
        }
        pointer
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: our caller upholds the contract of the inner allocator's method.
        let pointer = unsafe { self.inner.alloc_zeroed(layout) };
        if is_open() && !pointer.is_null() {
            record_call(1, 0, layout.size());
        }
        pointer
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: our caller upholds the contract of the inner allocator's method.
        unsafe { self.inner.dealloc(pointer, layout) };
        if is_open() {
            record_call(0, layout.size(), 0);
        }
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: our caller upholds the contract of the inner allocator's method.
        let moved = unsafe { self.inner.realloc(pointer, layout, new_size) };
        if is_open() && !moved.is_null() {
            record_call(1, layout.size(), new_size);
        }
        moved
    }
}

/// A window in which allocations are counted: opened just before the first clock reading, closed just after the last one. It does nothing unless
/// counts are requested. `open` and `close` are never inlined, because instruction counters find a window by the names of these functions (the
/// bench protocol, section 13).
#[must_use]
pub struct Window {
    /// The thread that opened the window. `None` if the window does not count
    opened_on: Option<ThreadId>,
}

impl Window {
    /// Opens a window.
    #[inline(never)]
    pub fn open() -> Self {
        Self {
            opened_on: (STATE.load(Relaxed) == ARMED).then(open_window),
        }
    }

    /// Closes the window, possibly on another thread than the one that opened it.
    #[inline(never)]
    pub fn close(self) {
        if let Some(opened_on) = self.opened_on {
            close_window(opened_on);
        }
    }
}

#[cold]
fn open_window() -> ThreadId {
    // Ask for the thread before counting starts: the first such call of a thread may allocate.
    let thread = thread::current().id();
    PROCESS.reset();
    THREAD.with(Thread::reset);
    STATE.store(OPEN, SeqCst);
    thread
}

#[cold]
fn close_window(opened_on: ThreadId) {
    STATE.store(ARMED, SeqCst);
    let process = Counts {
        allocations: PROCESS.allocations.load(SeqCst),
        bytes: PROCESS.bytes.load(SeqCst),
        peak_bytes: clamp_to_unsigned(PROCESS.peak.load(SeqCst)),
        ..Counts::NONE
    };
    let counts = if thread::current().id() == opened_on {
        THREAD.with(|thread| Counts {
            allocations: thread.allocations.get(),
            bytes: thread.bytes.get(),
            peak_bytes: clamp_to_unsigned(thread.peak.get()),
            other_allocations: process.allocations.saturating_sub(thread.allocations.get()),
            other_bytes: process.bytes.saturating_sub(thread.bytes.get()),
        })
    } else {
        process
    };
    let counts = make_consistent(counts);
    let mut sum = CLOSED.lock().unwrap_or_else(PoisonError::into_inner);
    sum.allocations += counts.allocations;
    sum.bytes += counts.bytes;
    sum.peak_bytes = sum.peak_bytes.max(counts.peak_bytes);
    sum.other_allocations += counts.other_allocations;
    sum.other_bytes += counts.other_bytes;
}

/// Makes the counts consistent. The window may open or close while another thread records an allocation, so counts may contradict each other. The
/// parent would refuse bytes without an allocation, or a peak above the bytes.
fn make_consistent(counts: Counts) -> Counts {
    let of_some = |allocations: u64, bytes: u64| if allocations > 0 { bytes } else { 0 };
    let bytes = of_some(counts.allocations, counts.bytes);
    Counts {
        bytes,
        peak_bytes: counts.peak_bytes.min(bytes),
        other_bytes: of_some(counts.other_allocations, counts.other_bytes),
        ..counts
    }
}

fn clamp_to_unsigned(bytes: i64) -> u64 {
    u64::try_from(bytes).unwrap_or(0)
}

/// Runs `body` and counts allocations in its windows. Returns the sums over the windows and the highest peak.
pub(crate) fn count_in_windows(body: impl FnOnce()) -> Counts {
    /// Disables counting when dropped, also if the body panics.
    struct Armed;
    impl Drop for Armed {
        fn drop(&mut self) {
            STATE.store(OFF, SeqCst);
        }
    }
    *CLOSED.lock().unwrap_or_else(PoisonError::into_inner) = Counts::NONE;
    let armed = Armed;
    STATE.store(ARMED, SeqCst);
    body();
    drop(armed);
    *CLOSED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reports whether the executable's global allocator counts, by trying an allocation.
pub(crate) fn is_installed() -> bool {
    let counts = count_in_windows(|| {
        let window = Window::open();
        drop(black_box(Box::new(black_box(0_u8))));
        window.close();
    });
    counts.allocations > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_note_of_another_thread_is_none() {
        let half = Counts {
            allocations: 0,
            bytes: 64,
            peak_bytes: 64,
            other_allocations: 0,
            other_bytes: 9,
        };
        assert_eq!(make_consistent(half), Counts::NONE);
        let whole = Counts {
            allocations: 2,
            bytes: 100,
            peak_bytes: 160,
            other_allocations: 1,
            other_bytes: 0,
        };
        assert_eq!(
            make_consistent(whole),
            Counts {
                peak_bytes: 100,
                ..whole
            }
        );
    }
}
