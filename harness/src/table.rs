//! The mode of plain `cargo bench`: one process, a short warm-up, samples of equal size, and a table. It stores and compares nothing; `cargo
//! perfcheck` does that.

use std::cell::RefCell;
use std::collections::BinaryHeap;
use std::process::ExitCode;
use std::time::Duration;

use crate::allocations::Counts;
use crate::args::PrintedDetail;
use crate::clock::{Slowdown, Stopwatch, saturating_nanos};
use crate::driver::{SampleDriver, warm_up};
use crate::latencies::{self, LatencyRecorder};
use crate::output::{fail_with, format_allocations, format_rate, format_time, print};
use crate::protocol::escape;
use crate::sampler::{Sampler, count_allocations};
use crate::settings::{SamplingMode, Settings, Throughput};
use crate::walk::{BenchFunction, BenchmarkRunner, DeclaredBenchmark, Ending, run_selected};
use crate::{counting, timing};

const WARM_UP: Duration = Duration::from_millis(100);
const MEASUREMENT: Duration = Duration::from_millis(400);

/// The target length of a sample if the author sets no number of samples.
const SAMPLE_NS: f64 = 1e6;

/// The number of samples of a linear schedule if the author sets none.
const LINEAR_SAMPLES: u64 = 100;

/// The number of iterations in which allocations are counted.
const COUNTED: usize = 16;

/// The maximum width of the first column. Longer ids do not widen it.
const WIDEST_ID: usize = 48;

/// Measures the selected benchmarks and prints a row for each.
pub(crate) fn run(
    functions: &[BenchFunction],
    wanted: &[DeclaredBenchmark],
    verbosity: PrintedDetail,
) -> ExitCode {
    let id_width = wanted
        .iter()
        .map(|entry| escape(&entry.announcement.id).chars().count())
        .filter(|&width| width <= WIDEST_ID)
        .fold("benchmark".len(), usize::max);
    let mut table = ResultTable {
        id_width,
        counts_allocations: counting::is_installed(),
        failures: String::new(),
        failed: 0,
    };
    if verbosity == PrintedDetail::Normal && !wanted.is_empty() {
        print(&format!(
            "{:<id_width$}  {:>9}  {:>9}    {:<9}  throughput\n",
            "benchmark", "median", "lowest", "highest"
        ));
    }
    let walked = run_selected(functions, wanted, &mut table);
    if let Err(message) = walked {
        return fail_with(101, &message);
    }
    if table.failed > 0 {
        let message = format!(
            "{} of {} benchmarks failed: {}",
            table.failed,
            wanted.len(),
            table.failures
        );
        return fail_with(101, &message);
    }
    ExitCode::SUCCESS
}

struct ResultTable {
    id_width: usize,
    counts_allocations: bool,
    failed: usize,
    /// Ids of failed benchmarks
    failures: String,
}

impl BenchmarkRunner for ResultTable {
    type Driver = TableSampling;

    fn make_driver(&mut self, _: &str, settings: &Settings) -> TableSampling {
        TableSampling::new(settings, self.counts_allocations)
    }

    fn finish_benchmark(&mut self, id: &str, sampling: TableSampling, ending: Ending) {
        let id = escape(id);
        let result = match ending {
            Ending::Measured => sampling.format_row(),
            Ending::Skipped(reason) => format!("skipped: {}", escape(&reason)),
            Ending::Failed(message) => {
                let separator = if self.failed == 0 { "" } else { ", " };
                self.failures.push_str(separator);
                self.failures.push_str(&id);
                self.failed += 1;
                format!("FAILED: {}", escape(&message))
            }
        };
        let row = format!("{id:<width$}  {result}", width = self.id_width);
        print(&format!("{}\n", row.trim_end()));
    }
}

/// The samples of one benchmark.
pub(crate) struct TableSampling {
    settings: Settings,
    throughput: Throughput,
    ns_per_iteration: Vec<f64>,
    counts_allocations: bool,
    /// Texts about single operations and allocations for the end of the row
    extras: Vec<String>,
}

impl SampleDriver for TableSampling {
    fn drive(
        &mut self,
        throughput: Throughput,
        sampler: &mut Sampler<'_>,
        latencies: Option<&RefCell<LatencyRecorder>>,
    ) {
        self.throughput = throughput;
        let limit_ns = saturating_nanos(self.settings.warm_up.unwrap_or(WARM_UP));
        let stopwatch = match self.settings.unit {
            None => Stopwatch::Real(Slowdown::default()),
            Some(_) => Stopwatch::Amounts,
        };
        let warm_up = warm_up(|round| stopwatch.warm_up(sampler, round), limit_ns);
        let estimate_ns = warm_up.planned_ns();
        let schedule = plan_schedule(&self.settings, estimate_ns);
        self.ns_per_iteration = Vec::with_capacity(schedule.len());
        for (index, iterations) in schedule.into_iter().enumerate() {
            let sampler = &mut |iterations| timing::sample_at_position(index, sampler, iterations);
            let elapsed = match latencies {
                Some(latencies) => latencies::sample_operations(latencies, sampler, iterations),
                None => sampler(iterations),
            };
            let ns = elapsed.as_nanos() as f64 / iterations as f64;
            self.ns_per_iteration.push(ns);
        }
        if let Some(latencies) = latencies {
            self.extras.push(format_percentiles(&latencies.borrow()));
        }
        if self.counts_allocations {
            self.extras.push(format_mean_allocations(&count_allocations(
                sampler, COUNTED,
            )));
        }
    }
}

