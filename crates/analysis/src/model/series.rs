//! Samples: exact integers as the bench process reported them.

use perfcheck_stats::quotient;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Whole nanoseconds.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// Returns the number as a float, for statistics.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }
}

impl From<Duration> for Nanos {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Nanos> for Duration {
    fn from(nanos: Nanos) -> Self {
        Self::from_nanos(nanos.0)
    }
}

/// One timed interval: the body ran `iterations` times in `elapsed`. Files contain the pair of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, Nanos)", into = "(u64, Nanos)")]
pub struct Sample {
    /// Number of times that the body ran, at least 1.
    pub iterations: u64,
    /// Time of the whole interval.
    pub elapsed: Nanos,
}

impl From<(u64, Nanos)> for Sample {
    fn from((iterations, elapsed): (u64, Nanos)) -> Self {
        Self {
            iterations,
            elapsed,
        }
    }
}

impl From<Sample> for (u64, Nanos) {
    fn from(sample: Sample) -> Self {
        (sample.iterations, sample.elapsed)
    }
}

impl Sample {
    /// An iteration of unknown duration.
    pub const UNTIMED: Self = Self {
        iterations: 1,
        elapsed: Nanos(0),
    };

    /// Returns the nanoseconds per iteration, rounded once, so that an imported decimal number is restored as the number nearest to it.
    pub fn per_iteration(self) -> f64 {
        quotient(u128::from(self.elapsed.0), u128::from(self.iterations))
    }

    /// Returns the shortest time per iteration among `samples`, in nanoseconds. Samples without time are ignored; the result is infinite if no others
    /// exist.
    pub fn quickest_ns<'s>(samples: impl IntoIterator<Item = &'s Self>) -> f64 {
        let times = samples.into_iter().map(|sample| sample.per_iteration());
        times.filter(|ns| *ns > 0.0).fold(f64::INFINITY, f64::min)
    }
}

/// The samples of one benchmark in one process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// Total of the warm-up, which is never part of the samples.
    pub warm_up: Sample,
    /// The linear phase: d, 2d, ..., Nd iterations. May be empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linear: Vec<Sample>,
    /// The flat phase: the same number of iterations in every sample. May be empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flat: Vec<Sample>,
}

impl Series {
    /// Returns the samples that decide: the flat phase, or the linear phase if there is no flat one.
    pub fn deciding_samples(&self) -> &[Sample] {
        if self.flat.is_empty() {
            &self.linear
        } else {
            &self.flat
        }
    }

    /// Returns the samples that are comparable with each other: all of the flat phase, or those of a ramp with at least half as many iterations as
    /// its longest, because short samples have floors of their own.
    pub fn comparable_samples(&self) -> Vec<Sample> {
        let deciding = self.deciding_samples().iter().copied();
        if !self.flat.is_empty() {
            return deciding.collect();
        }
        let longest = deciding.clone().map(|sample| sample.iterations).max();
        deciding
            .filter(|sample| Some(sample.iterations.saturating_mul(2)) >= longest)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn the_quickest_sample_is_one_that_takes_time() {
        let samples = [(10, Nanos(0)), (10, Nanos(50)), (4, Nanos(12))].map(Sample::from);
        assert_eq!(Sample::quickest_ns(&samples), 3.0);
        assert_eq!(Sample::quickest_ns(&samples[..1]), f64::INFINITY);
    }
}
