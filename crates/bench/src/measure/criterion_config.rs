//! Computes the sampling settings of Criterion benches: warm-up, time and number of samples, one set for each process.

use std::time::Duration;

use super::benchmark::{
    BenchmarkIndex, CampaignBenchmark, LEAST_SAMPLE_NS, ResolvedSettings, SamplingPhase,
};
use super::plan::RoundSettings;
use super::schedule::{PIN_TIME_FACTOR, SAMPLE_NS};

use crate::child::{ChildError, CriterionSettings, CriterionVersion, FEWEST_SAMPLES};
use perfcheck_build::cargo::BenchTarget;

/// The numbers of samples to choose from. There are only a few of them, so that many benchmarks have the same settings and share a process.
const SAMPLES: [u32; 7] = [FEWEST_SAMPLES, 25, 50, 100, 200, 400, 800];
/// Number of samples if the time of an iteration is unknown.
const DEFAULT_SAMPLES: u32 = 100;
/// The minimum warm-up in a round. Each round starts a new process, whose first iterations are slower than the rest.
const ROUND_WARM_UP: Duration = Duration::from_millis(10);
/// Minimum sampling time of a side in a round, as a share of its setup time.
const SHARE_OF_SET_UP: f64 = 0.25;
/// Shortest time of a side in a round. Longer times are this time multiplied by a power of two, so that more benchmarks can share a process.
const SHORTEST_ROUND: Duration = Duration::from_millis(20);
/// Maximum factor by which the setup of iterations lengthens a side's time in a round.
const MOST_FOR_SET_UP: f64 = 8.0;
/// Minimum measured time of an average sample, without the setup of its iterations. In a ramp, half of the samples are shorter than the average.
const LEAST_SAMPLE: Duration = Duration::from_nanos(LEAST_SAMPLE_NS as u64);
/// If a round takes longer than necessary, because Criterion accepts only whole seconds, its samples are longer by this factor.
const LONGER: f64 = 2.0;

/// Settings of the process that finds out how long iterations take.
const GLANCE: CriterionSettings = CriterionSettings {
    warm_up: Some(Duration::from_millis(20)),
    measurement: Some(Duration::from_millis(20)),
    samples: 10,
};
/// Settings of the process that finds out how long iterations take, for a version of Criterion that accepts only whole seconds. They keep the
/// author's times, which may be shorter than a second.
const GLANCE_AT_AUTHORS: CriterionSettings = CriterionSettings {
    warm_up: None,
    measurement: None,
    ..GLANCE
};

/// Returns the shortest sampling that `version` accepts, for processes whose samples are discarded.
pub(super) fn shortest_sampling(version: CriterionVersion) -> CriterionSettings {
    if version.takes_whole_seconds() {
        GLANCE_AT_AUTHORS
    } else {
        GLANCE
    }
}

/// Returns a warning that each process of `target` runs all of its benchmarks. The reason is that a process ended with `error` when it skipped some
/// of them.
pub(super) fn all_benchmarks_warning(target: &BenchTarget, error: &ChildError) -> String {
    format!(
        "each process runs all benchmarks and a filter saves no time, because bench target `{}` of package `{}` fails if it skips benchmarks: {error}",
        target.target, target.package
    )
}

/// Returns the number of samples that fit into the time `measurement` if a benchmark has this `pace`. A sample takes about `sample_ns`, or a single
/// iteration if that is longer. Criterion takes a ramp if that fits the time, otherwise samples of equal length. A `pinned` number, which comes from
/// the run to compare with, is kept if it fits.
fn choose_sample_count(
    measurement: Duration,
    pace: Option<IterationPace>,
    sample_ns: f64,
    pinned: Option<u32>,
) -> u32 {
    let time_ns = measurement.as_nanos() as f64;
    let Some((iteration_ns, pace)) = pace.and_then(|pace| Some((pace.iteration_ns?, pace))) else {
        return pinned.unwrap_or(DEFAULT_SAMPLES);
    };
    let iterations = time_ns / iteration_ns.max(1e-3);
    if let Some(pinned) = pinned
        && f64::from(pinned) <= iterations * PIN_TIME_FACTOR
    {
        return pinned;
    }
    // The longest sample of a ramp of N samples in a time T takes 2 T / (N + 1). A share of it is measured.
    let most = iterations.min(2.0 * time_ns * pace.measured / sample_ns);
    let fitting = SAMPLES
        .into_iter()
        .rfind(|samples| f64::from(*samples) <= most);
    fitting.unwrap_or(SAMPLES[0])
}

