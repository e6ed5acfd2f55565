//! Write benchmarks for `cargo perfcheck`, the cargo subcommand that stores results, compares runs and fails on regressions.
//!
//! # Quick start
//!
//! ```toml
//! # Cargo.toml
//! [dev-dependencies]
//! perfcheck = "0.1"
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
//! The ids are `fibonacci`, `sort/stable`, `sort/unstable/10`, `sort/unstable/100` and `sort/unstable/1000`. They must be unique in an
//! executable, and may be any text.
//!
//! # Who calls
//!
//! The same executable serves
//!
//! - `cargo perfcheck`, which starts it several times and asks for samples over a line protocol;
//! - `cargo bench`: a table of medians, half a second a benchmark. Filters, `--exact`, `--skip` and `--list` work as in libtest;
//! - `cargo test --benches`: each body once, as a test;
//! - `cargo nextest`: `--list --format terse`, then one process for each benchmark.
//!
//! # What is timed
//!
//! A sample is one reading of the monotonic clock, a loop over the routine, and another reading. Nothing else stands between the two.
//! What a routine returns passes through [`black_box`]; what it is given should, wherever the compiler could compute the result beforehand.
//!
//! | method of [`Bencher`] | timed | not timed |
//! |---|---|---|
//! | [`iter`](Bencher::iter) | the routine and the drop of its output | |
//! | [`iter_with_large_drop`](Bencher::iter_with_large_drop) | the routine | the drop |
//! | [`iter_batched`](Bencher::iter_batched) | the routine, which is given the input | set-up of inputs, the drop of outputs |
//! | [`iter_batched_ref`](Bencher::iter_batched_ref) | the routine, which borrows the input | set-up and drop of inputs, the drop of outputs |
//! | [`iter_custom`](Bencher::iter_custom) | what the routine says | |
//! | [`iter_latency`](Bencher::iter_latency) | every call of the routine by itself | the drop of its output |
//! | [`try_iter_latency`](Bencher::try_iter_latency) | the same, of a routine that may fail | the same |
//!
//! [`Bencher::to_async`] has the same seven for routines that return futures; with the feature `tokio`, a tokio runtime runs them.
//!
//! # Latencies
//!
//! A sample's time is a sum, in which a slow path that one call in a hundred takes is nearly invisible. [`iter_latency`](Bencher::iter_latency) reads the clock before and
//! after every call: besides the mean there are percentiles, the longest time, single times chosen at random and what happened in each second.
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
//! - Each time holds the cost of one reading of the clock, 20 to 30 ns on most machines (`cargo perfcheck` stores the clock's smallest step): routines of
//!   a microsecond and more are what it is for. Times are told apart to 1/1024.
//! - Calls follow one another in a closed loop. These are times of service: where requests come at a rate of their own, those that a slow one holds up wait
//!   in addition, and this wait is not seen here (*coordinated omission*).
//! - Errors are counted, and the first messages kept; `cargo test --benches` fails if the one operation that it runs does.
//!
//! # Allocations
//!
//! With the feature `allocations` and a `CountingAllocator` as the global allocator, iterations are also counted: how often they
//! allocate, how many bytes, and how many of these are alive at once. Counts do not vary as times do, so a difference of a single allocation is seen.
//!
//! ```toml
//! [dev-dependencies]
//! perfcheck = { version = "0.1", features = ["allocations"] }
//! ```
//!
//! ```ignore
//! #[global_allocator]
//! static ALLOCATOR: perfcheck::CountingAllocator = perfcheck::CountingAllocator::system();
//! ```
//!
//! Counted is what would be timed, in iterations of their own after the samples: while times are taken nothing is counted, and an allocation costs
//! one load and one branch more. An empty body counts 0. Allocations of other threads meanwhile are told apart; where an iteration ends on another thread than it
//! began on, as some executors of futures have it, its counts are those of the whole process.
//!
//! # What runs when
//!
//! The functions given to [`main!`] are walked several times: to learn the ids, and to run what is wanted. A benchmark's closure runs only when
//! that benchmark is wanted, so set-up that takes time belongs inside the closure, where a filtered-out benchmark costs nothing. What a
//! function declares must not change from walk to walk. A closure calls exactly one of the methods `iter*`, or [`skip`](Bencher::skip).
//!
//! Under `cargo perfcheck`, what a bench prints appears on stderr and what it reads from stdin is empty. A benchmark that panics has
//! failed; the others still run.
//!
//! # Settings
//!
//! [`Suite`] and [`Group`] have the same settings; they apply to the benchmarks that follow. For `cargo perfcheck` they outrank the tables
//! of workspace and package in Cargo.toml, but not their overrides by pattern, nor its command line; the table of `cargo bench` keeps to those that concern one process.
//!
//! # Systems
//!
//! Linux, macOS and other Unix systems are supported alike, but only Linux kills a busy benchmark at once when `cargo perfcheck` itself is
//! killed; elsewhere it ends with its current sample. On Windows everything written in Rust behaves the same; text printed by C code may get between
//! the frames of the protocol, because the C runtime keeps its own idea of standard output.

mod allocations;
mod args;
mod async_bencher;
mod batch;
mod bencher;
mod child;
mod clock;
mod count;
#[cfg_attr(not(feature = "allocations"), path = "uncounted.rs")]
mod counting;
mod descriptors;
mod driver;
mod executor;
mod frame;
mod histogram;
mod inputs;
mod latencies;
mod listing;
mod output;
mod panics;
mod quantity;
mod request;
mod reservoir;
mod run;
mod sampler;
mod scripted;
mod selected;
#[doc(hidden)]
pub mod sequence;
mod settings;
mod shift;
mod slowdown;
mod smoke;
mod suite;
mod table;
mod throughput;
mod timing;
mod walk;
mod warm_up;

pub use std::hint::black_box;

pub use async_bencher::AsyncBencher;
pub use batch::BatchSize;
pub use bencher::Bencher;
#[cfg(feature = "allocations")]
pub use counting::CountingAllocator;
pub use executor::AsyncExecutor;
pub use inputs::{Inputs, IntoInputs, labelled, matrix};
pub use run::run;
pub use settings::SamplingMode;
pub use suite::{Group, Suite};
pub use throughput::Throughput;
pub use walk::BenchFunction;

/// Makes the `main` of a bench executable from functions that take `&mut Suite`.
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
