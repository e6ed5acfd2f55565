//! [`Bencher`], the argument of a benchmark's closure. Each method `iter*` makes a sampler and hands it to the driver, which asks for samples until
//! it has enough.

use std::cell::RefCell;
use std::convert::Infallible;
use std::fmt::Display;
use std::time::Duration;

use crate::async_bencher::{AsyncBencher, AsyncExecutor};
use crate::counting::Window;
use crate::driver::{Measure, SampleDriver};
use crate::latencies::LatencyRecorder;
use crate::sampler::Sampler;
use crate::settings::Throughput;
use crate::timing::{self, BatchSize, Batches};

/// The state of a bencher: whether its closure has already measured or skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
enum BencherState {
    Nothing,
    Measuring,
    Measured,
    Skipped(String),
}

/// The outcome of a benchmark that did not panic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RoutineEnding {
    /// The closure measured its routine.
    Measured,
    /// The closure called `skip` with this reason.
    Skipped(String),
    /// The closure did not use its bencher as required. The text says what was wrong.
    Misused(&'static str),
}

/// Measures the routine of one benchmark. The benchmark's closure calls exactly one of the methods `iter*`, or [`skip`](Self::skip).
///
/// Code before that call is set-up: it runs once each time the benchmark starts, and is never timed.
///
/// Start with [`iter`](Self::iter). Use [`iter_batched_ref`](Self::iter_batched_ref) or [`iter_batched`](Self::iter_batched) if each iteration
/// needs a fresh input, and [`iter_latency`](Self::iter_latency) if percentiles matter more than the mean.
///
/// # Examples
///
/// ```
/// use perfcheck::{Suite, black_box};
///
/// fn parsing(suite: &mut Suite) {
///     suite.bench("parse", |bencher| {
///         let text = String::from("0.125"); // set-up: never timed
///         bencher.iter(|| black_box(&text).parse::<f64>());
///     });
/// }
/// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("parsing", parsing)]), std::process::ExitCode::SUCCESS);
/// ```
pub struct Bencher<'d> {
    driver: &'d mut dyn SampleDriver,
    throughput: Throughput,
    used: BencherState,
}

