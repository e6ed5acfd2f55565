//! The bencher's methods for asynchronous routines, and the executors for their futures.
//!
//! Each sample is one call of `block_on`. The clock is read inside this call, so entering and leaving the executor is not timed, and set-up may use
//! the executor's context.

use std::cell::RefCell;
use std::convert::Infallible;
use std::fmt::Display;
use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::counting::Window;
use crate::driver::Measure;
use crate::latencies::LatencyRecorder;
use crate::timing::{BatchSize, Batches, record_operation};

/// A [`Bencher`](crate::Bencher) for routines that return futures, made by [`Bencher::to_async`](crate::Bencher::to_async).
///
/// A routine is an async closure (`async || read().await`) or a closure that returns a future (`|| read()`).
///
/// In the examples below, `executor()` stands for any [`AsyncExecutor`], such as a tokio runtime.
///
/// # Examples
///
/// ```
#[doc = include_str!("executor_for_examples.txt")]
/// # fn sums(suite: &mut perfcheck::Suite) {
/// async fn sum(count: u64) -> u64 {
///     (0..count).sum()
/// }
///
/// suite.bench("sum", |bencher| {
///     let mut bencher = bencher.to_async(executor());
///     bencher.iter(|| sum(1000));
/// });
/// # }
/// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("sums", sums)]), std::process::ExitCode::SUCCESS);
/// ```
pub struct AsyncBencher<'b, E> {
    bencher: &'b mut dyn Measure,
    executor: E,
}

impl<'b, E: AsyncExecutor> AsyncBencher<'b, E> {
    pub(crate) fn new(bencher: &'b mut dyn Measure, executor: E) -> Self {
        Self { bencher, executor }
    }