/// The speed of a benchmark, as observed in a process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct IterationPace {
    /// The time of an iteration in nanoseconds, including its setup. `None` if the benchmark does not measure time.
    pub(super) iteration_ns: Option<f64>,
    /// The share of an iteration's time that is measured. It is 1 if iterations have no setup.
    pub(super) measured: f64,
    /// How long the bench sets up the benchmark: from our permission to continue until its warm-up.
    pub(super) set_up: Duration,
}

/// The benchmarks that one process can measure, because they have the same settings.
pub(super) struct SampledAlike {
    pub(super) settings: CriterionSettings,
    /// The benchmarks, in program order.
    pub(super) benchmarks: Vec<BenchmarkIndex>,
}

impl SampledAlike {
    /// Removes from `unvisited` the first benchmark in program order, and all others that have the same settings. Returns `None` if `unvisited` is
    /// empty.
    pub(super) fn take(
        unvisited: &mut Vec<BenchmarkIndex>,
        settings_of: impl Fn(BenchmarkIndex) -> CriterionSettings,
    ) -> Option<Self> {
        let settings = settings_of(unvisited.iter().min().copied()?);
        let is_alike = |index: &mut BenchmarkIndex| settings_of(*index) == settings;
        let mut benchmarks: Vec<BenchmarkIndex> = unvisited.extract_if(.., is_alike).collect();
        benchmarks.sort_unstable();
        Some(Self {
            settings,
            benchmarks,
        })
    }
}

/// The state of a benchmark in Criterion's driver.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CriterionPace {
    /// The speed of the benchmark, once a process has shown it.
    pub(super) pace: Option<IterationPace>,
    /// The factor by which the next process samples longer than its settings say.
    pub(super) stretch: u32,
}

impl Default for CriterionPace {
    fn default() -> Self {
        Self {
            pace: None,
            stretch: 1,
        }
    }
}

impl CriterionPace {
    /// Returns the settings of a benchmark for a process of a single side.
    pub(super) fn process_settings(&self, benchmark: &CampaignBenchmark) -> CriterionSettings {
        let ResolvedSettings {
            sampling,
            pinned_samples,
            ..
        } = &benchmark.resolved;
        let measurement = Duration::from(sampling.measurement);
        // The time may be longer than requested, because of whole seconds or the author's settings. Fill it with as many samples as possible.
        let time = benchmark.effective_time(SamplingPhase::Samples, measurement);
        let fitting = || choose_sample_count(time, self.pace, SAMPLE_NS, *pinned_samples);
        CriterionSettings {
            warm_up: benchmark.time_to_pass(SamplingPhase::WarmUp, sampling.warm_up.into()),
            measurement: benchmark.time_to_pass(SamplingPhase::Samples, measurement * self.stretch),
            samples: sampling.samples.unwrap_or_else(fitting),
        }
    }

