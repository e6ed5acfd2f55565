//! The bencher's methods for routines that return futures. A sample is one `block_on`; it is measured inside, so entering and leaving
//! the executor is no part of it, and set-up may use the executor's context.

use std::hint::black_box;

use perfcheck::sequence::Window;

use crate::async_executor::AsyncExecutor;
use crate::batch::BatchSize;
use crate::measurement::{Measurement, WallTime};
use crate::sample::TimedSample;

/// A [`Bencher`](crate::Bencher) for routines that return futures, made by [`Bencher::to_async`](crate::Bencher::to_async).
pub struct AsyncBencher<'a, 'b, A: AsyncExecutor, M: Measurement = WallTime> {
    sample: &'b mut TimedSample<'a, M>,
    runner: A,
}

impl<'a, 'b, A: AsyncExecutor, M: Measurement> AsyncBencher<'a, 'b, A, M> {
    pub(crate) fn new(sample: &'b mut TimedSample<'a, M>, runner: A) -> Self {
        Self { sample, runner }
    }

    /// Measures `routine`, awaited to its end; the drop of its output is part of it.
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

    /// Leaves the measuring to `routine`, which is given the number of iterations.
    pub fn iter_custom<R, F>(&mut self, mut routine: R)
    where
        R: FnMut(u64) -> F,
        F: Future<Output = M::Value>,
    {
        let (iterations, _, value) = self.sample.parts();
        // `routine` may need the executor's context before it returns a future.
        *value = Some(self.runner.block_on(async {
            let counted = Window::open();
            let value = routine(iterations).await;
            counted.close();
            value
        }));
    }

    /// Measures `routine` without the drop of its output.
    pub fn iter_with_large_drop<O, R, F>(&mut self, mut routine: R)
    where
        R: FnMut() -> F,
        F: Future<Output = O>,
    {
        self.iter_batched(|| (), |()| routine(), BatchSize::SmallInput);
    }

    /// Measures `routine` on inputs made by `setup`. Neither `setup` nor the drop of the output is measured.
    #[inline(never)]
    pub fn iter_batched<I, O, S, R, F>(&mut self, mut setup: S, mut routine: R, size: BatchSize)
    where
        S: FnMut() -> I,
        R: FnMut(I) -> F,
        F: Future<Output = O>,
    {
        let (iterations, measurement, value) = self.sample.parts();
        *value = Some(self.runner.block_on(async {
            let mut batches = size.batches(iterations);
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

    /// Measures `routine` on inputs made by `setup`, by reference. Neither `setup` nor the drop of input or output is measured.
    #[inline(never)]
    pub fn iter_batched_ref<I, O, S, R, F>(&mut self, mut setup: S, mut routine: R, size: BatchSize)
    where
        S: FnMut() -> I,
        R: FnMut(&mut I) -> F,
        F: Future<Output = O>,
    {
        let (iterations, measurement, value) = self.sample.parts();
        *value = Some(self.runner.block_on(async {
            let mut batches = size.batches(iterations);
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

    /// As [`iter_batched`](Self::iter_batched), one input at a time.
    #[doc(hidden)]
    pub fn iter_with_setup<I, O, S, R, F>(&mut self, setup: S, routine: R)
    where
        S: FnMut() -> I,
        R: FnMut(I) -> F,
        F: Future<Output = O>,
    {
        self.iter_batched(setup, routine, BatchSize::PerIteration);
    }

    /// As [`iter_batched`](Self::iter_batched), all inputs of a sample at once.
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
