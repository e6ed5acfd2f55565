//! Benches written for Criterion: set-up that must not run twice in a process, a panicking benchmark, and measurements that are not times.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use criterion::measurement::{Measurement, ValueFormatter};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

static LOGGER: OnceLock<()> = OnceLock::new();

fn sums(c: &mut Criterion) {
    LOGGER.set(()).expect("set-up runs once in a process");
    let mut group = c.benchmark_group("sum");
    for count in [100, 1000] {
        group.throughput(Throughput::Elements(count));
        group.bench_with_input(BenchmarkId::new("fold", count), &count, |b, count| {
            b.iter(|| (0..*count).fold(7, |state, n| black_box(state ^ n)));
        });
    }
    group.finish();
    c.bench_function("panics", |b| b.iter(|| panic!("no data")));
    c.bench_function("after", |b| b.iter(|| black_box(1)));
}

/// A measurement of steps instead of time.
struct Steps;

impl Measurement for Steps {
    type Intermediate = ();
    type Value = u64;
    fn start(&self) {}
    fn end(&self, (): ()) -> u64 {
        0
    }
    fn add(&self, v1: &u64, v2: &u64) -> u64 {
        v1 + v2
    }
    fn zero(&self) -> u64 {
        0
    }
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn to_f64(&self, value: &u64) -> f64 {
        *value as f64
    }
    fn formatter(&self) -> &dyn ValueFormatter {
        self
    }
}

impl ValueFormatter for Steps {
    fn scale_values(&self, _: f64, _: &mut [f64]) -> &'static str {
        "steps"
    }
    fn scale_throughputs(&self, _: f64, _: &Throughput, _: &mut [f64]) -> &'static str {
        "steps"
    }
    fn scale_for_machines(&self, _: &mut [f64]) -> &'static str {
        "steps"
    }
}

fn steps(c: &mut Criterion<Steps>) {
    c.bench_function("steps", |b| {
        b.iter_custom(|iterations| (0..iterations).fold(0, |steps, _| black_box(steps + 3)));
    });
    // Each iteration takes at least 20 us and counts `EVENTS` events, by default three.
    let events: u64 = std::env::var("EVENTS").map_or(3, |events| events.parse().expect("a number"));
    c.bench_function("events", |b| {
        b.iter_custom(|iterations| {
            let begin = Instant::now();
            let end = Duration::from_micros(20) * u32::try_from(iterations).expect("not so many");
            while begin.elapsed() < end {}
            iterations * events
        });
    });
}

criterion_group!(benches, sums);
criterion_group! {
    name = custom;
    config = Criterion::default().with_measurement(Steps);
    targets = steps
}
criterion_main!(benches, custom);
