//! The rules for comparing allocations and latencies, taken from those of the comparison that holds them.

/// How the processes of the two sides belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProcessPairing {
    /// Processes are independent.
    Independent,
    /// Processes with the same number belong to one round of a side-by-side measurement.
    ByRound,
}

/// The rules for comparing extras.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExtrasPolicy {
    /// Relative change that counts as noise, a fraction.
    pub(super) noise_threshold: f64,
    /// Level of the permutation test, two-sided, for each number separately.
    pub(super) significance_level: f64,
    /// Level of the intervals, for each percentile separately.
    pub(super) confidence_level: f64,
    pub(super) resamples: u32,
    /// Seed of all random numbers.
    pub(super) seed: u64,
}
