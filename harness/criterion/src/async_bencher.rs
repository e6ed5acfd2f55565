//! The bencher's methods for routines that return futures. A sample is one call of `block_on`, and time is taken inside the call. So entering and
//! leaving the executor is not measured, and set-up may use the executor's context.

use std::hint::black_box;

use perfcheck::sequence::Window;

use crate::async_executor::AsyncExecutor;
use crate::measurement::{Measurement, WallTime};
use crate::sample::{BatchSize, TimedSample};

/// A [`Bencher`](crate::Bencher) for routines that return futures, created by [`Bencher::to_async`](crate::Bencher::to_async).
///
/// # Examples
///
/// ```
/// # use std::task::{Context, Poll, Waker};
/// # struct Spin;
/// # impl criterion::async_executor::AsyncExecutor for Spin {
/// #     fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
/// #         let mut future = std::pin::pin!(future);
/// #         let mut context = Context::from_waker(Waker::noop());
/// #         loop {
/// #             if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
/// #                 return output;
/// #             }
/// #         }
/// #     }
/// # }
/// # fn executor() -> Spin {
/// #     Spin
/// # }
/// use criterion::Criterion;
///
/// async fn sum(count: u64) -> u64 {
///     (0..count).sum()
/// }
///
/// fn sums(c: &mut Criterion) {
///     // With the feature `async_tokio`, the executor may be a tokio runtime.
///     c.bench_function("sum", |b| b.to_async(executor()).iter(|| sum(1000)));
/// }
/// # sums(&mut Criterion::default().configure_from_args());
/// ```
pub struct AsyncBencher<'a, 'b, A: AsyncExecutor, M: Measurement = WallTime> {
    sample: &'b mut TimedSample<'a, M>,
    runner: A,
}

impl<'a, 'b, A: AsyncExecutor, M: Measurement> AsyncBencher<'a, 'b, A, M> {
    pub(crate) fn new(sample: &'b mut TimedSample<'a, M>, runner: A) -> Self {
        Self { sample, runner }
    }

    /// Measures `routine` until its future is ready, including the drop of its output.
    #[inline(never)]
    #[expect(clippy::iter_not_returning_iterator, reason = "Criterion's name")]
    pub fn iter<O, R, F>(&mut self, mut routine: R)
    where
        R: FnMut() -> F,
        F: Future<Output = O>,
    {
        let (iterations, measurement, value) = self.sample.parts();
        *value = Some(self.runner.block_on(async {
            let counted = Window::open();
            let start = measurement.start();
            for _ in 0..iterations {
                black_box(routine().await);
            }
            let value = measurement.end(start);
            counted.close();
            value
        }));
    }

    /// Lets `routine` measure itself. It must run as many iterations as its argument says, and its future must return the measured value.
    pub fn iter_custom<R, F>(&mut self, mut routine: R)
    where
        R: FnMut(u64) -> F,
        F: Future<Output = M::Value>,
    {
        let (iterations, _, value) = self.sample.parts();
        // Call `routine` inside, because it may need the executor's context before it returns a future.
        *value = Some(self.runner.block_on(async {
            let counted = Window::open();
            let value = routine(iterations).await;
            counted.close();
            value
        }));
    }

    /// Measures `routine` but not the drop of its output.
    pub fn iter_with_large_drop<O, R, F>(&mut self, mut routine: R)
    where
        R: FnMut() -> F,
        F: Future<Output = O>,
    {
        self.iter_batched(|| (), |()| routine(), BatchSize::SmallInput);
    }

    /// Measures `routine` with inputs that `setup` makes. `setup` and the drop of outputs are not measured.
    #[inline(never)]
    pub fn iter_batched<I, O, S, R, F>(&mut self, mut setup: S, mut routine: R, size: BatchSize)
    where
        S: FnMut() -> I,
        R: FnMut(I) -> F,
        F: Future<Output = O>,
    {
        let (iterations, measurement, value) = self.sample.parts();
        *value = Some(self.runner.block_on(async {
            let mut batches = size.to_batches(iterations);
            let mut sum = measurement.zero();
            while let Some((inputs, outputs)) = batches.next(&mut setup) {
                let counted = Window::open();
                let start = measurement.start();
                for input in inputs.drain(..) {
                    outputs.push(routine(input).await);
                }
                let value = measurement.end(start);
                counted.close();
                sum = measurement.add(&sum, &value);
            }
            sum
        }));
    }

    /// Measures `routine` with references to inputs that `setup` makes. `setup` and the drop of inputs and outputs are not measured.
    #[inline(never)]
    pub fn iter_batched_ref<I, O, S, R, F>(&mut self, mut setup: S, mut routine: R, size: BatchSize)
    where
        S: FnMut() -> I,
        R: FnMut(&mut I) -> F,
        F: Future<Output = O>,
    {
        let (iterations, measurement, value) = self.sample.parts();
        *value = Some(self.runner.block_on(async {
            let mut batches = size.to_batches(iterations);
            let mut sum = measurement.zero();
            while let Some((inputs, outputs)) = batches.next(&mut setup) {
                let counted = Window::open();
                let start = measurement.start();
                for input in inputs.iter_mut() {
                    outputs.push(routine(input).await);
                }
                let value = measurement.end(start);
                counted.close();
                sum = measurement.add(&sum, &value);
            }
            sum
        }));
    }

    /// Like [`iter_batched`](Self::iter_batched), but makes one input at a time.
    #[doc(hidden)]
    pub fn iter_with_setup<I, O, S, R, F>(&mut self, setup: S, routine: R)
    where
        S: FnMut() -> I,
        R: FnMut(I) -> F,
        F: Future<Output = O>,
    {
        self.iter_batched(setup, routine, BatchSize::PerIteration);
    }

    /// Like [`iter_batched`](Self::iter_batched), but makes all inputs of a sample at once.
    #[doc(hidden)]
    pub fn iter_with_large_setup<I, O, S, R, F>(&mut self, setup: S, routine: R)
    where
        S: FnMut() -> I,
        R: FnMut(I) -> F,
        F: Future<Output = O>,
    {
        self.iter_batched(setup, routine, BatchSize::NumBatches(1));
    }
}
