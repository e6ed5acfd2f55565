//! What a bench author sets in code. A member that is `None` was not set; `cargo perfcheck` may override the others.

use std::time::Duration;

use crate::throughput::Throughput;

/// How `cargo perfcheck` lays out the iteration counts of a benchmark's samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum SamplingMode {
    /// A linear ramp that ends near 1 ms, then flat samples near 1 ms.
    #[default]
    Standard,
    /// One linear schedule over the whole measurement time: d, 2d, 3d, ... iterations.
    Linear,
    /// One flat schedule over the whole measurement time: all samples alike.
    Flat,
    /// Linear, but flat where linear would take more than twice the measurement time.
    Auto,
}

impl SamplingMode {
    /// Its name in the protocol.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Linear => "linear",
            Self::Flat => "flat",
            Self::Auto => "auto",
        }
    }
}

/// The settings in force where a benchmark is declared.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Settings {
    pub(crate) launches: Option<u32>,
    pub(crate) samples: Option<u32>,
    pub(crate) warm_up: Option<Duration>,
    pub(crate) measurement: Option<Duration>,
    pub(crate) sampling_mode: Option<SamplingMode>,
    pub(crate) noise_threshold: Option<f64>,
    pub(crate) version: Option<String>,
    pub(crate) throughput: Throughput,
    /// What is measured where it is no time: see [`crate::sequence`].
    pub(crate) unit: Option<String>,
}

/// A benchmark as it is declared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AnnouncedBenchmark {
    pub(crate) id: String,
    pub(crate) settings: Settings,
}

/// The setters that [`Suite`](crate::Suite) and [`Group`](crate::Group) share; both have a member `settings`.
macro_rules! settings_methods {
    () => {
        /// Processes per run in which `cargo perfcheck` measures the benchmarks that follow; at least 1.
        ///
        /// # Panics
        /// If `count` is 0.
        #[track_caller]
        pub fn launches(&mut self, count: u32) -> &mut Self {
            assert!(count >= 1, "launches: at least 1 is needed");
            self.settings.launches = Some(count);
            self
        }

        /// Samples per launch of the benchmarks that follow; at least 2.
        ///
        /// # Panics
        /// If `count` is 0 or 1.
        #[track_caller]
        pub fn samples(&mut self, count: u32) -> &mut Self {
            assert!(count >= 2, "samples: at least 2 are needed, not {count}");
            self.settings.samples = Some(count);
            self
        }

        /// Warm-up time per launch of the benchmarks that follow.
        pub fn warm_up_time(&mut self, time: Duration) -> &mut Self {
            self.settings.warm_up = Some(time);
            self
        }

        /// Time per launch in which the samples of the benchmarks that follow are taken.
        ///
        /// # Panics
        /// If `time` is zero.
        #[track_caller]
        pub fn measurement_time(&mut self, time: Duration) -> &mut Self {
            assert!(!time.is_zero(), "measurement_time: must not be zero");
            self.settings.measurement = Some(time);
            self
        }

        /// How the iteration counts of the benchmarks that follow are laid out.
        pub fn sampling_mode(&mut self, mode: SamplingMode) -> &mut Self {
            self.settings.sampling_mode = Some(mode);
            self
        }

        /// The relative change that counts as noise for the benchmarks that follow, as a fraction: 0.03 is 3 %.
        ///
        /// # Panics
        /// If `fraction` is negative, infinite or not a number.
        #[track_caller]
        pub fn noise_threshold(&mut self, fraction: f64) -> &mut Self {
            assert!(
                fraction.is_finite() && fraction >= 0.0,
                "noise_threshold: a fraction of at least 0 is needed, not {fraction}"
            );
            self.settings.noise_threshold = Some(fraction);
            self
        }

        /// The version of the benchmarks that follow. Change it when a benchmark comes to measure something else:
        /// results of different versions are not compared.
        pub fn version(&mut self, version: impl Into<String>) -> &mut Self {
            self.settings.version = Some(version.into());
            self
        }

        /// What one iteration of the benchmarks that follow processes. Where it depends on the input, call
        /// [`Bencher::throughput`] instead.
        pub fn throughput(&mut self, throughput: Throughput) -> &mut Self {
            self.settings.throughput = throughput;
            self
        }
    };
}
pub(crate) use settings_methods;
