//! The *sampler*: a function from an iteration count to a time. Code that takes samples sees nothing else of a routine.

use std::time::Duration;

/// A function that takes one sample of the given number of iterations. Drivers know a routine only by its sampler.
pub(crate) type Sampler<'s> = dyn FnMut(u64) -> Duration + 's;
