//! The timed windows. Between the two clock readings there is only the loop over the author's routine: inputs are made, memory for outputs is
//! reserved, and values are dropped outside. The window in which allocations are counted encloses both readings. `inline(never)` keeps the machine
//! code of a window the same for all its callers.

use std::cell::RefCell;
use std::fmt::Display;
use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::batch::BatchSize;
use crate::counting::Window;
use crate::latencies::LatencyRecorder;

/// Runs `routine` `iterations` times and times it with the drop of each output.
#[inline(never)]
pub(crate) fn time_loop<O>(iterations: u64, routine: &mut impl FnMut() -> O) -> Duration {
    let window = Window::open();
    let start = Instant::now();
    for _ in 0..iterations {
        black_box(routine());
    }
    let elapsed = start.elapsed();
    window.close();
    elapsed
}

/// Runs `routine` once for each of `iterations` inputs, in batches. Inputs are made and outputs dropped outside the windows.
pub(crate) fn time_batches<I, O>(
    batches: &mut Batches<I, O>,
    iterations: u64,
    setup: &mut impl FnMut() -> I,
    routine: &mut impl FnMut(I) -> O,
) -> Duration {
    batches.run(iterations, setup, |inputs, outputs| {
        time_values(inputs, outputs, routine)
    })
}

/// Like [`time_batches`], for routines that borrow their inputs. The inputs too are dropped outside the windows.
pub(crate) fn time_batches_ref<I, O>(
    batches: &mut Batches<I, O>,
    iterations: u64,
    setup: &mut impl FnMut() -> I,
    routine: &mut impl FnMut(&mut I) -> O,
) -> Duration {
    batches.run(iterations, setup, |inputs, outputs| {
        time_references(inputs, outputs, routine)
    })
}

#[inline(never)]
fn time_values<I, O>(
    inputs: &mut Vec<I>,
    outputs: &mut Vec<O>,
    routine: &mut impl FnMut(I) -> O,
) -> Duration {
    // `extend` from a drain knows the length: it writes without checking the capacity and never reallocates.
    let window = Window::open();
    let start = Instant::now();
    outputs.extend(inputs.drain(..).map(routine));
    let elapsed = start.elapsed();
    window.close();
    elapsed
}

#[inline(never)]
fn time_references<I, O>(
    inputs: &mut [I],
    outputs: &mut Vec<O>,
    routine: &mut impl FnMut(&mut I) -> O,
) -> Duration {
    let window = Window::open();
    let start = Instant::now();
    outputs.extend(inputs.iter_mut().map(routine));
    let elapsed = start.elapsed();
    window.close();
    elapsed
}

/// Runs `routine` `iterations` times and times each call separately. Outputs are dropped and times recorded outside the windows.
#[inline(never)]
pub(crate) fn time_operations<O, E: Display>(
    iterations: u64,
    latencies: &RefCell<LatencyRecorder>,
    routine: &mut impl FnMut() -> Result<O, E>,
) -> Duration {
    let mut elapsed = Duration::ZERO;
    for _ in 0..iterations {
        let window = Window::open();
        let start = Instant::now();
        let result = black_box(routine());
        let end = Instant::now();
        window.close();
        elapsed += record_operation(latencies, start, end, &result);
    }
    elapsed
}

/// Records one operation and returns its reported time.
pub(crate) fn record_operation<O, E: Display>(
    latencies: &RefCell<LatencyRecorder>,
    start: Instant,
    end: Instant,
    result: &Result<O, E>,
) -> Duration {
    let error = result.as_ref().err().map(|error| error as &dyn Display);
    latencies.borrow_mut().record(start, end, error)
}

/// Buffers for the inputs and outputs of batches. They are allocated before the first window of a sample and reused by later samples, so that only
/// the warm-up touches their memory for the first time within a window.
pub struct Batches<I, O> {
    size: BatchSize,
    per_batch: u64,
    remaining: u64,
    inputs: Vec<I>,
    outputs: Vec<O>,
}

