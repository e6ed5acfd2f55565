//! The interface between a bencher and its driver (the bencher hands over a sampler, the driver takes samples until it has enough), and the warm-up.
//!
//! The warm-up makes passes of 1, 2, 4, ... iterations. It ends when the body has used up the time limit, or when body, set-up and drops together
//! have used up a multiple of the limit. The second condition is needed for benchmarks that spend nearly all their time in set-up and drops.

use crate::sampler::Sampler;
use std::cell::RefCell;

use crate::latencies::LatencyRecorder;
use crate::settings::Throughput;

/// A driver, which takes the samples of a benchmark. There is one for `cargo perfcheck`, one for the table of `cargo bench`, and one for tests, which
/// run the body once.
pub(crate) trait SampleDriver {
    /// Takes as many samples as needed. Samples of a latency benchmark are taken through
    /// [`latencies::sample_operations`](crate::latencies::sample_operations). Called when set-up is done.
    fn drive(
        &mut self,
        throughput: Throughput,
        sampler: &mut Sampler<'_>,
        latencies: Option<&RefCell<LatencyRecorder>>,
    );
}

/// The part of a bencher that hands a sampler to the driver. It is a trait so that tests can replace it.
pub(crate) trait Measure {
    /// Hands `sampler` to the driver. `latencies` records the single operations of a latency benchmark.
    #[track_caller]
    fn measure_noting(
        &mut self,
        sampler: &mut Sampler<'_>,
        latencies: Option<&RefCell<LatencyRecorder>>,
    );

    /// Hands `sampler` to the driver.
    #[track_caller]
    fn measure(&mut self, sampler: &mut Sampler<'_>) {
        self.measure_noting(sampler, None);
    }
}

/// The factor by which set-up and drops may lengthen a warm-up and its samples, compared with the body alone.
const TOTAL_FACTOR: u64 = 4;

/// The most iterations of one pass: a routine that reports no time at all must not run forever.
const LONGEST_ROUND: u64 = 1 << 40;

/// Totals over the passes of a warm-up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WarmUpTotals {
    pub(crate) iterations: u64,
    /// Time in the body
    pub(crate) elapsed_ns: u64,
    /// Time in the body, in set-up and in drops
    pub(crate) total_ns: u64,
}

impl WarmUpTotals {
    /// Returns the time of an iteration for planning, in nanoseconds: the time of the body or, if that is longer, the total time divided by
    /// [`TOTAL_FACTOR`]. This limits the duration of samples if set-up and drops take very long.
    pub(crate) fn planned_ns(&self) -> f64 {
        let limited_ns = self.total_ns / TOTAL_FACTOR;
        self.elapsed_ns.max(limited_ns) as f64 / self.iterations as f64
    }
}

/// Runs passes of 1, 2, 4, ... iterations. Stops when the body has taken more than the limit, or when everything together has taken more than a
/// multiple of it. `round` runs the given number of iterations and returns the time of the body and the time of everything, in nanoseconds.
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
