//! What iterations allocate, counted one by one and never while they are timed.

use std::time::{Duration, Instant};

use crate::bencher::Sampler;
use crate::counting::counted;

/// Counting ends after this time, however many iterations are wanted.
const LONGEST: Duration = Duration::from_millis(10);

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

/// Runs up to `limit` iterations, one at least, for 10 ms at most: what each of them allocated.
pub(crate) fn count(sampler: &mut Sampler<'_>, limit: usize) -> Vec<Counts> {
    let mut all = Vec::with_capacity(limit);
    let start = Instant::now();
    loop {
        all.push(counted(|| {
            sampler(1);
        }));
        if all.len() >= limit || start.elapsed() >= LONGEST {
            return all;
        }
    }
}
