//! A bench executable for the tests, written as users of Criterion write them.

#![allow(
    clippy::print_stderr,
    clippy::stable_sort_primitive,
    clippy::similar_names,
    reason = "a bench: what it prints is looked for by the tests"
)]

use std::cell::Cell;
use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter};
use criterion::profiler::Profiler;
use criterion::{
    BatchSize, BenchmarkId, Criterion, PlotConfiguration, SamplingMode, Throughput,
    criterion_group, criterion_main,
};

fn simple(c: &mut Criterion) {
    // In Criterion, this code runs once per process.
    eprintln!("set-up of simple");
    c.bench_function("sum", |b| b.iter(|| (0..black_box(100_u64)).sum::<u64>()));
    c.bench_with_input(BenchmarkId::new("len", 3), "abc", |b, text| {
        b.iter(|| text.len());
    });
    // The id is used a second time.
    c.bench_function("sum", |b| b.iter(|| black_box(1)));
}

fn grouped(c: &mut Criterion) {
    let mut group = c.benchmark_group("sort");
    group
        .sample_size(20)
        .warm_up_time(Duration::from_millis(30))
        .measurement_time(Duration::from_millis(70))
        .noise_threshold(0.05)
        .sampling_mode(SamplingMode::Flat)
        .plot_config(PlotConfiguration::default());
    for size in [10_u64, 100] {
        group.throughput(Throughput::Elements(size));
        group.bench_with_input(BenchmarkId::new("stable", size), &size, |b, size| {
            b.iter_batched_ref(
                || (0..*size).rev().collect::<Vec<_>>(),
                |v| v.sort(),
                BatchSize::SmallInput,
            );
        });
    }
    group.throughput(Throughput::Bits(800));
    group.bench_function(BenchmarkId::from_parameter("a + b"), |b| b.iter(|| 1));
    group.finish();
}

fn samples(c: &mut Criterion) {
    // The closure runs once for each sample.
    let closures = Cell::new(0);
    c.bench_function("closures", |b| {
        closures.set(closures.get() + 1);
        eprintln!("closure {}", closures.get());
        b.iter_custom(Duration::from_micros);
    });
    c.bench_function("panics", |b| b.iter(|| panic!("no data")));
    c.bench_function("measures-nothing", |_| ());
}

/// A measurement that counts widgets.
struct WidgetMeasurement;

impl ValueFormatter for WidgetMeasurement {
    fn scale_values(&self, _: f64, _: &mut [f64]) -> &'static str {
        "widgets"
    }
    fn scale_throughputs(&self, _: f64, _: &Throughput, _: &mut [f64]) -> &'static str {
        "widgets/s"
    }
    fn scale_for_machines(&self, _: &mut [f64]) -> &'static str {
        "widgets"
    }
}

impl Measurement for WidgetMeasurement {
    type Intermediate = ();
    type Value = u64;
    fn start(&self) {}
    fn end(&self, (): ()) -> u64 {
        7
    }
    fn add(&self, v1: &u64, v2: &u64) -> u64 {
        v1 + v2
    }
    fn zero(&self) -> u64 {
        0
    }
    fn to_f64(&self, value: &u64) -> f64 {
        *value as f64
    }
    fn formatter(&self) -> &dyn ValueFormatter {
        &WidgetMeasurement
    }
}

fn custom(c: &mut Criterion<WidgetMeasurement>) {
    c.bench_function("widgets", |b| b.iter_custom(|iterations| 42 * iterations));
}

/// A profiler that prints its calls.
struct PrintingProfiler;

impl Profiler for PrintingProfiler {
    fn start_profiling(&mut self, id: &str, directory: &std::path::Path) {
        eprintln!("profiling {id}: {}", directory.is_dir());
    }
    fn stop_profiling(&mut self, id: &str, _: &std::path::Path) {
        eprintln!("profiled {id}");
    }
}

criterion_group!(benches, simple, grouped);
criterion_group! {
    name = configured;
    config = Criterion::default().sample_size(10).with_profiler(PrintingProfiler);
    targets = samples
}
criterion_group! {
    name = measured;
    config = Criterion::default().with_measurement(WidgetMeasurement);
    targets = custom,
}
criterion_main!(benches, configured, measured);
