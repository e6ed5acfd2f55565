//! `Criterion`: settings, a filter and a measurement, and methods to declare benchmarks and groups.

use crate::{PlottingBackend, command_line, session};
use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use crate::bencher::Bencher;
use crate::command_line::{ResultFormat, VisitMode, command_line};
use crate::conditions::BenchmarkConditions;
use crate::configuration::{Configuration, setting_methods};
use crate::filter::BenchmarkFilter;
use crate::group::{BenchmarkGroup, BenchmarkId};
use crate::measurement::{Measurement, WallTime};
use crate::profiler::Profiler;

/// Declares benchmarks. Each target of [`criterion_group!`](crate::criterion_group) receives a `Criterion`.
///
/// # Examples
///
/// ```
/// use criterion::{Criterion, black_box};
///
/// fn numbers(c: &mut Criterion) {
///     c.bench_function("square", |b| b.iter(|| black_box(12_u64).pow(2)));
/// }
/// # numbers(&mut Criterion::default().configure_from_args());
/// ```
pub struct Criterion<M: Measurement = WallTime> {
    conditions: BenchmarkConditions<M>,
}

impl Default for Criterion {
    /// Creates a `Criterion` that overrides no setting of `cargo perfcheck` or `cargo bench`.
    fn default() -> Self {
        session::connect_if_needed();
        Self {
            conditions: BenchmarkConditions::default(),
        }
    }
}

#[expect(
    clippy::return_self_not_must_use,
    reason = "as in Criterion, whose users' lints are not to change"
)]
impl<M: Measurement> Criterion<M> {
    /// Replaces the measurement, which is wall time by default.
    pub fn with_measurement<M2: Measurement>(self, m: M2) -> Criterion<M2> {
        Criterion {
            conditions: self.conditions.with_measurement(m),
        }
    }

    /// Sets the profiler that `--profile-time` calls.
    pub fn with_profiler<P: Profiler + 'static>(mut self, p: P) -> Self {
        self.conditions.profiler = RefCell::new(Box::new(p));
        self
    }

    fn set(mut self, set: impl FnOnce(&mut Configuration)) -> Self {
        set(&mut self.conditions.configuration);
        self
    }

    setting_methods!(Self, Self);

    /// Accepted without effect: nothing is plotted.
    pub fn plotting_backend(self, _: PlottingBackend) -> Self {
        self
    }

    /// Accepted without effect: nothing is plotted.
    pub fn with_plots(self) -> Self {
        self
    }

    /// Accepted without effect: nothing is plotted anyway.
    pub fn without_plots(self) -> Self {
        self
    }

    /// Returns `false`: plots are not supported.
    #[doc(hidden)]
    pub fn can_plot(&self) -> bool {
        false
    }

    /// Accepted without effect: as in Criterion, the command line decides. See `cargo perfcheck --save-baseline`.
    pub fn save_baseline(self, _: String) -> Self {
        self
    }

    /// Accepted without effect: as in Criterion, the command line decides. See `cargo perfcheck --baseline`.
    pub fn retain_baseline(self, _: String, _strict: bool) -> Self {
        self
    }

    /// Selects benchmarks whose id contains a match of the regular expression `filter`.
    ///
    /// # Panics
    /// If `filter` is not a valid regular expression.
    #[track_caller]
    pub fn with_filter<S: Into<String>>(self, filter: S) -> Self {
        match BenchmarkFilter::expression(&filter.into()) {
            Ok(filter) => self.with_benchmark_filter(filter),
            Err(message) => panic!("{message}"),
        }
    }

    /// Selects the benchmarks that `filter` accepts.
    pub fn with_benchmark_filter(mut self, filter: BenchmarkFilter) -> Self {
        self.conditions.filter = filter;
        self
    }

    /// Accepted without effect: the table has no colors.
    pub fn with_output_color(self, _: bool) -> Self {
        self
    }

    /// Sets the directory for the files of profilers.
    #[doc(hidden)]
    pub fn output_directory(mut self, path: &Path) -> Self {
        self.conditions.output_directory = Some(path.to_owned());
        self
    }

    /// Has the same effect as `--profile-time`.
    #[doc(hidden)]
    pub fn profile_time(mut self, profile_time: Option<Duration>) -> Self {
        self.conditions.mode =
            profile_time.map_or(VisitMode::Bench(ResultFormat::Table), VisitMode::Profile);
        self
    }

    /// Accepted without effect: there is no summary at the end.
    #[doc(hidden)]
    pub fn final_summary(&self) {}

    /// Applies the flags of the command line. Has no effect if `cargo perfcheck` controls the process.
    pub fn configure_from_args(mut self) -> Self {
        if session::is_driven() {
            return self;
        }
        let line = command_line();
        command_line::delegate_to_cargo_perfcheck(line);
        self.conditions.mode = line.mode;
        self.conditions.filter = line.filter.clone();
        self.conditions.configuration = line
            .configuration
            .merged_over(&self.conditions.configuration);
        self.conditions.is_quick = line.is_quick;
        self
    }

    /// Creates a group of benchmarks whose ids begin with `group_name/`.
    ///
    /// # Panics
    /// If `group_name` is empty.
    #[track_caller]
    pub fn benchmark_group<S: Into<String>>(&mut self, group_name: S) -> BenchmarkGroup<'_, M> {
        let name = group_name.into();
        assert!(!name.is_empty(), "a group needs a name");
        BenchmarkGroup::new(&self.conditions, name)
    }

    /// Declares the benchmark `id`. `f` is called once for each sample, and must call one of the methods `iter*` of its [`Bencher`].
    #[track_caller]
    pub fn bench_function<F>(&mut self, id: &str, f: F) -> &mut Self
    where
        F: FnMut(&mut Bencher<'_, M>),
    {
        self.benchmark_group(id)
            .bench_function(BenchmarkId::group_only(), f);
        self
    }

    /// Declares the benchmark `id`, whose closure receives `input`.
    ///
    /// # Panics
    /// If `id` has no function name.
    #[track_caller]
    pub fn bench_with_input<F, I>(&mut self, id: BenchmarkId, input: &I, f: F) -> &mut Self
    where
        F: FnMut(&mut Bencher<'_, M>, &I),
        I: ?Sized,
    {
        let BenchmarkId {
            function: Some(function),
            parameter,
        } = id
        else {
            panic!(
                "`BenchmarkId::from_parameter` is for groups: outside of one, use `BenchmarkId::new`"
            );
        };
        let id = BenchmarkId {
            function: None,
            parameter,
        };
        self.benchmark_group(function)
            .bench_with_input(id, input, f);
        self
    }
}
