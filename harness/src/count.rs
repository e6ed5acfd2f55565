//! Counts what iterations allocate, one by one and never while they are timed.

use std::time::{Duration, Instant};

use crate::allocations::Counts;
use crate::counting::counted;
use crate::sampler::Sampler;

/// Counting ends after this time, however many iterations are wanted.
const LONGEST: Duration = Duration::from_millis(10);

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
