//! Counts the allocations of single iterations. The counted iterations are not timed.

use std::time::{Duration, Instant};

use crate::counting::count_in_windows;
use crate::timing::Sampler;

/// The time after which counting stops, even if more iterations are wanted.
const LONGEST: Duration = Duration::from_millis(10);

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

/// Runs up to `limit` iterations, at least one, for at most 10 ms, and returns the allocations of each.
pub(crate) fn count_allocations(sampler: &mut Sampler<'_>, limit: usize) -> Vec<Counts> {
    let mut all = Vec::with_capacity(limit);
    let start = Instant::now();
    loop {
        all.push(count_in_windows(|| {
            sampler(1);
        }));
        if all.len() >= limit || start.elapsed() >= LONGEST {
            return all;
        }
    }
}
