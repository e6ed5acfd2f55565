//! Prints all statistics of each benchmark of a run (`show --stats`), as a block of text that fits 80 columns, or as a JSON message.
//!
//! A block has the summary, the statistics of the samples (where each sample counts as one observation), and everything about allocations,
//! instructions and latencies.

use std::io::{self, Write};

use crate::output::layout::{Cell, ColoredText, Column, Table};
use crate::output::messages::{
    BenchmarkStatistics, BenchmarkStatisticsMessage, JsonMessage, write_message,
};
use crate::output::terminal::TextRole;
use crate::output::view::MessageFormat;
use crate::output::words::extras::{describe_instructions, quantile_name};
use crate::output::words::{analysis, extras, sentences};
use crate::output::{terminal, units};
use perfcheck_analysis::compare::{
    AllocationSummary, BenchmarkRecord, Diagnostic, Estimate, InstructionSummary, LatencySummary,
    ObservationKind, OverProcesses, ProcessStatistics, SampleDescription, UsageSummary,
    Variability, WindowSummary,
};
use perfcheck_analysis::model::{Measurement, Metric, Outliers, RunId, TrimmedError};

/// Writes the statistics of all benchmarks in `all`. Intervals are at `confidence_level`.
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
    let Some(first) = all.first().filter(|_| format == MessageFormat::Human) else {
        return Ok(());
    };
    if let Some(caveat) = extras::latency_caveat(&measurements) {
        for line in units::wrap_words(&caveat, WIDTH) {
            writeln!(writer, "{}", terminal::faint(line))?;
        }
    }
    analysis::write_thresholds(writer, &first.thresholds, units::terminal_width())
}

/// Maximum width of a line, in columns.
const WIDTH: usize = 80;
/// Minimum width of the left of two values that share a line, in columns.
const VALUE: usize = 19;

fn write_block(
    writer: &mut dyn Write,
    one: &BenchmarkStatistics<'_>,
    confidence_level: f64,
) -> io::Result<()> {
    let key = one.key;
    writeln!(
        writer,
        "{} {}",
        terminal::heading(terminal::escape_terminal_text(&format!(
            "{}/{}",
            key.package, key.target
        ))),
        units::id_in_prose(&key.id, units::terminal_width())
    )?;
    let benchmark = &one.measurement.benchmark;
    let mut lines = Vec::new();
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
        lines.push(LabelledLine::new("throughput", throughput));
    }
    if let Some(found) = AllocationSummary::from_measurement(one.measurement) {
        lines.extend(allocation_lines(&found));
    }
    if let Some(found) = InstructionSummary::from_measurement(one.measurement) {
        lines.extend(instruction_lines(&found));
    }
    if let Some(found) = UsageSummary::from_measurement(one.measurement, confidence_level) {
        lines.extend(usage_lines(&found));
    }
    let latencies = LatencySummary::from_measurement(one.measurement, confidence_level);
    if let Some(found) = &latencies {
        lines.extend(latency_lines(found, confidence_level));
    }
    if let Some(found) = &one.over_processes {
        lines.extend(process_lines(found, &benchmark.metric, confidence_level));
    }
    let labels = lines.iter().map(|line| &*line.label);
    let labels = label_column(labels.chain(["verdict"]));
    let texts = lines.iter().map(|line| Cell::from(&*line.text));
    let texts = Column::prose("", texts.chain([verdict(one)]));
    Table::new(vec![labels, texts]).write(writer, WIDTH)?;
    if let Some(table) = latencies.and_then(|found| seconds_table(&found.course.windows)) {
        table.write(writer, WIDTH)?;
    }
    writeln!(writer)
}

fn verdict(one: &BenchmarkStatistics<'_>) -> Cell {
    let (ink, word) = one.verdict.map_or((TextRole::Plain, "-"), |verdict| {
        (TextRole::Verdict(verdict), verdict.word())
    });
    let p = units::or_dash(one.p_value.map(units::p_value));
    let change = units::or_dash(one.change.map(units::change));
    Cell::from_pieces([
        ColoredText::new(ink, word),
        ColoredText::plain(format!(", change {change}, adjusted p {p}")),
    ])
}

