//! Settings that a bench author makes in code, such as the amount of work that one iteration processes. A field that is `None` was not set.
//!
//! The user may override the settings that concern the measurement and the noise threshold.

use std::time::Duration;

/// The distribution of iterations over the samples of a benchmark. `cargo perfcheck` uses this mode for a build that is measured alone; for two
/// builds side by side it makes its own schedule.
///
/// # Examples
///
/// ```
/// # fn sleeping(suite: &mut perfcheck::Suite) {
/// use perfcheck::SamplingMode;
/// use std::time::Duration;
///
/// suite.sampling_mode(SamplingMode::Flat).samples(20);
/// suite.bench("sleep", |bencher| bencher.iter(|| std::thread::sleep(Duration::from_millis(2))));
/// # }
/// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("sleeping", sleeping)]), std::process::ExitCode::SUCCESS);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum SamplingMode {
    /// A linear ramp up to samples of about 1 ms, then equal samples of about 1 ms.
    #[default]
    Standard,
    /// A linear ramp over the whole measurement time: d, 2d, 3d, ... iterations.
    Linear,
    /// Equal samples over the whole measurement time.
    Flat,
    /// Linear, or flat if linear would take more than twice the measurement time.
    Auto,
}

impl SamplingMode {
    /// Returns the name used in the protocol.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Linear => "linear",
            Self::Flat => "flat",
            Self::Auto => "auto",
        }
    }
}

/// The settings in force at the declaration of a benchmark.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Settings {
    pub(crate) processes: Option<u32>,
    pub(crate) samples: Option<u32>,
    pub(crate) warm_up: Option<Duration>,
    pub(crate) measurement: Option<Duration>,
    pub(crate) sampling_mode: Option<SamplingMode>,
    pub(crate) noise_threshold: Option<f64>,
    pub(crate) version: Option<String>,
    pub(crate) throughput: Throughput,
    /// The unit of the measured values if they are not times: see [`crate::sequence`].
    pub(crate) unit: Option<String>,
}

/// The id and settings of a declared benchmark.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AnnouncedBenchmark {
    pub(crate) id: String,
    pub(crate) settings: Settings,
}

