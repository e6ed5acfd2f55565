//! A use of every name of Criterion's interface, in the way that users write it. This file must compile; other tests run it.

#![allow(
    deprecated,
    clippy::print_stderr,
    clippy::semicolon_if_nothing_returned,
    clippy::wildcard_imports,
    reason = "a bench, with everything that versions 0.3 to 0.8 have"
)]

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::profiler::{ExternalProfiler, Profiler};
use criterion::*;

/// Prints a line when it is dropped.
struct Directory;

impl Drop for Directory {
    fn drop(&mut self) {
        eprintln!("a directory is removed");
    }
}

fn names(c: &mut Criterion) {
    let _directory = Directory;
    let text = String::from("borrowed");
    c.bench_function(&text, |b| b.iter(|| black_box(1)))
        .bench_function(&format!("formatted {}", 1), move |b| b.iter(|| text.len()))
        .bench_with_input(BenchmarkId::new("with_input", 7), &7, |b, &n| {
            b.iter(|| n + 1)
        })
        .bench_with_input(
            BenchmarkId::new(String::from("unsized"), "x"),
            &[1, 2][..],
            |b, s| {
                b.iter(|| s.len());
            },
        );
    let mut group = c.benchmark_group(String::from("ids"));
    group.bench_function("str", |b| b.iter(|| 1));
    group.bench_function(String::from("string"), |b| b.iter(|| 1));
    group.bench_function(BenchmarkId::new("id", format!("{:?}", (1, 2))), |b| {
        b.iter(|| 1)
    });
    group.bench_with_input("str_with_input", "input", |b, input| b.iter(|| input.len()));
    group.bench_with_input(
        BenchmarkId::from_parameter(3.5),
        &vec![1],
        |b: &mut Bencher, v| b.iter(|| v.len()),
    );
    assert!(BenchmarkId::new("a", 1) == BenchmarkId::new("a", 1).clone());
}

fn settings(c: &mut Criterion) {
    let mut group: BenchmarkGroup<'_, WallTime> = c.benchmark_group("settings");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(1))
        .measurement_time(Duration::from_millis(2))
        .nresamples(2000)
        .noise_threshold(0.0)
        .confidence_level(0.99)
        .significance_level(0.01)
        .plot_config(PlotConfiguration::default().summary_scale(AxisScale::Logarithmic))
        .throughput(Throughput::Bytes(1))
        .throughput(Throughput::BytesDecimal(1))
        .throughput(Throughput::Bits(1))
        .throughput(Throughput::Elements(1))
        .throughput(Throughput::ElementsAndBytes {
            elements: 1,
            bytes: 2,
        });
    for (name, mode) in [
        ("auto", SamplingMode::Auto),
        ("linear", SamplingMode::Linear),
        ("flat", SamplingMode::Flat),
    ] {
        group
            .sampling_mode(mode)
            .bench_function(name, |b| b.iter(|| 1));
    }
    group.finish();
}

fn benchers(c: &mut Criterion) {
    let mut group = c.benchmark_group("benchers");
    group.bench_function("iter_custom", |b| {
        b.iter_custom(|iters| {
            let start = std::time::Instant::now();
            for i in 0..iters {
                black_box(i);
            }
            start.elapsed()
        });
    });
    group.bench_function("iter_with_large_drop", |b| {
        b.iter_with_large_drop(|| vec![0; 8])
    });
    group.bench_function("iter_with_setup", |b| b.iter_with_setup(|| 1, |x| x + 1));
    group.bench_function("iter_with_large_setup", |b| {
        b.iter_with_large_setup(|| 1, |x| x + 1)
    });
    let sizes = [
        BatchSize::SmallInput,
        BatchSize::LargeInput,
        BatchSize::PerIteration,
        BatchSize::NumBatches(2),
        BatchSize::NumIterations(2),
    ];
    for size in sizes {
        group.bench_function(BenchmarkId::new("iter_batched", format!("{size:?}")), |b| {
            b.iter_batched(|| vec![1], |v| v.len(), size);
        });
        group.bench_function(
            BenchmarkId::new("iter_batched_ref", format!("{size:?}")),
            |b| {
                b.iter_batched_ref(|| vec![1], |v| v.push(2), size);
            },
        );
    }
}