/// Returns the table of numbers that have no interval, with two numbers on each line.
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
        ("processes", summary.processes.to_string()),
        ("max", spent(summary.max)),
        ("p25", p25),
        ("p95", p95),
        ("CV", units::or_dash(format_variation(record))),
        ("t margin", units::or_dash(margin)),
    ];
    let labels = left.iter().map(|(label, _)| *label);
    let others = right.iter().map(|(label, _)| Cell::faint(*label));
    Table::new(vec![
        label_column(labels),
        Column::fact("", left.iter().map(|(_, text)| text.clone())).with_min_width(VALUE),
        Column::fact("", others).with_min_width(LABEL - 2),
        Column::fact("", right.iter().map(|(_, text)| text.clone())),
    ])
}

fn record_lines(
    record: &BenchmarkRecord,
    metric: &Metric,
    confidence_level: f64,
) -> Vec<LabelledLine> {
    let summary = &record.summary;
    let mut lines = estimate_lines(record, metric, confidence_level);
    lines.extend(sample_lines(record, metric, confidence_level));
    let r_squared = units::or_dash(summary.r_squared.map(|found| format!("{found:.6}")));
    let constant = units::or_dash(
        summary
            .overhead_ns
            .map(|found| units::format_cost(metric, found)),
    );
    let mut add = |label: &str, text: String| lines.push(LabelledLine::new(label, text));
    add(
        "R² of the slope",
        format!("{r_squared}, fixed time per sample {constant}"),
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
            "; the median's interval is narrower than that, so it reflects only rounding"
        } else {
            ""
        };
        format!("{} per iteration{coarse}", units::time(step))
    });
    add("clock step", units::or_dash(clock));
    if let Some(threads) = found.threads.filter(|threads| *threads > 1) {
        let text =
            format!("{threads} in the process; other threads may have run during the samples");
        add("threads", text);
    }
    if let Some(share) = found.interrupted.filter(|share| *share > 0.0) {
        let percent = share * 100.0;
        let text = format!("up to {percent:.1} % of the samples were interrupted");
        add("interruptions", text);
    }
    lines
}

/// Returns a line for each statistic that has an interval.
fn estimate_lines(
    record: &BenchmarkRecord,
    metric: &Metric,
    confidence_level: f64,
) -> Vec<LabelledLine> {
    let summary = &record.summary;
    let level = units::percent(confidence_level);
    let kind = summary.intervals.name();
    let at_level = |kind: &str| format!("{level} {kind}");
    let of_median = match summary.median_coverage {
        Some(coverage) => format!(
            "{:.1} % rank interval, for any distribution",
            coverage * 100.0
        ),
        None => at_level(kind),
    };
    let is_point = |found: &Estimate| found.lower == found.upper && summary.min < summary.max;
    let estimates = [
        (
            "process mean",
            record.mean_of_processes.as_ref(),
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
                format!("{value}  too few processes or samples for a {level} interval")
            }
            Some(found) => {
                let point = if is_point(found) {
                    "; a single point, because the samples have few distinct values"
                } else {
                    ""
                };
                format!("{}  {kind}{point}", format_with_interval(found, metric))
            }
            None if label == "mean, BCa" => format!(
                "-  needs at least {} processes for a {level} interval",
                BenchmarkRecord::FEWEST_FOR_BCA
            ),
            None => "-".to_owned(),
        };
        LabelledLine::new(label, text)
    });
    let mut lines: Vec<LabelledLine> = lines.collect();
    if let (Some(found), Some(coverage)) = (&record.median_of_processes, record.median_coverage) {
        let text = format!(
            "{}  {:.1} % interval, for any distribution",
            format_with_interval(found, metric),
            coverage * 100.0
        );
        lines.push(LabelledLine::new("median of means", text));
    }
    if let Metric::Rate { .. } = metric {
        let mean = &summary.mean;
        let text = format!(
            "{} {}, harmonic mean; the times above are per unit",
            units::value(metric, mean.estimate),
            units::interval(metric, mean.lower, mean.upper)
        );
        lines.push(LabelledLine::new("rate", text));
    }
    lines
}

