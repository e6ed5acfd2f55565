//! [`Suite`] and [`Group`], on which authors declare benchmarks. A declaration runs nothing by itself: the [`Visitor`] of the walk decides whether
//! to list, run or ignore the benchmark.

use crate::settings::{AnnouncedBenchmark, Settings, settings_methods};
use crate::{SamplingMode, Throughput};
use std::time::Duration;

use crate::bencher::Bencher;
use crate::inputs::IntoInputs;

/// A visitor, which lists, runs or ignores each benchmark that a function declares.
pub(crate) trait Visitor {
    /// Called for each benchmark, in program order. `body` runs the author's closure.
    fn visit(&mut self, announcement: AnnouncedBenchmark, body: &mut dyn FnMut(&mut Bencher<'_>));
}

/// The benchmarks of an executable. Each function of [`main!`](crate::main) gets a `&mut Suite`.
///
/// Settings apply to the benchmarks and groups declared after them in the same function. The closure of a benchmark runs only if the benchmark is
/// selected, so expensive set-up belongs inside it; the function around it runs several times.
///
/// # Examples
///
/// ```
/// use perfcheck::{Suite, Throughput, black_box};
///
/// fn numbers(suite: &mut Suite) {
///     suite.bench("square", |bencher| bencher.iter(|| black_box(12_u64).pow(2)));
///     // For the benchmarks that follow: root/10, root/1000.
///     suite.throughput(Throughput::elements(1));
///     suite.bench_inputs("root", [10.0, 1000.0_f64], |bencher, x| {
///         bencher.iter(|| black_box(x).sqrt());
///     });
/// }
/// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("numbers", numbers)]), std::process::ExitCode::SUCCESS);
/// ```
pub struct Suite<'w> {
    visitor: &'w mut dyn Visitor,
    settings: Settings,
}

/// Benchmarks with a common prefix: their ids are `group/name`. A group starts with the settings of the suite or group that it belongs to.
///
/// # Examples
///
/// ```
/// use perfcheck::{Suite, Throughput};
/// use std::hash::{DefaultHasher, Hasher};
///
/// fn hashing(suite: &mut Suite) {
///     let mut group = suite.group("hash");
///     group.throughput(Throughput::bytes(4096)).noise_threshold(0.03);
///     // The id is hash/default.
///     group.bench_input("default", &[7_u8; 4096], |bencher, bytes| {
///         bencher.iter(|| {
///             let mut hasher = DefaultHasher::new();
///             hasher.write(bytes);
///             hasher.finish()
///         });
///     });
/// }
/// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("hashing", hashing)]), std::process::ExitCode::SUCCESS);
/// ```
pub struct Group<'s> {
    visitor: &'s mut dyn Visitor,
    prefix: String,
    settings: Settings,
}

/// The methods that declare a benchmark, shared by [`Suite`] and [`Group`]. Both have the fields `visitor` and `settings`, and a
/// method `full_id`.
macro_rules! declaring_methods {
    () => {
        /// Declares a benchmark. `body` must call exactly one method of its [`Bencher`]: one of `iter*`, or `skip`.
        ///
        /// If an executable already has a benchmark `x`, the next one with this name gets the id `x #2`. A benchmark with an empty name fails.
        ///
        /// # Examples
        ///
        /// ```
        /// # fn sums(suite: &mut perfcheck::Suite) {
        /// suite.bench("sum", |bencher| bencher.iter(|| (0..1000_u64).sum::<u64>()));
        /// # }
        /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("sums", sums)]), std::process::ExitCode::SUCCESS);
        /// ```
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
        ///
        /// # Examples
        ///
        /// ```
        /// # fn sums(suite: &mut perfcheck::Suite) {
        /// let data: Vec<u64> = (0..1000).collect();
        /// suite.bench_input("sum", &data, |bencher, data| bencher.iter(|| data.iter().sum::<u64>()));
        /// # }
        /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("sums", sums)]), std::process::ExitCode::SUCCESS);
        /// ```
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
        ///
        /// # Examples
        ///
        /// ```
        /// # fn repeats(suite: &mut perfcheck::Suite) {
        /// // The ids are repeat/10 and repeat/1000.
        /// suite.bench_inputs("repeat", [10, 1000], |bencher, count| bencher.iter(|| "ab".repeat(count)));
        /// # }
        /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("repeats", repeats)]), std::process::ExitCode::SUCCESS);
        /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// # fn sums(suite: &mut perfcheck::Suite) {
    /// let mut group = suite.group("sum");
    /// // The id is sum/thousand.
    /// group.bench("thousand", |bencher| bencher.iter(|| (0..1000_u64).sum::<u64>()));
    /// # }
    /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("sums", sums)]), std::process::ExitCode::SUCCESS);
    /// ```
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

    /// Starts a group within this group: the ids of its benchmarks are `outer/inner/name`.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn sums(suite: &mut perfcheck::Suite) {
    /// let mut outer = suite.group("sum");
    /// let mut inner = outer.group("u64");
    /// // The id is sum/u64/thousand.
    /// inner.bench("thousand", |bencher| bencher.iter(|| (0..1000_u64).sum::<u64>()));
    /// # }
    /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("sums", sums)]), std::process::ExitCode::SUCCESS);
    /// ```
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
    use crate::settings::AnnouncedBenchmark;

    /// A visitor that collects the ids and runs nothing.
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
