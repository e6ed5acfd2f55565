//! The clock's smallest step, and the conversion of times to the protocol's nanoseconds.

use std::time::{Duration, Instant};

/// Returns the smallest nonzero difference between two clock readings in 32 tries. This is the effective resolution: the larger of the counter's
/// step and the cost of a reading.
pub(crate) fn measure_quantum() -> Duration {
    (0..32)
        .map(|_| {
            let start = Instant::now();
            loop {
                let step = start.elapsed();
                if !step.is_zero() {
                    return step;
                }
            }
        })
        .min()
        .unwrap_or(Duration::from_nanos(1))
}

/// Returns the time in nanoseconds, limited to the protocol's range: below 2^63.
pub(crate) fn saturating_nanos(time: Duration) -> u64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantum_is_never_zero() {
        assert!(!measure_quantum().is_zero());
    }

    #[test]
    fn times_stay_below_two_to_the_63() {
        assert_eq!(saturating_nanos(Duration::from_nanos(7)), 7);
        assert_eq!(saturating_nanos(Duration::MAX), (1 << 63) - 1);
    }
}
