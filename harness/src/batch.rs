//! Sizes of the batches of prepared inputs into which a sample is divided.

/// The number of inputs that [`Bencher::iter_batched`](crate::Bencher::iter_batched) prepares at a time. If unsure, take `SmallInput`.
///
/// Larger batches read the clock less often but hold more inputs in memory at once. The time of a sample is the sum over its batches, and each
/// batch adds the cost of two clock readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BatchSize {
    /// For small inputs: ten batches per sample.
    SmallInput,
    /// For large inputs: a thousand batches per sample.
    LargeInput,
    /// One input at a time, with two clock readings around each iteration. For bodies that take 10 µs or more.
    PerIteration,
    /// This many batches per sample (at least one).
    NumBatches(u64),
    /// This many iterations per batch (at least one).
    NumIterations(u64),
}

impl BatchSize {
    /// Returns the number of iterations per batch in a sample of `iterations`. The last batch may be shorter.
    pub(crate) fn iterations_per_batch(self, iterations: u64) -> u64 {
        let size = match self {
            Self::SmallInput => iterations.div_ceil(10),
            Self::LargeInput => iterations.div_ceil(1000),
            Self::PerIteration => 1,
            Self::NumBatches(batches) => iterations.div_ceil(batches.max(1)),
            Self::NumIterations(size) => size,
        };
        size.clamp(1, iterations.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_divided_as_the_batch_size_says() {
        let sizes = |size: BatchSize| {
            [1, 10, 11, 5000].map(|iterations| size.iterations_per_batch(iterations))
        };
        assert_eq!(sizes(BatchSize::SmallInput), [1, 1, 2, 500]);
        assert_eq!(sizes(BatchSize::LargeInput), [1, 1, 1, 5]);
        assert_eq!(sizes(BatchSize::PerIteration), [1, 1, 1, 1]);
        assert_eq!(sizes(BatchSize::NumBatches(2)), [1, 5, 6, 2500]);
        assert_eq!(sizes(BatchSize::NumIterations(7)), [1, 7, 7, 7]);
    }

    #[test]
    fn a_size_of_zero_counts_as_one() {
        assert_eq!(BatchSize::NumBatches(0).iterations_per_batch(9), 9);
        assert_eq!(BatchSize::NumIterations(0).iterations_per_batch(9), 1);
    }
}
