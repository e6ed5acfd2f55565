//! The argument of a benchmark's closure. As in Criterion, the closure is called once for each sample. Its code before `iter*` is set-up, which is
//! repeated for each sample and never measured.

use crate::BatchSize;
use crate::sample::TimedSample;
use std::hint::black_box;

use crate::measurement::{Measurement, WallTime};
use perfcheck::sequence::Window;

/// Runs and measures the iterations of one sample. The benchmark's closure calls one of the methods `iter*`.
///
/// # Examples
///
/// ```
/// use criterion::{Criterion, black_box};
///
/// fn parsing(c: &mut Criterion) {
///     c.bench_function("parse", |b| {
///         let text = String::from("0.125"); // set-up: never measured
///         b.iter(|| black_box(&text).parse::<f64>());
///     });
/// }
/// # parsing(&mut Criterion::default().configure_from_args());
/// ```
pub struct Bencher<'a, M: Measurement = WallTime> {
    sample: TimedSample<'a, M>,
}

impl<'a, M: Measurement> Bencher<'a, M> {
    /// Takes one sample: returns the measured value of `iterations` iterations.
    #[track_caller]
    pub(crate) fn take_sample(
        measurement: &'a M,
        iterations: u64,
        closure: impl FnOnce(&mut Bencher<'a, M>),
    ) -> f64 {
        let mut bencher = Self {
            sample: TimedSample {
                iterations,
                measurement,
                value: None,
            },
        };
        closure(&mut bencher);
        let value = bencher.sample.value.expect(
            "the benchmark's closure measured nothing: it must call one of the methods `iter*`",
        );
        measurement.to_f64(&value)
    }

    /// Measures `routine`, including the drop of its output.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn sums(c: &mut criterion::Criterion) {
    /// use criterion::black_box;
    ///
    /// c.bench_function("sum", |b| b.iter(|| (0..black_box(1000_u64)).sum::<u64>()));
    /// # }
    /// # sums(&mut criterion::Criterion::default().configure_from_args());
    /// ```
    #[inline(never)]
    #[expect(clippy::iter_not_returning_iterator, reason = "Criterion's name")]
    pub fn iter<O, R>(&mut self, mut routine: R)
    where
        R: FnMut() -> O,
    {
        let counted = Window::open();
        let start = self.sample.measurement.start();
        for _ in 0..self.sample.iterations {
            black_box(routine());
        }
        self.sample.value = Some(self.sample.measurement.end(start));
        counted.close();
    }

    /// Lets `routine` measure itself. It must run as many iterations as its argument says, and return the measured value.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn messages(c: &mut criterion::Criterion) {
    /// use std::sync::mpsc;
    /// use std::time::Instant;
    ///
    /// c.bench_function("send", |b| {
    ///     b.iter_custom(|iterations| {
    ///         let (sender, _receiver) = mpsc::channel(); // made once for each sample, not measured
    ///         let start = Instant::now();
    ///         for number in 0..iterations {
    ///             sender.send(number).expect("the receiver is alive");
    ///         }
    ///         start.elapsed()
    ///     });
    /// });
    /// # }
    /// # messages(&mut criterion::Criterion::default().configure_from_args());
    /// ```
    pub fn iter_custom<R>(&mut self, mut routine: R)
    where
        R: FnMut(u64) -> M::Value,
    {
        let counted = Window::open();
        self.sample.value = Some(routine(self.sample.iterations));
        counted.close();
    }

    /// Measures `routine` but not the drop of its output.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn filling(c: &mut criterion::Criterion) {
    /// c.bench_function("fill", |b| b.iter_with_large_drop(|| vec![1_u8; 100_000]));
    /// # }
    /// # filling(&mut criterion::Criterion::default().configure_from_args());
    /// ```
    pub fn iter_with_large_drop<O, R>(&mut self, mut routine: R)
    where
        R: FnMut() -> O,
    {
        self.iter_batched(|| (), |()| routine(), BatchSize::SmallInput);
    }

    /// Measures `routine` with inputs that `setup` makes. `setup` and the drop of outputs are not measured.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn collecting(c: &mut criterion::Criterion) {
    /// use criterion::BatchSize;
    /// use std::collections::BTreeSet;
    ///
    /// c.bench_function("collect", |b| {
    ///     let words = vec!["b", "a", "c"];
    ///     let collect = |words: Vec<&'static str>| words.into_iter().collect::<BTreeSet<_>>();
    ///     b.iter_batched(|| words.clone(), collect, BatchSize::SmallInput);
    /// });
    /// # }
    /// # collecting(&mut criterion::Criterion::default().configure_from_args());
    /// ```
    pub fn iter_batched<I, O, S, R>(&mut self, setup: S, mut routine: R, size: BatchSize)
    where
        S: FnMut() -> I,
        R: FnMut(I) -> O,
    {
        // The length of `drain` is known, so `extend` writes without capacity checks and moves no buffer.
        self.batches(setup, size, |inputs, outputs| {
            outputs.extend(inputs.drain(..).map(&mut routine));
        });
    }

    /// Measures `routine` with references to inputs that `setup` makes. `setup` and the drop of inputs and outputs are not measured.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn sorting(c: &mut criterion::Criterion) {
    /// use criterion::BatchSize;
    ///
    /// c.bench_function("sort", |b| {
    ///     let data: Vec<u32> = (0..1000).rev().collect();
    ///     b.iter_batched_ref(|| data.clone(), |data| data.sort(), BatchSize::SmallInput);
    /// });
    /// # }
    /// # sorting(&mut criterion::Criterion::default().configure_from_args());
    /// ```
    pub fn iter_batched_ref<I, O, S, R>(&mut self, setup: S, mut routine: R, size: BatchSize)
    where
        S: FnMut() -> I,
        R: FnMut(&mut I) -> O,
    {
        self.batches(setup, size, |inputs, outputs| {
            outputs.extend(inputs.iter_mut().map(&mut routine));
        });
    }

    /// Calls `window` once for each batch, and measures only these calls. All buffers are allocated before the first batch.
    #[inline(never)]
    fn batches<I, O>(
        &mut self,
        mut setup: impl FnMut() -> I,
        size: BatchSize,
        mut window: impl FnMut(&mut Vec<I>, &mut Vec<O>),
    ) {
        let mut batches = size.to_batches(self.sample.iterations);
        let mut sum = self.sample.measurement.zero();
        while let Some((inputs, outputs)) = batches.next(&mut setup) {
            let counted = Window::open();
            let start = self.sample.measurement.start();
            window(inputs, outputs);
            let value = self.sample.measurement.end(start);
            counted.close();
            sum = self.sample.measurement.add(&sum, &value);
        }
        self.sample.value = Some(sum);
    }

    /// Like [`iter_batched`](Self::iter_batched), but makes one input at a time.
    #[doc(hidden)]
    pub fn iter_with_setup<I, O, S, R>(&mut self, setup: S, routine: R)
    where
        S: FnMut() -> I,
        R: FnMut(I) -> O,
    {
        self.iter_batched(setup, routine, BatchSize::PerIteration);
    }

    /// Like [`iter_batched`](Self::iter_batched), but makes all inputs of a sample at once.
    #[doc(hidden)]
    pub fn iter_with_large_setup<I, O, S, R>(&mut self, setup: S, routine: R)
    where
        S: FnMut() -> I,
        R: FnMut(I) -> O,
    {
        self.iter_batched(setup, routine, BatchSize::NumBatches(1));
    }

    /// Returns a bencher for routines that return futures; `runner` runs the futures. [`AsyncBencher`](crate::AsyncBencher) has an example.
    #[cfg(feature = "async")]
    pub fn to_async<'b, A: crate::async_executor::AsyncExecutor>(
        &'b mut self,
        runner: A,
    ) -> crate::AsyncBencher<'a, 'b, A, M> {
        crate::AsyncBencher::new(&mut self.sample, runner)
    }
}

