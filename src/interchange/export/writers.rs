//! Writes the Go benchmark data format for benchstat, the Bencher Metric Format, and a table of every sample of every run.
//!
//! In Go's format, one line is written for each process, with the median of the process. benchstat takes lines for independent measurements, and only
//! processes are independent.

use crate::interchange::ExportedRun;
use crate::interchange::export::exported::values_by_process;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::io::{self, Write};

use super::criterion::{CONFIDENCE_LEVEL, RESAMPLES};
use crate::sanitize;
use crate::sanitize::csv_text as text;
use perfcheck_analysis::compare::InstructionSummary;
use perfcheck_analysis::model::{BenchmarkKey, Measurement, Metric, ProgressReporter, Sample};
use perfcheck_stats::{ClusterMean, Resampling, Stream, mean, median, percentile_interval};

/// Writes one run in the Go benchmark data format.
pub fn write_benchstat(
    writer: &mut dyn Write,
    run: &ExportedRun,
    progress: &ProgressReporter<'_>,
) -> io::Result<()> {
    let host = &run.run.begun.environment.host;
    let facts = [
        ("goos", &host.os),
        ("goarch", &host.architecture),
        ("cpu", &host.cpu),
    ];
    for (name, value) in facts {
        if !value.is_empty() {
            writeln!(writer, "{name}: {}", one_line(value))?;
        }
    }
    let mut place: Option<&BenchmarkKey> = None;
    for (done, measurement) in run.measured().enumerate() {
        progress.report(done, run.measurements.len());
        let key = &measurement.benchmark.key;
        let is_other =
            |other: &BenchmarkKey| (&other.package, &other.target) != (&key.package, &key.target);
        if place.is_none_or(is_other) {
            writeln!(
                writer,
                "pkg: {}/{}",
                one_line(&key.package),
                one_line(&key.target)
            )?;
            place = Some(key);
        }
        write_lines(writer, measurement)?;
    }
    Ok(())
}

fn write_lines(writer: &mut dyn Write, measurement: &Measurement) -> io::Result<()> {
    let unit = match &measurement.benchmark.metric {
        Metric::Time => "ns/op".to_owned(),
        Metric::Amount { unit } if unit == "bytes" => "B/op".to_owned(),
        Metric::Amount { unit } if unit == "allocations" => "allocs/op".to_owned(),
        Metric::Amount { unit } => format!("{}/op", replace_spaces(unit)),
        Metric::Rate { unit } if unit == "bytes" => "B/s".to_owned(),
        Metric::Rate { unit } => format!("{}/s", replace_spaces(unit)),
    };
    let name = go_name(&measurement.benchmark.key.id, &unit);
    for (process, values) in values_by_process(measurement) {
        let Some(value) = median(&values) else {
            continue;
        };
        let iterations = (process.series.deciding_samples().iter())
            .fold(0_u64, |sum, sample| sum.saturating_add(sample.iterations));
        let mut line = format!("{name}\t{iterations}\t{value} {unit}");
        let counted = |count: fn(&perfcheck_analysis::model::Allocations) -> u64| {
            let counts = process.extras.allocations.iter().map(count);
            mean(&counts.map(|count| count as f64).collect::<Vec<f64>>())
        };
        if measurement.benchmark.metric.is_time() {
            if let (Some(bytes), Some(count)) = (counted(|one| one.bytes), counted(|one| one.count))
            {
                let _ = write!(line, "\t{bytes} B/op\t{count} allocs/op");
            }
            if let Some(found) = InstructionSummary::from_measurement(measurement) {
                let _ = write!(line, "\t{} instructions/op", found.per_iteration);
            }
            if let Some(bytes) = measurement
                .benchmark
                .throughput
                .bytes
                .filter(|_| value > 0.0)
            {
                let _ = write!(line, "\t{} MB/s", bytes as f64 * 1e3 / value);
            }
        }
        writeln!(writer, "{line}")?;
    }
    Ok(())
}

/// Returns a Go benchmark name such as `BenchmarkFib/10`: no spaces, and a capital letter after `Benchmark`. Removes the unit in brackets at the end
/// of an id such as `fib (terms/op)`, so that benchstat shows all units of a benchmark under one name.
fn go_name(id: &str, unit: &str) -> String {
    let unitless = id.strip_suffix(&format!(" ({unit})"));
    // A rate that an id calls `MB/s` is written in `B/s`.
    let rate = id.strip_suffix(" (MB/s)").filter(|_| unit == "B/s");
    let id = unitless.or(rate).unwrap_or(id);
    let mut letters = id.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    format!(
        "Benchmark{}{}",
        replace_spaces(&first.unwrap_or_default()),
        replace_spaces(letters.as_str())
    )
}

fn replace_spaces(text: &str) -> String {
    let harmless = |c: char| {
        if c.is_whitespace() || sanitize::is_harmful(c) {
            '_'
        } else {
            c
        }
    };
    text.chars().map(harmless).collect()
}

