//! Writes the Go benchmark data format for benchstat. Each line is the median of one process, because only processes are independent.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::exported::{ExportedRun, values_by_process};
use crate::escape;
use perfcheck_analysis::compare::InstructionSummary;
use perfcheck_analysis::model::{BenchmarkKey, Measurement, Metric, ProgressReporter};
use perfcheck_stats::{mean, median};

/// Writes one run.
pub fn write_benchstat(
    writer: &mut dyn Write,
    run: &ExportedRun,
    told: &ProgressReporter<'_>,
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
        told.report(done, run.measurements.len());
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
    for (launch, values) in values_by_process(measurement) {
        let Some(value) = median(&values) else {
            continue;
        };
        let iterations = (launch.series.deciding_samples().iter())
            .fold(0_u64, |sum, sample| sum.saturating_add(sample.iterations));
        let mut line = format!("{name}\t{iterations}\t{value} {unit}");
        let counted = |count: fn(&perfcheck_analysis::model::Allocations) -> u64| {
            let counts = launch.extras.allocations.iter().map(count);
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

/// Returns a Go benchmark name such as `BenchmarkFib/10`: no spaces, and a capital letter after `Benchmark`.
/// Removes the unit that `import` appended to the name.
fn go_name(id: &str, unit: &str) -> String {
    let unitless = id.strip_suffix(&format!(" ({unit})"));
    // Go's `MB/s` is `B/s` here.
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
        if c.is_whitespace() || escape::is_harmful(c) {
            '_'
        } else {
            c
        }
    };
    text.chars().map(harmless).collect()
}

fn one_line(text: &str) -> String {
    let printable = |c: char| if escape::is_harmful(c) { ' ' } else { c };
    text.chars().map(printable).collect()
}
