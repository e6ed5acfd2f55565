//! The counting global allocator (docs/src/protocol.md, section 9), in executables with the feature `allocations`. It counts only while a
//! *window* is open, and windows open only while somebody asks for counts: at all other times an allocation costs one relaxed load more.
//! What is noted here never allocates: the thread's numbers are `const` and without destructor, so they can be reached at any time of a
//! thread's life, from within the allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};

use crate::allocations::Counts;

/// Nobody asks.
const OFF: u8 = 0;
/// The next window counts.
const ARMED: u8 = 1;
/// A window is open: allocations are counted.
const OPEN: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(OFF);

/// The whole process's numbers in the open window.
static PROCESS: ProcessCounts = ProcessCounts {
    allocations: AtomicU64::new(0),
    bytes: AtomicU64::new(0),
    live: AtomicI64::new(0),
    peak: AtomicI64::new(0),
};

/// What the windows since the last [`counted`] came to.
static CLOSED: Mutex<Counts> = Mutex::new(Counts::NONE);

thread_local! {
    /// The thread's numbers in the open window.
    static THREAD: Thread = const {
        Thread { allocations: Cell::new(0), bytes: Cell::new(0), live: Cell::new(0), peak: Cell::new(0) }
    };
}

struct ProcessCounts {
    allocations: AtomicU64,
    bytes: AtomicU64,
    /// Bytes allocated less bytes freed: negative where the window frees what is older than itself.
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

    fn note(&self, allocations: u64, grown: u64, live: i64) {
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

    fn note(&self, allocations: u64, grown: u64, live: i64) {
        self.allocations.set(self.allocations.get() + allocations);
        self.bytes.set(self.bytes.get() + grown);
        self.live.set(self.live.get() + live);
        self.peak.set(self.peak.get().max(self.live.get()));
    }
}

/// Counts allocations for `cargo perfcheck` and for the table of `cargo bench`, and leaves them to another allocator. Needs the feature
/// `allocations`.
///
/// ```
/// use perfcheck::CountingAllocator;
///
/// #[global_allocator]
/// static ALLOCATOR: CountingAllocator = CountingAllocator::system();
///
/// fn vectors(suite: &mut perfcheck::Suite) {
///     suite.bench("two boxes", |b| b.iter(|| (Box::new(1), Box::new(2))));
/// }
///
/// perfcheck::main!(vectors);
/// ```
///
/// For each benchmark it is told how many times an iteration allocates, how many bytes, and how many of them are alive at once at most. What is
/// counted is what would be timed: neither set-up nor inputs nor the drop of large outputs. Samples are taken without counting, so they
/// take the time that they take with the inner allocator, but for one load and one branch an allocation.
#[derive(Debug, Default, Clone, Copy)]
pub struct CountingAllocator<A = System> {
    inner: A,
}

impl CountingAllocator {
    /// Counts allocations of the system's allocator, which is Rust's default.
    pub const fn system() -> Self {
        Self::new(System)
    }
}

impl<A> CountingAllocator<A> {
    /// Counts allocations of `inner`.
    pub const fn new(inner: A) -> Self {
        Self { inner }
    }
}

#[inline]
fn is_open() -> bool {
    STATE.load(Relaxed) == OPEN
}

/// One call of the allocator, after which `to` bytes are alive in place of `from`.
#[cold]
#[expect(
    clippy::cast_possible_wrap,
    reason = "no layout is larger than `isize::MAX`"
)]
fn note(allocations: u64, from: usize, to: usize) {
    let grown = to.saturating_sub(from) as u64;
    let live = to as i64 - from as i64;
    PROCESS.note(allocations, grown, live);
    // A thread whose numbers are gone is still part of the process.
    let _ = THREAD.try_with(|thread| thread.note(allocations, grown, live));
}

