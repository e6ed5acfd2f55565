//! The timed windows. Between the two readings of the clock stands the loop over the author's routine and nothing else;
//! inputs, the memory for outputs, and drops lie outside. `inline(never)` keeps a window's code the same wherever it is called from.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::batch::BatchSize;

/// Runs `routine` `iterations` times; the drop of each output is timed with it.
#[inline(never)]
pub(crate) fn time_loop<O>(iterations: u64, routine: &mut impl FnMut() -> O) -> Duration {
    let start = Instant::now();
    for _ in 0..iterations {
        black_box(routine());
    }
    start.elapsed()
}

/// Runs `routine` once for each of `iterations` inputs, in batches; inputs are made and outputs dropped outside the windows.
pub(crate) fn time_batches<I, O>(
    iterations: u64,
    size: BatchSize,
    setup: &mut impl FnMut() -> I,
    routine: &mut impl FnMut(I) -> O,
) -> Duration {
    let mut batches = Batches::new(iterations, size);
    batches.run(setup, |inputs, outputs| {
        time_values(inputs, outputs, routine)
    })
}

/// As [`time_batches`], with inputs by reference; they too are dropped outside the windows.
pub(crate) fn time_batches_ref<I, O>(
    iterations: u64,
    size: BatchSize,
    setup: &mut impl FnMut() -> I,
    routine: &mut impl FnMut(&mut I) -> O,
) -> Duration {
    let mut batches = Batches::new(iterations, size);
    batches.run(setup, |inputs, outputs| {
        time_references(inputs, outputs, routine)
    })
}

#[inline(never)]
fn time_values<I, O>(
    inputs: &mut Vec<I>,
    outputs: &mut Vec<O>,
    routine: &mut impl FnMut(I) -> O,
) -> Duration {
    // `extend` from a drain knows its length: it writes without a check of the capacity and moves no buffer.
    let start = Instant::now();
    outputs.extend(inputs.drain(..).map(routine));
    start.elapsed()
}

#[inline(never)]
fn time_references<I, O>(
    inputs: &mut [I],
    outputs: &mut Vec<O>,
    routine: &mut impl FnMut(&mut I) -> O,
) -> Duration {
    let start = Instant::now();
    outputs.extend(inputs.iter_mut().map(routine));
    start.elapsed()
}

/// The buffers of a sample's batches, allocated once before its first window.
pub(crate) struct Batches<I, O> {
    remaining: u64,
    per_batch: u64,
    inputs: Vec<I>,
    outputs: Vec<O>,
}

impl<I, O> Batches<I, O> {
    /// For a sample of `iterations`.
    pub(crate) fn new(iterations: u64, size: BatchSize) -> Self {
        let per_batch = size.iterations_per_batch(iterations);
        let capacity = usize::try_from(per_batch).unwrap_or(usize::MAX);
        Self {
            remaining: iterations,
            per_batch,
            inputs: Vec::with_capacity(capacity),
            outputs: Vec::with_capacity(capacity),
        }
    }

    /// Runs all batches and sums their windows.
    fn run(
        &mut self,
        setup: &mut impl FnMut() -> I,
        mut window: impl FnMut(&mut Vec<I>, &mut Vec<O>) -> Duration,
    ) -> Duration {
        let mut elapsed = Duration::ZERO;
        while let Some((inputs, outputs)) = self.next(setup) {
            elapsed += window(inputs, outputs);
        }
        elapsed
    }

    /// Drops what the last batch left, then prepares the next one's inputs; `None` when no iteration remains.
    pub(crate) fn next(
        &mut self,
        setup: &mut impl FnMut() -> I,
    ) -> Option<(&mut Vec<I>, &mut Vec<O>)> {
        // The optimiser must believe that somebody looks at the outputs, and changes the inputs.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

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
        let mut setup = || note('s');
        time_batches(5, BatchSize::NumIterations(2), &mut setup, &mut |()| {
            note('r');
            Noted(&log, 'd')
        });
        assert_eq!(log.take(), "ssrrddssrrddsrd");

        let mut setup = || {
            note('s');
            Noted(&log, 'i')
        };
        time_batches_ref(3, BatchSize::NumIterations(2), &mut setup, &mut |_| {
            note('r');
            Noted(&log, 'o')
        });
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
        time_batches(25, BatchSize::SmallInput, &mut setup, &mut |input| {
            seen.push(input);
        });
        assert_eq!(seen, (1..=25).collect::<Vec<_>>());
    }
}
