//! Settings of a `Criterion` and of its groups. The settings of a group take precedence. Also defines the throughput of a benchmark, and the options
//! for plots and files, which are accepted and have no effect.

use std::time::Duration;

use perfcheck::sequence::Declaration;

/// The distribution of iterations over samples.
#[derive(Debug, Clone, Copy, Default)]
pub enum SamplingMode {
    /// Linear, or flat if linear would take more than twice the measurement time.
    #[default]
    Auto,
    /// Samples of d, 2d, 3d, ... iterations.
    Linear,
    /// Samples of equal numbers of iterations.
    Flat,
}

/// Settings in code. A setting that is `None` is chosen by `cargo perfcheck`, or by the harness if the executable is called directly.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Configuration {
    pub(crate) sample_size: Option<usize>,
    pub(crate) warm_up_time: Option<Duration>,
    pub(crate) measurement_time: Option<Duration>,
    pub(crate) noise_threshold: Option<f64>,
    pub(crate) sampling_mode: Option<perfcheck::SamplingMode>,
}

impl Configuration {
    /// Returns these settings. A setting that is `None` here has its value from `below`.
    pub(crate) fn merged_over(&self, below: &Self) -> Self {
        Self {
            sample_size: self.sample_size.or(below.sample_size),
            warm_up_time: self.warm_up_time.or(below.warm_up_time),
            measurement_time: self.measurement_time.or(below.measurement_time),
            noise_threshold: self.noise_threshold.or(below.noise_threshold),
            sampling_mode: self.sampling_mode.or(below.sampling_mode),
        }
    }

    /// Declares the benchmark `id` with these settings.
    pub(crate) fn declare(
        &self,
        id: String,
        throughput: Option<&Throughput>,
        unit: Option<String>,
    ) -> Declaration {
        Declaration {
            id,
            samples: self
                .sample_size
                .map(|size| u32::try_from(size).unwrap_or(u32::MAX)),
            warm_up: self.warm_up_time,
            measurement: self.measurement_time,
            sampling_mode: self.sampling_mode,
            noise_threshold: self.noise_threshold,
            throughput: throughput.map(Throughput::to_perfcheck).unwrap_or_default(),
            unit,
        }
    }
}

impl From<SamplingMode> for perfcheck::SamplingMode {
    fn from(mode: SamplingMode) -> Self {
        match mode {
            SamplingMode::Auto => Self::Auto,
            SamplingMode::Linear => Self::Linear,
            SamplingMode::Flat => Self::Flat,
        }
    }
}

/// Defines the setters of `Criterion`, which take `self` by value, and of groups, which take `self` by reference. Each setter calls `set` with a
/// change of the configuration.
macro_rules! setting_methods {
    ($this:ty, $returned:ty) => {
        /// Sets the number of samples of each process, at least 10.
        ///
        /// # Panics
        /// If `n` is less than 10.
        #[track_caller]
        pub fn sample_size(self: $this, n: usize) -> $returned {
            assert!(
                n >= 10,
                "sample_size: at least 10 samples are needed, not {n}"
            );
            self.set(|configuration| configuration.sample_size = Some(n))
        }

        /// Sets the warm-up time of each process.
        ///
        /// # Panics
        /// If `dur` is zero.
        #[track_caller]
        pub fn warm_up_time(self: $this, dur: std::time::Duration) -> $returned {
            assert!(!dur.is_zero(), "warm_up_time: must not be zero");
            self.set(|configuration| configuration.warm_up_time = Some(dur))
        }

        /// Sets the measurement time of each process.
        ///
        /// # Panics
        /// If `dur` is zero.
        #[track_caller]
        pub fn measurement_time(self: $this, dur: std::time::Duration) -> $returned {
            assert!(!dur.is_zero(), "measurement_time: must not be zero");
            self.set(|configuration| configuration.measurement_time = Some(dur))
        }

        /// Sets the noise threshold: relative changes up to this fraction count as noise (0.03 is 3 %).
        ///
        /// # Panics
        /// If `threshold` is negative, infinite or not a number.
        #[track_caller]
        pub fn noise_threshold(self: $this, threshold: f64) -> $returned {
            assert!(
                threshold >= 0.0 && threshold.is_finite(),
                "noise_threshold: must not be negative, and is {threshold}"
            );
            self.set(|configuration| configuration.noise_threshold = Some(threshold))
        }

        /// Accepted without effect, because `cargo perfcheck` does the analysis. Its flag for this is `--resamples`.
        ///
        /// # Panics
        /// If `n` is zero.
        #[track_caller]
        pub fn nresamples(self: $this, n: usize) -> $returned {
            assert!(n > 0, "nresamples: must not be zero");
            self.set(|_| ())
        }

        /// Accepted without effect, because `cargo perfcheck` does the analysis. Its flag for this is `--confidence-level`.
        ///
        /// # Panics
        /// If `cl` is not between 0 and 1.
        #[track_caller]
        pub fn confidence_level(self: $this, cl: f64) -> $returned {
            assert!(
                cl > 0.0 && cl < 1.0,
                "confidence_level: must be between 0 and 1, and is {cl}"
            );
            self.set(|_| ())
        }

        /// Accepted without effect, because `cargo perfcheck` does the analysis. Its flag for this is `--significance-level`.
        ///
        /// # Panics
        /// If `sl` is not between 0 and 1.
        #[track_caller]
        pub fn significance_level(self: $this, sl: f64) -> $returned {
            assert!(
                sl > 0.0 && sl < 1.0,
                "significance_level: must be between 0 and 1, and is {sl}"
            );
            self.set(|_| ())
        }
    };
}
pub(crate) use setting_methods;

