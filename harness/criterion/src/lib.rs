//! Criterion's interface on the harness of `cargo perfcheck`: existing bench files compile unchanged.
//!
//! ```toml
//! [dev-dependencies]
//! criterion = { package = "perfcheck-criterion", path = "<your clone>/harness/criterion" }
//! ```
//!
//! | command | what happens |
//! |---|---|
//! | `cargo perfcheck` | benchmarks are measured in several processes, stored and compared; exit status 1 on a regression |
//! | `cargo bench` | a table; Criterion's flags work; `--save-baseline` and `--baseline` call `cargo perfcheck` |
//! | `cargo test --benches` | each benchmark runs once |
//! | `cargo nextest run` | each benchmark runs once, in a process of its own |
//!
//! The interface is that of criterion 0.8.2, plus older names from 0.3 to 0.7. Nothing is plotted, no file is written below
//! `target/criterion`, and the only dependency is `perfcheck`. The features `async_*` add tokio, futures and smol. With the feature `regex`, filters
//! are regular expressions of that crate; otherwise they are simpler ones. The chapter *Coming from Criterion* of cargo-perfcheck's guide lists the
//! differences.
//!
//! As in Criterion, a benchmark's closure is called once for each sample, and code around benchmarks runs once per process.

#[cfg(feature = "async")]
mod async_bencher;
pub mod async_executor;
mod bencher;
mod command_line;
mod conditions;
mod configuration;
mod filter;
mod group;
mod manager;
pub mod measurement;
mod old;
mod output;
pub mod profiler;
mod sample;
mod session;
#[cfg(feature = "sources")]
#[doc(hidden)]
pub mod sources;

pub use std::hint::black_box;

#[cfg(feature = "async")]
pub use async_bencher::AsyncBencher;
pub use bencher::Bencher;
pub use configuration::{
    AxisScale, Baseline, PlotConfiguration, PlottingBackend, SamplingMode, Throughput,
};
pub use filter::{BenchmarkFilter, Pattern};
pub use group::{BenchmarkGroup, BenchmarkId};
pub use manager::Criterion;
#[doc(hidden)]
pub use old::{Benchmark, BenchmarkDefinition, Fun, ParameterizedBenchmark};
#[cfg(feature = "allocations")]
pub use perfcheck::CountingAllocator;
pub use sample::BatchSize;

/// Runs the groups of [`criterion_main!`]. If nothing has failed, the function returns instead of ending the process, because users of Criterion may
/// call their `main` themselves.
#[doc(hidden)]
pub fn run_groups(groups: &[&dyn Fn()]) {
    match session::run(groups) {
        0 => {}
        code => std::process::exit(code),
    }
}

/// Runs `benches`. This is the test runner for the unstable feature `custom_test_frameworks`.
#[doc(hidden)]
pub fn runner(benches: &[&dyn Fn()]) {
    run_groups(benches);
}

/// Defines a function that runs benchmarks: `criterion_group!(name, target, ...)`, or with `name = ...; config = ...; targets = ...`.
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
/// use criterion::{Criterion, criterion_group, criterion_main};
///
/// fn sums(c: &mut Criterion) {
///     c.bench_function("sum", |b| b.iter(|| (0..100_u32).sum::<u32>()));
/// }
///
/// criterion_group!(short, sums);
/// criterion_group! {
///     name = long;
///     config = Criterion::default().measurement_time(Duration::from_secs(10));
///     targets = sums
/// }
/// criterion_main!(short, long);
/// ```
#[macro_export]
macro_rules! criterion_group {
    (name = $name:ident; config = $config:expr; targets = $($target:path),+ $(,)*) => {
        /// Runs the benchmarks of this group.
        pub fn $name() {
            let mut criterion: $crate::Criterion<_> = $config.configure_from_args();
            $($target(&mut criterion);)+
        }
    };
    ($name:ident, $($target:path),+ $(,)*) => {
        $crate::criterion_group! {
            name = $name;
            config = $crate::Criterion::default();
            targets = $($target),+
        }
    };
}

/// Defines `main`, which runs the functions that [`criterion_group!`] defined. The documentation of `criterion_group!` has an example.
#[macro_export]
macro_rules! criterion_main {
    ($($group:path),+ $(,)*) => {
        fn main() {
            $crate::run_groups(&[$(&|| { $group(); }),+]);
        }
    };
}