/// Formats the percentiles of a latency benchmark's operations.
fn format_percentiles(latencies: &LatencyRecorder) -> String {
    let histogram = latencies.histogram();
    let percentile = |thousandths| match histogram.percentile(thousandths) {
        Some(ns) => format_time(ns as f64),
        None => "-".to_owned(),
    };
    let (p50, p99, longest) = (percentile(500), percentile(990), percentile(1000));
    let percentiles = format!("p50 {p50}, p99 {p99}, max {longest}");
    let Some(message) = latencies.messages().first() else {
        return percentiles;
    };
    let errors = latencies.errors();
    let operations = errors + histogram.total();
    format!(
        "{percentiles}, {errors} of {operations} failed: {}",
        escape(message)
    )
}

/// Formats the mean allocations of the counted iterations.
fn format_mean_allocations(counts: &[Counts]) -> String {
    let mean = |part: fn(&Counts) -> u64| {
        counts.iter().map(part).sum::<u64>() as f64 / counts.len() as f64
    };
    let other = mean(|counts| counts.other_allocations);
    let own = format_allocations(
        mean(|counts| counts.allocations),
        mean(|counts| counts.bytes),
    );
    if other > 0.0 {
        let other = format_allocations(other, mean(|counts| counts.other_bytes));
        format!("{own}, other threads {other}")
    } else {
        own
    }
}

/// Returns the iteration count of each sample.
fn plan_schedule(settings: &Settings, estimate_ns: f64) -> Vec<u64> {
    let estimate_ns = estimate_ns.max(1e-3);
    let total_ns = settings.measurement.unwrap_or(MEASUREMENT).as_nanos() as f64;
    let samples = settings.samples.map(u64::from);
    if settings.sampling_mode == Some(SamplingMode::Linear) {
        let samples = samples.unwrap_or(LINEAR_SAMPLES);
        // Choose d so that d (1 + 2 + ... + n) iterations fill the time.
        let steps = samples as f64 * (samples + 1) as f64 / 2.0;
        let step = ((total_ns / estimate_ns / steps).ceil() as u64).max(1);
        return (1..=samples).map(|index| index * step).collect();
    }
    let sample_ns = samples.map_or(SAMPLE_NS, |samples| total_ns / samples as f64);
    let iterations = ((sample_ns / estimate_ns).round() as u64).max(1);
    let samples =
        samples.unwrap_or_else(|| (total_ns / (iterations as f64 * estimate_ns)).round() as u64);
    vec![iterations; samples.max(2) as usize]
}

impl TableSampling {
    pub(crate) fn new(settings: &Settings, counts_allocations: bool) -> Self {
        Self {
            settings: settings.clone(),
            throughput: Throughput::default(),
            ns_per_iteration: Vec::new(),
            counts_allocations,
            extras: Vec::new(),
        }
    }

    /// Returns the time per iteration in each sample, in ascending order.
    pub(crate) fn sorted(&self) -> Vec<f64> {
        // Nonnegative floats have the same order as their bits. A heap sort keeps compile time low.
        let bits: BinaryHeap<u64> = self
            .ns_per_iteration
            .iter()
            .map(|ns| ns.to_bits())
            .collect();
        let bits = bits.into_sorted_vec();
        bits.into_iter().map(f64::from_bits).collect()
    }

    fn format_row(&self) -> String {
        let sorted = self.sorted();
        let (Some(&lowest), Some(&highest)) = (sorted.first(), sorted.last()) else {
            return "no samples".to_owned();
        };
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 {
            sorted[middle]
        } else {
            f64::midpoint(sorted[middle - 1], sorted[middle])
        };
        let mut row = format!(
            "{:>9}  {:>9} .. {:<9}  {}",
            format_time(median),
            format_time(lowest),
            format_time(highest),
            format_rate(self.throughput, median)
        );
        for note in &self.extras {
            if !row.ends_with(' ') {
                row.push_str("; ");
            }
            row.push_str(note);
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_samples_of_a_millisecond_fill_the_time() {
        assert_eq!(plan_schedule(&Settings::default(), 1000.0), vec![1000; 400]);
        assert_eq!(plan_schedule(&Settings::default(), 30e6), vec![1; 13]);
        assert_eq!(plan_schedule(&Settings::default(), 5e9), vec![1; 2]);
    }

    #[test]
    fn the_authors_settings_are_kept() {
        let settings = Settings {
            samples: Some(10),
            measurement: Some(Duration::from_millis(1)),
            ..Settings::default()
        };
        assert_eq!(plan_schedule(&settings, 1000.0), vec![100; 10]);
        let linear = Settings {
            sampling_mode: Some(SamplingMode::Linear),
            samples: Some(4),
            measurement: Some(Duration::from_micros(20)),
            ..Settings::default()
        };
        assert_eq!(plan_schedule(&linear, 1000.0), [2, 4, 6, 8]);
    }

    #[test]
    fn a_routine_that_takes_no_time_ends_all_the_same() {
        let warm_up = warm_up(|_| (0, 0), 100);
        assert!(!plan_schedule(&Settings::default(), warm_up.planned_ns()).is_empty());
    }

    #[test]
    fn a_row_has_median_extremes_and_throughput() {
        let sampling = TableSampling {
            settings: Settings::default(),
            throughput: Throughput::elements(2),
            ns_per_iteration: vec![30.0, 10.0, 20.0, 1000.0],
            counts_allocations: false,
            extras: vec!["p50 20.00 ns".to_owned()],
        };
        assert_eq!(
            sampling.format_row(),
            " 25.00 ns   10.00 ns .. 1.000 µs   80.00 Melem/s; p50 20.00 ns"
        );
    }
}
