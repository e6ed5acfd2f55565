//! Every statistic of every benchmark of a run: a block each that fits 80 columns, or a JSON message each.

use serde_json::{Value, json};
use std::io::{self, Write};

use super::analysis::write_thresholds;
use super::beside;
use super::beside_record::{Lines, allocation_lines, latency_lines};
use super::json::{SCHEMA, estimate_json, key_json, thresholds_json, write_object};
use super::table::p_value;
use super::units::Room;
use super::{theme, units};
use crate::compare::{AllocationSummary, BenchmarkRecord, Estimate, LatencySummary};
use crate::model::{BenchmarkKey, Measurement, Metric, RunId, Thresholds, Verdict};
use crate::report::view::MessageFormat;

/// One benchmark of a run.
#[derive(Debug, Clone)]
pub struct BenchmarkStatistics<'a> {
    /// Which.
    pub key: &'a BenchmarkKey,
    /// What was measured, launch by launch.
    pub measurement: &'a Measurement,
    /// Its description; `None` without samples.
    pub record: Option<BenchmarkRecord>,
    /// The verdict of the run, if it has one.
    pub verdict: Option<Verdict>,
    /// The change that it rests on, a fraction.
    pub change: Option<f64>,
    /// The p-value that it rests on, adjusted, where it can be reached again.
    pub p_value: Option<f64>,
    /// The thresholds of the run.
    pub thresholds: Thresholds,
}