/// The setters shared by [`Suite`](crate::Suite) and [`Group`](crate::Group). Both have a field `settings`.
macro_rules! settings_methods {
    () => {
        /// Sets how many processes measure each of the following benchmarks, at least 1. `cargo perfcheck` uses this setting only for a build that
        /// is measured alone.
        ///
        /// # Examples
        ///
        /// ```
        /// # fn sums(suite: &mut perfcheck::Suite) {
        /// suite.processes(10).bench("sum", |bencher| bencher.iter(|| (0..1000_u64).sum::<u64>()));
        /// # }
        /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("sums", sums)]), std::process::ExitCode::SUCCESS);
        /// ```
        ///
        /// # Panics
        /// If `count` is 0.
        #[track_caller]
        pub fn processes(&mut self, count: u32) -> &mut Self {
            assert!(count >= 1, "processes: at least 1 is needed");
            self.settings.processes = Some(count);
            self
        }

        /// Sets the number of samples per process for the following benchmarks, at least 2. `cargo perfcheck` uses this setting only for a build
        /// that is measured alone.
        ///
        /// # Examples
        ///
        /// ```
        /// # fn sums(suite: &mut perfcheck::Suite) {
        /// suite.samples(50).bench("sum", |bencher| bencher.iter(|| (0..1000_u64).sum::<u64>()));
        /// # }
        /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("sums", sums)]), std::process::ExitCode::SUCCESS);
        /// ```
        ///
        /// # Panics
        /// If `count` is 0 or 1.
        #[track_caller]
        pub fn samples(&mut self, count: u32) -> &mut Self {
            assert!(count >= 2, "samples: at least 2 are needed, not {count}");
            self.settings.samples = Some(count);
            self
        }

        /// Sets the warm-up time per process for the following benchmarks. `cargo perfcheck` uses this setting only for a build that is measured
        /// alone.
        ///
        /// # Examples
        ///
        /// ```
        /// # fn sums(suite: &mut perfcheck::Suite) {
        /// use std::time::Duration;
        ///
        /// suite.warm_up_time(Duration::from_millis(500)).bench("sum", |bencher| bencher.iter(|| (0..1000_u64).sum::<u64>()));
        /// # }
        /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("sums", sums)]), std::process::ExitCode::SUCCESS);
        /// ```
        pub fn warm_up_time(&mut self, time: Duration) -> &mut Self {
            self.settings.warm_up = Some(time);
            self
        }

        /// Sets the time that each process spends on samples of each of the following benchmarks. `cargo perfcheck` uses this setting only for a
        /// build that is measured alone.
        ///
        /// # Examples
        ///
        /// ```
        /// # fn sums(suite: &mut perfcheck::Suite) {
        /// use std::time::Duration;
        ///
        /// suite.measurement_time(Duration::from_secs(1)).bench("sum", |bencher| bencher.iter(|| (0..1000_u64).sum::<u64>()));
        /// # }
        /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("sums", sums)]), std::process::ExitCode::SUCCESS);
        /// ```
        ///
        /// # Panics
        /// If `time` is zero.
        #[track_caller]
        pub fn measurement_time(&mut self, time: Duration) -> &mut Self {
            assert!(!time.is_zero(), "measurement_time: must not be zero");
            self.settings.measurement = Some(time);
            self
        }

        /// Sets how iterations are distributed over the samples of the following benchmarks. `cargo perfcheck` uses this setting only for a build
        /// that is measured alone.
        ///
        /// # Examples
        ///
        /// ```
        /// # fn sums(suite: &mut perfcheck::Suite) {
        /// use perfcheck::SamplingMode;
        ///
        /// suite.sampling_mode(SamplingMode::Linear).bench("sum", |bencher| bencher.iter(|| (0..1000_u64).sum::<u64>()));
        /// # }
        /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("sums", sums)]), std::process::ExitCode::SUCCESS);
        /// ```
        pub fn sampling_mode(&mut self, mode: SamplingMode) -> &mut Self {
            self.settings.sampling_mode = Some(mode);
            self
        }

        /// Sets the largest relative change that counts as noise for the following benchmarks, as a fraction: 0.03 is 3 %.
        ///
        /// # Examples
        ///
        /// ```
        /// # fn sums(suite: &mut perfcheck::Suite) {
        /// suite.noise_threshold(0.03).bench("sum", |bencher| bencher.iter(|| (0..1000_u64).sum::<u64>()));
        /// # }
        /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("sums", sums)]), std::process::ExitCode::SUCCESS);
        /// ```
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

        /// Sets the version of the following benchmarks. Change it whenever a benchmark starts to measure something different: results of different
        /// versions are not compared.
        ///
        /// # Examples
        ///
        /// ```
        /// # fn sums(suite: &mut perfcheck::Suite) {
        /// suite.version("2").bench("sum", |bencher| bencher.iter(|| (0..1000_u64).sum::<u64>()));
        /// # }
        /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("sums", sums)]), std::process::ExitCode::SUCCESS);
        /// ```
        pub fn version(&mut self, version: impl Into<String>) -> &mut Self {
            self.settings.version = Some(version.into());
            self
        }

        /// Sets the amount of work that one iteration of the following benchmarks does. If the amount depends on the input, call
        /// [`Bencher::throughput`] instead.
        ///
        /// # Examples
        ///
        /// ```
        /// # fn sums(suite: &mut perfcheck::Suite) {
        /// use perfcheck::Throughput;
        ///
        /// suite.throughput(Throughput::elements(1000)).bench("sum", |bencher| bencher.iter(|| (0..1000_u64).sum::<u64>()));
        /// # }
        /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("sums", sums)]), std::process::ExitCode::SUCCESS);
        /// ```
        pub fn throughput(&mut self, throughput: Throughput) -> &mut Self {
            self.settings.throughput = throughput;
            self
        }
    };
}
pub(crate) use settings_methods;

/// The amount of work that one iteration of a benchmark does: bytes, elements, or both.
///
/// # Examples
///
/// ```
/// use perfcheck::Throughput;
///
/// let both = Throughput::bytes(8000).and_elements(1000);
/// assert_eq!((both.bytes_per_iteration(), both.elements_per_iteration()), (Some(8000), Some(1000)));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Throughput {
    bytes: Option<u64>,
    elements: Option<u64>,
}

impl Throughput {
    /// Declares `count` bytes per iteration.
    pub const fn bytes(count: u64) -> Self {
        Self {
            bytes: Some(count),
            elements: None,
        }
    }

    /// Declares `count` elements per iteration: rows, requests, characters, or any other unit of the benchmark.
    pub const fn elements(count: u64) -> Self {
        Self {
            bytes: None,
            elements: Some(count),
        }
    }

    /// Adds `count` bytes per iteration.
    #[must_use]
    pub const fn and_bytes(self, count: u64) -> Self {
        Self {
            bytes: Some(count),
            elements: self.elements,
        }
    }

    /// Adds `count` elements per iteration.
    #[must_use]
    pub const fn and_elements(self, count: u64) -> Self {
        Self {
            bytes: self.bytes,
            elements: Some(count),
        }
    }

    /// Returns the bytes per iteration, if known.
    pub const fn bytes_per_iteration(self) -> Option<u64> {
        self.bytes
    }

    /// Returns the elements per iteration, if known.
    pub const fn elements_per_iteration(self) -> Option<u64> {
        self.elements
    }
}