    /// Times `routine` until its future is ready, including the drop of the output.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("executor_for_examples.txt")]
    /// # fn sums(suite: &mut perfcheck::Suite) {
    /// use perfcheck::black_box;
    ///
    /// async fn sum(count: u64) -> u64 {
    ///     (0..count).sum()
    /// }
    ///
    /// suite.bench("sum", |bencher| bencher.to_async(executor()).iter(|| sum(black_box(1000))));
    /// # }
    /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("sums", sums)]), std::process::ExitCode::SUCCESS);
    /// ```
    #[track_caller]
    #[expect(
        clippy::iter_not_returning_iterator,
        reason = "the usual name in bench harnesses"
    )]
    pub fn iter<O>(&mut self, mut routine: impl AsyncFnMut() -> O) {
        let executor = &self.executor;
        self.bencher.measure(&mut |iterations| {
            executor.block_on(async {
                let window = Window::open();
                let start = Instant::now();
                for _ in 0..iterations {
                    black_box(routine().await);
                }
                let elapsed = start.elapsed();
                window.close();
                elapsed
            })
        });
    }

    /// Times `routine` but not the drop of its output. Outputs are kept until the end of a batch, which is a tenth of a sample.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("executor_for_examples.txt")]
    /// # fn filling(suite: &mut perfcheck::Suite) {
    /// suite.bench("fill", |bencher| {
    ///     bencher.to_async(executor()).iter_with_large_drop(async || vec![1_u8; 100_000]);
    /// });
    /// # }
    /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("filling", filling)]), std::process::ExitCode::SUCCESS);
    /// ```
    #[track_caller]
    pub fn iter_with_large_drop<O>(&mut self, mut routine: impl AsyncFnMut() -> O) {
        self.iter_batched(|| (), async |()| routine().await, BatchSize::SmallInput);
    }

    /// Times `routine` with inputs that `setup` makes and `routine` takes by value. `setup` and the drop of the output are not timed.
    ///
    /// If unsure about `size`, use [`BatchSize::SmallInput`].
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("executor_for_examples.txt")]
    /// # fn collecting(suite: &mut perfcheck::Suite) {
    /// use perfcheck::BatchSize;
    /// use std::collections::BTreeSet;
    ///
    /// suite.bench("collect", |bencher| {
    ///     let words = vec!["b", "a", "c"];
    ///     bencher.to_async(executor()).iter_batched(
    ///         || words.clone(),
    ///         async |words| words.into_iter().collect::<BTreeSet<_>>(),
    ///         BatchSize::SmallInput,
    ///     );
    /// });
    /// # }
    /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("collecting", collecting)]), std::process::ExitCode::SUCCESS);
    /// ```
    #[track_caller]
    pub fn iter_batched<I, O>(
        &mut self,
        mut setup: impl FnMut() -> I,
        mut routine: impl AsyncFnMut(I) -> O,
        size: BatchSize,
    ) {
        let executor = &self.executor;
        let mut batches = Batches::new(size);
        self.bencher.measure(&mut |iterations| {
            executor.block_on(async {
                batches.begin(iterations);
                let mut elapsed = Duration::ZERO;
                while let Some((inputs, outputs)) = batches.next(&mut setup) {
                    let window = Window::open();
                    let start = Instant::now();
                    for input in inputs.drain(..) {
                        outputs.push(routine(input).await);
                    }
                    elapsed += start.elapsed();
                    window.close();
                }
                elapsed
            })
        });
    }

    /// Times `routine` with inputs that `setup` makes and `routine` borrows mutably. `setup` and the drops of input and output are not timed.
    ///
    /// Use an async closure, `async |input| ...`: the future of a plain closure cannot borrow the input. If unsure about `size`, use
    /// [`BatchSize::SmallInput`].
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("executor_for_examples.txt")]
    /// # fn sorting(suite: &mut perfcheck::Suite) {
    /// use perfcheck::BatchSize;
    ///
    /// suite.bench("sort", |bencher| {
    ///     let data: Vec<u32> = (0..1000).rev().collect();
    ///     bencher.to_async(executor()).iter_batched_ref(
    ///         || data.clone(),
    ///         async |data| data.sort(),
    ///         BatchSize::SmallInput,
    ///     );
    /// });
    /// # }
    /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("sorting", sorting)]), std::process::ExitCode::SUCCESS);
    /// ```
    #[track_caller]
    pub fn iter_batched_ref<I, O>(
        &mut self,
        mut setup: impl FnMut() -> I,
        mut routine: impl AsyncFnMut(&mut I) -> O,
        size: BatchSize,
    ) {
        let executor = &self.executor;
        let mut batches = Batches::new(size);
        self.bencher.measure(&mut |iterations| {
            executor.block_on(async {
                batches.begin(iterations);
                let mut elapsed = Duration::ZERO;
                while let Some((inputs, outputs)) = batches.next(&mut setup) {
                    let window = Window::open();
                    let start = Instant::now();
                    for input in inputs.iter_mut() {
                        outputs.push(routine(input).await);
                    }
                    elapsed += start.elapsed();
                    window.close();
                }
                elapsed
            })
        });
    }

    /// Lets `routine` time itself: it must run as many iterations as its argument says, and its future must return the time that they took.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("executor_for_examples.txt")]
    /// # fn squares(suite: &mut perfcheck::Suite) {
    /// use perfcheck::black_box;
    /// use std::time::Instant;
    ///
    /// async fn square(number: u64) -> u64 {
    ///     number.wrapping_mul(number)
    /// }
    ///
    /// suite.bench("square", |bencher| {
    ///     bencher.to_async(executor()).iter_custom(async |iterations| {
    ///         // Set-up for the sample, which is not timed, belongs here.
    ///         let start = Instant::now();
    ///         for number in 0..iterations {
    ///             black_box(square(number).await);
    ///         }
    ///         start.elapsed()
    ///     });
    /// });
    /// # }
    /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("squares", squares)]), std::process::ExitCode::SUCCESS);
    /// ```
    #[track_caller]
    pub fn iter_custom(&mut self, mut routine: impl AsyncFnMut(u64) -> Duration) {
        let executor = &self.executor;
        self.bencher.measure(&mut |iterations| {
            executor.block_on(async {
                let window = Window::open();
                let elapsed = routine(iterations).await;
                window.close();
                elapsed
            })
        });
    }

    /// Times each call of `routine` separately, until its future is ready. See [`Bencher::iter_latency`](crate::Bencher::iter_latency).
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("executor_for_examples.txt")]
    /// # fn requests(suite: &mut perfcheck::Suite) {
    /// async fn answer(request: &str) -> String {
    ///     request.to_uppercase()
    /// }
    ///
    /// suite.bench("answer", |bencher| bencher.to_async(executor()).iter_latency(|| answer("hello")));
    /// # }
    /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("requests", requests)]), std::process::ExitCode::SUCCESS);
    /// ```
    #[track_caller]
    pub fn iter_latency<O>(&mut self, mut routine: impl AsyncFnMut() -> O) {
        self.try_iter_latency(async move || Ok::<O, Infallible>(routine().await));
    }

    /// Like [`iter_latency`](Self::iter_latency), for operations that may fail. See [`Bencher::try_iter_latency`](crate::Bencher::try_iter_latency).
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("executor_for_examples.txt")]
    /// # fn files(suite: &mut perfcheck::Suite) {
    /// async fn size(path: &str) -> std::io::Result<u64> {
    ///     Ok(std::fs::metadata(path)?.len())
    /// }
    ///
    /// suite.bench("size", |bencher| bencher.to_async(executor()).try_iter_latency(|| size(".")));
    /// # }
    /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("files", files)]), std::process::ExitCode::SUCCESS);
    /// ```
    #[track_caller]
    pub fn try_iter_latency<O, F: Display>(
        &mut self,
        mut routine: impl AsyncFnMut() -> Result<O, F>,
    ) {
        let executor = &self.executor;
        let latencies = RefCell::new(LatencyRecorder::new());
        self.bencher.measure_noting(
            &mut |iterations| {
                executor.block_on(async {
                    let mut elapsed = Duration::ZERO;
                    for _ in 0..iterations {
                        let window = Window::open();
                        let start = Instant::now();
                        let result = black_box(routine().await);
                        let end = Instant::now();
                        window.close();
                        elapsed += record_operation(&latencies, start, end, &result);
                    }
                    elapsed
                })
            },
            Some(&latencies),
        );
    }
}

