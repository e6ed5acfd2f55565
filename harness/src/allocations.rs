//! What an iteration allocates, in numbers.

/// What one iteration allocated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Of the thread that ran it, as the next two.
    pub(crate) allocations: u64,
    pub(crate) bytes: u64,
    /// The most that was alive at once.
    pub(crate) peak_bytes: u64,
    /// Of all other threads, as the next one.
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