/// Users write such functions for any measurement.
fn generic<M: Measurement + 'static>(c: &mut Criterion<M>) {
    fn helper<M: Measurement>(group: &mut BenchmarkGroup<'_, M>, name: &str) {
        group.bench_function(name, |b| b.iter(|| 1));
    }
    let mut group = c.benchmark_group("generic");
    helper(&mut group, "helped");
    drop(group);
    c.bench_function("generic function", |b: &mut Bencher<'_, M>| b.iter(|| 1));
}

/// Wall time, shown in half seconds.
struct HalfSeconds;

impl ValueFormatter for HalfSeconds {
    fn format_value(&self, value: f64) -> String {
        format!("{} s/2", value * 2e-9)
    }
    fn format_throughput(&self, throughput: &Throughput, value: f64) -> String {
        match throughput {
            Throughput::Bits(n)
            | Throughput::Bytes(n)
            | Throughput::BytesDecimal(n)
            | Throughput::Elements(n) => {
                format!("{} /s/2", *n as f64 / value)
            }
            Throughput::ElementsAndBytes { elements, bytes } => format!("{elements} {bytes}"),
        }
    }
    fn scale_values(&self, _typical: f64, values: &mut [f64]) -> &'static str {
        for value in values {
            *value *= 2e-9;
        }
        "s/2"
    }
    fn scale_throughputs(&self, _typical: f64, _: &Throughput, _: &mut [f64]) -> &'static str {
        "/s/2"
    }
    fn scale_for_machines(&self, values: &mut [f64]) -> &'static str {
        self.scale_values(0.0, values)
    }
}

impl Measurement for HalfSeconds {
    type Intermediate = <WallTime as Measurement>::Intermediate;
    type Value = Duration;
    fn start(&self) -> Self::Intermediate {
        WallTime.start()
    }
    fn end(&self, start: Self::Intermediate) -> Duration {
        WallTime.end(start)
    }
    fn add(&self, v1: &Duration, v2: &Duration) -> Duration {
        *v1 + *v2
    }
    fn zero(&self) -> Duration {
        Duration::ZERO
    }
    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }
    fn formatter(&self) -> &dyn ValueFormatter {
        self
    }
}

