//! Sampling settings of Criterion benches: warm-up, time and number of samples, one set for each process (pure).

use std::time::Duration;

use super::plan::RoundSettings;
use super::schedule::{PIN_TIME_FACTOR, SAMPLE_NS};
use super::subject::{
    CampaignBenchmark, IterationPace, LEAST_SAMPLE_NS, ResolvedSettings, SamplingPhase,
};
use crate::child::{ChildError, CriterionSettings, CriterionVersion, FEWEST_SAMPLES};
use perfcheck_build::cargo::BenchTarget;

/// Numbers of samples to choose from: fewer choices need fewer processes.
const SAMPLES: [u32; 7] = [FEWEST_SAMPLES, 25, 50, 100, 200, 400, 800];
/// Number of samples if the time of an iteration is unknown.
const DEFAULT_SAMPLES: u32 = 100;
/// Minimum warm-up in a round. Each process is fresh, and its first iterations are slower than the rest.
const ROUND_WARM_UP: Duration = Duration::from_millis(10);
/// Minimum sampling time of a side in a round, as a share of its setup time.
const SHARE_OF_SET_UP: f64 = 0.25;
/// Shortest time of a side in a round. Longer times are this multiplied by a power of two, so that more benchmarks can share a process.
const SHORTEST_ROUND: Duration = Duration::from_millis(20);
/// Maximum factor by which the setup of iterations lengthens a side's time in a round.
const MOST_FOR_SET_UP: f64 = 8.0;
/// Minimum measured part of a sample. Half of a ramp's samples are shorter than its middle.
const LEAST_SAMPLE: Duration = Duration::from_nanos(LEAST_SAMPLE_NS as u64);
/// Factor by which samples are longer in a round that takes longer than necessary.
const LONGER: f64 = 2.0;

/// Settings of the process that finds out how long iterations take.
const GLANCE: CriterionSettings = CriterionSettings {
    warm_up: Some(Duration::from_millis(20)),
    measurement: Some(Duration::from_millis(20)),
    samples: 10,
};
/// Settings of that process for a Criterion that rounds up to whole seconds. It keeps the author's times, which may be shorter than a second.
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

/// Returns the warning that a target's processes run all of its benchmarks, because one that skipped some ended with `error`.
pub(super) fn all_benchmarks_warning(target: &BenchTarget, error: &ChildError) -> String {
    format!(
        "bench target `{}` of package `{}` needs all its benchmarks to run, so each of its processes runs all of them and a filter saves no time; a process that skipped some failed: {error}",
        target.target, target.package
    )
}

/// Returns the number of samples of a benchmark of this `pace` in the time `measurement`: samples of about `sample_ns`, or single iterations if they
/// are longer. Criterion takes a ramp if that fits the time, otherwise samples of equal length. A `pinned` number, which comes from the run to be
/// compared with, is kept while it fits.
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
    // The longest sample of a ramp of N in a time T takes 2 T / (N + 1), of which a share is measured.
    let most = iterations.min(2.0 * time_ns * pace.measured / sample_ns);
    let fitting = SAMPLES
        .into_iter()
        .rfind(|samples| f64::from(*samples) <= most);
    fitting.unwrap_or(SAMPLES[0])
}

/// Takes the benchmarks that one process can measure out of `wanted`: those with the settings of the first one, in program order. Returns `None` if
/// nothing is wanted.
pub(super) fn take_sampled_alike(
    wanted: &mut Vec<usize>,
    config_of: impl Fn(usize) -> CriterionSettings,
) -> Option<(CriterionSettings, Vec<usize>)> {
    let config = config_of(wanted.iter().min().copied()?);
    let (mut chosen, others): (Vec<usize>, Vec<usize>) = wanted
        .iter()
        .partition(|place| config_of(**place) == config);
    *wanted = others;
    chosen.sort_unstable();
    Some((config, chosen))
}