/// Writes all of them. The level is that of every interval.
pub fn write_statistics(
    writer: &mut dyn Write,
    run: RunId,
    all: &[BenchmarkStatistics<'_>],
    confidence_level: f64,
    format: MessageFormat,
) -> io::Result<()> {
    for one in all {
        match format {
            MessageFormat::Human => write_block(writer, one, confidence_level)?,
            MessageFormat::Json => write_object(writer, &message(run, one, confidence_level))?,
        }
    }
    let measurements: Vec<&Measurement> = all.iter().map(|one| one.measurement).collect();
    let caveat = beside::caveat(&measurements).filter(|_| format == MessageFormat::Human);
    if let Some(caveat) = caveat {
        for line in units::filled(&caveat, 80) {
            writeln!(writer, "{}", theme::faint(line))?;
        }
    }
    match (format, all.first()) {
        (MessageFormat::Human, Some(one)) => {
            write_thresholds(writer, &one.thresholds, super::units::terminal_width())
        }
        _ => Ok(()),
    }
}

fn message(run: RunId, one: &BenchmarkStatistics<'_>, confidence_level: f64) -> Value {
    let allocations = AllocationSummary::of(one.measurement);
    let latencies = LatencySummary::of(one.measurement, confidence_level);
    json!({
        "reason": "benchmark-statistics",
        "schema": SCHEMA,
        "run": run,
        "benchmark": key_json(one.key),
        "metric": one.measurement.benchmark.metric,
        "throughput": one.measurement.benchmark.throughput,
        "other_throughput": one.measurement.benchmark.other_throughput,
        "confidence_level": confidence_level,
        "statistics": one.record.as_ref().map(record_json),
        "mean_allocated_bytes": allocations.map(|found| found.bytes),
        "allocations": beside::allocations_json(one.measurement),
        "latencies": beside::latencies_json(latencies.as_ref()),
        "course": latencies.as_ref().map(beside::course_json),
        "verdict": one.verdict,
        "change": one.change,
        "p_value": one.p_value,
        "thresholds": thresholds_json(&one.thresholds),
    })
}

fn record_json(record: &BenchmarkRecord) -> Value {
    let summary = &record.summary;
    let over = record.over_launches;
    let [p5, p25, p75, p95, p99] = record.percentiles;
    json!({
        "samples": summary.samples,
        "launches": summary.launches,
        "intervals": summary.intervals,
        "mean_ns": estimate_json(&summary.mean),
        "median_ns": estimate_json(&summary.median),
        "std_dev_ns": summary.sd.as_ref().map(estimate_json),
        "std_err_ns": over.map(|over| over.standard_error),
        "margin_ns": over.map(|over| over.margin),
        "mean_over_launches_ns": record.mean_of_launches().as_ref().map(estimate_json),
        "median_of_launches_ns": record.median_of_launches.as_ref().map(estimate_json),
        "median_coverage": record.median_coverage,
        "mean_bca_ns": record.mean_bca.as_ref().map(estimate_json),
        "cv": record.cv,
        "min_ns": summary.min,
        "max_ns": summary.max,
        "percentiles_ns": {"p5": p5, "p25": p25, "p75": p75, "p95": p95, "p99": p99},
        "median_abs_dev_ns": estimate_json(&summary.mad),
        "slope_ns": summary.slope.as_ref().map(estimate_json),
        "r_squared": summary.r_squared,
        "overhead_ns": summary.overhead_ns,
        "outliers": summary.outliers,
        "diagnostics": record.diagnostics,
        "clock_step_ns": record.disturbance.clock_step_ns,
        "narrower_than_clock": record.disturbance.narrower_than_clock,
        "threads": record.disturbance.threads,
        "interrupted_share": record.disturbance.interrupted,
    })
}

/// Columns of a label, and of a value beside another one.
const LABEL: usize = 17;
/// Lines are no wider than this.
const WIDTH: usize = 80;
const VALUE: usize = 20;

fn write_block(
    writer: &mut dyn Write,
    one: &BenchmarkStatistics<'_>,
    confidence_level: f64,
) -> io::Result<()> {
    let key = one.key;
    writeln!(
        writer,
        "{} {}",
        theme::heading(theme::printable(&format!("{}/{}", key.package, key.target))),
        units::name(&key.id, Room::of_stdout())
    )?;
    match &one.record {
        None => writeln!(writer, "  no samples")?,
        Some(record) => write_record(
            writer,
            record,
            &one.measurement.benchmark.metric,
            confidence_level,
        )?,
    }
    let median = one.record.as_ref().map(|record| record.summary.median);
    let throughput =
        median.and_then(|median| units::throughput(&one.measurement.benchmark, median.estimate));
    if let Some(throughput) = throughput {
        write_line(writer, "throughput", &theme::printable(&throughput))?;
    }
    if let Some(found) = AllocationSummary::of(one.measurement) {
        write_lines(writer, &allocation_lines(&found))?;
    }
    if let Some(found) = LatencySummary::of(one.measurement, confidence_level) {
        write_lines(writer, &latency_lines(&found, confidence_level))?;
    }
    let verdict = or_dash(one.verdict.map(theme::verdict));
    let p = or_dash(one.p_value.map(p_value));
    let change = or_dash(one.change.map(units::change));
    write_line(
        writer,
        "verdict",
        &format!("{verdict}, change {change}, adjusted p {p}"),
    )?;
    writeln!(writer)
}

fn write_record(
    writer: &mut dyn Write,
    record: &BenchmarkRecord,
    metric: &Metric,
    confidence_level: f64,
) -> io::Result<()> {
    let summary = &record.summary;
    let over = record.over_launches;
    let spent = |value: f64| units::spent(metric, value);
    let [p5, p25, p75, p95, p99] = record.percentiles.map(spent);
    let margin = over.map(|over| format!("± {}", spent(over.margin)));
    let error = over.map(|over| spent(over.standard_error));
    let rows = [
        ("samples", summary.samples.to_string()),
        ("launches", summary.launches.to_string()),
        ("min", spent(summary.min)),
        ("max", spent(summary.max)),
        ("p5", p5),
        ("p25", p25),
        ("p75", p75),
        ("p95", p95),
        ("p99", p99),
        ("CV", or_dash(variation(record))),
        ("standard error", or_dash(error)),
        ("t margin", or_dash(margin)),
    ];
    let label = |label: &str| theme::faint(format!("{label:<LABEL$}"));
    for pair in rows.chunks(2) {
        let [(left, a), (right, b)] = pair else {
            continue;
        };
        writeln!(writer, "  {} {a:<VALUE$} {} {b}", label(left), label(right))?;
    }
    write_estimates(writer, record, metric, confidence_level)?;
    let r_squared = summary.r_squared.map(|found| format!("{found:.6}"));
    write_line(
        writer,
        "R² of the slope",
        &format!(
            "{}, constant time of a sample {}",
            or_dash(r_squared),
            or_dash(summary.overhead_ns.map(spent))
        ),
    )?;
    let outliers = &summary.outliers;
    write_line(
        writer,
        "outliers",
        &format!(
            "low {} severe, {} mild; high {} mild, {} severe",
            outliers.low_severe, outliers.low_mild, outliers.high_mild, outliers.high_severe
        ),
    )?;
    for diagnostic in &record.diagnostics {
        write_line(writer, "to note", &diagnostic.to_string())?;
    }
    write_disturbance(writer, record)
}

/// What the clock can show, and what disturbed the launches.
fn write_disturbance(writer: &mut dyn Write, record: &BenchmarkRecord) -> io::Result<()> {
    let found = &record.disturbance;
    let clock = found.clock_step_ns.map(|step| {
        let coarse = if found.narrower_than_clock {
            "; the median's interval is narrower: it shows rounding"
        } else {
            ""
        };
        format!("{} per iteration{coarse}", units::time(step))
    });
    write_line(writer, "clock step", &or_dash(clock))?;
    if let Some(threads) = found.threads.filter(|threads| *threads > 1) {
        let text = format!("{threads} in the process: others may have run beside the samples");
        write_line(writer, "threads", &text)?;
    }
    if let Some(share) = found.interrupted.filter(|share| *share > 0.0) {
        let text = format!(
            "up to {:.1} % of the samples lost the processor",
            share * 100.0
        );
        write_line(writer, "interruptions", &text)?;
    }
    Ok(())
}

/// The values that have intervals, a line each.
fn write_estimates(
    writer: &mut dyn Write,
    record: &BenchmarkRecord,
    metric: &Metric,
    confidence_level: f64,
) -> io::Result<()> {
    let summary = &record.summary;
    let level = units::percent(confidence_level);
    let over = record.mean_of_launches();
    let kind = summary.intervals.name();
    let estimates = [
        ("mean of launches", over.as_ref(), "t interval"),
        ("mean", Some(&summary.mean), kind),
        ("mean, BCa", record.mean_bca.as_ref(), "bootstrap"),
        ("median", Some(&summary.median), kind),
        ("std dev", summary.sd.as_ref(), kind),
        ("MAD (scaled)", Some(&summary.mad), kind),
        ("slope", summary.slope.as_ref(), kind),
    ];
    for (label, estimate, kind) in estimates {
        let text =
            estimate.map(|found| format!("{}  {level} {kind}", with_interval(found, metric)));
        write_line(writer, label, &or_dash(text))?;
    }
    if let (Some(found), Some(coverage)) = (&record.median_of_launches, record.median_coverage) {
        let text = format!(
            "{}  {:.1} % of any distribution",
            with_interval(found, metric),
            coverage * 100.0
        );
        write_line(writer, "median of means", &text)?;
    }
    if let Metric::Rate { .. } = metric {
        let mean = &summary.mean;
        let text = format!(
            "{} {}, harmonic mean; the times above are of one unit",
            units::value(metric, mean.estimate),
            units::interval(metric, mean.lower, mean.upper)
        );
        write_line(writer, "rate", &text)?;
    }
    Ok(())
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}

/// `5.10 %`, with a word where that is much.
fn variation(record: &BenchmarkRecord) -> Option<String> {
    let much = if record.is_very_variable {
        ", very variable"
    } else {
        ""
    };
    record.cv.map(|cv| format!("{:.2} %{much}", cv * 100.0))
}

fn with_interval(estimate: &Estimate, metric: &Metric) -> String {
    let bound = |value: f64| {
        if value.is_finite() {
            units::spent(metric, value)
        } else {
            "-".to_owned()
        }
    };
    format!(
        "{} [{}, {}]",
        units::spent(metric, estimate.estimate),
        bound(estimate.lower),
        bound(estimate.upper)
    )
}

fn write_lines(writer: &mut dyn Write, lines: &Lines) -> io::Result<()> {
    lines
        .iter()
        .try_for_each(|(label, text)| write_line(writer, label, &theme::printable(text)))
}

/// A line, or more where it would be wider than [`WIDTH`]: broken between words, continued below its text.
fn write_line(writer: &mut dyn Write, label: &str, text: &str) -> io::Result<()> {
    let mut label = format!("{label:<LABEL$}");
    for line in units::fitted(text, WIDTH - LABEL - 3) {
        writeln!(writer, "  {} {line}", theme::faint(&label))?;
        label = " ".repeat(LABEL);
    }
    Ok(())
}
