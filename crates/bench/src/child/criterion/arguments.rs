//! Builds the command line of a Criterion bench, and finds the settings that its author fixed in code.
//!
//! Benchmarks are selected by a regular expression over full ids, because no other filter exists in all versions of Criterion.

use std::time::Duration;

use super::message::{CriterionVersion, RawConfig};
use perfcheck_analysis::model::{AuthorSettings, Nanos};

/// The first version of Criterion whose command line accepts fractions of seconds. Older versions accept only whole seconds.
const FRACTIONS_OF_SECONDS: CriterionVersion = CriterionVersion(0, 4, 0);
/// Criterion's default warm-up, in all versions.
pub const USUAL_WARM_UP: Duration = Duration::from_secs(3);
/// Criterion's default measurement time, in all versions.
pub const USUAL_MEASUREMENT: Duration = Duration::from_secs(5);
/// Smallest sample size that Criterion accepts.
pub const FEWEST_SAMPLES: u32 = 10;
/// Times that differ by less than this are taken as equal, because Criterion converts the seconds on its command line to a float.
const SAME_TIME: Duration = Duration::from_micros(1);
/// Criterion's default noise threshold. Our command line never sets another one.
const USUAL_NOISE_THRESHOLD: f64 = 0.01;

/// The settings with which a benchmark was sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CriterionConfig {
    /// Duration of the warm-up.
    pub warm_up: Duration,
    /// Duration of the samples.
    pub measurement: Duration,
    /// Number of samples.
    pub samples: u32,
}

/// The sampling settings passed on the command line. They apply unless the bench sets them in code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CriterionSettings {
    /// Warm-up of each benchmark. `None` leaves it to the author: a time on the command line would override the author's settings for the whole
    /// bench.
    pub warm_up: Option<Duration>,
    /// Measurement time of each benchmark. `None` leaves it to the author, for the same reason as `warm_up`.
    pub measurement: Option<Duration>,
    /// Number of samples of each benchmark.
    pub samples: u32,
}

/// The task of one process of a Criterion bench.
#[derive(Debug, Clone, Copy)]
pub struct CriterionRequest<'r> {
    /// Criterion's version, if known.
    pub version: Option<CriterionVersion>,
    /// The sampling settings to pass on the command line. `None` passes none.
    pub settings: Option<CriterionSettings>,
    /// Longest warm-up or measurement time that the author may choose. The process is stopped before a phase that
    /// would take longer, unless the command line set its duration.
    pub longest: Option<Duration>,
    /// The benchmarks to run. `None` runs all of them.
    pub ids: Option<&'r [&'r str]>,
}

/// Returns the arguments that follow `--bench`.
pub(super) fn arguments(request: &CriterionRequest<'_>) -> Vec<String> {
    let mut arguments = Vec::new();
    if let Some(settings) = request.settings {
        let settings = settings.for_version(request.version);
        for (flag, time) in [
            ("--warm-up-time", settings.warm_up),
            ("--measurement-time", settings.measurement),
        ] {
            let seconds = time.map(|time| time.as_secs_f64().to_string());
            arguments.extend(
                seconds
                    .into_iter()
                    .flat_map(|value| [flag.to_owned(), value]),
            );
        }
        arguments.extend(["--sample-size".to_owned(), settings.samples.to_string()]);
    }
    if let Some(ids) = request.ids {
        // An id such as `x #2` may be the whole name of a benchmark, or it may mean the second benchmark named `x`. The filter accepts both names.
        let both = ids.iter().flat_map(|id| [Some(*id), strip_count(id)]);
        // If the list is too long for a command line, all benchmarks run and the caller selects from the results.
        arguments.extend(filter_exactly(both.flatten()));
    }
    arguments
}

impl From<&RawConfig> for CriterionConfig {
    fn from(raw: &RawConfig) -> Self {
        Self {
            warm_up: raw.warm_up_time.into(),
            measurement: raw.measurement_time.into(),
            samples: u32::try_from(raw.sample_size).unwrap_or(u32::MAX),
        }
    }
}

impl CriterionVersion {
    /// Reports whether this version accepts times only in whole seconds.
    pub fn takes_whole_seconds(self) -> bool {
        self < FRACTIONS_OF_SECONDS
    }
}

/// Rounds the time up to whole seconds, at least one, for versions that accept nothing else.
pub fn round_up_to_seconds(time: Duration) -> Duration {
    Duration::from_secs(time.as_secs_f64().ceil().max(1.0) as u64)
}

/// Raises the number of samples to the smallest that Criterion accepts.
fn at_least_fewest_samples(samples: u32) -> u32 {
    samples.max(FEWEST_SAMPLES)
}

impl CriterionSettings {
    /// Returns the settings as `version` accepts them: in whole seconds if it is old or unknown, and with enough samples.
    #[must_use]
    pub(super) fn for_version(self, version: Option<CriterionVersion>) -> Self {
        let whole = version.is_none_or(CriterionVersion::takes_whole_seconds);
        let time = |time: Duration| {
            if whole {
                round_up_to_seconds(time)
            } else {
                time.max(Duration::from_nanos(1))
            }
        };
        Self {
            warm_up: self.warm_up.map(time),
            measurement: self.measurement.map(time),
            samples: at_least_fewest_samples(self.samples),
        }
    }

