//! What a Criterion bench is told on its command line, and which of its settings were therefore its author's.

use std::time::Duration;

use super::filter::exactly;
use super::message::{CriterionVersion, RawConfig};
use perfcheck_analysis::model::{AuthorSettings, Nanos};

/// Versions before this one take whole seconds alone.
const FRACTIONS_OF_SECONDS: CriterionVersion = CriterionVersion(0, 4, 0);
/// Fewer samples than this it refuses.
const FEWEST_SAMPLES: u32 = 10;
/// Seconds go through a float on their way.
const SAME_TIME: Duration = Duration::from_micros(1);
/// The noise threshold of a bench that sets none. We tell it none either.
const USUAL_NOISE_THRESHOLD: f64 = 0.01;

/// How benchmarks are sampled where the bench does not say it in code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// Warm-up of each benchmark.
    pub warm_up: Duration,
    /// Time of the samples of each benchmark.
    pub measurement: Duration,
    /// Samples of each benchmark.
    pub samples: u32,
}

/// What a launch is to do.
#[derive(Debug, Clone, Copy)]
pub struct CriterionRequest<'r> {
    /// The version, once it is known.
    pub version: Option<CriterionVersion>,
    /// How benchmarks are sampled.
    pub config: Option<Config>,
    /// The benchmarks to run; `None`: all of them.
    pub ids: Option<&'r [&'r str]>,
}

/// The arguments after `--bench`.
pub(super) fn arguments(request: &CriterionRequest<'_>) -> Vec<String> {
    let mut arguments = Vec::new();
    if let Some(config) = request.config {
        let said = config.as_said_to(request.version);
        let seconds = |time: Duration| time.as_secs_f64().to_string();
        arguments.extend([
            "--warm-up-time".to_owned(),
            seconds(said.warm_up),
            "--measurement-time".to_owned(),
            seconds(said.measurement),
            "--sample-size".to_owned(),
            said.samples.to_string(),
        ]);
    }
    if let Some(ids) = request.ids {
        // A benchmark may be called `x #2`, or be the second of two that are called `x`.
        let both = ids.iter().flat_map(|id| [Some(*id), without_count(id)]);
        // Where the list is too long for a command line all are run; the caller takes what it wants.
        arguments.extend(exactly(both.flatten()));
    }
    arguments
}

impl From<&RawConfig> for Config {
    fn from(raw: &RawConfig) -> Self {
        Self {
            warm_up: raw.warm_up_time.into(),
            measurement: raw.measurement_time.into(),
            samples: u32::try_from(raw.sample_size).unwrap_or(u32::MAX),
        }
    }
}

impl Config {
    /// This, as far as a Criterion of `version` can be told.
    #[must_use]
    pub(in crate::child) fn as_said_to(self, version: Option<CriterionVersion>) -> Self {
        let fractions = version.is_some_and(|version| version >= FRACTIONS_OF_SECONDS);
        let time = |time: Duration| {
            if fractions {
                time.max(Duration::from_nanos(1))
            } else {
                Duration::from_secs(time.as_secs_f64().ceil().max(1.0) as u64)
            }
        };
        Self {
            warm_up: time(self.warm_up),
            measurement: time(self.measurement),
            samples: self.samples.max(FEWEST_SAMPLES),
        }
    }

    /// What the author fixed in code: that was in force in place of what `self` said.
    pub(super) fn fixed_in_code(self, in_force: &RawConfig) -> AuthorSettings {
        let other_time = |said: Duration, in_force: Duration| {
            (said.abs_diff(in_force) > SAME_TIME).then(|| Nanos::from(in_force))
        };
        let samples = u32::try_from(in_force.sample_size).ok();
        AuthorSettings {
            launches: None,
            samples: samples.filter(|samples| *samples != self.samples),
            warm_up_ns: other_time(self.warm_up, in_force.warm_up_time.into()),
            measurement_ns: other_time(self.measurement, in_force.measurement_time.into()),
            sampling_mode: None,
            // Criterion takes any number, of which some are no thresholds.
            noise_threshold: Some(in_force.noise_threshold)
                .filter(|threshold| (0.0..1.0).contains(threshold))
                .filter(|threshold| (threshold - USUAL_NOISE_THRESHOLD).abs() > 1e-12),
        }
    }
}

/// The full id, of an id that may end with ` #2`.
pub(in crate::child) fn without_count(id: &str) -> Option<&str> {
    let (full_id, count) = id.rsplit_once(" #")?;
    count
        .parse::<usize>()
        .is_ok_and(|count| count > 1)
        .then_some(full_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: Config = Config {
        warm_up: Duration::from_millis(100),
        measurement: Duration::from_millis(1_400),
        samples: 5,
    };

    fn request<'r>(version: CriterionVersion, ids: &'r [&'r str]) -> CriterionRequest<'r> {
        CriterionRequest {
            version: Some(version),
            config: Some(CONFIG),
            ids: Some(ids),
        }
    }

    #[test]
    fn versions_without_fractions_of_seconds_are_told_whole_ones() {
        let new = arguments(&request(CriterionVersion(0, 8, 2), &["a"]));
        let told = "--warm-up-time 0.1 --measurement-time 1.4 --sample-size 10 ^(?:a)$";
        assert_eq!(new.join(" "), told);
        let old = arguments(&request(CriterionVersion(0, 3, 6), &["a"]));
        let told = "--warm-up-time 1 --measurement-time 2 --sample-size 10 ^(?:a)$";
        assert_eq!(old.join(" "), told);
    }

    #[test]
    fn the_second_of_two_equal_ids_is_asked_for_by_either_name_that_it_may_have() {
        let arguments = arguments(&request(CriterionVersion(0, 8, 2), &["a #2", "b #x"]));
        let filter = arguments.last().map(String::as_str);
        assert_eq!(filter, Some(r"^(?:a \#2|a|b \#x)$"));
    }

    #[test]
    fn what_is_in_force_though_another_thing_was_said_is_the_authors() {
        let in_force = |sample_size, measurement_time: Duration, noise_threshold| RawConfig {
            measurement_time: measurement_time.into(),
            noise_threshold,
            sample_size,
            warm_up_time: Duration::from_nanos(100_000_001).into(),
        };
        let said = CONFIG.as_said_to(Some(CriterionVersion(0, 8, 2)));
        let ours = in_force(10, Duration::from_millis(1_400), 0.01);
        assert_eq!(said.fixed_in_code(&ours), AuthorSettings::default());
        let theirs = in_force(20, Duration::from_secs(8), 0.05);
        let fixed = AuthorSettings {
            samples: Some(20),
            measurement_ns: Some(Nanos(8_000_000_000)),
            noise_threshold: Some(0.05),
            ..AuthorSettings::default()
        };
        assert_eq!(said.fixed_in_code(&theirs), fixed);
    }
}
