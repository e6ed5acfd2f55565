//! Settings of sampling and of decisions, with the project's defaults.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use super::{Analysis, Nanos, Thresholds, limits};
use perfcheck_stats::words;

/// Number of complete processes that a benchmark needs for a verdict.
pub const MIN_LAUNCHES: usize = 3;

words! {
    /// The distribution of iterations over the samples of a process.
    #[derive(Default)]
    SamplingMode {
        #[default]
        Standard = "standard": "A linear ramp that ends near 1 ms, then samples near 1 ms",
        Linear = "linear": "One linear schedule over the whole measurement time",
        Flat = "flat": "One flat schedule over the whole measurement time",
        Auto = "auto": "Linear, but flat where that would take more than twice the measurement time",
    }
}

/// The condition that ends the warm-up of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmUpGoal {
    /// The iterations have taken longer than this.
    Time(Nanos),
    /// This many iterations have run.
    Iterations(u32),
}

/// The settings that a bench author made in code; `None` if not set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct AuthorSettings {
    /// Processes per run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launches: Option<u32>,
    /// Samples per process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u32>,
    /// Warm-up time per process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up_ns: Option<Nanos>,
    /// Measurement time per process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measurement_ns: Option<Nanos>,
    /// Distribution of iterations over samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling_mode: Option<SamplingMode>,
    /// Relative change that counts as noise, as a fraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_threshold: Option<f64>,
}

impl AuthorSettings {
    /// Describes the first setting that exceeds its limit, if any.
    pub fn find_exceeded_limit(&self) -> Option<String> {
        let count = |what, range, value: Option<u32>| {
            let why = limits::check_range(range, value?.into()).err()?;
            Some(format!("`{what}` is set in its code: {why}"))
        };
        let time = |what, value: Option<Nanos>| {
            let why = limits::check_phase(value?.into()).err()?;
            Some(format!("`{what}` is set in its code: {why}"))
        };
        let noise = self.noise_threshold;
        let noise = noise.filter(|threshold| !(0.0..1.0).contains(threshold));
        count("launches", &limits::LAUNCHES, self.launches)
            .or_else(|| count("samples", &limits::SAMPLES, self.samples))
            .or_else(|| time("warm_up_ns", self.warm_up_ns))
            .or_else(|| time("measurement_ns", self.measurement_ns))
            .or(noise.map(|threshold| {
                format!(
                    "`noise_threshold` is set in its code: {threshold} is not from 0 to below 1"
                )
            }))
    }
}

/// How the processes of two executables alternate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interleaving {
    /// There is only one executable.
    #[default]
    None,
    /// Both processes are alive and take samples alternately: ABBA or BAAB.
    Samples,
    /// The processes run alternately, one after the other.
    Launches,
}

impl Interleaving {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// The sampling settings of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SamplingSettings {
    /// Processes per run.
    pub launches: u32,
    /// Samples per process in the flat (or only) phase; `None` means as many as fit.
    pub samples: Option<u32>,
    /// Warm-up time per process.
    pub warm_up: Nanos,
    /// Iterations of the warm-up, if they are counted in place of its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up_iterations: Option<u32>,
    /// Measurement time per process.
    pub measurement: Nanos,
    /// Distribution of iterations over samples.
    pub mode: SamplingMode,
    /// How the processes alternate, if two executables are compared.
    #[serde(default, skip_serializing_if = "Interleaving::is_none")]
    pub turns: Interleaving,
}

impl Default for SamplingSettings {
    fn default() -> Self {
        Self {
            launches: 5,
            samples: None,
            warm_up: Duration::from_millis(100).into(),
            warm_up_iterations: None,
            measurement: Duration::from_millis(400).into(),
            mode: SamplingMode::default(),
            turns: Interleaving::None,
        }
    }
}

/// The settings that decide a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DecisionSettings {
    /// Relative change that counts as noise, as a fraction.
    pub noise_threshold: f64,
    /// One-sided, family-wise level of a run: for regressions, and again for improvements.
    pub significance_level: f64,
    /// Confidence level of the bootstrap intervals that describe times.
    pub confidence_level: f64,
    /// Bootstrap resamples.
    pub resamples: u32,
    /// The statistics that decide, if they are not those of the project's own procedure.
    #[serde(default, skip_serializing_if = "Analysis::is_default")]
    pub analysis: Analysis,
    /// Bounds that are conventions of published systems.
    #[serde(default, skip_serializing_if = "Thresholds::is_default")]
    pub thresholds: Thresholds,
}

impl DecisionSettings {
    /// The noise threshold of two builds measured side by side: they do not drift apart as stored runs do.
    pub const PAIRED_NOISE_THRESHOLD: f64 = 0.01;
}

impl Default for DecisionSettings {
    fn default() -> Self {
        Self {
            noise_threshold: 0.02,
            significance_level: 0.01,
            confidence_level: 0.95,
            resamples: 100_000,
            analysis: Analysis::default(),
            thresholds: Thresholds::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_turn_it_was_is_stored_where_there_were_two_executables() {
        let stored = |turns| {
            let settings = SamplingSettings {
                turns,
                ..SamplingSettings::default()
            };
            let value = ciborium::Value::serialized(&settings).expect("a value");
            assert_eq!(
                value.deserialized::<SamplingSettings>().ok(),
                Some(settings)
            );
            let fields = value.as_map().expect("a map").iter();
            let mut names = fields.filter_map(|(name, _)| name.as_text());
            names.any(|name| name == "turns")
        };
        assert!(stored(Interleaving::Samples) && stored(Interleaving::Launches));
        assert!(!stored(Interleaving::None));
    }
}