impl CampaignBenchmark {
    /// Returns its settings for a process of a single side.
    pub(super) fn process_settings(&self) -> CriterionSettings {
        let ResolvedSettings {
            sampling,
            pinned_samples,
            ..
        } = &self.resolved;
        let measurement = Duration::from(sampling.measurement);
        // Time that is spent anyway is filled with as many samples as possible.
        let time = self.effective_time(SamplingPhase::Samples, measurement);
        let fitting = || choose_sample_count(time, self.pace, SAMPLE_NS, *pinned_samples);
        CriterionSettings {
            warm_up: self.time_to_pass(SamplingPhase::WarmUp, sampling.warm_up.into()),
            measurement: self.time_to_pass(SamplingPhase::Samples, measurement * self.stretch),
            samples: sampling.samples.unwrap_or_else(fitting),
        }
    }

    /// Returns its settings for one side of a round. A round is short, so setup time is a part of its cost.
    pub(super) fn round_settings(&self, round: &RoundSettings) -> CriterionSettings {
        let (set_up, measured) =
            (self.pace).map_or((Duration::ZERO, 1.0), |pace| (pace.set_up, pace.measured));
        let usual = Duration::from(round.time) / 2;
        let for_samples = (LEAST_SAMPLE * FEWEST_SAMPLES)
            .div_f64(measured.max(1e-6))
            .min(usual.mul_f64(MOST_FOR_SET_UP));
        let wanted = usual.max(for_samples).max(set_up.mul_f64(SHARE_OF_SET_UP));
        let mut measurement = SHORTEST_ROUND;
        while measurement < wanted {
            measurement *= 2;
        }
        let time = self.effective_time(SamplingPhase::Samples, measurement);
        // Criterion makes samples shorter if a busy machine has slowed its warm-up down. If there is time to spare, ask for longer ones.
        let longer = if time > measurement { LONGER } else { 1.0 };
        CriterionSettings {
            warm_up: self.time_to_pass(
                SamplingPhase::WarmUp,
                ROUND_WARM_UP.max(round.warm_up.into()),
            ),
            measurement: self.time_to_pass(SamplingPhase::Samples, measurement * self.stretch),
            samples: choose_sample_count(time, self.pace, round.sample.as_f64() * longer, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::driver::TimePrecision;

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
        let mut subject = CampaignBenchmark::example(TimePrecision::Exactly);
        let round = RoundSettings::default();
        let mut time_for = |measured| {
            subject.pace = Some(pace(2_000.0, measured));
            subject.round_settings(&round).measurement.expect("told")
        };
        let usual = time_for(1.0);
        assert_eq!(time_for(0.25), usual);
        // Ten samples of 250 us, of which a fiftieth is measured.
        assert_eq!(time_for(0.02), Duration::from_millis(160));
        assert_eq!(time_for(0.001), time_for(0.000_1), "no longer than that");
    }

    #[test]
    fn time_that_is_spent_in_whole_seconds_is_spent_on_more_samples() {
        let mut subject = CampaignBenchmark::example(TimePrecision::InWholeSeconds);
        subject.pace = Some(pace(100.0, 1.0));
        let round = RoundSettings::default();
        let asked = |subject: &CampaignBenchmark| {
            let said = subject.round_settings(&round);
            (said.warm_up, said.measurement, said.samples)
        };
        let second = Some(Duration::from_secs(1));
        // 2 x 1 s / (2 x 0.5 ms) = 2000, limited to 800.
        assert_eq!(asked(&subject), (second, second, 800));
        // 2 x 0.1 s / (2 x 0.5 ms) = 200.
        let tenth = Duration::from_millis(100);
        subject.benchmark.settings.warm_up_ns = Some(tenth.into());
        subject.benchmark.settings.measurement_ns = Some(tenth.into());
        assert_eq!(asked(&subject), (None, None, 200));
        // If times can be exact: 2 x 20 ms / 0.5 ms = 80, so 50.
        subject.told = TimePrecision::Exactly;
        let (warm_up, time) = (ROUND_WARM_UP, Duration::from_millis(20));
        assert_eq!(asked(&subject), (Some(warm_up), Some(time), 50));
    }
}
