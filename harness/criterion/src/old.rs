//! Types of Criterion 0.3 that 0.4 removed: benchmarks as values, and functions over inputs.

use std::fmt::Debug;

use crate::bencher::Bencher;
use crate::configuration::PlotConfiguration;
use crate::configuration::{Configuration, SamplingMode, Throughput, setting_methods};
use crate::group::{BenchmarkGroup, BenchmarkId};
use crate::manager::Criterion;
use crate::measurement::{Measurement, WallTime};

/// A function that returns how much work one iteration does with a given parameter.
type ThroughputOf<T> = Box<dyn Fn(&T) -> Throughput>;

type Body<T, M> = Box<dyn FnMut(&mut Bencher<'_, M>, &T)>;

struct NamedFunction<T, M: Measurement> {
    name: String,
    body: Body<T, M>,
}

/// A value that declares the benchmarks of a group.
pub trait BenchmarkDefinition<M: Measurement> {
    /// Declares the benchmarks in the group `group_id`.
    fn run(self, group_id: &str, c: &mut Criterion<M>);
}

/// Functions that are declared as benchmarks of one group. [`BenchmarkGroup`](crate::BenchmarkGroup) replaces this type of Criterion 0.3.
pub struct Benchmark<M: Measurement = WallTime> {
    inner: ParameterizedBenchmark<(), M>,
}

/// Functions that are declared as benchmarks of one group, each with all parameters. [`BenchmarkGroup`](crate::BenchmarkGroup) replaces this type of
/// Criterion 0.3.
pub struct ParameterizedBenchmark<T: Debug, M: Measurement = WallTime> {
    configuration: Configuration,
    functions: Vec<NamedFunction<T, M>>,
    parameters: Vec<T>,
    throughput: Option<ThroughputOf<T>>,
    has_parameters: bool,
}

/// A named function of an input, for [`Criterion::bench_functions`].
pub struct Fun<I: Debug, M: Measurement + 'static = WallTime> {
    name: String,
    body: Body<I, M>,
}

