//! The warm-up: rounds of a growing number of iterations, for the time of the body or, where set-up and drops take nearly all the
//! time, for a multiple of that.

/// Set-up and drops may make a warm-up and its samples take this many times as long as the body alone.
const TOTAL_FACTOR: u64 = 4;

/// A round of warm-up is at most this long: a routine that reports no time at all must not be run for ever.
const LONGEST_ROUND: u64 = 1 << 40;

/// Totals over the rounds of a warm-up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WarmUpTotals {
    pub(crate) iterations: u64,
    /// In the body.
    pub(crate) elapsed_ns: u64,
    /// With set-up and drops.
    pub(crate) total_ns: u64,
}

impl WarmUpTotals {
    /// Nanoseconds that an iteration is planned to take: those of the body, unless everything takes so much longer that the samples
    /// would go on for ever.
    pub(crate) fn planned_ns(&self) -> f64 {
        let limited_ns = self.total_ns / TOTAL_FACTOR;
        self.elapsed_ns.max(limited_ns) as f64 / self.iterations as f64
    }
}

/// Rounds of 1, 2, 4, ... iterations, until the body has taken more than the limit or everything a multiple of it. `round` gives the
/// time of the body, and of everything.
pub(crate) fn warm_up(mut round: impl FnMut(u64) -> (u64, u64), limit_ns: u64) -> WarmUpTotals {
    let limit_of_total_ns = limit_ns.saturating_mul(TOTAL_FACTOR);
    let (mut sum, mut iterations) = (WarmUpTotals::default(), 1);
    loop {
        let (elapsed_ns, total_ns) = round(iterations);
        sum.iterations += iterations;
        sum.elapsed_ns += elapsed_ns;
        sum.total_ns += total_ns;
        let enough = sum.elapsed_ns > limit_ns || sum.total_ns > limit_of_total_ns;
        if enough || iterations >= LONGEST_ROUND {
            return sum;
        }
        iterations *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warm_up_ends_after_its_time_in_the_body() {
        let sum = warm_up(|iterations| (10 * iterations, 20 * iterations), 70);
        assert_eq!(
            sum,
            WarmUpTotals {
                iterations: 15,
                elapsed_ns: 150,
                total_ns: 300
            }
        );
    }

    #[test]
    fn a_warm_up_ends_where_set_up_takes_nearly_all_the_time() {
        let sum = warm_up(|iterations| (iterations, 1000 * iterations), 1000);
        assert_eq!(
            sum,
            WarmUpTotals {
                iterations: 7,
                elapsed_ns: 7,
                total_ns: 7000
            }
        );
    }

    #[test]
    fn a_body_is_planned_for_unless_its_set_up_takes_far_longer() {
        let warm_up = |total_ns| WarmUpTotals {
            iterations: 10,
            elapsed_ns: 1000,
            total_ns,
        };
        assert_eq!(warm_up(4000).planned_ns(), 100.0);
        assert_eq!(warm_up(40_000).planned_ns(), 1000.0);
    }
}
