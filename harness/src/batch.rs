//! How the iterations of a sample are divided into batches of prepared inputs.

/// How many inputs [`Bencher::iter_batched`](crate::Bencher::iter_batched) prepares at a time.
///
/// Larger batches read the clock less often and hold more inputs in memory at once. A sample's time is the sum over its batches,
/// so short batches add the cost of a pair of clock readings to each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BatchSize {
    /// Inputs are small: ten batches a sample.
    SmallInput,
    /// Inputs are large: a thousand batches a sample.
    LargeInput,
    /// One input at a time, with a pair of clock readings around each iteration. For bodies of 10 µs and more.
    PerIteration,
    /// This many batches a sample (at least one).
    NumBatches(u64),
    /// This many iterations a batch (at least one).
    NumIterations(u64),
}

impl BatchSize {
    /// Iterations in each batch of a sample of `iterations`; the last batch may be shorter.
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
