//! Write benchmarks for `cargo perfcheck`, the cargo subcommand that stores results, compares runs and fails on regressions.
//!
//! # Quick start
//!
//! ```toml
//! # Cargo.toml
//! [dev-dependencies]
//! perfcheck = { path = "<your clone>/harness" }
//!
//! [[bench]]
//! name = "sorting"
//! harness = false
//! ```
//!
//! ```no_run
//! // benches/sorting.rs
//! use perfcheck::{BatchSize, Suite, Throughput, black_box};
//!
//! fn fibonacci(n: u64) -> u64 {
//!     if n < 2 { n } else { fibonacci(n - 1) + fibonacci(n - 2) }
//! }
//!
//! fn numbers(suite: &mut Suite) {
//!     suite.bench("fibonacci", |b| b.iter(|| fibonacci(black_box(20))));
//! }
//!
//! fn sorting(suite: &mut Suite) {
//!     let mut group = suite.group("sort");
//!     group.throughput(Throughput::bytes(8000)).samples(50);
//!     group.bench("stable", |b| {
//!         let data: Vec<u64> = (0..1000).rev().collect(); // set-up: never timed
//!         b.iter_batched_ref(|| data.clone(), |v| v.sort(), BatchSize::SmallInput);
//!     });
//!     group.bench_inputs("unstable", [10, 100, 1000], |b, count| {
//!         let data: Vec<u64> = (0..count).rev().collect();
//!         b.throughput(Throughput::elements(count));
//!         b.iter_batched_ref(|| data.clone(), |v| v.sort_unstable(), BatchSize::SmallInput);
//!     });
//! }
//!
//! perfcheck::main!(numbers, sorting);
//! ```
//!
//! This declares benchmarks with the ids `fibonacci`, `sort/stable`, `sort/unstable/10`, `sort/unstable/100` and `sort/unstable/1000`. An id may
//! be any text. If two benchmarks of an executable have the same id, the second one is renamed: `x` becomes `x #2`.
//!
//! Run `cargo perfcheck` to measure and compare them, or `cargo bench` for a quick look.
//!
//! # Callers
//!
//! The same executable works with four callers:
//!
//! - `cargo perfcheck` starts it several times, takes samples, stores them and compares them.
//! - `cargo bench` prints a table of medians and takes half a second per benchmark. Filters, `--exact`, `--skip` and `--list` work as in libtest.
//! - `cargo test --benches` runs each benchmark once, as a test.
//! - `cargo nextest` also runs each benchmark once, each in a process of its own.
//!
//! # Timed code
//!
//! To take a sample, perfcheck reads the monotonic clock, runs the routine in a loop, and reads the clock again. Nothing else happens between the two
//! readings. The return value of a routine passes through [`black_box`]. Wrap its inputs in `black_box` too if the compiler could otherwise compute
//! the result in advance.
//!
//! | method of [`Bencher`] | timed | not timed |
//! |---|---|---|
//! | [`iter`](Bencher::iter) | the routine and the drop of its output | |
//! | [`iter_with_large_drop`](Bencher::iter_with_large_drop) | the routine | the drop |
//! | [`iter_batched`](Bencher::iter_batched) | the routine, which takes the input by value | the creation of inputs, the drop of outputs |
//! | [`iter_batched_ref`](Bencher::iter_batched_ref) | the routine, which borrows the input | the creation and drop of inputs, the drop of outputs |
//! | [`iter_custom`](Bencher::iter_custom) | the duration that the routine returns | |
//! | [`iter_latency`](Bencher::iter_latency) | each call of the routine separately | the drop of its output |
//! | [`try_iter_latency`](Bencher::try_iter_latency) | each call of a routine that returns a `Result`, separately | the drop of its output |
//!
//! [`Bencher::to_async`] offers the same seven methods for routines that return futures. With the feature `tokio`, a tokio runtime can run them.
//!
//! # Latencies
//!
//! The time of a sample is the sum over many iterations, in which one slow call in a hundred hardly shows.
//! [`iter_latency`](Bencher::iter_latency) reads the clock before and after every call. Besides the mean, it reports percentiles, the longest time,
//! a random selection of single times, and the percentiles of each second.
//!
//! ```no_run
//! # fn main() {}
//! use std::io::Write;
//!
//! fn journal(suite: &mut perfcheck::Suite) {
//!     let mut group = suite.group("journal");
//!     group.bench("append", |b| {
//!         let mut file = std::fs::File::create("journal").expect("the disk is writable");
//!         b.try_iter_latency(|| file.write_all(b"entry\n").and_then(|()| file.sync_data()));
//!     });
//! }
//! ```
//!
//! - Every recorded time includes the cost of about one clock reading, 20 to 30 ns on most machines. Use these methods for routines that take a
//!   microsecond or more. By default, recorded times are at most 1/1024 (0.1 %) too low.
//! - Calls run in a closed loop, one after another. The reported times are service times: queueing is not included. If requests arrive at a fixed
//!   rate, a slow request also delays those behind it, and these results do not show that delay (*coordinated omission*).
//! - Errors are counted, and the first messages are kept. `cargo test --benches` runs one operation and fails if it returns an error.
//!
//! # Allocations
//!
//! With the feature `allocations` and a `CountingAllocator` as the global allocator, perfcheck also counts how many times an iteration allocates,
//! how many bytes, and the largest number of bytes alive at once. Unlike times, these counts hardly vary, so a difference of a single allocation
//! shows.
//!
//! ```toml
//! [dev-dependencies]
//! perfcheck = { path = "<your clone>/harness", features = ["allocations"] }
//! ```
//!
//! ```ignore
//! #[global_allocator]
//! static ALLOCATOR: perfcheck::CountingAllocator = perfcheck::CountingAllocator::system();
//! ```
//!
//! The counts cover the same code as the times. They come from separate iterations that run after the samples. Nothing is counted while a sample is
//! taken: an allocation then costs only one additional load and branch. An empty routine counts 0 allocations. Allocations that other threads make
//! during an iteration are reported separately. If an iteration ends on a different thread than it began on, as with some executors of futures, its
//! counts are those of the whole process.
//!
//! # When code runs
//!
//! The functions given to [`main!`] are called several times: once to learn the ids, then again to run benchmarks. The closure of a benchmark runs
//! only if that benchmark is selected. Put slow set-up inside the closure, where it costs nothing if the benchmark is filtered out. A function
//! must declare the same benchmarks on every call. A closure must call exactly one of the methods `iter*`, or [`skip`](Bencher::skip).
//!
//! Under `cargo perfcheck`, everything that a bench prints goes to stderr, and stdin is empty. A benchmark that panics fails; the others still run.
//!
//! # Settings
//!
//! [`Suite`] and [`Group`] have the same settings, which apply to the benchmarks declared after them. For `cargo perfcheck`, settings in code
//! override the tables of workspace and package in Cargo.toml, but not `override` entries or command-line flags. If two builds are measured side
//! by side, `cargo perfcheck` chooses the number of processes and the schedule of samples itself.
//!
//! Plain `cargo bench` uses only the settings that concern a single process.
//!
//! # Platforms
//!
//! Tested on Linux. There is code for macOS, other Unix systems and Windows, but it is untested. Two differences are known:
//!
//! - Only Linux kills a busy benchmark at once when `cargo perfcheck` itself is killed. Elsewhere the benchmark first finishes its current sample.
//! - On Windows, text that C code prints may end up between the messages to `cargo perfcheck`, because the C runtime has a standard output of its
//!   own.