fn is_without_bounds(found: &Estimate) -> bool {
    !found.lower.is_finite() && !found.upper.is_finite()
}

/// Formats the coefficient of variation: `1.10 %, stable`. The word is left out if the variation is neither low nor high.
fn format_variation(record: &BenchmarkRecord) -> Option<String> {
    let word = match record.variability {
        Some(Variability::Stable) => ", stable",
        Some(Variability::High) => ", very variable",
        Some(Variability::Ordinary) | None => "",
    };
    record.cv.map(|cv| format!("{:.2} %{word}", cv * 100.0))
}

/// Returns the lines about mean, deviation and tail of the samples. Returns none if the benchmark ran in several processes and no sample is left out,
/// because statistics over whole processes are better then.
pub(super) fn sample_lines(
    record: &BenchmarkRecord,
    metric: &Metric,
    confidence_level: f64,
) -> Vec<LabelledLine> {
    let found = &record.of_samples;
    let is_of_all = found.outliers == Outliers::Keep && found.skipped == 0;
    if record.summary.processes > 1 && is_of_all {
        return Vec::new();
    }
    let spent = |value: f64| units::format_cost(metric, value);
    let or_dash = |value: Option<f64>| units::or_dash(value.map(spent));
    let level = units::percent(confidence_level);
    let [_, _, _, p95, p99] = found.percentiles_ns.map(spent);
    let margin = or_dash(found.margin_ns);
    let (mean, kind) = if found.removed + found.replaced == 0 {
        ("mean of samples", "t interval")
    } else {
        match found.trimmed_error {
            TrimmedError::Winsorized => ("trimmed mean", "t interval with Yuen's standard error"),
            TrimmedError::Plain => (
                "trimmed mean",
                "t interval, as if no sample had been removed",
            ),
        }
    };
    let lines = [
        (
            "samples used",
            format!(
                "{}, assuming that samples of one process are independent",
                describe_samples_used(found)
            ),
        ),
        (
            mean,
            format!(
                "{}  {level} {kind}",
                format_with_interval(&found.mean_ns, metric)
            ),
        ),
        (
            "  its error",
            format!(
                "standard error {}, margin ± {margin}",
                or_dash(found.std_err_ns)
            ),
        ),
        (
            "  spread",
            format!(
                "median {}, std dev {}",
                spent(found.median_ns),
                or_dash(found.std_dev_ns)
            ),
        ),
        (
            "  tail",
            format!(
                "p95 {p95}, p99 {p99}, min {}, max {}",
                spent(found.min_ns),
                spent(found.max_ns)
            ),
        ),
    ];
    let lines = lines.into_iter();
    lines
        .map(|(label, text)| LabelledLine::new(label, text))
        .collect()
}

/// Says how many samples were used, and how many were left out by which filter: `` 190 of 200 (by `iqr`: 10 removed) ``.
fn describe_samples_used(found: &SampleDescription) -> String {
    let parts = units::counts(&[
        (found.skipped, "first skipped"),
        (found.removed, "removed"),
        (found.replaced, "replaced"),
    ]);
    let by = match (found.outliers, parts.is_empty()) {
        (Outliers::Keep, true) => String::new(),
        (Outliers::Keep, false) => format!(" ({parts})"),
        (policy, true) => format!(" (by `{policy}`: none removed)"),
        (policy, false) => format!(" (by `{policy}`: {parts})"),
    };
    format!("{} of {}{by}", found.used, found.raw)
}

/// Formats a value with its bounds; a dash stands for an unknown bound.
pub(super) fn format_with_interval(estimate: &Estimate, metric: &Metric) -> String {
    let bound = |value: f64| {
        if value.is_finite() {
            // Published formulas may give a bound below 0, but no time is negative.
            units::format_cost(metric, value.max(0.0))
        } else {
            "-".to_owned()
        }
    };
    format!(
        "{} [{}, {}]",
        units::format_cost(metric, estimate.estimate),
        bound(estimate.lower),
        bound(estimate.upper)
    )
}

