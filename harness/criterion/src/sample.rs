//! The sample that a benchmark's closure takes when it is called.

use crate::measurement::Measurement;

/// One sample: so many iterations, and what they came to once they have been measured.
pub(crate) struct TimedSample<'a, M: Measurement> {
    pub(crate) iterations: u64,
    pub(crate) measurement: &'a M,
    pub(crate) value: Option<M::Value>,
}

#[cfg(feature = "async")]
impl<'a, M: Measurement> TimedSample<'a, M> {
    /// Iterations, measurement, and where the value goes.
    pub(crate) fn parts(&mut self) -> (u64, &'a M, &mut Option<M::Value>) {
        (self.iterations, self.measurement, &mut self.value)
    }
}
