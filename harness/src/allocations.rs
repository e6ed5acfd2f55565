//! Allocation counts of an iteration.

/// The allocations of one iteration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Allocations by the thread that ran the iteration. This field, `bytes` and `peak_bytes` exclude other threads, unless a window closed on
    /// another thread than it opened on: then they cover the whole process.
    pub(crate) allocations: u64,
    pub(crate) bytes: u64,
    /// The most bytes that were alive at once
    pub(crate) peak_bytes: u64,
    /// Allocations by all other threads; `other_bytes` covers the same threads
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