fn one_line(text: &str) -> String {
    let printable = |c: char| if sanitize::is_harmful(c) { ' ' } else { c };
    text.chars().map(printable).collect()
}

/// Writes one run in the Bencher Metric Format: means with bootstrap intervals, which resample whole processes if there are several.
pub fn write_bmf(
    writer: &mut dyn Write,
    run: &ExportedRun,
    progress: &ProgressReporter<'_>,
) -> io::Result<()> {
    let mut benchmarks = Map::new();
    for (done, (name, measurement)) in run.names().into_iter().zip(run.measured()).enumerate() {
        progress.report(done, run.measurements.len());
        let processes = values_by_process(measurement).into_iter();
        let processes: Vec<Vec<f64>> = processes.map(|(_, values)| values).collect();
        let clusters: Vec<&[f64]> = match processes.as_slice() {
            [only] => only.chunks(1).collect(),
            several => several.iter().map(Vec::as_slice).collect(),
        };
        let all: Vec<f64> = processes.iter().flatten().copied().collect();
        let Some(value) = mean(&all) else { continue };
        let resampling = Resampling {
            resamples: RESAMPLES,
            stream: Stream {
                seed: run.run.begun.seed,
                name: &name,
            },
        };
        let interval = (clusters.len() > 1)
            .then(|| {
                percentile_interval(&ClusterMean::new(&clusters), CONFIDENCE_LEVEL, resampling)
            })
            .flatten();
        let mut measures = Map::new();
        let mut bounded = json!({"value": value});
        if let Some(interval) = interval {
            bounded["lower_value"] = interval.lower.into();
            bounded["upper_value"] = interval.upper.into();
        }
        let measure = match &measurement.benchmark.metric {
            Metric::Time => "latency".to_owned(),
            Metric::Rate { .. } => "throughput".to_owned(),
            Metric::Amount { unit } => slug(unit),
        };
        measures.insert(measure, bounded);
        let throughput = measurement.benchmark.throughput;
        if let Some(amount) = throughput.elements.or(throughput.bytes)
            && measurement.benchmark.metric.is_time()
            && value > 0.0
        {
            let rate = amount as f64 * 1e9 / value;
            measures.insert("throughput".to_owned(), json!({"value": rate}));
        }
        benchmarks.insert(name, Value::Object(measures));
    }
    let text = serde_json::to_string_pretty(&Value::Object(benchmarks))?;
    writeln!(writer, "{}", sanitize::json(&text))
}

/// Returns the name of the Bencher measure for a unit. Such names have only lowercase letters, digits and dashes.
fn slug(unit: &str) -> String {
    let lower = unit.to_lowercase();
    let letters = lower.chars();
    letters
        .map(|c| if c.is_alphanumeric() { c } else { '-' })
        .collect()
}

const COLUMNS: [&str; 11] = [
    "run",
    "package",
    "target",
    "id",
    "metric",
    "unit",
    "process",
    "phase",
    "sample",
    "iterations",
    "elapsed",
];

/// Writes a table with a row for each sample. `elapsed` is the total over the iterations, in nanoseconds or in the unit of an amount.
pub fn write_csv(
    writer: &mut dyn Write,
    runs: &[ExportedRun],
    progress: &ProgressReporter<'_>,
) -> io::Result<()> {
    let all = runs.iter().map(|run| run.measurements.len()).sum();
    let mut done = 0;
    let mut table = ::csv::Writer::from_writer(writer);
    table.write_record(COLUMNS).map_err(io::Error::other)?;
    for run in runs {
        for measurement in run.measured() {
            progress.report(done, all);
            done += 1;
            let benchmark = &measurement.benchmark;
            let (metric, unit) = match &benchmark.metric {
                Metric::Time => ("time", "ns"),
                Metric::Rate { unit } => ("rate", unit.as_str()),
                Metric::Amount { unit } => ("amount", unit.as_str()),
            };
            for process in &measurement.processes {
                let series = &process.series;
                let warm_up = [series.warm_up];
                let warm_up: &[Sample] = if warm_up[0].iterations > 0 {
                    &warm_up
                } else {
                    &[]
                };
                let phases = [
                    ("warm-up", warm_up),
                    ("linear", &series.linear),
                    ("flat", &series.flat),
                ];
                for (phase, samples) in phases {
                    for (number, sample) in samples.iter().enumerate() {
                        table
                            .write_record([
                                &*text(&run.name),
                                &text(&benchmark.key.package),
                                &text(&benchmark.key.target),
                                &text(&benchmark.key.id),
                                metric,
                                &text(unit),
                                &process.process.to_string(),
                                phase,
                                &number.to_string(),
                                &sample.iterations.to_string(),
                                &sample.elapsed.0.to_string(),
                            ])
                            .map_err(io::Error::other)?;
                    }
                }
            }
        }
    }
    table.flush()
}
