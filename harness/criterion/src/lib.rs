//! Criterion's interface on the harness of `cargo perfcheck`: existing bench files compile unchanged.
//!
//! ```toml
//! [dev-dependencies]
//! criterion = { package = "perfcheck-criterion", path = "<your clone>/harness/criterion" }
//! ```
//!
//! | command | what happens |
//! |---|---|
//! | `cargo perfcheck` | measured in several processes, stored, compared; exit code 1 on a regression |
//! | `cargo bench` | a table; Criterion's flags work, `--save-baseline` and `--baseline` by way of `cargo perfcheck` |
//! | `cargo test --benches` | each benchmark once |
//! | `cargo nextest run` | each benchmark once, a process for each |
//!
//! The interface is that of criterion 0.8.2, with what 0.3 to 0.7 called otherwise. Nothing is plotted, no file is written below
//! `target/criterion`, and no crate is pulled in but `perfcheck`: tokio, futures and smol come with the features `async_*`, and
//! the feature `regex` replaces the small expressions of filters with those of that crate. What is the same and what cannot
//! be is listed in `docs/src/coming-from.md` of cargo-perfcheck.
//!
//! As in Criterion, a benchmark's closure is called once for each sample, and code around benchmarks runs once per process.

#[cfg(feature = "async")]
mod async_bencher;
pub mod async_executor;
mod batch;
mod bencher;
mod command_line;
mod conditions;
mod configuration;
mod filter;
mod group;
mod id;
mod macros;
mod manager;
pub mod measurement;
mod old;
mod output;
mod pattern;
mod presentation;
pub mod profiler;
mod sample;
mod session;
mod stored;
mod throughput;
mod visit;

pub use std::hint::black_box;

#[cfg(feature = "async")]
pub use async_bencher::AsyncBencher;
pub use batch::BatchSize;
pub use bencher::Bencher;
pub use configuration::SamplingMode;
pub use filter::BenchmarkFilter;
pub use group::BenchmarkGroup;
pub use id::BenchmarkId;
pub use manager::Criterion;
#[doc(hidden)]
pub use old::{Benchmark, BenchmarkDefinition, Fun, ParameterizedBenchmark};
pub use pattern::Pattern;
#[cfg(feature = "allocations")]
pub use perfcheck::CountingAllocator;
pub use presentation::{AxisScale, Baseline, PlotConfiguration, PlottingBackend};
pub use throughput::Throughput;

/// What [`criterion_main!`] expands to.
#[doc(hidden)]
pub fn run_groups(groups: &[&dyn Fn()]) -> std::process::ExitCode {
    session::run(groups)
}

/// The runner of a custom test framework.
#[doc(hidden)]
pub fn runner(benches: &[&dyn Fn()]) {
    if session::run(benches) != std::process::ExitCode::SUCCESS {
        std::process::exit(101);
    }
}