// SAFETY: every call goes to the inner allocator unchanged; what is done besides changes numbers alone, and neither allocates nor unwinds.
#[expect(unsafe_code, reason = "a global allocator is unsafe to write")]
unsafe impl<A: GlobalAlloc> GlobalAlloc for CountingAllocator<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: our caller's promise.
        let pointer = unsafe { self.inner.alloc(layout) };
        if is_open() && !pointer.is_null() {
            note(1, 0, layout.size());
        }
        pointer
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: our caller's promise.
        let pointer = unsafe { self.inner.alloc_zeroed(layout) };
        if is_open() && !pointer.is_null() {
            note(1, 0, layout.size());
        }
        pointer
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: our caller's promise.
        unsafe { self.inner.dealloc(pointer, layout) };
        if is_open() {
            note(0, layout.size(), 0);
        }
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: our caller's promise.
        let moved = unsafe { self.inner.realloc(pointer, layout, new_size) };
        if is_open() && !moved.is_null() {
            note(1, layout.size(), new_size);
        }
        moved
    }
}

/// What is counted: opened just before the clock's first reading, closed just after its last one. Where nobody asks for counts it does nothing.
/// Both ends are functions that stay functions: who counts instructions from outside finds them by their names (docs/src/protocol.md, section 13).
#[must_use]
pub struct Window {
    /// The thread that opened it, where it counts.
    opened_on: Option<ThreadId>,
}

impl Window {
    /// Opens it.
    #[inline(never)]
    pub fn open() -> Self {
        Self {
            opened_on: (STATE.load(Relaxed) == ARMED).then(open_window),
        }
    }

    /// Closes it, maybe on another thread.
    #[inline(never)]
    pub fn close(self) {
        if let Some(opened_on) = self.opened_on {
            close_window(opened_on);
        }
    }
}

#[cold]
fn open_window() -> ThreadId {
    // The first call may allocate.
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
        peak_bytes: positive(PROCESS.peak.load(SeqCst)),
        ..Counts::NONE
    };
    let counts = if thread::current().id() == opened_on {
        THREAD.with(|thread| Counts {
            allocations: thread.allocations.get(),
            bytes: thread.bytes.get(),
            peak_bytes: positive(thread.peak.get()),
            other_allocations: process.allocations.saturating_sub(thread.allocations.get()),
            other_bytes: process.bytes.saturating_sub(thread.bytes.get()),
        })
    } else {
        process
    };
    let counts = coherent(counts);
    let mut sum = CLOSED.lock().unwrap_or_else(PoisonError::into_inner);
    sum.allocations += counts.allocations;
    sum.bytes += counts.bytes;
    sum.peak_bytes = sum.peak_bytes.max(counts.peak_bytes);
    sum.other_allocations += counts.other_allocations;
    sum.other_bytes += counts.other_bytes;
}

/// What can be true at once. Another thread may stand in the middle of a note while the window opens or closes, and a parent refuses bytes without
/// an allocation, or a peak above the bytes.
fn coherent(counts: Counts) -> Counts {
    let of_some = |allocations: u64, bytes: u64| if allocations > 0 { bytes } else { 0 };
    let bytes = of_some(counts.allocations, counts.bytes);
    Counts {
        bytes,
        peak_bytes: counts.peak_bytes.min(bytes),
        other_bytes: of_some(counts.other_allocations, counts.other_bytes),
        ..counts
    }
}

fn positive(bytes: i64) -> u64 {
    u64::try_from(bytes).unwrap_or(0)
}

/// Runs `body` with its windows counting: the sum over them.
pub(crate) fn counted(body: impl FnOnce()) -> Counts {
    /// A body may panic.
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

/// Whether the executable's global allocator counts, found out by an allocation.
pub(crate) fn is_installed() -> bool {
    let counts = counted(|| {
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
        assert_eq!(coherent(half), Counts::NONE);
        let whole = Counts {
            allocations: 2,
            bytes: 100,
            peak_bytes: 160,
            other_allocations: 1,
            other_bytes: 0,
        };
        assert_eq!(
            coherent(whole),
            Counts {
                peak_bytes: 100,
                ..whole
            }
        );
    }
}
