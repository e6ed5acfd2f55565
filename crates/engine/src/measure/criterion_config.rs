//! How the benchmarks of a Criterion bench are sampled: warm-up, time and number of samples, of which a process has one set (pure).

use std::time::Duration;

use super::plan::RoundSettings;
use super::subject::{Resolved, Subject};
use crate::child::Config;

/// A sample should take about this long, and the longest of a ramp no longer.
const SAMPLE_NS: f64 = 1e6;
/// Numbers of samples among which one is chosen: the fewer there are, the fewer processes it takes.
const SAMPLES: [u32; 7] = [FEWEST_SAMPLES, 25, 50, 100, 200, 400, 800];
/// The least that Criterion takes.
pub(super) const FEWEST_SAMPLES: u32 = 10;
/// Where a benchmark has not told how long an iteration takes.
const DEFAULT_SAMPLES: u32 = 100;
/// A process is fresh in every round: its first iterations are slower than the rest.
const ROUND_WARM_UP: Duration = Duration::from_millis(10);
/// A side samples in a round at least this share of the time that its set-up takes.
const SHARE_OF_SET_UP: f64 = 0.25;
/// Times of a side in a round are this long or a power of two longer: what is sampled alike has one process.
const SHORTEST_ROUND: Duration = Duration::from_millis(20);
/// A pinned number of samples is kept while they take up to this many measurement times.
const PIN_TIME_FACTOR: f64 = 2.5;

/// How many samples a benchmark has that takes `iteration_ns`, in `measurement`: samples near `sample_ns`, or single iterations
/// where they are longer. Criterion takes a ramp where that fits the time, else samples of the same length. A `pinned` number, that
/// of the run to be compared with, is kept while it fits.
fn samples(
    measurement: Duration,
    iteration_ns: Option<f64>,
    sample_ns: f64,
    pinned: Option<u32>,
) -> u32 {
    let time_ns = measurement.as_nanos() as f64;
    let Some(iteration_ns) = iteration_ns else {
        return pinned.unwrap_or(DEFAULT_SAMPLES);
    };
    let iterations = time_ns / iteration_ns.max(1e-3);
    if let Some(pinned) = pinned
        && f64::from(pinned) <= iterations * PIN_TIME_FACTOR
    {
        return pinned;
    }
    // The longest sample of a ramp of N in a time T takes 2 T / (N + 1).
    let most = iterations.min(2.0 * time_ns / sample_ns);
    let fitting = SAMPLES
        .into_iter()
        .rfind(|samples| f64::from(*samples) <= most);
    fitting.unwrap_or(SAMPLES[0])
}

/// Takes from the `wanted` places those that one process can measure: all of the first one's configuration, in the order of the program, in
/// which they come. `None` where nothing is wanted.
pub(super) fn sampled_alike(
    wanted: &mut Vec<usize>,
    config_of: impl Fn(usize) -> Config,
) -> Option<(Config, Vec<usize>)> {
    let config = config_of(wanted.iter().min().copied()?);
    let (mut chosen, others): (Vec<usize>, Vec<usize>) = wanted
        .iter()
        .partition(|place| config_of(**place) == config);
    *wanted = others;
    chosen.sort_unstable();
    Some((config, chosen))
}

impl Subject {
    /// How it is sampled in a launch of one side: as its settings say.
    pub(super) fn launch_config(&self) -> Config {
        let Resolved {
            sampling,
            pinned_samples,
            ..
        } = &self.resolved;
        let measurement = sampling.measurement.into();
        let iteration_ns = self.pace.and_then(|pace| pace.iteration_ns);
        let fitting = || samples(measurement, iteration_ns, SAMPLE_NS, *pinned_samples);
        Config {
            warm_up: sampling.warm_up.into(),
            measurement,
            samples: sampling.samples.unwrap_or_else(fitting),
        }
    }

    /// How it is sampled on one side of a round, which is short: what set-up takes is a part of its price.
    pub(super) fn round_config(&self, round: &RoundSettings) -> Config {
        let set_up = self.pace.map_or(Duration::ZERO, |pace| pace.set_up);
        let wanted = (Duration::from(round.time) / 2).max(set_up.mul_f64(SHARE_OF_SET_UP));
        let mut measurement = SHORTEST_ROUND;
        while measurement < wanted {
            measurement *= 2;
        }
        let iteration_ns = self.pace.and_then(|pace| pace.iteration_ns);
        Config {
            warm_up: ROUND_WARM_UP.max(round.warm_up.into()),
            measurement,
            samples: samples(measurement, iteration_ns, round.sample.as_f64(), None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_come_near_a_millisecond_and_fit_the_time() {
        let time = Duration::from_millis(400);
        let of = |iteration_ns| samples(time, Some(iteration_ns), SAMPLE_NS, None);
        assert_eq!(of(10.0), 800);
        assert_eq!(of(400_000.0), 800);
        assert_eq!(of(1_000_000.0), 400);
        assert_eq!(of(3_000_000.0), 100);
        assert_eq!(of(1e9), 10);
        assert_eq!(samples(time, None, SAMPLE_NS, None), DEFAULT_SAMPLES);
    }

    #[test]
    fn the_number_of_samples_of_the_reference_is_kept_while_it_fits() {
        let time = Duration::from_millis(400);
        let of = |iteration_ns| samples(time, Some(iteration_ns), SAMPLE_NS, Some(400));
        assert_eq!(of(10.0), 400);
        assert_eq!(
            of(2_000_000.0),
            400,
            "800 ms are within two and a half times"
        );
        assert_eq!(of(3_000_000.0), 100, "1.2 s are not");
        assert_eq!(samples(time, None, SAMPLE_NS, Some(400)), 400);
    }
}
