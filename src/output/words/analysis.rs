//! Describes tests and statistics: outliers, error rates, decision rules, location estimates, changed thresholds.

use std::io::{self, Write};

use crate::output::units;
use crate::output::view::wrap_prose;
use perfcheck_analysis::compare::{Centers, Comparison, SideCenter, Summary};
use perfcheck_analysis::model::{
    Analysis, Correction, DecisionSettings, Metric, Observations, Statistic, Test, Thresholds,
};

/// Describes the outliers of a benchmark: `7 outliers among 100 samples (7.0 %): 3 low mild, 4 high severe`. Returns `None` if there are none. These
/// outliers are counted only, not removed.
pub(crate) fn describe_outliers(summary: &Summary) -> Option<String> {
    let found = &summary.outliers;
    let kinds = [
        (found.low_severe, "low severe"),
        (found.low_mild, "low mild"),
        (found.high_mild, "high mild"),
        (found.high_severe, "high severe"),
    ];
    let total = found.total();
    let samples = summary.labeled_samples();
    (total > 0).then(|| {
        format!(
            "{} among {} ({}): {}",
            units::counted(total, "outlier"),
            units::counted(samples, "sample"),
            units::rounded_percent(total as f64 / samples as f64),
            units::counts(&kinds)
        )
    })
}

/// Says how often the tool's own tests raise false alarms, which depends on how they correct for the number of benchmarks.
pub(crate) fn describe_false_alarm_rate(decision: &DecisionSettings) -> String {
    let level = units::percent(decision.significance_level);
    match decision.analysis.correction {
        Correction::Holm => format!("at most {level} chance of any false alarm"),
        Correction::BenjaminiHochberg => format!("false discovery rate {level}"),
        Correction::Unadjusted => format!("{level} chance of a false alarm for each benchmark"),
    }
}

/// Describes how a test decides, in words that continue a sentence such as "Compared with run 3".
pub(crate) fn describe_method(decision: &DecisionSettings) -> String {
    let analysis = &decision.analysis;
    let thresholds = &decision.thresholds;
    let unit = match analysis.observations {
        Observations::Processes => "processes",
        Observations::Samples => "samples",
        Observations::Filtered => "the samples that the filter keeps",
    };
    let level = units::percent(decision.significance_level);
    let family = match analysis.correction {
        Correction::Holm => "adjusted by Holm's method",
        Correction::BenjaminiHochberg => "adjusted by the Benjamini-Hochberg method",
        Correction::Unadjusted => "unadjusted",
    };
    let is_of_ranks = matches!(analysis.test, Test::MannWhitney | Test::Kruskal);
    let interval = if is_of_ranks && decision.noise_threshold == 0.0 {
        ""
    } else {
        " and an interval beyond the noise threshold"
    };
    match analysis.test {
        Test::P95Ratio => format!(
            "by the ratio of 95th percentiles: {} or less is faster, {} or more is slower, regardless of the noise threshold",
            thresholds.p95_faster, thresholds.p95_slower
        ),
        Test::Interval => format!(
            "by {} intervals of {unit}; a change needs intervals that do not overlap; drift between runs is ignored",
            units::percent(1.0 - decision.significance_level)
        ),
        test => format!(
            "by {test} of {unit}; a change needs p below {level} (two-sided, {family}){interval}; drift between runs is ignored"
        ),
    }
}

/// Returns the confidence level of the intervals by which verdicts are decided.
pub(crate) fn interval_level(decision: &DecisionSettings) -> f64 {
    match decision.analysis {
        // Each of the two bounds uses the whole significance level, which all benchmarks of the run share.
        Analysis {
            subject: Statistic::Time,
            test: Test::BootstrapT | Test::TScore,
            ..
        } => 1.0 - 2.0 * decision.significance_level,
        // The two bounds share the significance level.
        Analysis {
            subject: Statistic::Time,
            ..
        } => 1.0 - decision.significance_level,
        _ => decision.confidence_level,
    }
}

/// Formats the changes of the mean and the median of all samples. Criterion prints both beside the result of its test, so they are returned only if
/// that test decided the verdict.
pub(crate) fn describe_sample_changes(comparison: &Comparison) -> Option<String> {
    comparison
        .published_decision()
        .filter(|tested| tested.test == Test::PooledT)?;
    let description = &comparison.description;
    let [mean, median] = [description.mean?, description.median?]
        .map(|change| units::change_with_interval(&change.estimate));
    Some(format!(
        "the mean changed by {mean}, the median by {median}"
    ))
}

/// Describes the summary that the user requested with `--center`, `--outliers` or `--quantile`, and the samples that it leaves out. Returns `None` if
/// none was requested.
pub(crate) fn describe_centers(comparison: &Comparison, metric: &Metric) -> Option<String> {
    let centers: &Centers = comparison.description.centers.as_ref()?;
    let tests_filtered = (comparison.published_decision())
        .is_some_and(|tested| tested.observations == Observations::Filtered);
    let side = |side: &SideCenter| units::value(metric, side.value_ns);
    let change = centers.change.map_or_else(String::new, |change| {
        format!(" ({})", units::change(change))
    });
    let left_out = |side: &SideCenter| side.skipped + side.removed;
    let (candidate, base) = (&centers.candidate, &centers.base);
    let first = (candidate.skipped + base.skipped > 0).then(|| "`first`".to_owned());
    let policy = (candidate.removed + base.removed > 0).then(|| format!("`{}`", centers.outliers));
    let by: Vec<String> = first.into_iter().chain(policy).collect();
    let taken = if by.is_empty() {
        String::new()
    } else {
        format!(
            "; {} left out {} of {} samples of the reference and {} of {} of this run{}",
            by.join(" and "),
            left_out(base),
            base.raw,
            left_out(candidate),
            candidate.raw,
            if tests_filtered {
                ""
            } else {
                " (the test uses all samples)"
            }
        )
    };
    Some(format!(
        "{} {} → {}{change}{taken}",
        centers.center,
        side(base),
        side(candidate)
    ))
}

/// Writes the thresholds whose values differ from their defaults, in lines of at most `columns`. Writes nothing if there are none.
pub(crate) fn write_thresholds(
    writer: &mut dyn Write,
    thresholds: &Thresholds,
    columns: usize,
) -> io::Result<()> {
    let changed: Vec<String> = thresholds
        .non_default()
        .into_iter()
        .map(|(name, value, default)| format!("{name} {value} (default {default})"))
        .collect();
    if changed.is_empty() {
        return Ok(());
    }
    let text = format!("Changed thresholds: {}.", changed.join(", "));
    writeln!(writer, "{}", wrap_prose(&text, columns, "  "))
}
