//! The clock's smallest step.

use std::time::{Duration, Instant};

/// The smallest difference between two readings of the clock that is not zero, of 32 tries: the resolution in effect, which is
/// the larger of the counter's step and the cost of a reading.
pub(crate) fn quantum() -> Duration {
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

#[cfg(test)]
mod tests {
    #[test]
    fn the_quantum_is_never_zero() {
        assert!(!super::quantum().is_zero());
    }
}