    /// Returns the settings that the author fixed in code. A setting in force must come from the code if it differs from the value on the command
    /// line (`self`). If the command line sets no value, it must come from the code if it differs from Criterion's default.
    pub(super) fn fixed_in_code(self, in_force: &RawConfig) -> AuthorSettings {
        let other_time = |passed: Option<Duration>, usual, in_force: Duration| {
            let expected = passed.unwrap_or(usual);
            (expected.abs_diff(in_force) > SAME_TIME).then(|| Nanos::from(in_force))
        };
        let samples = u32::try_from(in_force.sample_size).ok();
        AuthorSettings {
            processes: None,
            samples: samples.filter(|samples| *samples != self.samples),
            warm_up_ns: other_time(self.warm_up, USUAL_WARM_UP, in_force.warm_up_time.into()),
            measurement_ns: other_time(
                self.measurement,
                USUAL_MEASUREMENT,
                in_force.measurement_time.into(),
            ),
            sampling_mode: None,
            // Criterion accepts any number, including invalid thresholds.
            noise_threshold: Some(in_force.noise_threshold)
                .filter(|threshold| (0.0..1.0).contains(threshold))
                .filter(|threshold| (threshold - USUAL_NOISE_THRESHOLD).abs() > 1e-12),
        }
    }
}

/// Returns the id without the count at its end, such as ` #2`. Returns `None` if the id has no count.
pub(super) fn strip_count(id: &str) -> Option<&str> {
    let (full_id, count) = id.rsplit_once(" #")?;
    count
        .parse::<usize>()
        .is_ok_and(|count| count > 1)
        .then_some(full_id)
}

/// Longest argument of a program on Linux (`MAX_ARG_STRLEN`), without the terminating zero.
const LONGEST_ARGUMENT: usize = 128 * 1024 - 1;

/// Returns a regular expression that matches exactly these ids, or `None` if it is too long for a command line.
pub(super) fn filter_exactly<'i>(ids: impl IntoIterator<Item = &'i str>) -> Option<String> {
    let ids: Vec<String> = ids.into_iter().map(escape_regex).collect();
    let expression = format!("^(?:{})$", ids.join("|"));
    (expression.len() <= LONGEST_ARGUMENT).then_some(expression)
}

/// Escapes the id so that the expression matches only this id.
fn escape_regex(id: &str) -> String {
    let mut expression = String::with_capacity(id.len());
    for character in id.chars() {
        match character {
            // An argument cannot contain NUL, so any character is accepted in its place.
            '\0' => expression.push('.'),
            '\n' => expression.push_str("\\n"),
            meta if r"\.+*?()|[]{}^$#&-~".contains(meta) => expression.extend(['\\', meta]),
            other => expression.push(other),
        }
    }
    expression
}

#[cfg(test)]
mod tests {
    use super::{filter_exactly, *};

    const SETTINGS: CriterionSettings = CriterionSettings {
        warm_up: Some(Duration::from_millis(100)),
        measurement: Some(Duration::from_millis(1_400)),
        samples: 5,
    };

    fn request<'r>(version: CriterionVersion, ids: &'r [&'r str]) -> CriterionRequest<'r> {
        CriterionRequest {
            version: Some(version),
            settings: Some(SETTINGS),
            longest: None,
            ids: Some(ids),
        }
    }

    #[test]
    fn versions_without_fractions_of_seconds_are_told_whole_ones() {
        let new = arguments(&request(CriterionVersion(0, 8, 2), &["a"]));
        let expected = "--warm-up-time 0.1 --measurement-time 1.4 --sample-size 10 ^(?:a)$";
        assert_eq!(new.join(" "), expected);
        let old = arguments(&request(CriterionVersion(0, 3, 6), &["a"]));
        let expected = "--warm-up-time 1 --measurement-time 2 --sample-size 10 ^(?:a)$";
        assert_eq!(old.join(" "), expected);
    }

    #[test]
    fn what_is_left_to_the_author_is_not_said_and_is_the_authors_unless_it_is_usual() {
        let mut request = request(CriterionVersion(0, 3, 6), &["a"]);
        let settings = CriterionSettings {
            warm_up: None,
            ..SETTINGS
        };
        request.settings = Some(settings);
        let expected = "--measurement-time 2 --sample-size 10 ^(?:a)$";
        assert_eq!(arguments(&request).join(" "), expected);
        let warmed_up = |time: Duration| {
            let in_force = RawConfig {
                measurement_time: Duration::from_secs(2).into(),
                noise_threshold: 0.01,
                sample_size: 10,
                warm_up_time: time.into(),
            };
            settings
                .for_version(request.version)
                .fixed_in_code(&in_force)
        };
        let tenth = Duration::from_millis(100);
        let of_author = AuthorSettings {
            warm_up_ns: Some(tenth.into()),
            ..AuthorSettings::default()
        };
        assert_eq!(warmed_up(tenth), of_author);
        let nobodys = warmed_up(Duration::from_secs(3));
        assert_eq!(nobodys, AuthorSettings::default());
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
        let settings = SETTINGS.for_version(Some(CriterionVersion(0, 8, 2)));
        let ours = in_force(10, Duration::from_millis(1_400), 0.01);
        assert_eq!(settings.fixed_in_code(&ours), AuthorSettings::default());
        let theirs = in_force(20, Duration::from_secs(8), 0.05);
        let fixed = AuthorSettings {
            samples: Some(20),
            measurement_ns: Some(Nanos(8_000_000_000)),
            noise_threshold: Some(0.05),
            ..AuthorSettings::default()
        };
        assert_eq!(settings.fixed_in_code(&theirs), fixed);
    }

    #[test]
    fn characters_with_a_meaning_are_escaped() {
        assert_eq!(
            filter_exactly(["sort/10", "a.b (c|d)*"]).as_deref(),
            Some(r"^(?:sort/10|a\.b \(c\|d\)\*)$")
        );
    }

    #[test]
    fn a_filter_that_no_command_line_holds_is_none() {
        let long = "x".repeat(1000);
        assert_eq!(filter_exactly(vec![long.as_str(); 200]), None);
    }
}
