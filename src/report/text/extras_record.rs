//! The full record of allocations, instructions and latencies, as lines of a block that fits 80 columns.

use crate::report::layout::{Cell, Column, Table};
use crate::report::units;
use crate::report::words::extras::{describe_instructions, quantile_name};
use perfcheck_analysis::compare::{
    AllocationSummary, InstructionSummary, LatencySummary, ObservationKind, OverProcesses,
    ProcessStatistics, WindowSummary,
};
use perfcheck_analysis::model::Metric;

/// Maximum number of rows in the table of seconds; longer ones show the first and the last.
const MOST_SECONDS: usize = 10;

/// Minimum width of labels, in columns.
pub(crate) const LABEL: usize = 18;

/// Label and text of each line.
pub(crate) type LabelledLines = Vec<(String, String)>;

/// Describes the allocations of an iteration.
pub(crate) fn allocation_lines(found: &AllocationSummary) -> LabelledLines {
    let how = if found.exact { "always" } else { "on average" };
    let mut lines = vec![
        (
            "allocations".to_owned(),
            format!(
                "{} per iteration {how}, in {} iterations of {} launches",
                units::count(found.count),
                found.iterations,
                found.launches
            ),
        ),
        (
            "allocated bytes".to_owned(),
            format!(
                "{} per iteration, at most {} at once",
                units::bytes(found.bytes),
                units::bytes(found.peak_bytes)
            ),
        ),
    ];
    if found.other_count > 0.0 {
        lines.push((
            "other threads".to_owned(),
            format!(
                "{} allocations per iteration, {}",
                units::count(found.other_count),
                units::bytes(found.other_bytes)
            ),
        ));
    }
    lines
}

/// Describes the instructions of an iteration.
pub(crate) fn instruction_lines(found: &InstructionSummary) -> LabelledLines {
    vec![("instructions".to_owned(), describe_instructions(found))]
}

/// Describes the latencies of single operations.
pub(crate) fn latency_lines(found: &LatencySummary, confidence_level: f64) -> LabelledLines {
    let level = units::percent(confidence_level);
    let mut lines: LabelledLines = found
        .percentiles
        .iter()
        .map(|one| {
            let text = format!(
                "{}  {level} t; all launches {}",
                format_mean(&one.ns),
                units::time(one.merged_ns as f64)
            );
            (format!("latency {}", quantile_name(one.quantile)), text)
        })
        .collect();
    lines.push((
        "error bound".to_owned(),
        format!(
            "percentiles are at most {} too low; below {} ns exact",
            units::rounding(found.relative_error),
            found.exact_below
        ),
    ));
    lines.push((
        "all operations".to_owned(),
        format!(
            "mean {}, std dev {}",
            units::time(found.merged_mean_ns),
            units::time(found.merged_sd_ns)
        ),
    ));
    lines.push(("operations".to_owned(), describe_operations(found)));
    for message in &found.messages {
        lines.push(("failed with".to_owned(), message.clone()));
    }
    if let Some(drift) = &found.course.drift {
        let text = format!(
            "p50 {}, last second against first",
            units::change_with_interval(drift)
        );
        lines.push(("drift".to_owned(), text));
    }
    lines
}

/// Returns percentiles, mean and rate as means over processes, with the intervals of `BenchForge`.
/// There are no lines for a single process, whose samples are described elsewhere.
pub(crate) fn launch_lines(
    found: &ProcessStatistics,
    metric: &Metric,
    confidence_level: f64,
) -> LabelledLines {
    let is_of_samples = found.observations == ObservationKind::Samples;
    if is_of_samples && (found.ci_degenerate || found.count.mean <= 1.0) {
        return Vec::new();
    }
    let spent = |value: f64| units::format_cost(metric, value);
    let mut lines: LabelledLines = (found.percentiles.iter())
        .map(|one| {
            let label = format!("{} by launch", quantile_name(one.quantile));
            (label, format_with_deviation(&one.ns, &spent))
        })
        .collect();
    lines.push((
        "mean by launch".to_owned(),
        format_with_deviation(&found.mean_ns, &spent),
    ));
    if let Some(rate) = &found.per_second {
        lines.push((
            "rate by launch".to_owned(),
            format_with_deviation(rate, &units::per_second),
        ));
    }
    let noun = match found.observations {
        ObservationKind::Operations => "operations",
        ObservationKind::Samples => "samples",
    };
    lines.push((
        format!("{noun} each"),
        format_with_deviation(&found.count, &units::count),
    ));
    let how = if found.ci_degenerate {
        "one launch: nothing to resample".to_owned()
    } else {
        format!(
            "{} resamples of launches: {} intervals",
            found.resamples,
            units::percent(confidence_level)
        )
    };
    lines.push(("bootstrapped".to_owned(), how));
    lines
}