#[cfg(test)]
#[expect(
    clippy::semicolon_if_nothing_returned,
    reason = "closures as Criterion's users write them"
)]
mod tests {
    use super::*;
    use crate::BatchSize;
    use crate::measurement::ValueFormatter;
    use std::cell::{Cell, RefCell};
    use std::time::Duration;

    /// Counts its windows and logs their beginnings and ends.
    #[derive(Default)]
    struct Windows {
        count: Cell<u32>,
        log: RefCell<String>,
    }

    impl Measurement for Windows {
        type Intermediate = ();
        type Value = u32;
        fn start(&self) {
            self.log.borrow_mut().push('[');
        }
        fn end(&self, (): ()) -> u32 {
            self.log.borrow_mut().push(']');
            self.count.set(self.count.get() + 1);
            1
        }
        fn add(&self, v1: &u32, v2: &u32) -> u32 {
            v1 + v2
        }
        fn zero(&self) -> u32 {
            0
        }
        fn to_f64(&self, value: &u32) -> f64 {
            f64::from(*value)
        }
        fn formatter(&self) -> &dyn ValueFormatter {
            unreachable!("nothing is shown")
        }
    }

    /// Logs its drop.
    struct Noted<'l>(&'l RefCell<String>);

    impl Drop for Noted<'_> {
        fn drop(&mut self) {
            self.0.borrow_mut().push('d');
        }
    }

    #[test]
    fn set_up_and_drops_lie_outside_the_windows() {
        let windows = Windows::default();
        let log = &windows.log;
        let value = Bencher::take_sample(&windows, 3, |b| {
            b.iter_batched(
                || log.borrow_mut().push('s'),
                |()| {
                    log.borrow_mut().push('r');
                    Noted(log)
                },
                BatchSize::NumIterations(2),
            );
        });
        assert_eq!((value, log.take().as_str()), (2.0, "ss[rr]dds[r]d"));
        Bencher::take_sample(&windows, 2, |b| {
            b.iter_batched_ref(
                || Noted(log),
                |_| log.borrow_mut().push('r'),
                BatchSize::PerIteration,
            );
        });
        assert_eq!(log.take(), "[r]d[r]d");
        Bencher::take_sample(&windows, 2, |b| b.iter_with_large_drop(|| Noted(log)));
        assert_eq!(log.take(), "[]d[]d");
        Bencher::take_sample(&windows, 2, |b| b.iter(|| Noted(log)));
        assert_eq!(log.take(), "[dd]");
    }

    #[test]
    fn every_way_to_iterate_runs_the_routine_as_often_as_the_sample_has_iterations() {
        let mut count = 0;
        Bencher::take_sample(&WallTime, 25, |b| b.iter(|| count += 1));
        Bencher::take_sample(&WallTime, 25, |b| {
            b.iter_with_setup(|| 1, |one| count += one)
        });
        Bencher::take_sample(&WallTime, 25, |b| {
            b.iter_with_large_setup(|| 1, |one| count += one)
        });
        Bencher::take_sample(&WallTime, 25, |b| {
            b.iter_batched(|| 1, |one| count += one, BatchSize::SmallInput)
        });
        Bencher::take_sample(&WallTime, 25, |b| {
            b.iter_batched_ref(|| 1, |one| count += *one, BatchSize::LargeInput);
        });
        assert_eq!(count, 125);
        let value = Bencher::take_sample(&WallTime, 25, |b| b.iter_custom(Duration::from_nanos));
        assert_eq!(value, 25.0);
    }

    #[test]
    #[should_panic(expected = "must call one of the methods `iter*`")]
    fn a_closure_that_measures_nothing_is_refused() {
        Bencher::take_sample(&WallTime, 1, |_| ());
    }
}