impl<I, O> Batches<I, O> {
    /// Makes empty buffers for batches of this size.
    pub fn new(size: BatchSize) -> Self {
        Self {
            size,
            per_batch: 1,
            remaining: 0,
            inputs: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// Reserves memory for a sample of `iterations`.
    pub fn begin(&mut self, iterations: u64) {
        self.remaining = iterations;
        self.per_batch = self.size.iterations_per_batch(iterations);
        let capacity = usize::try_from(self.per_batch).unwrap_or(usize::MAX);
        self.inputs.reserve(capacity);
        self.outputs.reserve(capacity);
    }

    /// Drops the values of the last batch, then prepares the inputs of the next one. Returns `None` if no iteration remains.
    pub fn next(&mut self, setup: &mut impl FnMut() -> I) -> Option<(&mut Vec<I>, &mut Vec<O>)> {
        // The optimizer must assume that the outputs are read and the inputs are changed.
        black_box(&mut self.outputs).clear();
        self.inputs.clear();
        if self.remaining == 0 {
            return None;
        }
        let count = self.per_batch.min(self.remaining);
        self.remaining -= count;
        self.inputs.extend((0..count).map(|_| setup()));
        black_box(&mut self.inputs);
        Some((&mut self.inputs, &mut self.outputs))
    }

    /// Runs all batches of a sample and returns the sum of their windows.
    fn run(
        &mut self,
        iterations: u64,
        setup: &mut impl FnMut() -> I,
        mut window: impl FnMut(&mut Vec<I>, &mut Vec<O>) -> Duration,
    ) -> Duration {
        self.begin(iterations);
        let mut elapsed = Duration::ZERO;
        while let Some((inputs, outputs)) = self.next(setup) {
            elapsed += window(inputs, outputs);
        }
        elapsed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

    #[test]
    fn a_loop_runs_its_routine_as_often_as_asked() {
        let mut count = 0;
        time_loop(17, &mut || count += 1);
        time_loop(0, &mut || unreachable!("no iteration was asked for"));
        assert_eq!(count, 17);
    }

    #[test]
    fn inputs_are_made_before_and_outputs_dropped_after_each_batch() {
        struct Noted<'l>(&'l RefCell<String>, char);
        impl Drop for Noted<'_> {
            fn drop(&mut self) {
                self.0.borrow_mut().push(self.1);
            }
        }
        let log = RefCell::new(String::new());
        let note = |c| log.borrow_mut().push(c);
        let size = BatchSize::NumIterations(2);
        let mut setup = || note('s');
        let mut routine = |()| {
            note('r');
            Noted(&log, 'd')
        };
        time_batches(&mut Batches::new(size), 5, &mut setup, &mut routine);
        assert_eq!(log.take(), "ssrrddssrrddsrd");

        let mut setup = || {
            note('s');
            Noted(&log, 'i')
        };
        let mut routine = |_: &mut Noted<'_>| {
            note('r');
            Noted(&log, 'o')
        };
        time_batches_ref(&mut Batches::new(size), 3, &mut setup, &mut routine);
        assert_eq!(log.take(), "ssrrooiisroi");
    }

    #[test]
    fn each_input_is_used_exactly_once() {
        let mut next = 0;
        let mut seen = Vec::new();
        let mut setup = || {
            next += 1;
            next
        };
        let mut batches = Batches::new(BatchSize::SmallInput);
        let mut routine = |input| seen.push(input);
        time_batches(&mut batches, 25, &mut setup, &mut routine);
        time_batches(&mut batches, 3, &mut setup, &mut routine);
        assert_eq!(seen, (1..=28).collect::<Vec<_>>());
    }

    /// Adds the time that `work` takes to `total`.
    fn clocked(total: &Cell<Duration>, work: impl FnOnce()) {
        let start = Instant::now();
        work();
        total.set(total.get() + start.elapsed());
    }

    /// The windows, the set-up and the drops must not overlap: on a machine of any speed their sum is at most the time of the whole. If set-up or
    /// drops were timed, the sum would be nearly twice that.
    #[test]
    fn neither_set_up_nor_drops_are_timed() {
        struct Slow<'t>(&'t Cell<Duration>);
        impl Drop for Slow<'_> {
            fn drop(&mut self) {
                clocked(self.0, || std::thread::sleep(Duration::from_millis(5)));
            }
        }
        let untimed = Cell::new(Duration::ZERO);
        let mut setup = || {
            clocked(&untimed, || std::thread::sleep(Duration::from_millis(5)));
            Slow(&untimed)
        };
        for size in [BatchSize::PerIteration, BatchSize::NumBatches(2)] {
            let start = Instant::now();
            let timed = time_batches(&mut Batches::new(size), 4, &mut setup, &mut |input| input)
                + time_batches_ref(&mut Batches::new(size), 4, &mut setup, &mut |_| {
                    Slow(&untimed)
                });
            let whole = start.elapsed();
            assert!(untimed.get() >= Duration::from_millis(100));
            let sum = timed + untimed.take();
            assert!(sum <= whole, "{timed:?}: {sum:?} > {whole:?}");
        }
    }
}
