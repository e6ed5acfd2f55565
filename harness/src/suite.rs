//! Settings that a bench author makes in code. A field that is `None` was not set. `cargo perfcheck` may override all of them.
//!
//! The amount of work that one iteration processes.
//!
//! [`Suite`] and [`Group`], on which authors declare benchmarks. A declaration runs nothing by itself: the [`Visitor`] of the walk decides whether
//! to list, run or ignore the benchmark.

use std::time::Duration;

use crate::bencher::Bencher;
use crate::inputs::IntoInputs;

/// The distribution of iterations over the samples of a benchmark. `cargo perfcheck` uses it for a build that is measured alone; side by side, it
/// makes its own schedule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum SamplingMode {
    /// A linear ramp up to samples of about 1 ms, then equal samples of about 1 ms.
    #[default]
    Standard,
    /// A linear ramp over the whole measurement time: d, 2d, 3d, ... iterations.
    Linear,
    /// Equal samples over the whole measurement time.
    Flat,
    /// Linear, unless a linear schedule would take more than twice the measurement time; then flat.
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
    pub(crate) launches: Option<u32>,
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
        /// Sets how many processes measure each of the benchmarks that follow, at least 1. `cargo perfcheck` uses it for a build that is measured
        /// alone.
        ///
        /// # Panics
        /// If `count` is 0.
        #[track_caller]
        pub fn launches(&mut self, count: u32) -> &mut Self {
            assert!(count >= 1, "launches: at least 1 is needed");
            self.settings.launches = Some(count);
            self
        }

        /// Sets the number of samples per process for the benchmarks that follow, at least 2.
        ///
        /// # Panics
        /// If `count` is 0 or 1.
        #[track_caller]
        pub fn samples(&mut self, count: u32) -> &mut Self {
            assert!(count >= 2, "samples: at least 2 are needed, not {count}");
            self.settings.samples = Some(count);
            self
        }

        /// Sets the warm-up time per process for the benchmarks that follow.
        pub fn warm_up_time(&mut self, time: Duration) -> &mut Self {
            self.settings.warm_up = Some(time);
            self
        }

        /// Sets the time per process in which samples of the benchmarks that follow are taken.
        ///
        /// # Panics
        /// If `time` is zero.
        #[track_caller]
        pub fn measurement_time(&mut self, time: Duration) -> &mut Self {
            assert!(!time.is_zero(), "measurement_time: must not be zero");
            self.settings.measurement = Some(time);
            self
        }

        /// Sets how iterations are distributed over the samples of the benchmarks that follow.
        pub fn sampling_mode(&mut self, mode: SamplingMode) -> &mut Self {
            self.settings.sampling_mode = Some(mode);
            self
        }

        /// Sets the relative change that counts as noise for the benchmarks that follow, as a fraction: 0.03 is 3 %.
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

        /// Sets the version of the benchmarks that follow. Change it whenever a benchmark starts to measure something different: results of
        /// different versions are not compared.
        pub fn version(&mut self, version: impl Into<String>) -> &mut Self {
            self.settings.version = Some(version.into());
            self
        }

        /// Sets the amount of work that one iteration of the benchmarks that follow processes. If it depends on the input, call
        /// [`Bencher::throughput`] instead.
        pub fn throughput(&mut self, throughput: Throughput) -> &mut Self {
            self.settings.throughput = throughput;
            self
        }
    };
}

/// The amount of work that one iteration of a benchmark processes: bytes, elements, or both.
///
/// ```
/// use perfcheck::Throughput;
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

/// Receives each benchmark that a function declares, and lists, runs or ignores it.
pub(crate) trait Visitor {
    /// Called for each benchmark, in program order. `body` runs the author's closure.
    fn visit(&mut self, announcement: AnnouncedBenchmark, body: &mut dyn FnMut(&mut Bencher<'_>));
}

/// The benchmarks of an executable. Each function of [`main!`](crate::main) gets a `&mut Suite`.
///
/// Settings apply to the benchmarks and groups declared after them in the same function. The closure of a benchmark runs only if the benchmark is
/// selected, so expensive set-up belongs inside it; the function around it runs several times.
pub struct Suite<'w> {
    visitor: &'w mut dyn Visitor,
    settings: Settings,
}

/// Benchmarks with a common prefix: their ids are `group/name`. A group starts with the settings of its suite.
pub struct Group<'s> {
    visitor: &'s mut dyn Visitor,
    prefix: String,
    settings: Settings,
}

