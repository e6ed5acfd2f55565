//! What the published systems' statistics and the rules of `--fail` add to a report, in words.

use std::io::{self, Write};

use crate::report::text::status::write_warning_within;
use crate::report::theme;
use crate::report::units;
use crate::report::view::prose;
use perfcheck_analysis::compare::{Centers, Estimate, Share, SharedLevel, SideCenter};
use perfcheck_analysis::findings::{Gates, Violation};
use perfcheck_analysis::model::{
    Analysis, DecisionSettings, FamilyRule, Metric, Observations, Statistic, Test, Thresholds, Unit,
};

/// How a test decides, as the end of "Compared with ... ".
pub(in crate::report) fn method(decision: &DecisionSettings) -> String {
    let analysis = &decision.analysis;
    let thresholds = &decision.thresholds;
    let unit = match analysis.observations {
        Observations::Launches => "launches",
        Observations::Samples => "samples",
    };
    let level = units::percent(decision.significance_level);
    let family = match analysis.correction {
        FamilyRule::Holm => "adjusted by Holm",
        FamilyRule::BenjaminiHochberg => "adjusted by Benjamini and Hochberg",
        FamilyRule::Unadjusted => "of each benchmark by itself",
    };
    match analysis.test {
        Test::P95Ratio => format!(
            "by the ratio of 95th percentiles: faster up to {}, slower from {} on, whatever the noise threshold",
            thresholds.p95_faster, thresholds.p95_slower
        ),
        Test::Interval => format!(
            "by {} intervals of {unit} that must not overlap; drift between runs left out",
            units::percent(1.0 - decision.significance_level)
        ),
        test => format!(
            "by {test} of {unit}, p {family}: below {level} (two-sided) and an interval beyond the noise threshold; drift between runs left out"
        ),
    }
}

/// The level of the intervals of changes that verdicts rest on.
pub(in crate::report) fn interval_level(decision: &DecisionSettings) -> f64 {
    match decision.analysis {
        // Each bound has the whole level, for all benchmarks of the run together.
        Analysis {
            subject: Statistic::Time,
            test: Test::BootstrapT,
            ..
        } => 1.0 - 2.0 * decision.significance_level,
        // Of these both bounds share the level.
        Analysis {
            subject: Statistic::Time,
            ..
        } => 1.0 - decision.significance_level,
        _ => decision.confidence_level,
    }
}

/// The summary that was asked for, and what the policy took.
pub(in crate::report) fn centers(centers: &Centers, metric: &Metric) -> String {
    let side = |side: &SideCenter| units::spent(metric, side.value_ns);
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
            "; left out by {}: {} of {} samples of the reference, {} of {} of this run (the test is of all)",
            by.join(" and "),
            left_out(base),
            base.raw,
            left_out(candidate),
            candidate.raw
        )
    };
    format!(
        "{} {} → {}{change}{taken}",
        centers.center,
        side(base),
        side(candidate)
    )
}

/// Rules that were broken, and rules that said nothing, in lines that fit into so many columns.
pub(in crate::report) fn write_gates(
    writer: &mut dyn Write,
    gates: &Gates,
    columns: usize,
) -> io::Result<()> {
    for violation in &gates.violations {
        let text = format!("{}: {}", theme::error(), broken(violation));
        writeln!(writer, "{}", prose(&text, columns, "  "))?;
    }
    for remark in &gates.remarks {
        write_warning_within(writer, remark, columns)?;
    }
    Ok(())
}

pub(in crate::report) fn broken(violation: &Violation) -> String {
    let number = |value: f64| {
        if violation.is_change {
            units::change(value)
        } else {
            in_unit(value, violation.unit)
        }
    };
    let Estimate {
        estimate,
        lower,
        upper,
    } = violation.found;
    let interval = if lower == upper {
        String::new()
    } else {
        let upper = if upper.is_finite() {
            number(upper)
        } else {
            "?".to_owned()
        };
        format!(
            " [{}, {upper}]{}",
            number(lower),
            share(violation.shared_level)
        )
    };
    let found = match (violation.is_change, estimate.is_finite()) {
        (true, true) => format!("changed by {}{interval}", number(estimate)),
        // More than any percentage.
        (true, false) => "changed from none to some".to_owned(),
        (false, _) => format!("{}{interval}", number(estimate)),
    };
    theme::printable(&format!(
        "{}: {} {found}, more than `{}` allows",
        violation.key.id, violation.statistic, violation.rule
    ))
}

/// How wide an interval is because others share its level.
fn share(shared: Option<SharedLevel>) -> String {
    match shared {
        Some(SharedLevel {
            family,
            share:
                Share::Interval {
                    confidence_level,
                    interval_level,
                },
        }) if family > 1 => format!(
            " ({}: {family} numbers share {})",
            units::percent(interval_level),
            units::percent(confidence_level)
        ),
        _ => String::new(),
    }
}

fn in_unit(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Time => units::time(value),
        Unit::Bytes => format!("{} B", rounded(value)),
        Unit::Count => rounded(value),
    }
}

/// A mean of counts, with two decimals where it needs them.
fn rounded(value: f64) -> String {
    let hundredths = (value * 100.0).round() / 100.0;
    format!("{hundredths}")
}

/// Says which thresholds are not the usual ones, in lines that fit into so many columns.
pub(in crate::report) fn write_thresholds(
    writer: &mut dyn Write,
    thresholds: &Thresholds,
    columns: usize,
) -> io::Result<()> {
    let changed: Vec<String> = thresholds
        .changed()
        .into_iter()
        .map(|(name, value, default)| format!("{name} {value} (usually {default})"))
        .collect();
    if changed.is_empty() {
        return Ok(());
    }
    let text = format!("Thresholds of this workspace: {}.", changed.join(", "));
    writeln!(writer, "{}", prose(&text, columns, "  "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfcheck_analysis::model::BenchmarkKey;

    #[test]
    fn a_broken_rule_says_what_was_found_also_where_there_was_nothing_before() {
        let said = |found: Estimate| {
            broken(&Violation {
                key: BenchmarkKey {
                    package: "crate".into(),
                    target: "bench".into(),
                    id: "parse".into(),
                },
                rule: "allocations:10%".into(),
                statistic: "allocations".into(),
                unit: Unit::Count,
                is_change: true,
                limit: 0.1,
                found,
                shared_level: Some(SharedLevel::of_interval(0.95, 50)),
            })
        };
        let all = |value| Estimate {
            estimate: value,
            lower: value,
            upper: value,
        };
        assert_eq!(
            said(all(0.5)),
            "parse: allocations changed by +50.0 %, more than `allocations:10%` allows"
        );
        assert_eq!(
            said(all(f64::INFINITY)),
            "parse: allocations changed from none to some, more than `allocations:10%` allows"
        );
        let apart = Estimate {
            estimate: 0.3,
            lower: 0.2,
            upper: 0.4,
        };
        assert_eq!(
            said(apart),
            "parse: allocations changed by +30.0 % [+20.0 %, +40.0 %] (99.9 %: 50 numbers share 95 %), more than `allocations:10%` allows"
        );
    }
}