impl<'d> Bencher<'d> {
    /// Runs a benchmark's closure with a bencher that hands samplers to `driver`.
    pub(crate) fn run(
        body: &mut dyn FnMut(&mut Bencher<'_>),
        throughput: Throughput,
        driver: &'d mut dyn SampleDriver,
    ) -> RoutineEnding {
        let mut bencher = Self {
            driver,
            throughput,
            used: BencherState::Nothing,
        };
        body(&mut bencher);
        match bencher.used {
            BencherState::Measured => RoutineEnding::Measured,
            BencherState::Skipped(reason) => RoutineEnding::Skipped(reason),
            BencherState::Nothing => RoutineEnding::Misused(
                "the benchmark's closure measured nothing: it must call one of the methods `iter*`, or `skip`",
            ),
            BencherState::Measuring => RoutineEnding::Misused(
                "the benchmark's closure caught the panic of its own routine",
            ),
        }
    }

    /// Times `routine`, including the drop of its output. The output passes through [`black_box`](crate::black_box).
    ///
    /// # Examples
    ///
    /// ```
    /// # fn sums(suite: &mut perfcheck::Suite) {
    /// use perfcheck::black_box;
    /// suite.bench("sum", |bencher| bencher.iter(|| (0..black_box(1000_u64)).sum::<u64>()));
    /// # }
    /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("sums", sums)]), std::process::ExitCode::SUCCESS);
    /// ```
    #[track_caller]
    #[expect(
        clippy::iter_not_returning_iterator,
        reason = "the usual name in bench harnesses"
    )]
    pub fn iter<O>(&mut self, mut routine: impl FnMut() -> O) {
        self.measure(&mut |iterations| timing::time_loop(iterations, &mut routine));
    }

    /// Times `routine` but not the drop of its output. Outputs are kept until the end of a batch, which is a tenth of a sample.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn filling(suite: &mut perfcheck::Suite) {
    /// suite.bench("fill", |bencher| bencher.iter_with_large_drop(|| vec![1_u8; 100_000]));
    /// # }
    /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("filling", filling)]), std::process::ExitCode::SUCCESS);
    /// ```
    #[track_caller]
    pub fn iter_with_large_drop<O>(&mut self, mut routine: impl FnMut() -> O) {
        self.iter_batched(|| (), |()| routine(), BatchSize::SmallInput);
    }

    /// Times `routine` with inputs that `setup` makes and `routine` takes by value. `setup` and the drop of the output are not timed.
    ///
    /// If unsure about `size`, use [`BatchSize::SmallInput`].
    ///
    /// # Examples
    ///
    /// ```
    /// # fn collecting(suite: &mut perfcheck::Suite) {
    /// use perfcheck::BatchSize;
    /// use std::collections::BTreeSet;
    ///
    /// suite.bench("collect", |bencher| {
    ///     let words = vec!["b", "a", "c"];
    ///     let collect = |words: Vec<&'static str>| words.into_iter().collect::<BTreeSet<_>>();
    ///     bencher.iter_batched(|| words.clone(), collect, BatchSize::SmallInput);
    /// });
    /// # }
    /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("collecting", collecting)]), std::process::ExitCode::SUCCESS);
    /// ```
    #[track_caller]
    pub fn iter_batched<I, O>(
        &mut self,
        mut setup: impl FnMut() -> I,
        mut routine: impl FnMut(I) -> O,
        size: BatchSize,
    ) {
        let mut batches = Batches::new(size);
        self.measure(&mut |iterations| {
            timing::time_batches(&mut batches, iterations, &mut setup, &mut routine)
        });
    }

    /// Times `routine` with inputs that `setup` makes and `routine` borrows mutably. `setup` and the drops of input and output are not timed.
    ///
    /// If unsure about `size`, use [`BatchSize::SmallInput`].
    ///
    /// # Examples
    ///
    /// ```
    /// # fn sorting(suite: &mut perfcheck::Suite) {
    /// use perfcheck::BatchSize;
    ///
    /// suite.bench("sort", |bencher| {
    ///     let data: Vec<u32> = (0..1000).rev().collect();
    ///     bencher.iter_batched_ref(|| data.clone(), |data| data.sort(), BatchSize::SmallInput);
    /// });
    /// # }
    /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("sorting", sorting)]), std::process::ExitCode::SUCCESS);
    /// ```
    #[track_caller]
    pub fn iter_batched_ref<I, O>(
        &mut self,
        mut setup: impl FnMut() -> I,
        mut routine: impl FnMut(&mut I) -> O,
        size: BatchSize,
    ) {
        let mut batches = Batches::new(size);
        self.measure(&mut |iterations| {
            timing::time_batches_ref(&mut batches, iterations, &mut setup, &mut routine)
        });
    }

    /// Lets `routine` time itself: it must run as many iterations as its argument says, and return the time that they took. Allocations are counted
    /// during the whole call.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn messages(suite: &mut perfcheck::Suite) {
    /// use std::sync::mpsc;
    /// use std::time::Instant;
    ///
    /// suite.bench("send", |bencher| {
    ///     bencher.iter_custom(|iterations| {
    ///         let (sender, _receiver) = mpsc::channel(); // made once for each sample, not timed
    ///         let start = Instant::now();
    ///         for number in 0..iterations {
    ///             sender.send(number).expect("the receiver is alive");
    ///         }
    ///         start.elapsed()
    ///     });
    /// });
    /// # }
    /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("messages", messages)]), std::process::ExitCode::SUCCESS);
    /// ```
    #[track_caller]
    pub fn iter_custom(&mut self, mut routine: impl FnMut(u64) -> Duration) {
        self.measure(&mut |iterations| {
            let window = Window::open();
            let elapsed = routine(iterations);
            window.close();
            elapsed
        });
    }

    /// Times each call of `routine` (an *operation*) separately. Besides the mean, this gives percentiles, the longest time, and the percentiles of
    /// each second. The drop of the output is not timed.
    ///
    /// Every recorded time includes the cost of about one clock reading (20 to 30 ns on most machines), so use this method for operations that take a
    /// microsecond or more. By default, recorded times are at most 1/1024 (0.1 %) too low. Operations run in a closed loop: the next one starts only
    /// when the last one has ended, so time spent waiting behind a slow operation is not measured.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn threads(suite: &mut perfcheck::Suite) {
    /// suite.bench("spawn", |bencher| bencher.iter_latency(|| std::thread::spawn(|| ()).join()));
    /// # }
    /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("threads", threads)]), std::process::ExitCode::SUCCESS);
    /// ```
    #[track_caller]
    pub fn iter_latency<O>(&mut self, mut routine: impl FnMut() -> O) {
        self.try_iter_latency(move || Ok::<O, Infallible>(routine()));
    }

    /// Like [`iter_latency`](Self::iter_latency), for operations that may fail. Failed operations are counted, the first error messages are kept,
    /// and the percentiles cover only successful operations.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn files(suite: &mut perfcheck::Suite) {
    /// suite.bench("metadata", |bencher| bencher.try_iter_latency(|| std::fs::metadata(".")));
    /// # }
    /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("files", files)]), std::process::ExitCode::SUCCESS);
    /// ```
    #[track_caller]
    pub fn try_iter_latency<O, E: Display>(&mut self, mut routine: impl FnMut() -> Result<O, E>) {
        let latencies = RefCell::new(LatencyRecorder::new());
        self.measure_noting(
            &mut |iterations| timing::time_operations(iterations, &latencies, &mut routine),
            Some(&latencies),
        );
    }

    /// Returns a bencher that has the same methods for routines that return futures. `executor` runs the futures.
    ///
    /// In the example, `executor()` stands for any [`AsyncExecutor`], such as a tokio runtime.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("executor_for_examples.txt")]
    /// # fn sums(suite: &mut perfcheck::Suite) {
    /// suite.bench("sum", |bencher| {
    ///     bencher.to_async(executor()).iter(async || (0..1000_u64).sum::<u64>());
    /// });
    /// # }
    /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("sums", sums)]), std::process::ExitCode::SUCCESS);
    /// ```
    pub fn to_async<E: AsyncExecutor>(&mut self, executor: E) -> AsyncBencher<'_, E> {
        AsyncBencher::new(self, executor)
    }

    /// Skips the benchmark and reports `reason`, e.g. that a device or a data set is missing.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn cores(suite: &mut perfcheck::Suite) {
    /// suite.bench("parallel", |bencher| {
    ///     if std::thread::available_parallelism().is_ok_and(|count| count.get() < 2) {
    ///         return bencher.skip("needs two cores");
    ///     }
    ///     bencher.iter(|| std::thread::scope(|scope| scope.spawn(|| 1 + 1).join().ok()));
    /// });
    /// # }
    /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("cores", cores)]), std::process::ExitCode::SUCCESS);
    /// ```
    ///
    /// # Panics
    /// If the benchmark was already measured or skipped.
    #[track_caller]
    pub fn skip(&mut self, reason: impl Into<String>) {
        self.assert_unused("skip");
        self.used = BencherState::Skipped(reason.into());
    }

    /// Sets the amount of work that one iteration does; this replaces the setting of the group or suite. Use this method if the amount depends on the
    /// input, and call it before `iter*`.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn sums(suite: &mut perfcheck::Suite) {
    /// use perfcheck::Throughput;
    ///
    /// suite.bench_inputs("sum", [10, 1000], |bencher, count| {
    ///     let data: Vec<u64> = (0..count).collect();
    ///     bencher.throughput(Throughput::elements(count));
    ///     bencher.iter(|| data.iter().sum::<u64>());
    /// });
    /// # }
    /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("sums", sums)]), std::process::ExitCode::SUCCESS);
    /// ```
    ///
    /// # Panics
    /// If the benchmark was already measured or skipped.
    #[track_caller]
    pub fn throughput(&mut self, throughput: Throughput) -> &mut Self {
        self.assert_unused("throughput");
        self.throughput = throughput;
        self
    }

    #[track_caller]
    fn assert_unused(&self, method: &str) {
        assert!(
            self.used == BencherState::Nothing,
            "`{method}` was called after `iter*` or `skip`: a benchmark's closure calls exactly one of these, and calls it last"
        );
    }
}

