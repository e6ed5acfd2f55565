//! In place of `counting.rs` where the feature `allocations` is off: nothing is counted, and windows are nothing.

use crate::allocations::Counts;

/// Nothing.
#[must_use]
pub struct Window;

impl Window {
    /// Opens nothing.
    #[inline]
    pub fn open() -> Self {
        Self
    }

    /// Closes nothing.
    #[inline]
    pub fn close(self) {}
}

/// Runs `body` and counts nothing.
pub(crate) fn counted(body: impl FnOnce()) -> Counts {
    body();
    Counts::NONE
}

/// The executable's allocator does not count.
pub(crate) fn is_installed() -> bool {
    false
}
