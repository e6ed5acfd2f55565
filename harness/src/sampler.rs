//! The *sampler*, a function from an iteration count to a time: all that is left of a routine where samples are taken.

use std::time::Duration;

/// Takes one sample of the given number of iterations.
pub(crate) type Sampler<'s> = dyn FnMut(u64) -> Duration + 's;
