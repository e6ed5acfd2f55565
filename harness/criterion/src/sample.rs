//! The sample that one call of a benchmark's closure takes, and its division into batches of inputs.

use crate::measurement::Measurement;
use perfcheck::sequence::Batches;

/// The number of inputs that `iter_batched` and `iter_batched_ref` prepare at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BatchSize {
    /// For small inputs: ten batches per sample.
    SmallInput,
    /// For large inputs: a thousand batches per sample.
    LargeInput,
    /// One input at a time.
    PerIteration,
    /// This number of batches per sample.
    NumBatches(u64),
    /// This number of iterations per batch.
    NumIterations(u64),
}

impl BatchSize {
    /// Returns the batches of a sample of `iterations`, with memory reserved for one batch.
    #[track_caller]
    pub(crate) fn to_batches<I, O>(self, iterations: u64) -> Batches<I, O> {
        let per_batch = self.iterations_per_batch(iterations);
        let mut batches = Batches::new(perfcheck::BatchSize::NumIterations(per_batch));
        batches.begin(iterations);
        batches
    }

    /// Returns the number of iterations in each batch of a sample. The last batch may be shorter.
    #[track_caller]
    fn iterations_per_batch(self, iterations: u64) -> u64 {
        let size = match self {
            Self::SmallInput => iterations.div_ceil(10),
            Self::LargeInput => iterations.div_ceil(1000),
            Self::PerIteration => 1,
            Self::NumBatches(batches) => {
                assert!(batches > 0, "NumBatches(0): a sample needs a batch");
                iterations.div_ceil(batches)
            }
            Self::NumIterations(size) => size,
        };
        assert!(size > 0, "a batch needs an iteration");
        size
    }
}

/// One sample: the number of iterations, and the value once it has been measured.
pub(crate) struct TimedSample<'a, M: Measurement> {
    pub(crate) iterations: u64,
    pub(crate) measurement: &'a M,
    pub(crate) value: Option<M::Value>,
}

#[cfg(feature = "async")]
impl<'a, M: Measurement> TimedSample<'a, M> {
    /// Returns the number of iterations, the measurement, and a reference to the field for the measured value.
    pub(crate) fn parts(&mut self) -> (u64, &'a M, &mut Option<M::Value>) {
        (self.iterations, self.measurement, &mut self.value)
    }
}

#[cfg(test)]
mod batch_tests {
    use super::*;

    #[test]
    fn a_sample_is_divided_as_the_batch_size_says() {
        let sizes =
            |size: BatchSize| [1, 11, 5000].map(|iterations| size.iterations_per_batch(iterations));
        assert_eq!(sizes(BatchSize::SmallInput), [1, 2, 500]);
        assert_eq!(sizes(BatchSize::LargeInput), [1, 1, 5]);
        assert_eq!(sizes(BatchSize::PerIteration), [1, 1, 1]);
        assert_eq!(sizes(BatchSize::NumBatches(2)), [1, 6, 2500]);
        assert_eq!(sizes(BatchSize::NumIterations(7)), [7, 7, 7]);
    }

    #[test]
    #[should_panic(expected = "a batch needs an iteration")]
    fn batches_of_nothing_are_refused() {
        BatchSize::NumIterations(0).iterations_per_batch(9);
    }
}