/// The methods that declare a benchmark, shared by [`Suite`] and [`Group`]. Both have `visitor`, `settings` and `id`.
macro_rules! declaring_methods {
    () => {
        /// Declares a benchmark. `body` must call exactly one of the methods `iter*` or `skip` of its [`Bencher`].
        ///
        /// If an executable already has a benchmark `x`, the next one with this name gets the id `x #2`. A benchmark with an empty name fails.
        pub fn bench(
            &mut self,
            name: impl AsRef<str>,
            body: impl FnOnce(&mut Bencher<'_>),
        ) -> &mut Self {
            let announcement = AnnouncedBenchmark {
                id: self.full_id(name.as_ref()),
                settings: self.settings.clone(),
            };
            let mut body = Some(body);
            self.visitor.visit(announcement, &mut |bencher| {
                if let Some(body) = body.take() {
                    body(bencher);
                }
            });
            self
        }

        /// Declares a benchmark with one borrowed input. The input is not part of the id.
        pub fn bench_input<I: ?Sized>(
            &mut self,
            name: impl AsRef<str>,
            input: &I,
            body: impl FnOnce(&mut Bencher<'_>, &I),
        ) -> &mut Self {
            self.bench(name, |bencher| body(bencher, input))
        }

        /// Declares one benchmark for each input. The input's text, or its label, becomes the last part of the id. See [`matrix`](crate::matrix)
        /// for several parameters and [`labelled`](crate::labelled) for labels of your own.
        pub fn bench_inputs<I: IntoInputs>(
            &mut self,
            name: impl AsRef<str>,
            inputs: I,
            mut body: impl FnMut(&mut Bencher<'_>, I::Value),
        ) -> &mut Self {
            let name = name.as_ref();
            for (label, input) in inputs.into_inputs() {
                self.bench(format!("{name}/{label}"), |bencher| body(bencher, input));
            }
            self
        }
    };
}

impl<'w> Suite<'w> {
    pub(crate) fn new(visitor: &'w mut dyn Visitor) -> Self {
        Self {
            visitor,
            settings: Settings::default(),
        }
    }

    /// Starts a group: the ids of its benchmarks begin with `name/`.
    pub fn group(&mut self, name: impl Into<String>) -> Group<'_> {
        Group {
            visitor: &mut *self.visitor,
            prefix: name.into(),
            settings: self.settings.clone(),
        }
    }

    #[expect(clippy::unused_self, reason = "the counterpart of a group's prefix")]
    fn full_id(&self, name: &str) -> String {
        name.to_owned()
    }

    declaring_methods!();
    settings_methods!();
}

impl Group<'_> {
    fn full_id(&self, name: &str) -> String {
        format!("{}/{name}", self.prefix)
    }

    /// Starts a group within this group: its ids are `outer/inner/name`.
    pub fn group(&mut self, name: impl AsRef<str>) -> Group<'_> {
        Group {
            prefix: self.full_id(name.as_ref()),
            visitor: &mut *self.visitor,
            settings: self.settings.clone(),
        }
    }

    declaring_methods!();
    settings_methods!();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Collects the ids and runs nothing.
    #[derive(Default)]
    struct Ids(Vec<String>);

    impl Visitor for Ids {
        fn visit(&mut self, announcement: AnnouncedBenchmark, _: &mut dyn FnMut(&mut Bencher<'_>)) {
            self.0.push(announcement.id);
        }
    }

    #[test]
    fn ids_are_paths_of_group_name_and_input() {
        let mut ids = Ids::default();
        let mut suite = Suite::new(&mut ids);
        suite.bench("alone", |_| ());
        let mut group = suite.group("sort");
        group.bench("stable", |_| ());
        group.bench_input("one", "not in the id", |_, _| ());
        group.bench_inputs("unstable", [10, 100], |_, _| ());
        group.group("deep").bench("er", |_| ());
        suite.bench_inputs("copy", crate::matrix([1], ["a", "b"]), |_, (_, _)| ());
        let expected = [
            "alone",
            "sort/stable",
            "sort/one",
            "sort/unstable/10",
            "sort/unstable/100",
            "sort/deep/er",
            "copy/1/a",
            "copy/1/b",
        ];
        assert_eq!(ids.0, expected);
    }

    #[test]
    #[should_panic(expected = "samples: at least 2 are needed, not 1")]
    fn a_setting_that_makes_no_sense_is_refused() {
        Suite::new(&mut Ids::default()).samples(1);
    }
}