impl Measure for Bencher<'_> {
    #[track_caller]
    fn measure_noting(
        &mut self,
        sampler: &mut Sampler<'_>,
        latencies: Option<&RefCell<LatencyRecorder>>,
    ) {
        self.assert_unused("iter*");
        self.used = BencherState::Measuring;
        self.driver.drive(self.throughput, sampler, latencies);
        self.used = BencherState::Measured;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// A driver that takes one sample of three iterations.
    #[derive(Default)]
    struct Three(Option<Throughput>);

    impl SampleDriver for Three {
        fn drive(
            &mut self,
            throughput: Throughput,
            sampler: &mut Sampler<'_>,
            _: Option<&RefCell<LatencyRecorder>>,
        ) {
            self.0 = Some(throughput);
            sampler(3);
        }
    }

    fn run(mut body: impl FnMut(&mut Bencher<'_>)) -> RoutineEnding {
        Bencher::run(&mut body, Throughput::default(), &mut Three::default())
    }

    #[test]
    fn every_way_to_iterate_runs_the_routine_as_often_as_asked() {
        let mut count = 0;
        let outcome = run(|b| b.iter(|| count += 1));
        assert_eq!((outcome, count), (RoutineEnding::Measured, 3));
        run(|b| b.iter_with_large_drop(|| count += 1));
        run(|b| b.iter_batched(|| 1, |one| count += one, BatchSize::SmallInput));
        run(|b| b.iter_batched_ref(|| 1, |one| count += *one, BatchSize::PerIteration));
        run(|b| {
            b.iter_custom(|iterations| {
                count += iterations;
                Duration::ZERO
            });
        });
        run(|b| b.iter_latency(|| count += 1));
        run(|b| {
            b.try_iter_latency(|| {
                count += 1;
                Err::<(), _>("no")
            });
        });
        assert_eq!(count, 21);
    }

    #[test]
    fn a_closure_that_measures_nothing_is_misused() {
        assert!(matches!(run(|_| ()), RoutineEnding::Misused(_)));
    }

    #[test]
    fn a_second_measurement_panics_with_an_explanation() {
        let twice = catch_unwind(|| {
            run(|b| {
                b.iter(|| ());
                b.iter(|| ());
            })
        });
        let message = *twice.unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains("exactly one"), "{message}");
    }

    #[test]
    fn a_closure_that_hides_its_panic_is_misused() {
        let outcome = run(|b| {
            let hidden = catch_unwind(AssertUnwindSafe(|| b.iter(|| panic!("hidden"))));
            assert!(hidden.is_err());
        });
        assert!(matches!(outcome, RoutineEnding::Misused(_)));
    }

    #[test]
    fn skip_keeps_its_reason() {
        assert_eq!(
            run(|b| b.skip("no disk")),
            RoutineEnding::Skipped("no disk".into())
        );
    }

    #[test]
    fn the_throughput_of_the_input_replaces_that_of_the_group() {
        let mut driver = Three::default();
        let mut body = |b: &mut Bencher<'_>| {
            b.throughput(Throughput::elements(9)).iter(|| ());
        };
        Bencher::run(&mut body, Throughput::bytes(1), &mut driver);
        assert_eq!(driver.0, Some(Throughput::elements(9)));
    }
}
