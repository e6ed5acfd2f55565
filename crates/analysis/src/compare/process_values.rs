//! Reduces the samples of a process to one value.
//!
//! Only samples that are long enough for the clock are used. Whether a sample is long enough does not depend on its own time (see
//! [`ProcessSampling`]). Both sides use the same statistic and the same number of samples per process (the first ones in the order taken), because a
//! low quantile depends on the number of samples.

use serde::{Deserialize, Serialize};
use std::fmt;

use super::run_level::RunValue;
use crate::model::{MIN_PROCESSES, Measurement, Metric, Nanos, ProcessSeries, Sample};
use perfcheck_stats::{Quantile, median};

/// The quantile of a process's samples that is compared if there are enough samples. It was chosen by measurement, see
/// docs/internals/src/statistics/.
pub const LOW_QUANTILE: f64 = 0.01;

/// If a side has fewer samples than this in all its processes, medians are compared instead of low quantiles.
pub const MIN_SAMPLES_FOR_LOW_QUANTILE: usize = 100;

/// The statistic that stands for the samples of a process or, if both sides were measured side by side, for all samples of a side. It is computed
/// from times per iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Location {
    /// The 1st percentile by nearest rank: the time of a sample that is among the fastest.
    LowQuantile,
    /// The time of the second-fastest sample.
    SecondFastest,
    /// The median of the samples.
    Median,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LowQuantile => "1st percentile",
            Self::SecondFastest => "second-fastest sample",
            Self::Median => "median",
        })
    }
}

impl Location {
    /// Returns the natural logarithm of this statistic of `times`, which are positive and in nanoseconds per iteration. Returns `None` if there are
    /// too few times.
    pub(super) fn logarithm(self, times: &[f64]) -> Option<f64> {
        let value = match self {
            Self::LowQuantile => Quantile::InvertedCdf.select(&mut times.to_vec(), LOW_QUANTILE),
            Self::SecondFastest => {
                let mut times = times.to_vec();
                times.sort_by(f64::total_cmp);
                times.get(1).copied()
            }
            Self::Median => median(times),
        };
        value.map(f64::ln)
    }

    /// Returns how the value of a run is computed from the values of its processes. Noise only lengthens low quantiles, so the smallest process value
    /// is used. Medians vary in both directions, within a run and between runs, so their mean is used: see docs/internals/src/statistics/.
    pub(super) fn run_value(self) -> RunValue {
        match self {
            Self::LowQuantile | Self::SecondFastest => RunValue::Floor,
            Self::Median => RunValue::Mean,
        }
    }
}

/// The usable samples of one process.
#[derive(Debug, Clone)]
pub(super) struct ProcessTimes {
    /// Nanoseconds per iteration, in the order taken.
    pub times: Vec<f64>,
    /// Typical length of a sample, in nanoseconds.
    pub sample_ns: f64,
    /// The smallest difference in time that the clock can show, in nanoseconds. It is 0 if no clock timed the samples.
    pub quantum_ns: f64,
    /// Whether the samples come from the linear phase, because the process has no flat phase.
    pub from_ramp: bool,
}

/// Returns the step of the clock that timed `process`, in nanoseconds. The step is 0 for amounts, which no clock measures. It is also 0 for imported
/// values with an unknown clock, because the program that measured them had to choose samples of a suitable length.
fn clock_step_ns(metric: &Metric, process: &ProcessSeries) -> f64 {
    if metric.is_timed() {
        process.quantum.as_f64()
    } else {
        0.0
    }
}

impl ProcessTimes {
    /// Collects the samples of a process that last at least `least` and that are long enough for the clock if an iteration takes `typical_ns`.
    /// Returns `None` if these are fewer than half of the process's comparable samples.
    fn from_process(
        process: &ProcessSeries,
        quantum_ns: f64,
        typical_ns: f64,
        least: Nanos,
    ) -> Option<Self> {
        let from_ramp = process.series.flat.is_empty();
        let mut samples = process.series.comparable_samples();
        samples.retain(|sample| sample.iterations > 0);
        let candidates = samples.len();
        let needed_ns = shortest_sample_ns(quantum_ns);
        samples.retain(|sample| {
            sample.elapsed >= least && sample.iterations as f64 * typical_ns >= needed_ns
        });
        if samples.len() * 2 < candidates {
            return None;
        }
        let sample_ns = ProcessSampling::from_samples(&samples)?.length_ns(typical_ns);
        Some(Self {
            times: samples.into_iter().map(Sample::per_iteration).collect(),
            sample_ns,
            quantum_ns,
            from_ramp,
        })
    }
}

