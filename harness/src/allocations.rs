//! Allocation counts of an iteration.

/// The allocations of one iteration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// The number of allocations by the thread that ran the iteration. Like `bytes` and `peak_bytes`, it leaves out other threads. Only if a window
    /// closed on another thread than it opened on, all three cover the whole process.
    pub(crate) allocations: u64,
    pub(crate) bytes: u64,
    /// The largest number of bytes that were alive at once
    pub(crate) peak_bytes: u64,
    /// The number of allocations by all other threads, whose bytes are in `other_bytes`
    pub(crate) other_allocations: u64,
    pub(crate) other_bytes: u64,
}

impl Counts {
    pub(crate) const NONE: Self = Self {
        allocations: 0,
        bytes: 0,
        peak_bytes: 0,
        other_allocations: 0,
        other_bytes: 0,
    };
}