impl<I: Debug, M: Measurement> Fun<I, M> {
    /// Names the function `f`.
    pub fn new<F>(name: &str, f: F) -> Self
    where
        F: FnMut(&mut Bencher<'_, M>, &I) + 'static,
    {
        Self {
            name: name.to_owned(),
            body: Box::new(f),
        }
    }
}

#[expect(
    clippy::return_self_not_must_use,
    reason = "as in Criterion, whose users' lints are not to change"
)]
impl<M: Measurement + 'static> Benchmark<M> {
    /// Creates a benchmark with one function.
    pub fn new<S, F>(id: S, mut f: F) -> Self
    where
        S: Into<String>,
        F: FnMut(&mut Bencher<'_, M>) + 'static,
    {
        let mut inner = ParameterizedBenchmark::new(id, move |b, ()| f(b), [()]);
        inner.has_parameters = false;
        Self { inner }
    }

    /// Adds a function.
    pub fn with_function<S, F>(mut self, id: S, mut f: F) -> Self
    where
        S: Into<String>,
        F: FnMut(&mut Bencher<'_, M>) + 'static,
    {
        self.inner = self.inner.with_function(id, move |b, ()| f(b));
        self
    }

    /// Sets the amount of work that an iteration does.
    pub fn throughput(mut self, throughput: Throughput) -> Self {
        self.inner = self.inner.throughput(move |()| throughput.clone());
        self
    }

    /// Sets how iterations are distributed over samples.
    pub fn sampling_mode(self, new_mode: SamplingMode) -> Self {
        self.set(|configuration| configuration.sampling_mode = Some(new_mode.into()))
    }

    /// Accepted without effect: nothing is plotted.
    pub fn plot_config(self, _: PlotConfiguration) -> Self {
        self
    }

    fn set(mut self, set: impl FnOnce(&mut Configuration)) -> Self {
        set(&mut self.inner.configuration);
        self
    }

    setting_methods!(Self, Self);
}

#[expect(
    clippy::return_self_not_must_use,
    reason = "as in Criterion, whose users' lints are not to change"
)]
impl<T: Debug + 'static, M: Measurement + 'static> ParameterizedBenchmark<T, M> {
    /// Creates a benchmark with one function.
    pub fn new<S, F, I>(id: S, f: F, parameters: I) -> Self
    where
        S: Into<String>,
        F: FnMut(&mut Bencher<'_, M>, &T) + 'static,
        I: IntoIterator<Item = T>,
    {
        Self {
            configuration: Configuration::default(),
            functions: vec![NamedFunction {
                name: id.into(),
                body: Box::new(f),
            }],
            parameters: parameters.into_iter().collect(),
            throughput: None,
            has_parameters: true,
        }
    }

    /// Adds a function.
    pub fn with_function<S, F>(mut self, id: S, f: F) -> Self
    where
        S: Into<String>,
        F: FnMut(&mut Bencher<'_, M>, &T) + 'static,
    {
        self.functions.push(NamedFunction {
            name: id.into(),
            body: Box::new(f),
        });
        self
    }

    /// Sets a function that returns how much work one iteration does with a given parameter.
    pub fn throughput<F>(mut self, throughput: F) -> Self
    where
        F: Fn(&T) -> Throughput + 'static,
    {
        self.throughput = Some(Box::new(throughput));
        self
    }

    /// Sets how iterations are distributed over samples.
    pub fn sampling_mode(self, new_mode: SamplingMode) -> Self {
        self.set(|configuration| configuration.sampling_mode = Some(new_mode.into()))
    }

    /// Accepted without effect: nothing is plotted.
    pub fn plot_config(self, _: PlotConfiguration) -> Self {
        self
    }

    fn set(mut self, set: impl FnOnce(&mut Configuration)) -> Self {
        set(&mut self.configuration);
        self
    }

    setting_methods!(Self, Self);
}

impl<M: Measurement + 'static> BenchmarkDefinition<M> for Benchmark<M> {
    fn run(self, group_id: &str, c: &mut Criterion<M>) {
        self.inner.run(group_id, c);
    }
}

impl<T: Debug + 'static, M: Measurement + 'static> BenchmarkDefinition<M>
    for ParameterizedBenchmark<T, M>
{
    fn run(mut self, group_id: &str, c: &mut Criterion<M>) {
        let mut group = c.benchmark_group(group_id);
        group.add_settings(self.configuration);
        // Criterion 0.3 omits a single parameter. It also omits the name of a single function that has the group's name.
        let is_alone = self.functions.len() == 1;
        let names_parameters = self.has_parameters && self.parameters.len() != 1;
        for NamedFunction { name, body } in &mut self.functions {
            for parameter in &self.parameters {
                if let Some(throughput) = &self.throughput {
                    group.throughput(throughput(parameter));
                }
                let id = BenchmarkId {
                    function: (!is_alone || name != group_id).then(|| name.clone()),
                    parameter: names_parameters.then(|| format!("{parameter:?}")),
                };
                group.bench_with_input(id, parameter, &mut *body);
            }
        }
    }
}

impl<M: Measurement> BenchmarkGroup<'_, M> {
    /// Adds settings, which take precedence over the group's existing ones.
    fn add_settings(&mut self, above: Configuration) {
        self.set(|configuration| *configuration = above.merged_over(configuration));
    }
}

impl<M: Measurement + 'static> Criterion<M> {
    /// Declares the benchmarks of `benchmark` in the group `group_id`. From Criterion 0.3.
    #[doc(hidden)]
    pub fn bench<B: BenchmarkDefinition<M>>(&mut self, group_id: &str, benchmark: B) -> &mut Self {
        benchmark.run(group_id, self);
        self
    }

    /// Declares several functions of one input. From Criterion 0.3.
    #[doc(hidden)]
    pub fn bench_functions<I>(&mut self, id: &str, funs: Vec<Fun<I, M>>, input: I) -> &mut Self
    where
        I: Debug + 'static,
    {
        let parameters = ParameterizedBenchmark {
            configuration: Configuration::default(),
            functions: (funs.into_iter())
                .map(|fun| NamedFunction {
                    name: fun.name,
                    body: fun.body,
                })
                .collect(),
            parameters: vec![input],
            throughput: None,
            has_parameters: true,
        };
        parameters.run(id, self);
        self
    }

    /// Declares a function of several inputs. From Criterion 0.3.
    #[doc(hidden)]
    pub fn bench_function_over_inputs<I, F>(&mut self, id: &str, f: F, inputs: I) -> &mut Self
    where
        I: IntoIterator,
        I::Item: Debug + 'static,
        F: FnMut(&mut Bencher<'_, M>, &I::Item) + 'static,
    {
        self.bench(id, ParameterizedBenchmark::new(id, f, inputs))
    }
}
