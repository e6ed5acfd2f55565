//! The sample that one call of a benchmark's closure takes.

use crate::measurement::Measurement;

/// One sample: the number of iterations, and the value once it has been measured.
pub(crate) struct TimedSample<'a, M: Measurement> {
    pub(crate) iterations: u64,
    pub(crate) measurement: &'a M,
    pub(crate) value: Option<M::Value>,
}

#[cfg(feature = "async")]
impl<'a, M: Measurement> TimedSample<'a, M> {
    /// Returns the iterations, the measurement, and the place for the value.
    pub(crate) fn parts(&mut self) -> (u64, &'a M, &mut Option<M::Value>) {
        (self.iterations, self.measurement, &mut self.value)
    }
}