/// Maximum number of rows in the table that shows latencies second by second. If there are more seconds, the table has the first and the last ones.
const MOST_SECONDS: usize = 10;

/// Minimum width of the labels at the left of all lines, in columns.
const LABEL: usize = 18;

/// A line of a block: a label and the text about it.
pub(crate) struct LabelledLine {
    pub(crate) label: String,
    pub(crate) text: String,
}

impl LabelledLine {
    fn new(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            text: text.into(),
        }
    }
}

/// Returns the lines about the allocations of an iteration.
pub(crate) fn allocation_lines(found: &AllocationSummary) -> Vec<LabelledLine> {
    let how = if found.exact { "always" } else { "on average" };
    let mut lines = vec![
        LabelledLine::new(
            "allocations",
            format!(
                "{} per iteration {how}, in {} of {}",
                units::count(found.count),
                units::counted(found.iterations, "iteration"),
                units::counted(found.processes, "process")
            ),
        ),
        LabelledLine::new(
            "allocated bytes",
            format!(
                "{} per iteration, peak {}",
                units::bytes(found.bytes),
                units::bytes(found.peak_bytes)
            ),
        ),
    ];
    if found.other_count > 0.0 {
        lines.push(LabelledLine::new(
            "other threads",
            format!(
                "{} allocations per iteration, {}",
                units::count(found.other_count),
                units::bytes(found.other_bytes)
            ),
        ));
    }
    lines
}

/// Returns the line about the instructions of an iteration.
pub(crate) fn instruction_lines(found: &InstructionSummary) -> Vec<LabelledLine> {
    vec![LabelledLine::new(
        "instructions",
        describe_instructions(found),
    )]
}

/// Returns the lines about the resources that a run of a program used.
pub(crate) fn usage_lines(found: &UsageSummary) -> Vec<LabelledLine> {
    let line = |label, one: &OverProcesses, write: fn(f64) -> String| {
        let interval = one.interval.map_or_else(String::new, |found| {
            format!(" [{}, {}]", write(found.lower), write(found.upper))
        });
        LabelledLine::new(label, format!("{} per run{interval}", write(one.mean)))
    };
    let peak = found.peak_bytes.as_ref();
    let peak = peak.map(|one| line("peak memory", one, units::bytes));
    let start_up = found.start_up_ns.map(|ns| {
        LabelledLine::new(
            "start-up",
            format!("{} for an empty program", units::time(ns)),
        )
    });
    std::iter::once(line("CPU time", &found.cpu_ns, units::time))
        .chain(peak)
        .chain(start_up)
        .collect()
}

/// Returns the lines about the latencies of single operations.
pub(crate) fn latency_lines(found: &LatencySummary, confidence_level: f64) -> Vec<LabelledLine> {
    let level = units::percent(confidence_level);
    let mut lines: Vec<LabelledLine> = found
        .percentiles
        .iter()
        .map(|one| {
            let text = format!(
                "{}  {level} t interval; {} for all processes together",
                format_mean(&one.ns),
                units::time(one.merged_ns as f64)
            );
            LabelledLine::new(format!("latency {}", quantile_name(one.quantile)), text)
        })
        .collect();
    lines.push(LabelledLine::new(
        "error bound",
        format!(
            "percentiles are at most {} too low; exact below {} ns",
            units::rounding(found.relative_error),
            found.exact_below
        ),
    ));
    lines.push(LabelledLine::new(
        "all operations",
        format!(
            "mean {}, std dev {}",
            units::time(found.merged_mean_ns),
            units::time(found.merged_sd_ns)
        ),
    ));
    lines.push(LabelledLine::new("operations", describe_operations(found)));
    for message in &found.messages {
        lines.push(LabelledLine::new("failed with", message.clone()));
    }
    if let Some(drift) = &found.course.drift {
        let text = format!(
            "p50 {}, last second compared with the first",
            units::change_with_interval(drift)
        );
        lines.push(LabelledLine::new("drift", text));
    }
    lines
}

