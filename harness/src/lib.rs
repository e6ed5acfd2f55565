//! Benchmarks for `cargo perfcheck`.

mod args;
mod async_bencher;
mod batch;
mod bencher;
mod child;
mod clock;
mod descriptors;
mod executor;
mod frame;
mod inputs;
mod listing;
mod panics;
mod quantity;
mod request;
mod run;
mod scripted;
mod selected;
mod settings;
mod smoke;
mod suite;
mod table;
mod throughput;
mod timing;
mod walk;

pub use std::hint::black_box;

pub use async_bencher::AsyncBencher;
pub use batch::BatchSize;
pub use bencher::Bencher;
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