/// Formats `1.022 µs [1.001 µs, 1.043 µs], std dev 20.00 ns, CV 1.96 %`.
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
    let clamped = (found.clamped > 0).then(|| format!("; {} above an hour", found.clamped));
    format!(
        "{} in {} launches, {} a second{}{}",
        found.operations,
        found.launches,
        units::count(found.operations_per_second.mean.round()),
        failed.unwrap_or_default(),
        clamped.unwrap_or_default()
    )
}

/// Returns the column of labels, equally wide in every table of a block.
pub(crate) fn label_column(labels: impl IntoIterator<Item = String>) -> Column {
    let labels = labels.into_iter();
    Column::fact("", labels.map(|label| Cell::faint(format!("  {label}")))).with_min_width(LABEL)
}

/// Headings of the table of seconds, in the order of its cells.
const OF_SECONDS: [&str; 5] = ["operations", "errors", "p50", "p95", "p99"];

/// Returns a table with a row for each second, if there are at least two.
pub(crate) fn seconds_table(windows: &[WindowSummary]) -> Option<Table> {
    let rows = second_rows(windows)?;
    let labels = label_column(rows.iter().map(|(label, _)| label.clone()));
    let labels = labels.with_heading(&[Cell::faint("  second")]);
    let columns = OF_SECONDS.iter().enumerate().map(|(at, heading)| {
        let cells = rows.iter().map(|(_, cells)| cells.get(at).cloned());
        Column::number(heading, cells.map(Option::unwrap_or_default))
    });
    Some(Table::new(std::iter::once(labels).chain(columns).collect()))
}

/// Returns the rows of the table of seconds as lines, for outputs with a layout of their own.
pub(crate) fn second_lines(windows: &[WindowSummary]) -> LabelledLines {
    let Some(rows) = second_rows(windows) else {
        return Vec::new();
    };
    let heading = ("second".to_owned(), OF_SECONDS.join(", "));
    let rows = rows.into_iter();
    std::iter::once(heading)
        .chain(rows.map(|(label, cells)| (label, cells.join(", "))))
        .collect()
}

/// Returns label and cells of each second; the middle ones are left out if there are many.
fn second_rows(windows: &[WindowSummary]) -> Option<Vec<(String, Vec<String>)>> {
    if windows.len() < 2 {
        return None;
    }
    let left_out = windows.len().saturating_sub(MOST_SECONDS);
    let half = MOST_SECONDS / 2;
    let mut rows = Vec::new();
    for (second, window) in windows.iter().enumerate() {
        if left_out > 0 && second == half {
            rows.push(("...".to_owned(), vec![format!("{left_out} more")]));
        }
        if left_out > 0 && (half..half + left_out).contains(&second) {
            continue;
        }
        let percentiles = [window.p50_ns, window.p95_ns, window.p99_ns];
        let percentiles = percentiles.map(|ns| units::or_dash(ns.map(units::time)));
        let counts = [window.operations.to_string(), window.errors.to_string()];
        let cells = counts.into_iter().chain(percentiles).collect();
        rows.push(((second + 1).to_string(), cells));
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
    use crate::report::theme::strip_colors;

    fn window(operations: u64) -> WindowSummary {
        let some = |ns: f64| (operations > 0).then_some(ns);
        WindowSummary {
            launches: 1,
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
    fn a_single_launch_has_no_bounds() {
        let one = OverProcesses {
            mean: 1_000.0,
            ..OverProcesses::default()
        };
        assert_eq!(format_mean(&one), "1.000 µs -");
    }
}