    /// Returns the settings of a benchmark for one side of a round. A round is short, so setup time is a part of its cost.
    pub(super) fn round_settings(
        &self,
        benchmark: &CampaignBenchmark,
        round: &RoundSettings,
    ) -> CriterionSettings {
        let (set_up, measured) =
            (self.pace).map_or((Duration::ZERO, 1.0), |pace| (pace.set_up, pace.measured));
        let usual = Duration::from(round.time) / 2;
        let for_samples = (LEAST_SAMPLE * FEWEST_SAMPLES)
            .div_f64(measured.max(1e-6))
            .min(usual.mul_f64(MOST_FOR_SET_UP));
        let needed = usual.max(for_samples).max(set_up.mul_f64(SHARE_OF_SET_UP));
        let mut measurement = SHORTEST_ROUND;
        while measurement < needed {
            measurement *= 2;
        }
        let time = benchmark.effective_time(SamplingPhase::Samples, measurement);
        // Criterion makes samples shorter if a busy machine has slowed its warm-up down. If there is time to spare, ask for longer ones.
        let longer = if time > measurement { LONGER } else { 1.0 };
        CriterionSettings {
            warm_up: benchmark.time_to_pass(
                SamplingPhase::WarmUp,
                ROUND_WARM_UP.max(round.warm_up.into()),
            ),
            measurement: benchmark.time_to_pass(SamplingPhase::Samples, measurement * self.stretch),
            samples: choose_sample_count(time, self.pace, round.sample.as_f64() * longer, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::benchmark::TimePrecision;

    fn pace(iteration_ns: f64, measured: f64) -> IterationPace {
        IterationPace {
            iteration_ns: Some(iteration_ns),
            measured,
            set_up: Duration::ZERO,
        }
    }

    #[test]
    fn samples_come_near_a_millisecond_and_fit_the_time() {
        let time = Duration::from_millis(400);
        let of = |iteration_ns| {
            choose_sample_count(time, Some(pace(iteration_ns, 1.0)), SAMPLE_NS, None)
        };
        assert_eq!(of(10.0), 800);
        assert_eq!(of(400_000.0), 800);
        assert_eq!(of(1_000_000.0), 400);
        assert_eq!(of(3_000_000.0), 100);
        assert_eq!(of(1e9), 10);
        assert_eq!(
            choose_sample_count(time, None, SAMPLE_NS, None),
            DEFAULT_SAMPLES
        );
    }

    #[test]
    fn the_number_of_samples_of_the_reference_is_kept_while_it_fits() {
        let time = Duration::from_millis(400);
        let of = |iteration_ns| {
            choose_sample_count(time, Some(pace(iteration_ns, 1.0)), SAMPLE_NS, Some(400))
        };
        assert_eq!(of(10.0), 400);
        assert_eq!(
            of(2_000_000.0),
            400,
            "800 ms are within two and a half times"
        );
        assert_eq!(of(3_000_000.0), 100, "1.2 s are not");
        assert_eq!(choose_sample_count(time, None, SAMPLE_NS, Some(400)), 400);
    }

    #[test]
    fn where_most_of_an_iteration_is_set_up_samples_are_fewer_and_longer() {
        let time = Duration::from_millis(400);
        let of =
            |measured| choose_sample_count(time, Some(pace(2_000.0, measured)), SAMPLE_NS, None);
        assert_eq!(of(1.0), 800);
        assert_eq!(of(0.25), 200);
        assert_eq!(of(0.01), 10);
        let benchmark = CampaignBenchmark::example(TimePrecision::Exactly);
        let mut known = CriterionPace::default();
        let round = RoundSettings::default();
        let mut time_for = |measured| {
            known.pace = Some(pace(2_000.0, measured));
            let settings = known.round_settings(&benchmark, &round);
            settings.measurement.expect("a time")
        };
        let usual = time_for(1.0);
        assert_eq!(time_for(0.25), usual);
        // Each of ten samples needs 250 us of measured time, which is a fiftieth of its duration: 125 ms in total, rounded up to 20 ms times a power
        // of two.
        assert_eq!(time_for(0.02), Duration::from_millis(160));
        assert_eq!(time_for(0.001), time_for(0.000_1), "no longer than that");
    }

    #[test]
    fn time_that_is_spent_in_whole_seconds_is_spent_on_more_samples() {
        let mut benchmark = CampaignBenchmark::example(TimePrecision::InWholeSeconds);
        let known = CriterionPace {
            pace: Some(pace(100.0, 1.0)),
            ..CriterionPace::default()
        };
        let round = RoundSettings::default();
        let passed = |benchmark: &CampaignBenchmark| {
            let settings = known.round_settings(benchmark, &round);
            (settings.warm_up, settings.measurement, settings.samples)
        };
        let second = Some(Duration::from_secs(1));
        // 2 x 1 s / (2 x 0.5 ms) = 2000, limited to 800.
        assert_eq!(passed(&benchmark), (second, second, 800));
        // 2 x 0.1 s / (2 x 0.5 ms) = 200.
        let tenth = Duration::from_millis(100);
        benchmark.subject.settings.warm_up_ns = Some(tenth.into());
        benchmark.subject.settings.measurement_ns = Some(tenth.into());
        assert_eq!(passed(&benchmark), (None, None, 200));
        // If times can be exact: 2 x 20 ms / 0.5 ms = 80, so 50.
        benchmark.time_precision = TimePrecision::Exactly;
        let (warm_up, time) = (ROUND_WARM_UP, Duration::from_millis(20));
        assert_eq!(passed(&benchmark), (Some(warm_up), Some(time), 50));
    }
}