mod allocations;
mod args;
mod async_bencher;
mod bencher;
mod child;
mod clock;
#[cfg_attr(not(feature = "allocations"), path = "uncounted.rs")]
mod counting;
mod driver;
mod latencies;
mod output;
mod protocol;
mod run;
mod sampler;
#[doc(hidden)]
pub mod sequence;
mod settings;
mod smoke;
#[cfg(feature = "sources")]
#[doc(hidden)]
pub mod sources;
mod suite;
mod table;
mod timing;
mod walk;

pub use std::hint::black_box;

pub use async_bencher::{AsyncBencher, AsyncExecutor};
pub use bencher::Bencher;
#[cfg(feature = "allocations")]
pub use counting::CountingAllocator;
pub use run::run;
pub use settings::{SamplingMode, Throughput};
pub use suite::{Group, Inputs, IntoInputs, Suite, labelled, matrix};
pub use timing::BatchSize;
pub use walk::BenchFunction;

/// Defines the `main` function of a bench executable from functions that take `&mut Suite`.
///
/// # Examples
///
/// ```no_run
/// use perfcheck::Suite;
///
/// fn sums(suite: &mut Suite) {
///     suite.bench("sum", |b| b.iter(|| (0..100_u32).sum::<u32>()));
/// }
///
/// fn products(suite: &mut Suite) {
///     suite.bench("product", |b| b.iter(|| (1..10_u32).product::<u32>()));
/// }
///
/// perfcheck::main!(sums, products);
/// ```
#[macro_export]
macro_rules! main {
    ($($function:path),* $(,)?) => {
        fn main() -> ::std::process::ExitCode {
            $crate::run(&[$($crate::BenchFunction::new(::std::stringify!($function), $function)),*])
        }
    };
}
