//! Statistics of the samples themselves, each sample being one observation: the lines of a block that fits 80 columns.

use super::extras_record::LabelledLines;
use crate::report::units;
use perfcheck_analysis::compare::{BenchmarkRecord, Estimate, SampleDescription};
use perfcheck_analysis::model::{Metric, Outliers, TrimmedError};

/// Returns mean, deviation and tail of the samples if the benchmark ran in a single process or an outlier policy is set.
/// Otherwise there are no lines: the statistics over several whole processes are the better ones.
pub(super) fn sample_lines(
    record: &BenchmarkRecord,
    metric: &Metric,
    confidence_level: f64,
) -> LabelledLines {
    let found = &record.of_samples;
    let is_of_all = found.outliers == Outliers::Keep && found.skipped == 0;
    if record.summary.launches > 1 && is_of_all {
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
            TrimmedError::Winsorized => ("trimmed mean", "t interval by Yuen's error"),
            TrimmedError::Plain => (
                "trimmed mean",
                "t interval, as if the samples used were all",
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
        .map(|(label, text)| (label.to_owned(), text))
        .collect()
}

/// Describes the samples used: `` 190 of 200 (by `iqr`: 10 removed) ``.
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
            // Published formulas may give a bound below 0; no time is negative.
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