/// The amount of work that one iteration of a benchmark does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Throughput {
    /// Number of bits.
    Bits(u64),
    /// Number of bytes.
    Bytes(u64),
    /// Number of bytes. Criterion shows this variant in powers of 1000. Here [`Bytes`](Self::Bytes) are shown in powers of 1000 too, so both variants
    /// are the same.
    BytesDecimal(u64),
    /// Number of elements: lines, values, requests.
    Elements(u64),
    /// Both elements and bytes.
    ElementsAndBytes {
        /// Number of elements.
        elements: u64,
        /// Number of bytes.
        bytes: u64,
    },
}

impl Throughput {
    /// Converts to the type that `cargo perfcheck` knows. Bits are converted to bytes if they are divisible by 8, and are unknown otherwise.
    pub(crate) fn to_perfcheck(&self) -> perfcheck::Throughput {
        match *self {
            Self::Bits(bits) if bits % 8 == 0 => perfcheck::Throughput::bytes(bits / 8),
            Self::Bits(_) => perfcheck::Throughput::default(),
            Self::Bytes(bytes) | Self::BytesDecimal(bytes) => perfcheck::Throughput::bytes(bytes),
            Self::Elements(elements) => perfcheck::Throughput::elements(elements),
            Self::ElementsAndBytes { elements, bytes } => {
                perfcheck::Throughput::elements(elements).and_bytes(bytes)
            }
        }
    }
}

// The options for plots and files have no effect: nothing is plotted here, and `cargo perfcheck` stores the numbers.

/// How Criterion uses the directory of a baseline.
#[derive(Debug, Clone, Copy)]
pub enum Baseline {
    /// Compare with the baseline if it contains the benchmark.
    CompareLenient,
    /// Compare with the baseline, and fail if it lacks the benchmark.
    CompareStrict,
    /// Write the baseline.
    Save,
    /// Do not write the baseline.
    Discard,
}

/// The program or crate with which Criterion plots.
#[derive(Debug, Clone, Copy)]
pub enum PlottingBackend {
    /// The program `gnuplot`.
    Gnuplot,
    /// The crate `plotters`.
    Plotters,
    /// No plots.
    None,
}

/// The scale of an axis.
#[derive(Debug, Clone, Copy, Default)]
pub enum AxisScale {
    /// Linear.
    #[default]
    Linear,
    /// Logarithmic.
    Logarithmic,
}

/// The plot settings of a group.
#[derive(Debug, Clone, Default)]
pub struct PlotConfiguration {
    summary_scale: AxisScale,
}

impl PlotConfiguration {
    /// Sets the scale of the summary's axes.
    #[must_use]
    pub fn summary_scale(mut self, new_scale: AxisScale) -> Self {
        self.summary_scale = new_scale;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_outranks_the_criterion_it_comes_from() {
        let below = Configuration {
            sample_size: Some(10),
            noise_threshold: Some(0.1),
            ..Configuration::default()
        };
        let above = Configuration {
            sample_size: Some(20),
            sampling_mode: Some(SamplingMode::Flat.into()),
            ..Configuration::default()
        };
        let declared =
            above
                .merged_over(&below)
                .declare("g/f".into(), Some(&Throughput::Bytes(8)), None);
        assert_eq!(declared.samples, Some(20));
        assert_eq!(declared.noise_threshold, Some(0.1));
        assert_eq!(declared.sampling_mode, Some(perfcheck::SamplingMode::Flat));
        assert_eq!(declared.throughput, perfcheck::Throughput::bytes(8));
        assert_eq!(declared.warm_up, None);
    }

    #[test]
    fn every_variant_is_known_but_bits_that_fill_no_byte() {
        let bytes = perfcheck::Throughput::bytes(8);
        assert_eq!(Throughput::Bits(64).to_perfcheck(), bytes);
        assert_eq!(
            Throughput::Bits(65).to_perfcheck(),
            perfcheck::Throughput::default()
        );
        assert_eq!(Throughput::Bytes(8).to_perfcheck(), bytes);
        assert_eq!(Throughput::BytesDecimal(8).to_perfcheck(), bytes);
        let elements = perfcheck::Throughput::elements(3);
        assert_eq!(Throughput::Elements(3).to_perfcheck(), elements);
        let both = Throughput::ElementsAndBytes {
            elements: 3,
            bytes: 8,
        };
        assert_eq!(both.to_perfcheck(), elements.and_bytes(8));
    }
}
