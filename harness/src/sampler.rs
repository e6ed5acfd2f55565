//! The *sampler*: a function from an iteration count to a time. Code that takes samples sees nothing else of a routine. With a sampler, this file
//! also counts the allocations of single iterations, which are not timed.

use std::time::{Duration, Instant};

use crate::allocations::Counts;
use crate::counting::count_in_windows;

/// A function that takes one sample of the given number of iterations. Drivers know a routine only by its sampler.
pub(crate) type Sampler<'s> = dyn FnMut(u64) -> Duration + 's;

/// The time after which counting stops, even if more iterations are wanted.
const LONGEST: Duration = Duration::from_millis(10);

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
