//! Prints all statistics of each benchmark of a run: a block that fits 80 columns, or a JSON message.

use std::io::{self, Write};

use super::described_samples::{format_with_interval, sample_lines};
use super::extras_record::{
    self, LABEL, allocation_lines, instruction_lines, label_column, latency_lines, launch_lines,
    seconds_table,
};
use crate::report::layout::{Cell, Column, Table};
use crate::report::messages::{
    BenchmarkStatistics, BenchmarkStatisticsMessage, JsonMessage, write_message,
};
use crate::report::theme::{self, TextRole};
use crate::report::units;
use crate::report::view::MessageFormat;
use crate::report::words::{analysis, extras, sentences};
use perfcheck_analysis::compare::{
    AllocationSummary, BenchmarkRecord, Diagnostic, Estimate, InstructionSummary, LatencySummary,
    Variability,
};
use perfcheck_analysis::model::{Measurement, Metric, RunId};

/// Writes the statistics of all benchmarks, with intervals at `confidence_level`.
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
            MessageFormat::Json => {
                let latencies = LatencySummary::from_measurement(one.measurement, confidence_level);
                let message = BenchmarkStatisticsMessage::from_statistics(
                    run,
                    one,
                    latencies.as_ref(),
                    confidence_level,
                );
                write_message(writer, JsonMessage::BenchmarkStatistics(message))?;
            }
        }
    }
    let measurements: Vec<&Measurement> = all.iter().map(|one| one.measurement).collect();
    let caveat = extras::latency_caveat(&measurements).filter(|_| format == MessageFormat::Human);
    if let Some(caveat) = caveat {
        for line in units::wrap_words(&caveat, 80) {
            writeln!(writer, "{}", theme::faint(line))?;
        }
    }
    match (format, all.first()) {
        (MessageFormat::Human, Some(one)) => analysis::write_thresholds(
            writer,
            &one.thresholds,
            crate::report::units::terminal_width(),
        ),
        _ => Ok(()),
    }
}

/// Maximum width of a line, in columns.
const WIDTH: usize = 80;
/// Minimum width of values that have others beside them, in columns.
const VALUE: usize = 19;

/// Label and text of each line of a block.
type Lines = Vec<(String, Cell)>;

fn write_block(
    writer: &mut dyn Write,
    one: &BenchmarkStatistics<'_>,
    confidence_level: f64,
) -> io::Result<()> {
    let key = one.key;
    writeln!(
        writer,
        "{} {}",
        theme::heading(theme::escape_terminal_text(&format!(
            "{}/{}",
            key.package, key.target
        ))),
        units::id_in_prose(&key.id, units::terminal_width())
    )?;
    let benchmark = &one.measurement.benchmark;
    let mut lines = Lines::new();
    match &one.record {
        None => writeln!(writer, "  no samples")?,
        Some(record) => {
            number_table(record, &benchmark.metric).write(writer, WIDTH)?;
            lines.extend(record_lines(record, &benchmark.metric, confidence_level));
        }
    }
    let median = one.record.as_ref().map(|record| record.summary.median);
    let throughput = median.and_then(|median| units::throughput(benchmark, median.estimate));
    if let Some(throughput) = throughput {
        lines.push(("throughput".to_owned(), throughput.into()));
    }
    if let Some(found) = AllocationSummary::from_measurement(one.measurement) {
        lines.extend(as_cells(allocation_lines(&found)));
    }
    if let Some(found) = InstructionSummary::from_measurement(one.measurement) {
        lines.extend(as_cells(instruction_lines(&found)));
    }
    let latencies = LatencySummary::from_measurement(one.measurement, confidence_level);
    if let Some(found) = &latencies {
        lines.extend(as_cells(latency_lines(found, confidence_level)));
    }
    if let Some(found) = &one.over_launches {
        let told = launch_lines(found, &benchmark.metric, confidence_level);
        lines.extend(as_cells(told));
    }
    lines.push(("verdict".to_owned(), verdict(one)));
    let (labels, texts): (Vec<String>, Vec<Cell>) = lines.into_iter().unzip();
    Table::new(vec![label_column(labels), Column::prose("", texts)]).write(writer, WIDTH)?;
    if let Some(table) = latencies.and_then(|found| seconds_table(&found.course.windows)) {
        table.write(writer, WIDTH)?;
    }
    writeln!(writer)
}

fn as_cells(lines: extras_record::LabelledLines) -> impl Iterator<Item = (String, Cell)> {
    let lines = lines.into_iter();
    lines.map(|(label, text)| (label, text.into()))
}

fn verdict(one: &BenchmarkStatistics<'_>) -> Cell {
    let verdict = one.verdict.map_or((TextRole::Plain, "-"), |verdict| {
        (TextRole::Verdict(verdict), verdict.word())
    });
    let p = units::or_dash(one.p_value.map(units::p_value));
    let change = units::or_dash(one.change.map(units::change));
    Cell::from_pieces(vec![
        (verdict.0, verdict.1.to_owned()),
        (
            TextRole::Plain,
            format!(", change {change}, adjusted p {p}"),
        ),
    ])
}

