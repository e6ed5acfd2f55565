//! The *sampler*: a function from an iteration count to a time. Code that takes samples sees nothing else of a routine.

use std::time::Duration;

/// Takes one sample of the given number of iterations.
pub(crate) type Sampler<'s> = dyn FnMut(u64) -> Duration + 's;