/// A profiler that does nothing.
struct Nothing(#[expect(dead_code, reason = "profilers need not be Send")] Rc<()>);

impl Profiler for Nothing {
    fn start_profiling(&mut self, _: &str, _: &Path) {}
    fn stop_profiling(&mut self, _: &str, _: &Path) {}
}

fn half_seconds() -> Criterion<HalfSeconds> {
    Criterion::default().with_measurement(HalfSeconds)
}

fn configured() -> Criterion {
    Criterion::default()
        .with_profiler(ExternalProfiler)
        .with_profiler(Nothing(Rc::new(())))
        .plotting_backend(PlottingBackend::None)
        .plotting_backend(PlottingBackend::Gnuplot)
        .plotting_backend(PlottingBackend::Plotters)
        .sample_size(10)
        .warm_up_time(Duration::from_millis(1))
        .measurement_time(Duration::from_millis(2))
        .nresamples(2000)
        .noise_threshold(0.02)
        .confidence_level(0.9)
        .significance_level(0.1)
        .with_plots()
        .without_plots()
        .save_baseline("base".to_owned())
        .retain_baseline("base".to_owned(), true)
        .with_filter("nothing")
        .with_filter(String::from("nothing"))
        .with_benchmark_filter(BenchmarkFilter::RejectAll)
        .with_benchmark_filter(BenchmarkFilter::Exact("nothing".to_owned()))
        .with_benchmark_filter(BenchmarkFilter::AcceptAll)
        .with_output_color(true)
        .output_directory(Path::new("nowhere"))
        .profile_time(None)
        .configure_from_args()
}

/// Uses the interface of Criterion 0.3.
fn old(c: &mut Criterion) {
    c.bench(
        "old",
        Benchmark::new("first", |b| b.iter(|| 1))
            .with_function("second", |b| b.iter(|| 2))
            .sample_size(10)
            .throughput(Throughput::Bytes(8)),
    );
    c.bench(
        "parameterized",
        ParameterizedBenchmark::new("first", |b, n| b.iter(|| n + 1), vec![1, 2])
            .with_function("second", |b, n| b.iter(|| n + 2))
            .throughput(|n| Throughput::Elements(*n)),
    );
    c.bench("alone", Benchmark::new("alone", |b| b.iter(|| 1)));
    c.bench_function_over_inputs("over", |b, n| b.iter(|| n + 1), vec![1_u32, 2]);
    let funs = vec![
        Fun::new("one", |b, n: &u32| b.iter(|| n + 1)),
        Fun::new("two", |b, n: &u32| b.iter(|| n + 2)),
    ];
    c.bench_functions("functions", funs, 3);
    assert!(!c.can_plot());
    let _ = [
        Baseline::CompareLenient,
        Baseline::CompareStrict,
        Baseline::Save,
        Baseline::Discard,
    ];
}

#[cfg(feature = "async_futures")]
fn asynchronous(c: &mut Criterion) {
    use criterion::async_executor::{AsyncExecutor, FuturesExecutor};

    fn any<E: AsyncExecutor>(c: &mut Criterion, name: &str, executor: impl Fn() -> E) {
        let mut group = c.benchmark_group(name);
        group.bench_function("iter", |b| b.to_async(executor()).iter(|| async { 1 }));
        group.bench_function("iter_custom", |b| {
            b.to_async(executor())
                .iter_custom(|iters| async move { Duration::from_nanos(iters) });
        });
        group.bench_function("iter_with_large_drop", |b| {
            b.to_async(executor())
                .iter_with_large_drop(|| async { vec![0] });
        });
        group.bench_function("iter_batched", |b| {
            b.to_async(executor()).iter_batched(
                || vec![1],
                |v| async move { v.len() },
                BatchSize::SmallInput,
            );
        });
        group.bench_function("iter_batched_ref", |b| {
            b.to_async(executor()).iter_batched_ref(
                || vec![1],
                |v| {
                    v.push(2);
                    async {}
                },
                BatchSize::SmallInput,
            );
        });
        group.bench_function("iter_with_setup", |b| {
            b.to_async(executor())
                .iter_with_setup(|| 1, |x| async move { x + 1 });
        });
        group.bench_function("iter_with_large_setup", |b| {
            b.to_async(executor())
                .iter_with_large_setup(|| 1, |x| async move { x + 1 });
        });
    }
    any(c, "futures", || FuturesExecutor);
    #[cfg(feature = "async_smol")]
    any(c, "smol", || criterion::async_executor::SmolExecutor);
    #[cfg(feature = "async_tokio")]
    {
        let runtime = || {
            tokio::runtime::Builder::new_current_thread()
                .build()
                .expect("a runtime")
        };
        any(c, "tokio", runtime);
        let shared = runtime();
        any(c, "tokio by reference", || &shared);
        any(c, "tokio handle", || shared.handle().clone());
        let handle = shared.handle();
        any(c, "tokio handle by reference", || handle);
        c.bench_function("tokio in a closure", |b| {
            b.to_async(&shared)
                .iter(|| async { tokio::task::yield_now().await });
        });
    }
}

#[cfg(not(feature = "async_futures"))]
fn asynchronous(_: &mut Criterion) {}

criterion_group!(short, names, settings, benchers);
criterion_group!(trailing, old, asynchronous,);
criterion_group! {
    name = complete;
    config = configured();
    targets = generic
}
criterion_group! {
    name = measured;
    config = half_seconds();
    targets = generic,
}
criterion_main! { short, trailing, complete, measured }

// Authors may call their `main`, so it returns nothing, as in Criterion.
const _: fn() = main;
