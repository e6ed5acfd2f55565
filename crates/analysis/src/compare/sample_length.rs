//! The length of samples, which decides whether the clock can time them.
//!
//! A sample's own time must not decide whether it counts: every disturbance makes samples longer, so if all samples of a run were too short, only the
//! disturbed ones would remain. The length of a sample is therefore its number of iterations (fixed before it began) times the time of an iteration
//! that is typical of all processes of the benchmark.

use crate::model::Sample;
use perfcheck_stats::median;

/// A sample must last this long, and this many steps of the clock.
const MIN_SAMPLE_NS: f64 = 100_000.0;
const MIN_SAMPLE_QUANTA: f64 = 512.0;

/// Returns the shortest length of a sample that counts with a clock of this step, in nanoseconds. Without a clock (a step of 0) every sample counts.
pub(super) fn shortest_sample_ns(clock_step_ns: f64) -> f64 {
    if clock_step_ns == 0.0 {
        0.0
    } else {
        MIN_SAMPLE_NS.max(MIN_SAMPLE_QUANTA * clock_step_ns)
    }
}

/// The step that is assumed for a clock of unknown step, in nanoseconds. A coarser clock shows by samples that fall on few distinct values.
pub const ASSUMED_CLOCK_STEP_NS: f64 = 50.0;

/// How a process sampled a benchmark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProcessSampling {
    /// Iterations of its median sample.
    pub iterations: f64,
    /// Median time of an iteration, in nanoseconds.
    pub iteration_ns: f64,
}

impl ProcessSampling {
    /// Computes the medians; `None` if no sample has iterations.
    pub fn from_samples(samples: &[Sample]) -> Option<Self> {
        let samples = || samples.iter().filter(|sample| sample.iterations > 0);
        let iterations: Vec<f64> = samples().map(|sample| sample.iterations as f64).collect();
        let times: Vec<f64> = samples().map(|sample| sample.per_iteration()).collect();
        Some(Self {
            iterations: median(&iterations)?,
            iteration_ns: median(&times)?,
        })
    }

    /// Reports whether the median sample is too short for a clock of this step, given the typical time of an iteration.
    pub fn is_too_short(self, typical_ns: f64, clock_step_ns: f64) -> bool {
        self.length_ns(typical_ns) < shortest_sample_ns(clock_step_ns)
    }

    /// Returns how long the median sample takes if an iteration takes `typical_ns`.
    pub fn length_ns(self, typical_ns: f64) -> f64 {
        self.iterations * typical_ns
    }
}

/// Returns the typical time of an iteration of a benchmark, in nanoseconds: the median over its processes. For an even number it is the lower middle
/// value, because disturbances make processes slower. `None` without processes.
pub fn typical_iteration_ns(processes: impl IntoIterator<Item = ProcessSampling>) -> Option<f64> {
    let mut times: Vec<f64> = processes.into_iter().map(|one| one.iteration_ns).collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len().checked_sub(1)? / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_disturbed_process_does_not_move_the_typical_time() {
        let typical = |times: &[f64]| {
            let processes = times.iter().map(|ns| ProcessSampling {
                iterations: 1.0,
                iteration_ns: *ns,
            });
            typical_iteration_ns(processes)
        };
        assert_eq!(typical(&[]), None);
        assert_eq!(typical(&[5.0, 300.0]), Some(5.0));
        assert_eq!(typical(&[300.0, 5.6, 5.5]), Some(5.6));
        assert_eq!(typical(&[5.6, 300.0, 5.5, 5.4]), Some(5.5));
    }
}