/// Returns the lines about percentiles, mean and rate as means over processes, with the intervals that `BenchForge` computes. Returns none for a
/// single process, because [`sample_lines`] describes its samples.
fn process_lines(
    found: &ProcessStatistics,
    metric: &Metric,
    confidence_level: f64,
) -> Vec<LabelledLine> {
    let is_of_samples = found.observations == ObservationKind::Samples;
    if is_of_samples && (found.ci_degenerate || found.count.mean <= 1.0) {
        return Vec::new();
    }
    let spent = |value: f64| units::format_cost(metric, value);
    let mut lines: Vec<LabelledLine> = (found.percentiles.iter())
        .map(|one| {
            let label = format!("{} by process", quantile_name(one.quantile));
            LabelledLine::new(label, format_with_deviation(&one.ns, &spent))
        })
        .collect();
    lines.push(LabelledLine::new(
        "mean by process",
        format_with_deviation(&found.mean_ns, &spent),
    ));
    if let Some(rate) = &found.per_second {
        lines.push(LabelledLine::new(
            "rate by process",
            format_with_deviation(rate, &units::per_second),
        ));
    }
    let noun = match found.observations {
        ObservationKind::Operations => "operations",
        ObservationKind::Samples => "samples",
    };
    lines.push(LabelledLine::new(
        format!("{noun} each"),
        format_with_deviation(&found.count, &units::count),
    ));
    let how = if found.ci_degenerate {
        "only one process: nothing to resample".to_owned()
    } else {
        format!(
            "{} resamples of processes: {} intervals",
            found.resamples,
            units::percent(confidence_level)
        )
    };
    lines.push(LabelledLine::new("bootstrapped", how));
    lines
}

/// Formats a mean over processes with its interval, standard deviation and coefficient of variation:
/// `1.022 µs [1.001 µs, 1.043 µs], std dev 20.00 ns, CV 1.96 %`.
fn format_with_deviation(found: &OverProcesses, shown: &dyn Fn(f64) -> String) -> String {
    let bounds = found.interval.map(|interval| {
        let [lower, upper] = [interval.lower, interval.upper].map(shown);
        format!(" [{lower}, {upper}]")
    });
    let deviation = found.sd.map(|sd| format!(", std dev {}", shown(sd)));
    let cv = found.cv.map(|cv| format!(", CV {:.2} %", cv * 100.0));
    format!(
        "{}{}{}{}",
        shown(found.mean),
        bounds.unwrap_or_default(),
        deviation.unwrap_or_default(),
        cv.unwrap_or_default()
    )
}

fn describe_operations(found: &LatencySummary) -> String {
    let failed = (found.errors > 0).then(|| format!("; {} failed", found.errors));
    let clamped = (found.clamped > 0).then(|| format!("; {} longer than an hour", found.clamped));
    format!(
        "{} in {}, {} per second{}{}",
        found.operations,
        units::counted(found.processes, "process"),
        units::count(found.operations_per_second.mean.round()),
        failed.unwrap_or_default(),
        clamped.unwrap_or_default()
    )
}

/// Returns the column of labels. It is equally wide in every table of a block, so that the texts beside the labels are aligned.
fn label_column<'l>(labels: impl IntoIterator<Item = &'l str>) -> Column {
    let labels = labels.into_iter();
    Column::fact("", labels.map(|label| Cell::faint(format!("  {label}")))).with_min_width(LABEL)
}

/// Headings of the table that shows latencies second by second, in the order of the cells of [`SecondRow`].
const OF_SECONDS: [&str; 5] = ["operations", "errors", "p50", "p95", "p99"];

/// A row of the table that shows latencies second by second. It has the operations of one second, or says how many seconds are left out.
struct SecondRow {
    label: String,
    cells: Vec<String>,
}

/// Returns a table of latencies with a row for each second. Returns `None` if there are fewer than two seconds.
fn seconds_table(windows: &[WindowSummary]) -> Option<Table> {
    let rows = second_rows(windows)?;
    let labels = label_column(rows.iter().map(|row| &*row.label));
    let labels = labels.with_heading(&[Cell::faint("  second")]);
    let columns = OF_SECONDS.iter().enumerate().map(|(at, heading)| {
        let cells = rows.iter().map(|row| row.cells.get(at).cloned());
        Column::number(heading, cells.map(Option::unwrap_or_default))
    });
    Some(Table::new(std::iter::once(labels).chain(columns).collect()))
}

