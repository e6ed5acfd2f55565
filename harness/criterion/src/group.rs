//! Groups of benchmarks, the declaration of each benchmark, and benchmark ids: `group[/function][/parameter]`.

use std::collections::HashSet;
use std::fmt::Display;

use crate::bencher::Bencher;
use crate::conditions::{BenchmarkConditions, Profiling, Visit};
use crate::configuration::PlotConfiguration;
use crate::configuration::{Configuration, SamplingMode, Throughput, setting_methods};
use crate::measurement::{Measurement, StoredScale};
use crate::{output, session};
use perfcheck::sequence::{escape, print_note};

/// Benchmarks whose ids begin with the same name, created by [`Criterion::benchmark_group`](crate::Criterion::benchmark_group).
///
/// # Examples
///
/// ```
/// use criterion::{BenchmarkId, Criterion, Throughput};
///
/// fn sums(c: &mut Criterion) {
///     let mut group = c.benchmark_group("sum");
///     for count in [10, 1000] {
///         group.throughput(Throughput::Elements(count));
///         // The ids are sum/range/10 and sum/range/1000.
///         group.bench_with_input(BenchmarkId::new("range", count), &count, |b, count| {
///             b.iter(|| (0..*count).sum::<u64>());
///         });
///     }
///     group.finish();
/// }
/// # sums(&mut Criterion::default().configure_from_args());
/// ```
pub struct BenchmarkGroup<'a, M: Measurement> {
    conditions: &'a BenchmarkConditions<M>,
    name: String,
    ids: HashSet<BenchmarkId>,
    has_wanted: bool,
    configuration: Configuration,
    throughput: Option<Throughput>,
}

impl<'a, M: Measurement> BenchmarkGroup<'a, M> {
    pub(crate) fn new(conditions: &'a BenchmarkConditions<M>, name: String) -> Self {
        Self {
            conditions,
            name,
            ids: HashSet::new(),
            has_wanted: false,
            configuration: Configuration::default(),
            throughput: None,
        }
    }

    pub(crate) fn set(&mut self, set: impl FnOnce(&mut Configuration)) -> &mut Self {
        set(&mut self.configuration);
        self
    }

    setting_methods!(&mut Self, &mut Self);

    /// Accepted without effect: nothing is plotted.
    pub fn plot_config(&mut self, _: PlotConfiguration) -> &mut Self {
        self
    }

    /// Sets the amount of work that one iteration of the following benchmarks does.
    pub fn throughput(&mut self, throughput: Throughput) -> &mut Self {
        self.throughput = Some(throughput);
        self
    }

    /// Sets how iterations are distributed over samples for the following benchmarks.
    pub fn sampling_mode(&mut self, new_mode: SamplingMode) -> &mut Self {
        self.set(|configuration| configuration.sampling_mode = Some(new_mode.into()))
    }

