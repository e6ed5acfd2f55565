//! The timed windows, the batches of prepared inputs, and the position of the stack for each sample.
//!
//! Invariant: between the two clock readings there is only the loop over the author's routine; `time_loop` also drops each output there. The batch
//! functions make inputs, reserve memory for outputs and drop values outside the readings, and `time_operations` drops each output after its second
//! reading. The window in which allocations are counted encloses both readings. `inline(never)` keeps the machine code of a window the same for all
//! its callers.

use std::cell::RefCell;
use std::fmt::Display;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::time::{Duration, Instant};

use crate::counting::Window;
use crate::latencies::LatencyRecorder;
use crate::sampler::Sampler;

/// Runs `routine` `iterations` times. Returns the time, including the drop of each output.
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

/// Buffers for the inputs and outputs of batches. They are allocated before the first window of a sample and reused by later samples. So only
/// windows of the warm-up touch new memory.
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

    /// Runs all batches of a sample and returns the sum of their times.
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

/// The number of inputs that [`Bencher::iter_batched`](crate::Bencher::iter_batched) prepares at a time. If unsure, use `SmallInput`.
///
/// Larger batches read the clock less often but hold more inputs in memory at once. The time of a sample is the sum over its batches, and each
/// batch adds the cost of two clock readings.
///
/// # Examples
///
/// ```
/// # fn reversing(suite: &mut perfcheck::Suite) {
/// use perfcheck::BatchSize;
///
/// suite.bench("short", |bencher| {
///     bencher.iter_batched_ref(|| vec![1, 2, 3], |list| list.reverse(), BatchSize::SmallInput);
/// });
/// // Each input takes 8 MB. With more batches, fewer inputs are in memory at once.
/// suite.bench("long", |bencher| {
///     bencher.iter_batched_ref(|| vec![1_u64; 1 << 20], |list| list.reverse(), BatchSize::LargeInput);
/// });
/// # }
/// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("reversing", reversing)]), std::process::ExitCode::SUCCESS);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BatchSize {
    /// For small inputs: ten batches per sample.
    SmallInput,
    /// For large inputs: a thousand batches per sample.
    LargeInput,
    /// One input at a time, with two clock readings around each iteration. For routines that take 10 µs or more.
    PerIteration,
    /// This many batches per sample (at least one).
    NumBatches(u64),
    /// This many iterations per batch (at least one).
    NumIterations(u64),
}

impl BatchSize {
    /// Returns the number of iterations per batch in a sample of `iterations`. The last batch may be shorter.
    pub(crate) fn iterations_per_batch(self, iterations: u64) -> u64 {
        let size = match self {
            Self::SmallInput => iterations.div_ceil(10),
            Self::LargeInput => iterations.div_ceil(1000),
            Self::PerIteration => 1,
            Self::NumBatches(batches) => iterations.div_ceil(batches.max(1)),
            Self::NumIterations(size) => size,
        };
        size.clamp(1, iterations.max(1))
    }
}

/// The number of positions of the stack. It is prime, so that every second sample, or every third, also reaches all positions.
const PLACES: usize = 17;

/// The distance between positions: a multiple of a cache line plus sixteen bytes, so that positions differ in their offsets within a page and
/// within a cache line.
const STEP: usize = 272;

type Shifted = fn(&mut Sampler<'_>, u64) -> Duration;

const SHIFTED: [Shifted; PLACES] = [
    sample_below::<0>,
    sample_below::<STEP>,
    sample_below::<{ 2 * STEP }>,
    sample_below::<{ 3 * STEP }>,
    sample_below::<{ 4 * STEP }>,
    sample_below::<{ 5 * STEP }>,
    sample_below::<{ 6 * STEP }>,
    sample_below::<{ 7 * STEP }>,
    sample_below::<{ 8 * STEP }>,
    sample_below::<{ 9 * STEP }>,
    sample_below::<{ 10 * STEP }>,
    sample_below::<{ 11 * STEP }>,
    sample_below::<{ 12 * STEP }>,
    sample_below::<{ 13 * STEP }>,
    sample_below::<{ 14 * STEP }>,
    sample_below::<{ 15 * STEP }>,
    sample_below::<{ 16 * STEP }>,
];

/// Takes a sample at the position of the stack that belongs to `index`.
///
/// The position of the stack decides which addresses of a routine collide in the caches. Without a new position for each sample, a process would see
/// only one case of many. In the same way, padding in the environment moves the stack from process to process.
pub(crate) fn sample_at_position(
    index: usize,
    sampler: &mut Sampler<'_>,
    iterations: u64,
) -> Duration {
    // Successive samples are far apart, so a ramp of iterations is not also a ramp of positions.
    SHIFTED[index * 7 % PLACES](sampler, iterations)
}

/// Takes a sample below an unused block of `BYTES` on the stack.
#[inline(never)]
fn sample_below<const BYTES: usize>(sampler: &mut Sampler<'_>, iterations: u64) -> Duration {
    let room = [MaybeUninit::<u8>::uninit(); BYTES];
    black_box(room.as_ptr());
    let elapsed = sampler(iterations);
    black_box(room.as_ptr());
    elapsed
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeSet;

    use super::*;

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

    /// Runs `work` and adds its time to `total`.
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

    #[test]
    fn a_sample_is_divided_as_the_batch_size_says() {
        let sizes = |size: BatchSize| {
            [1, 10, 11, 5000].map(|iterations| size.iterations_per_batch(iterations))
        };
        assert_eq!(sizes(BatchSize::SmallInput), [1, 1, 2, 500]);
        assert_eq!(sizes(BatchSize::LargeInput), [1, 1, 1, 5]);
        assert_eq!(sizes(BatchSize::PerIteration), [1, 1, 1, 1]);
        assert_eq!(sizes(BatchSize::NumBatches(2)), [1, 5, 6, 2500]);
        assert_eq!(sizes(BatchSize::NumIterations(7)), [1, 7, 7, 7]);
    }

    #[test]
    fn a_size_of_zero_counts_as_one() {
        assert_eq!(BatchSize::NumBatches(0).iterations_per_batch(9), 9);
        assert_eq!(BatchSize::NumIterations(0).iterations_per_batch(9), 1);
    }

    #[test]
    fn c_x10_samples_meet_every_place_on_the_stack() {
        let places_of = |indices: &mut dyn Iterator<Item = usize>| {
            let mut places = BTreeSet::new();
            for index in indices {
                let mut sampler = |iterations| {
                    let local = black_box(0_u8);
                    let address = black_box(&raw const local).addr();
                    places.insert((address % 4096, iterations));
                    Duration::ZERO
                };
                sample_at_position(index, &mut sampler, 3);
            }
            places
        };
        let all = places_of(&mut (0..PLACES));
        assert_eq!(all.len(), PLACES);
        let phases: BTreeSet<_> = all.iter().map(|(address, _)| address % 64).collect();
        assert_eq!(phases.len(), 4, "every place in a cache line");
        assert_eq!(places_of(&mut (1..100).step_by(2)), all);
        assert_eq!(places_of(&mut [0, PLACES].into_iter()).len(), 1);
    }
}