/// Returns the table of latencies second by second as labeled lines, for outputs that have no tables.
pub(crate) fn second_lines(windows: &[WindowSummary]) -> Vec<LabelledLine> {
    let Some(rows) = second_rows(windows) else {
        return Vec::new();
    };
    let heading = LabelledLine::new("second", OF_SECONDS.join(", "));
    let rows = rows.into_iter();
    let rows = rows.map(|row| LabelledLine::new(row.label, row.cells.join(", ")));
    std::iter::once(heading).chain(rows).collect()
}

/// Returns a row for each second. If there are more than [`MOST_SECONDS`], a row in the middle says how many seconds are left out there. Returns
/// `None` if there are fewer than two seconds.
fn second_rows(windows: &[WindowSummary]) -> Option<Vec<SecondRow>> {
    if windows.len() < 2 {
        return None;
    }
    let left_out = windows.len().saturating_sub(MOST_SECONDS);
    let half = MOST_SECONDS / 2;
    let mut rows = Vec::new();
    for (second, window) in windows.iter().enumerate() {
        if left_out > 0 && second == half {
            rows.push(SecondRow {
                label: "...".to_owned(),
                cells: vec![format!("{left_out} more")],
            });
        }
        if left_out > 0 && (half..half + left_out).contains(&second) {
            continue;
        }
        let percentiles = [window.p50_ns, window.p95_ns, window.p99_ns];
        let percentiles = percentiles.map(|ns| units::or_dash(ns.map(units::time)));
        let counts = [window.operations.to_string(), window.errors.to_string()];
        rows.push(SecondRow {
            label: (second + 1).to_string(),
            cells: counts.into_iter().chain(percentiles).collect(),
        });
    }
    Some(rows)
}

fn format_mean(found: &OverProcesses) -> String {
    let bounds = units::or_dash(found.interval.map(|interval| {
        format!(
            "[{}, {}]",
            units::time(interval.lower.max(0.0)),
            units::time(interval.upper)
        )
    }));
    format!("{} {bounds}", units::time(found.mean))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::terminal::strip_colors;

    fn window(operations: u64) -> WindowSummary {
        let some = |ns: f64| (operations > 0).then_some(ns);
        WindowSummary {
            processes: 1,
            operations,
            errors: 0,
            p50_ns: some(1_000.0),
            p95_ns: some(2_000.0),
            p99_ns: some(123_400_000.0),
        }
    }

    #[test]
    fn of_many_seconds_the_first_and_the_last_are_shown_and_all_lines_fit() {
        let windows: Vec<WindowSummary> = (0..30).map(window).collect();
        let written = |windows: &[WindowSummary]| {
            let mut bytes = Vec::new();
            let table = seconds_table(windows).expect("several");
            table
                .write(&mut bytes, 80)
                .expect("memory takes everything");
            String::from_utf8(strip_colors(&bytes)).expect("text")
        };
        let text = written(&windows);
        let labels: Vec<&str> = text
            .lines()
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        assert_eq!(
            labels,
            [
                "second", "1", "2", "3", "4", "5", "...", "26", "27", "28", "29", "30"
            ]
        );
        assert!(text.contains("20 more\n"), "{text}");
        let first = text.lines().nth(1).expect("a second");
        assert!(first.ends_with('-'), "nothing succeeded: {first}");
        assert!(text.lines().all(|line| units::width(line) <= 80), "{text}");
        assert_eq!(written(&windows[..10]).lines().count(), 11);
        assert!(seconds_table(&windows[..1]).is_none());
    }

    #[test]
    fn a_single_process_has_no_bounds() {
        let one = OverProcesses {
            mean: 1_000.0,
            ..OverProcesses::default()
        };
        assert_eq!(format_mean(&one), "1.000 µs -");
    }
}
