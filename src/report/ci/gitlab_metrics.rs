//! GitLab's metrics report: medians and changes in the text format of `OpenMetrics`.
//!
//! The format: `OpenMetrics` 1.0, "Text format"; GitLab compares the value of each metric with that of the target branch.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::escape;
use perfcheck_analysis::findings::{Findings, Row};
use perfcheck_analysis::model::Metric;

/// A metric: its name, its unit, its help text, and a function that returns its value for a row.
type MetricFamily<'a> = (&'a str, &'a str, &'a str, fn(&Row<'_>) -> Option<f64>);

pub(crate) fn write_metrics(writer: &mut dyn Write, findings: &Findings<'_>) -> io::Result<()> {
    let families: [MetricFamily<'_>; 4] = [
        (
            "perfcheck_median_seconds",
            "seconds",
            "Median time of an iteration.",
            |row| median(row, |metric| matches!(metric, Metric::Time)).map(|ns| ns * 1e-9),
        ),
        (
            "perfcheck_median_per_second",
            "",
            "Median rate, in units of its own.",
            |row| median(row, |metric| matches!(metric, Metric::Rate { .. })).map(|ns| 1e9 / ns),
        ),
        (
            "perfcheck_median_amount",
            "",
            "Median amount of an iteration, in units of its own.",
            |row| median(row, |metric| matches!(metric, Metric::Amount { .. })),
        ),
        (
            "perfcheck_change_ratio",
            "ratio",
            "Relative change; more is slower.",
            |row| Some(row.comparison.as_ref()?.change?.estimate),
        ),
    ];
    for (name, unit, help, value) in families {
        let samples: Vec<(&Row<'_>, f64)> = findings
            .rows
            .iter()
            .filter_map(|row| Some((row, value(row)?)))
            .filter(|(_, value)| value.is_finite())
            .collect();
        if samples.is_empty() {
            continue;
        }
        writeln!(writer, "# TYPE {name} gauge")?;
        if !unit.is_empty() {
            writeln!(writer, "# UNIT {name} {unit}")?;
        }
        writeln!(writer, "# HELP {name} {help}")?;
        for (row, value) in samples {
            // Write four digits: GitLab compares values as text, and more digits would only show noise.
            writeln!(writer, "{name}{{{}}} {value:.3e}", labels(row))?;
        }
    }
    writeln!(writer, "# EOF")
}

fn median(row: &Row<'_>, is_wanted: impl Fn(&Metric) -> bool) -> Option<f64> {
    let measurement = row.measurement?;
    let median = row.summary.as_ref()?.median.estimate;
    is_wanted(&measurement.benchmark.metric).then_some(median)
}

fn labels(row: &Row<'_>) -> String {
    let unit = match row.measurement.map(|found| &found.benchmark.metric) {
        Some(Metric::Rate { unit } | Metric::Amount { unit }) => Some(unit),
        Some(Metric::Time) | None => None,
    };
    let key = &row.key;
    let known = [
        ("package", Some(&key.package)),
        ("target", Some(&key.target)),
        ("benchmark", Some(&key.id)),
        ("unit", unit),
    ];
    let mut labels = String::new();
    for (name, value) in known {
        let Some(value) = value else { continue };
        let comma = if labels.is_empty() { "" } else { "," };
        let value = escape::openmetrics_label(value);
        // Writing to memory does not fail.
        let _ = write!(labels, "{comma}{name}=\"{value}\"");
    }
    labels
}