/// Returns the table of single numbers, two on a line.
fn number_table(record: &BenchmarkRecord, metric: &Metric) -> Table {
    let summary = &record.summary;
    let spent = |value: f64| units::format_cost(metric, value);
    let [p5, p25, p75, p95, p99] = record.percentiles.map(spent);
    let margin = record
        .margin_ns
        .map(|margin| format!("± {}", spent(margin)));
    let error = record.std_err_ns.map(spent);
    let left = [
        ("samples", summary.samples.to_string()),
        ("min", spent(summary.min)),
        ("p5", p5),
        ("p75", p75),
        ("p99", p99),
        ("standard error", units::or_dash(error)),
    ];
    let right = [
        ("launches", summary.launches.to_string()),
        ("max", spent(summary.max)),
        ("p25", p25),
        ("p95", p95),
        ("CV", units::or_dash(format_variation(record))),
        ("t margin", units::or_dash(margin)),
    ];
    let labels = left.iter().map(|(label, _)| (*label).to_owned());
    let others = right.iter().map(|(label, _)| Cell::faint(*label));
    Table::new(vec![
        label_column(labels),
        Column::fact("", left.iter().map(|(_, text)| text.clone())).with_min_width(VALUE),
        Column::fact("", others).with_min_width(LABEL - 2),
        Column::fact("", right.iter().map(|(_, text)| text.clone())),
    ])
}

fn record_lines(record: &BenchmarkRecord, metric: &Metric, confidence_level: f64) -> Lines {
    let summary = &record.summary;
    let mut lines = estimate_lines(record, metric, confidence_level);
    lines.extend(as_cells(sample_lines(record, metric, confidence_level)));
    let r_squared = units::or_dash(summary.r_squared.map(|found| format!("{found:.6}")));
    let constant = units::or_dash(
        summary
            .overhead_ns
            .map(|found| units::format_cost(metric, found)),
    );
    let mut add = |label: &str, text: String| lines.push((label.to_owned(), text.into()));
    add(
        "R² of the slope",
        format!("{r_squared}, constant time of a sample {constant}"),
    );
    add(
        "outliers",
        analysis::describe_outliers(summary).unwrap_or_else(|| "none".to_owned()),
    );
    if let Some(left_out) = &summary.left_out {
        add("left out", left_out.describe());
    }
    for diagnostic in &record.diagnostics {
        let modes = sentences::describe_modes(summary, metric)
            .filter(|_| matches!(diagnostic, Diagnostic::SeveralModes { .. }));
        add("to note", modes.unwrap_or_else(|| diagnostic.to_string()));
    }
    let found = &record.disturbance;
    let clock = found.clock_step_ns.map(|step| {
        let coarse = if found.narrower_than_clock {
            "; the median's interval is narrower: it shows rounding"
        } else {
            ""
        };
        format!("{} per iteration{coarse}", units::time(step))
    });
    add("clock step", units::or_dash(clock));
    if let Some(threads) = found.threads.filter(|threads| *threads > 1) {
        let text = format!("{threads} in the process: others may have run beside the samples");
        add("threads", text);
    }
    if let Some(share) = found.interrupted.filter(|share| *share > 0.0) {
        let percent = share * 100.0;
        let text = format!("up to {percent:.1} % of the samples lost the processor");
        add("interruptions", text);
    }
    lines
}

/// Returns a line for each value that has an interval.
fn estimate_lines(record: &BenchmarkRecord, metric: &Metric, confidence_level: f64) -> Lines {
    let summary = &record.summary;
    let level = units::percent(confidence_level);
    let kind = summary.intervals.name();
    let at_level = |kind: &str| format!("{level} {kind}");
    let of_median = match summary.median_coverage {
        Some(coverage) => format!("{:.1} % of any distribution, by ranks", coverage * 100.0),
        None => at_level(kind),
    };
    let is_point = |found: &Estimate| found.lower == found.upper && summary.min < summary.max;
    let estimates = [
        (
            "mean of launches",
            record.mean_of_launches.as_ref(),
            at_level("t interval"),
        ),
        ("mean", Some(&summary.mean), at_level(kind)),
        ("mean, BCa", record.mean_bca.as_ref(), at_level("bootstrap")),
        ("median", Some(&summary.median), of_median),
        ("std dev", summary.sd.as_ref(), at_level(kind)),
        ("MAD (scaled)", Some(&summary.mad), at_level(kind)),
        ("slope", summary.slope.as_ref(), at_level(kind)),
    ];
    let lines = estimates.into_iter().map(|(label, estimate, kind)| {
        let text = match estimate {
            Some(found) if is_without_bounds(found) => {
                let value = units::format_cost(metric, found.estimate);
                format!("{value}  too few launches or samples for an interval at {level}")
            }
            Some(found) => {
                let point = if is_point(found) {
                    "; a point, as the samples are few different values"
                } else {
                    ""
                };
                format!("{}  {kind}{point}", format_with_interval(found, metric))
            }
            None if label == "mean, BCa" => format!(
                "-  fewer than {} launches are too few for it at {level}",
                BenchmarkRecord::FEWEST_FOR_BCA
            ),
            None => "-".to_owned(),
        };
        (label.to_owned(), text.into())
    });
    let mut lines: Lines = lines.collect();
    if let (Some(found), Some(coverage)) = (&record.median_of_launches, record.median_coverage) {
        let text = format!(
            "{}  {:.1} % of any distribution",
            format_with_interval(found, metric),
            coverage * 100.0
        );
        lines.push(("median of means".to_owned(), text.into()));
    }
    if let Metric::Rate { .. } = metric {
        let mean = &summary.mean;
        let text = format!(
            "{} {}, harmonic mean; the times above are of one unit",
            units::value(metric, mean.estimate),
            units::interval(metric, mean.lower, mean.upper)
        );
        lines.push(("rate".to_owned(), text.into()));
    }
    lines
}

fn is_without_bounds(found: &Estimate) -> bool {
    !found.lower.is_finite() && !found.upper.is_finite()
}

/// Formats `1.10 %, stable`, with a word if the variation is low or high.
fn format_variation(record: &BenchmarkRecord) -> Option<String> {
    let word = match record.variability {
        Some(Variability::Stable) => ", stable",
        Some(Variability::High) => ", very variable",
        Some(Variability::Ordinary) | None => "",
    };
    record.cv.map(|cv| format!("{:.2} %{word}", cv * 100.0))
}
