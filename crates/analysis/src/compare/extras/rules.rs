//! By which rules allocations and latencies are compared, taken from those of the comparison that carries them.

/// How launches of two sides belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LaunchPairing {
    /// Not at all.
    Independent,
    /// Launches of the same ordinal were one round of an A/B measurement.
    ByRound,
}

/// The rules by which extras are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExtrasRules {
    /// Relative change that counts as noise, a fraction.
    pub(super) noise_threshold: f64,
    /// Level of the permutation test; two-sided, for each number by itself.
    pub(super) significance_level: f64,
    /// Level of the intervals, for each percentile by itself.
    pub(super) confidence_level: f64,
    pub(super) resamples: u32,
    /// Seed of everything random.
    pub(super) seed: u64,
}