/// The processes of one run that have enough usable samples.
#[derive(Debug, Clone)]
pub(super) struct RunTimes {
    /// The processes that have enough usable samples.
    pub processes: Vec<ProcessTimes>,
    /// The number of processes that were left out because too few of their samples are usable.
    pub left_out: usize,
}

impl RunTimes {
    /// Collects the usable processes of `measurement`. If some processes are left out and fewer than [`MIN_PROCESSES`] remain, no process is used.
    pub(super) fn from_measurement(measurement: &Measurement) -> Self {
        let processes = || measurement.processes.iter().filter(|one| has_samples(one));
        let samplings = processes()
            .filter_map(|one| ProcessSampling::from_samples(&one.series.comparable_samples()));
        let typical_ns = typical_iteration_ns(samplings).unwrap_or(0.0);
        let metric = &measurement.benchmark.metric;
        // A clock that reads 0 is too coarse, so samples of 0 are not used. If there was no clock and every value is 0, the zeros are real and are
        // used.
        let is_nothing = processes().all(|one| {
            let samples = one.series.comparable_samples();
            clock_step_ns(metric, one) == 0.0 && samples.iter().all(|sample| sample.elapsed.0 == 0)
        });
        let least = if is_nothing { Nanos(0) } else { Nanos(1) };
        let mut usable: Vec<ProcessTimes> = processes()
            .filter_map(|one| {
                let step_ns = clock_step_ns(metric, one);
                ProcessTimes::from_process(one, step_ns, typical_ns, least)
            })
            .collect();
        let left_out = processes().count() - usable.len();
        if left_out > 0 && usable.len() < MIN_PROCESSES {
            usable.clear();
        }
        Self {
            processes: usable,
            left_out,
        }
    }

    /// Returns true if any process has a value above 0. If all values are 0, they have no logarithm, and a change has no ratio.
    pub(super) fn takes_time(&self) -> bool {
        self.processes.iter().any(|process| process.sample_ns > 0.0)
    }

    /// Returns the smallest number of usable samples that a process of the run has. Returns `None` if the run has no usable process.
    pub(super) fn fewest_samples(&self) -> Option<usize> {
        self.processes
            .iter()
            .map(|process| process.times.len())
            .min()
    }

    /// Returns one value for each process: the logarithm of the statistic `location` of its first `count` samples.
    pub(super) fn values(&self, location: Location, count: usize) -> Vec<f64> {
        self.processes
            .iter()
            .filter_map(|process| location.logarithm(first_samples(&process.times, count)))
            .collect()
    }
}

/// Returns the first `count` of `times`, or all if there are fewer.
pub(super) fn first_samples(times: &[f64], count: usize) -> &[f64] {
    &times[..count.min(times.len())]
}

/// Returns true if the process has any samples that can decide a verdict.
pub(super) fn has_samples(process: &ProcessSeries) -> bool {
    !process.series.deciding_samples().is_empty()
}

/// Returns how long a sample must be to be usable in every process of `measurement`, in nanoseconds.
pub(super) fn shortest_usable_sample_ns(measurement: &Measurement) -> f64 {
    let metric = &measurement.benchmark.metric;
    let steps = measurement.processes.iter();
    shortest_sample_ns(
        steps
            .map(|one| clock_step_ns(metric, one))
            .fold(0.0, f64::max),
    )
}

/// A sample is usable only if it lasts at least this long and at least [`MIN_SAMPLE_QUANTA`] steps of the clock.
const MIN_SAMPLE_NS: f64 = 100_000.0;
const MIN_SAMPLE_QUANTA: f64 = 512.0;

/// Returns how long a sample must be to be usable if the clock has this step, in nanoseconds. A step of 0 means that there was no clock. Then every
/// sample is usable.
pub(super) fn shortest_sample_ns(clock_step_ns: f64) -> f64 {
    if clock_step_ns == 0.0 {
        0.0
    } else {
        MIN_SAMPLE_NS.max(MIN_SAMPLE_QUANTA * clock_step_ns)
    }
}

/// The step, in nanoseconds, that is assumed for a clock whose step is unknown. If the clock is really coarser, that is noticed because its samples
/// have few distinct values.
pub const ASSUMED_CLOCK_STEP_NS: f64 = 50.0;

/// How many iterations a process put into a sample of a benchmark, and how long an iteration took.
///
/// The clock can time samples only if they are long enough. A sample's own time must not decide whether it is. Every disturbance makes samples
/// longer, so if all samples of a run were too short, only the disturbed ones would remain. The length of a sample is therefore its number of
/// iterations (fixed before it began) times the typical time of an iteration, which is computed from all processes of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProcessSampling {
    /// The median number of iterations of the process's samples.
    pub iterations: f64,
    /// Median time of an iteration, in nanoseconds.
    pub iteration_ns: f64,
}