    /// Declares a benchmark. `f` is called once for each sample, and must call one of the methods `iter*` of its [`Bencher`].
    #[track_caller]
    pub fn bench_function<ID: IntoBenchmarkId, F>(&mut self, id: ID, mut f: F) -> &mut Self
    where
        F: FnMut(&mut Bencher<'_, M>),
    {
        self.declare(id.into_benchmark_id(), &mut f);
        self
    }

    /// Declares a benchmark whose closure receives `input`.
    #[track_caller]
    pub fn bench_with_input<ID: IntoBenchmarkId, F, I>(
        &mut self,
        id: ID,
        input: &I,
        mut f: F,
    ) -> &mut Self
    where
        F: FnMut(&mut Bencher<'_, M>, &I),
        I: ?Sized,
    {
        self.declare(id.into_benchmark_id(), &mut |bencher| f(bencher, input));
        self
    }

    #[track_caller]
    fn declare(&mut self, id: BenchmarkId, closure: &mut dyn FnMut(&mut Bencher<'_, M>)) {
        let full_id = id.full_id(&self.name);
        assert!(
            self.ids.insert(id),
            "two benchmarks of a group have the id `{full_id}`"
        );
        let conditions = self.conditions;
        let throughput = self.throughput.as_ref();
        let measurement = &conditions.measurement;
        let formatter = measurement.formatter();
        let scale = StoredScale::from_formatter(formatter);
        let show = |stored: f64| {
            let value = scale.restore(stored);
            let rate = throughput.map(|of| formatter.format_throughput(of, value));
            let value = formatter.format_value(value);
            (
                value.trim().to_owned(),
                rate.unwrap_or_default().trim().to_owned(),
            )
        };
        let settings = conditions.settings(&self.configuration);
        self.has_wanted |= session::visit_benchmark(Visit {
            declaration: settings.declare(full_id, throughput, scale.unit.clone()),
            mode: conditions.mode,
            accepts: &|id| conditions.filter.accepts(id, &escape(id)),
            sampler: &mut |iterations| {
                scale.to_stored(Bencher::take_sample(measurement, iterations, &mut *closure))
            },
            show: &show,
            profile: &|moment, id| call_profiler(conditions, moment, id),
        });
    }

    /// Ends the group. Dropping it has the same effect.
    pub fn finish(self) {}
}

fn call_profiler<M>(conditions: &BenchmarkConditions<M>, moment: Profiling, id: &str) {
    let directory = conditions.profile_directory(id);
    let mut profiler = conditions.profiler.borrow_mut();
    match moment {
        Profiling::Starts => {
            if let Err(error) = std::fs::create_dir_all(&directory) {
                print_note(&format!(
                    "warning: cannot make {}: {error}",
                    directory.display()
                ));
            }
            profiler.start_profiling(id, &directory);
        }
        Profiling::Stops => profiler.stop_profiling(id, &directory),
    }
}

impl<M: Measurement> Drop for BenchmarkGroup<'_, M> {
    fn drop(&mut self) {
        if self.has_wanted && !std::thread::panicking() && !session::is_driven() {
            output::print_group_end(self.conditions.mode);
        }
    }
}

/// The id of a benchmark within its group.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct BenchmarkId {
    pub(crate) function: Option<String>,
    pub(crate) parameter: Option<String>,
}

impl BenchmarkId {
    /// Creates the id `function/parameter`.
    pub fn new<S: Into<String>, P: Display>(function_name: S, parameter: P) -> Self {
        Self {
            function: Some(function_name.into()),
            parameter: Some(parameter.to_string()),
        }
    }

    /// Creates the id `parameter`.
    pub fn from_parameter<P: Display>(parameter: P) -> Self {
        Self {
            function: None,
            parameter: Some(parameter.to_string()),
        }
    }

    /// Creates an empty id: the group's name is the whole id.
    pub(crate) fn group_only() -> Self {
        Self {
            function: None,
            parameter: None,
        }
    }

    /// Returns the full id: `group`, followed by the function and the parameter.
    pub(crate) fn full_id(&self, group: &str) -> String {
        let mut id = group.to_owned();
        for part in [&self.function, &self.parameter].into_iter().flatten() {
            id.push('/');
            id.push_str(part);
        }
        id
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::BenchmarkId {}
    impl<S: Into<String>> Sealed for S {}
}

/// Values that a group accepts as an id: a [`BenchmarkId`], or the name of a function.
pub trait IntoBenchmarkId: sealed::Sealed {
    /// Converts the value into an id.
    fn into_benchmark_id(self) -> BenchmarkId;
}

impl IntoBenchmarkId for BenchmarkId {
    fn into_benchmark_id(self) -> BenchmarkId {
        self
    }
}

impl<S: Into<String>> IntoBenchmarkId for S {
    fn into_benchmark_id(self) -> BenchmarkId {
        BenchmarkId {
            function: Some(self.into()),
            parameter: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_the_parts_that_there_are() {
        assert_eq!(BenchmarkId::new("f", 5).full_id("g"), "g/f/5");
        assert_eq!(BenchmarkId::from_parameter(5).full_id("g"), "g/5");
        assert_eq!(BenchmarkId::group_only().full_id("g"), "g");
        assert_eq!("f".into_benchmark_id().full_id("g"), "g/f");
        assert_eq!(String::from("f").into_benchmark_id().full_id("g"), "g/f");
    }
}
