//! The full record of allocations and latencies: lines of a block that fits 80 columns.

use super::beside::quantile_name;
use super::units;
use crate::compare::{
    AllocationSummary, LatencyComparison, LatencySummary, OverLaunches, WindowSummary,
};

/// Rows of the table of seconds; of more the first and the last are shown.
const MOST_SECONDS: usize = 10;

/// Label and text of each line.
pub(super) type Lines = Vec<(String, String)>;

/// What an iteration allocated.
pub(super) fn allocation_lines(found: &AllocationSummary) -> Lines {
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

/// What single operations took.
pub(super) fn latency_lines(found: &LatencySummary, confidence_level: f64) -> Lines {
    let level = units::percent(confidence_level);
    let mut lines: Lines = found
        .percentiles
        .iter()
        .map(|one| {
            let text = format!(
                "{}  {level} t; all launches {}",
                over_launches(&one.ns),
                units::time(one.merged_ns as f64)
            );
            (format!("latency {}", quantile_name(one.quantile)), text)
        })
        .collect();
    lines.push((
        "error bound".to_owned(),
        format!(
            "percentiles are at most {:.2} % too low; below 2048 ns exact",
            LatencyComparison::RELATIVE_ERROR * 100.0
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
    lines.push(("operations".to_owned(), operations(found)));
    for message in &found.messages {
        lines.push(("failed with".to_owned(), message.clone()));
    }
    lines.extend(seconds(&found.windows));
    if let Some(drift) = &found.drift {
        let text = format!(
            "p50 {}, last second against first",
            units::change_with_interval(drift)
        );
        lines.push(("drift".to_owned(), text));
    }
    lines
}

fn operations(found: &LatencySummary) -> String {
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

/// A row a second, where there is more than one.
fn seconds(windows: &[WindowSummary]) -> Lines {
    if windows.len() < 2 {
        return Vec::new();
    }
    let head = format!(
        "{:>10} {:>7} {:>10} {:>10} {:>10}",
        "operations", "errors", "p50", "p95", "p99"
    );
    let mut lines = vec![("second".to_owned(), head)];
    let left_out = windows.len().saturating_sub(MOST_SECONDS);
    let half = MOST_SECONDS / 2;
    for (second, window) in windows.iter().enumerate() {
        if left_out > 0 && second == half {
            lines.push(("...".to_owned(), format!("{left_out} more")));
        }
        if left_out > 0 && (half..half + left_out).contains(&second) {
            continue;
        }
        let percentiles = window.percentiles_ns.map_or_else(
            || ["-", "-", "-"].map(str::to_owned),
            |found| found.map(units::time),
        );
        let [p50, p95, p99] = percentiles;
        lines.push((
            (second + 1).to_string(),
            format!(
                "{:>10} {:>7} {p50:>10} {p95:>10} {p99:>10}",
                window.operations, window.errors
            ),
        ));
    }
    lines
}

fn over_launches(found: &OverLaunches) -> String {
    let bounds = found.interval.map_or_else(
        || "-".to_owned(),
        |interval| {
            format!(
                "[{}, {}]",
                units::time(interval.lower),
                units::time(interval.upper)
            )
        },
    );
    format!("{} {bounds}", units::time(found.mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(operations: u64) -> WindowSummary {
        WindowSummary {
            launches: 1,
            operations,
            errors: 0,
            percentiles_ns: (operations > 0).then_some([1_000.0, 2_000.0, 123_400_000.0]),
        }
    }

    #[test]
    fn of_many_seconds_the_first_and_the_last_are_shown_and_all_lines_fit() {
        let windows: Vec<WindowSummary> = (0..30).map(window).collect();
        let lines = seconds(&windows);
        let labels: Vec<&str> = lines.iter().map(|(label, _)| &label[..]).collect();
        assert_eq!(
            labels,
            [
                "second", "1", "2", "3", "4", "5", "...", "26", "27", "28", "29", "30"
            ]
        );
        assert_eq!(lines[6].1, "20 more");
        assert!(lines[1].1.trim_end().ends_with('-'), "nothing succeeded");
        assert!(lines.iter().all(|(_, text)| text.chars().count() <= 60));
        assert_eq!(seconds(&windows[..1]), []);
        assert_eq!(seconds(&windows[..10]).len(), 11);
    }

    #[test]
    fn a_single_launch_has_no_bounds() {
        let one = OverLaunches {
            mean: 1_000.0,
            sd: None,
            interval: None,
        };
        assert_eq!(over_launches(&one), "1.000 µs -");
    }
}