impl ProcessSampling {
    /// Computes the medians over `samples`. Samples without iterations are skipped. Returns `None` if no sample is left.
    pub fn from_samples(samples: &[Sample]) -> Option<Self> {
        let samples = || samples.iter().filter(|sample| sample.iterations > 0);
        let iterations: Vec<f64> = samples().map(|sample| sample.iterations as f64).collect();
        let times: Vec<f64> = samples().map(|sample| sample.per_iteration()).collect();
        Some(Self {
            iterations: median(&iterations)?,
            iteration_ns: median(&times)?,
        })
    }

    /// Returns true if a sample with the median number of iterations is too short for a clock with this step. `typical_ns` is the typical time of an
    /// iteration.
    pub fn is_too_short(self, typical_ns: f64, clock_step_ns: f64) -> bool {
        self.length_ns(typical_ns) < shortest_sample_ns(clock_step_ns)
    }

    /// Returns how long a sample with the median number of iterations takes if an iteration takes `typical_ns`.
    pub fn length_ns(self, typical_ns: f64) -> f64 {
        self.iterations * typical_ns
    }
}

/// Returns the typical time of an iteration of a benchmark, in nanoseconds: the median over its processes. For an even number of processes it is the
/// lower middle value, because disturbances make processes slower. Returns `None` if there are no processes.
pub fn typical_iteration_ns(processes: impl IntoIterator<Item = ProcessSampling>) -> Option<f64> {
    let mut times: Vec<f64> = processes.into_iter().map(|one| one.iteration_ns).collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len().checked_sub(1)? / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{ITERATIONS, flat_process, measurement};

    #[test]
    fn three_processes_stand_for_a_run_of_which_others_are_left_out_and_two_do_not() {
        let of_processes = |good: u32| {
            let mut processes: Vec<ProcessSeries> = (0..good)
                .map(|k| flat_process(k, ITERATIONS, &[100.0; 9]))
                .collect();
            // A single iteration of 100 ns is far too short for the clock.
            processes.push(flat_process(good, 1, &[100.0; 9]));
            let found = RunTimes::from_measurement(&measurement(processes));
            (found.processes.len(), found.left_out)
        };
        assert_eq!(of_processes(4), (4, 1));
        assert_eq!(of_processes(3), (3, 1));
        assert_eq!(of_processes(2), (0, 1));
        let two = (0..2).map(|k| flat_process(k, ITERATIONS, &[100.0; 9]));
        let whole = RunTimes::from_measurement(&measurement(two.collect()));
        assert_eq!((whole.processes.len(), whole.left_out), (2, 0));
    }

    #[test]
    fn amounts_of_zero_count_only_where_there_are_no_others() {
        let counted = |times: &[f64], metric: Metric| {
            let mut run = measurement(vec![flat_process(0, ITERATIONS, times)]);
            run.benchmark.metric = metric;
            let found = RunTimes::from_measurement(&run);
            (found.fewest_samples(), found.takes_time())
        };
        let amount = || Metric::Amount {
            unit: "pages".to_owned(),
        };
        assert_eq!(counted(&[0.0; 4], amount()), (Some(4), false));
        assert_eq!(counted(&[0.0, 5.0, 5.0, 5.0], amount()), (Some(3), true));
        assert_eq!(counted(&[0.0; 4], Metric::Time), (None, false));
    }

    #[test]
    fn each_statistic_of_a_process_has_a_name_for_people() {
        let names = [
            (Location::LowQuantile, "1st percentile"),
            (Location::SecondFastest, "second-fastest sample"),
            (Location::Median, "median"),
        ];
        for (location, name) in names {
            assert_eq!(location.to_string(), name);
        }
    }

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

    #[test]
    fn a_sample_of_just_the_shortest_length_is_not_too_short() {
        let sampling = ProcessSampling {
            iterations: 1_000.0,
            iteration_ns: 1.0,
        };
        // The shortest length is a tenth of a millisecond, or 512 steps of a clock with a step of a microsecond.
        for (step_ns, shortest) in [(1.0, 100.0), (1_000.0, 512.0)] {
            assert!(!sampling.is_too_short(shortest, step_ns));
            assert!(sampling.is_too_short(shortest - 0.01, step_ns));
        }
        assert!(!sampling.is_too_short(0.0, 0.0), "without a clock");
    }
}