/// An executor, which runs a future to completion on the calling thread. With the feature `tokio`, tokio's `Runtime` and `Handle` implement this
/// trait.
///
/// # Examples
///
/// ```
/// use std::pin::pin;
/// use std::task::{Context, Poll, Waker};
///
/// /// For futures that are never pending for long.
/// struct Spin;
///
/// impl perfcheck::AsyncExecutor for Spin {
///     fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
///         let mut future = pin!(future);
///         let mut context = Context::from_waker(Waker::noop());
///         loop {
///             if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
///                 return output;
///             }
///         }
///     }
/// }
///
/// fn ready(suite: &mut perfcheck::Suite) {
///     suite.bench("ready", |b| b.to_async(Spin).iter(|| async { 1 + 1 }));
/// }
/// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("ready", ready)]), std::process::ExitCode::SUCCESS);
/// ```
pub trait AsyncExecutor {
    /// Runs `future` to completion and returns its output.
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T;
}

impl<E: AsyncExecutor> AsyncExecutor for &E {
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        (**self).block_on(future)
    }
}

#[cfg(feature = "tokio")]
impl AsyncExecutor for tokio::runtime::Runtime {
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.block_on(future)
    }
}

#[cfg(feature = "tokio")]
impl AsyncExecutor for tokio::runtime::Handle {
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.block_on(future)
    }
}

#[cfg(all(test, feature = "tokio"))]
mod tests {
    use super::*;

    #[test]
    fn a_tokio_runtime_its_reference_and_its_handle_are_executors() {
        fn answer(executor: impl AsyncExecutor) -> u32 {
            executor.block_on(async {
                tokio::task::yield_now().await;
                42
            })
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        assert_eq!(answer(&runtime), 42);
        assert_eq!(answer(runtime.handle().clone()), 42);
        assert_eq!(answer(runtime), 42);
    }
}

#[cfg(test)]
mod executor_tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    /// An executor that counts the calls of `block_on`.
    #[derive(Default)]
    struct Counting(std::cell::Cell<u32>);

    impl AsyncExecutor for Counting {
        fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
            self.0.set(self.0.get() + 1);
            let mut future = pin!(future);
            let mut context = Context::from_waker(Waker::noop());
            loop {
                if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                    return output;
                }
            }
        }
    }

    /// A bencher that takes two samples of four iterations.
    struct TwoOfFour;

    impl Measure for TwoOfFour {
        fn measure_noting(
            &mut self,
            sampler: &mut crate::sampler::Sampler<'_>,
            _: Option<&RefCell<LatencyRecorder>>,
        ) {
            sampler(4);
            sampler(4);
        }
    }

    #[test]
    fn each_sample_enters_the_executor_once() {
        let executor = Counting::default();
        let mut count = 0;
        AsyncBencher::new(&mut TwoOfFour, &executor).iter(async || count += 1);
        assert_eq!((count, executor.0.get()), (8, 2));
        AsyncBencher::new(&mut TwoOfFour, &executor).iter_batched(
            || 1,
            async |one| count += one,
            BatchSize::PerIteration,
        );
        assert_eq!((count, executor.0.get()), (16, 4));
    }

    #[test]
    fn a_routine_may_borrow_its_input_or_be_a_plain_closure() {
        let executor = Counting::default();
        let mut total = 0;
        AsyncBencher::new(&mut TwoOfFour, &executor).iter_batched_ref(
            || vec![1, 2],
            async |input| {
                input.push(3);
                total += input.iter().sum::<i32>();
            },
            BatchSize::SmallInput,
        );
        assert_eq!(total, 48);
        AsyncBencher::new(&mut TwoOfFour, &executor).iter(|| async { 1 + 1 });
        AsyncBencher::new(&mut TwoOfFour, &executor).iter_with_large_drop(|| async { vec![0] });
        AsyncBencher::new(&mut TwoOfFour, &executor)
            .iter_custom(async |iterations| Duration::from_nanos(iterations));
    }
}
