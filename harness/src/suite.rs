//! [`Suite`] and [`Group`], on which authors declare benchmarks, and the inputs of parameterized benchmarks. A declaration runs nothing by itself:
//! the [`Visitor`] of the walk decides whether to list, run or ignore the benchmark. Each input has a label, which becomes the last part of the id.

use std::fmt::Display;
use std::time::Duration;

use crate::bencher::Bencher;
use crate::settings::{AnnouncedBenchmark, Settings, settings_methods};
use crate::{SamplingMode, Throughput};

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

/// Inputs with labels for `bench_inputs`, made by [`matrix`] or [`labelled`].
#[derive(Debug, Clone)]
pub struct Inputs<V> {
    labelled: Vec<(String, V)>,
}

/// Returns every combination of two parameters; the second one varies fastest. The label of a combination is `first/second`. Add a third parameter
/// with [`and`](Inputs::and).
///
/// # Examples
///
/// ```
/// # fn copies(suite: &mut perfcheck::Suite) {
/// use perfcheck::{black_box, matrix};
/// // copy/1/a, copy/1/b, copy/2/a, copy/2/b
/// suite.bench_inputs("copy", matrix([1, 2], ["a", "b"]), |b, (count, text)| {
///     b.iter(|| black_box(text).repeat(count));
/// });
/// // fill/1/64/true, fill/1/64/false, ...
/// suite.bench_inputs("fill", matrix([1, 2], [64, 128]).and([true, false]), |b, (width, height, dense)| {
///     b.iter(|| vec![dense; width * height]);
/// });
/// # }
/// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("copies", copies)]), std::process::ExitCode::SUCCESS);
/// ```
pub fn matrix<A: Display + Clone, B: Display + Clone>(
    first: impl IntoIterator<Item = A>,
    second: impl IntoIterator<Item = B>,
) -> Inputs<(A, B)> {
    let second: Vec<B> = second.into_iter().collect();
    let mut labelled = Vec::new();
    for a in first {
        for b in &second {
            labelled.push((format!("{a}/{b}"), (a.clone(), b.clone())));
        }
    }
    Inputs { labelled }
}

/// Returns inputs with labels of your choice, for values that do not display as a short text.
///
/// # Examples
///
/// ```
/// # fn lengths(suite: &mut perfcheck::Suite) {
/// // length/empty, length/long
/// suite.bench_inputs("length", perfcheck::labelled([("empty", vec![]), ("long", vec![0_u8; 1000])]), |b, bytes| {
///     b.iter(|| bytes.len());
/// });
/// # }
/// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("lengths", lengths)]), std::process::ExitCode::SUCCESS);
/// ```
pub fn labelled<L: Display, V>(inputs: impl IntoIterator<Item = (L, V)>) -> Inputs<V> {
    let labelled = inputs
        .into_iter()
        .map(|(label, value)| (label.to_string(), value))
        .collect();
    Inputs { labelled }
}

impl<A: Clone, B: Clone> Inputs<(A, B)> {
    /// Adds a third parameter, which varies fastest.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn grids(suite: &mut perfcheck::Suite) {
    /// use perfcheck::matrix;
    ///
    /// // The first ids are grid/2/8/true, grid/2/8/false and grid/2/16/true.
    /// let inputs = matrix([2, 4], [8, 16]).and([true, false]);
    /// suite.bench_inputs("grid", inputs, |bencher, (rows, columns, filled)| {
    ///     bencher.iter(|| vec![vec![filled; columns]; rows]);
    /// });
    /// # }
    /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("grids", grids)]), std::process::ExitCode::SUCCESS);
    /// ```
    #[must_use]
    pub fn and<C: Display + Clone>(self, third: impl IntoIterator<Item = C>) -> Inputs<(A, B, C)> {
        let third: Vec<C> = third.into_iter().collect();
        let mut labelled = Vec::with_capacity(self.labelled.len() * third.len());
        for (label, (a, b)) in self.labelled {
            for c in &third {
                labelled.push((format!("{label}/{c}"), (a.clone(), b.clone(), c.clone())));
            }
        }
        Inputs { labelled }
    }
}

/// Inputs that `bench_inputs` accepts: anything iterable whose items implement `Display`, or labelled [`Inputs`].
///
/// # Examples
///
/// ```
/// use perfcheck::IntoInputs;
///
/// let labels: Vec<String> = [10, 100].into_inputs().map(|(label, _)| label).collect();
/// assert_eq!(labels, ["10", "100"]);
/// ```
pub trait IntoInputs {
    /// The type of one input.
    type Value;

    /// Returns each input with its label.
    fn into_inputs(self) -> impl Iterator<Item = (String, Self::Value)>;
}

impl<I: IntoIterator<Item: Display>> IntoInputs for I {
    type Value = I::Item;

    fn into_inputs(self) -> impl Iterator<Item = (String, Self::Value)> {
        self.into_iter().map(|value| (value.to_string(), value))
    }
}

impl<V> IntoInputs for Inputs<V> {
    type Value = V;

    fn into_inputs(self) -> impl Iterator<Item = (String, Self::Value)> {
        self.labelled.into_iter()
    }
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

    fn labels(inputs: impl IntoInputs) -> Vec<String> {
        inputs.into_inputs().map(|(label, _)| label).collect()
    }

    #[test]
    fn plain_values_are_labelled_by_their_text() {
        assert_eq!(labels([10, 100]), ["10", "100"]);
        assert_eq!(labels(vec!["a b", ""]), ["a b", ""]);
    }

    #[test]
    fn a_matrix_varies_its_last_parameter_fastest() {
        assert_eq!(
            labels(matrix([1, 2], ["a", "b"])),
            ["1/a", "1/b", "2/a", "2/b"]
        );
        let three = matrix([1, 2], ['x']).and([true, false]);
        assert_eq!(
            three.labelled,
            [
                ("1/x/true".to_owned(), (1, 'x', true)),
                ("1/x/false".to_owned(), (1, 'x', false)),
                ("2/x/true".to_owned(), (2, 'x', true)),
                ("2/x/false".to_owned(), (2, 'x', false)),
            ]
        );
    }

    #[test]
    fn labelled_inputs_need_no_text_of_their_own() {
        struct Opaque;
        assert_eq!(labels(labelled([("one", Opaque)])), ["one"]);
    }
}
