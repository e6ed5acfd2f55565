//! What the published systems' statistics and the rules of `--fail` add to a report, in words.

use std::io::{self, Write};

use super::content::{Gates, Violation};
use super::{theme, units};
use crate::compare::{Centers, Estimate, SideCenter};
use crate::model::{DecisionSettings, FamilyRule, Observations, Test, Thresholds, Unit};

/// How a test decides, as the end of "Compared with ... ".
pub(super) fn method(decision: &DecisionSettings) -> String {
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

/// The summary that was asked for, and what the policy took.
pub(super) fn centers(centers: &Centers) -> String {
    let side = |side: &SideCenter| units::time(side.value_ns);
    let change = centers.change.map_or_else(String::new, |change| {
        format!(" ({})", units::change(change))
    });
    let left_out = |side: &SideCenter| side.skipped + side.removed;
    let (new, base) = (&centers.new, &centers.base);
    let taken = if left_out(new) + left_out(base) > 0 {
        format!(
            "; left out by `{}`: {} of {} samples of the reference, {} of {} of this run (the test is of all)",
            centers.outliers,
            left_out(base),
            base.raw,
            left_out(new),
            new.raw
        )
    } else {
        String::new()
    };
    format!(
        "{} {} → {}{change}{taken}",
        centers.center,
        side(base),
        side(new)
    )
}

/// Rules that were broken, and rules that said nothing.
pub(super) fn write_gates(writer: &mut dyn Write, gates: &Gates) -> io::Result<()> {
    for violation in &gates.violations {
        writeln!(writer, "{}: {}", theme::error(), broken(violation))?;
    }
    for remark in &gates.remarks {
        super::write_warning(writer, remark)?;
    }
    Ok(())
}

pub(super) fn broken(violation: &Violation) -> String {
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
        format!(" [{}, {upper}]", number(lower))
    };
    let of = if violation.is_change {
        " changed by"
    } else {
        ""
    };
    theme::printable(&format!(
        "{}: {}{of} {}{interval}, more than `{}` allows",
        violation.key.id,
        violation.statistic,
        number(estimate),
        violation.rule
    ))
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

/// Says which thresholds are not the usual ones.
pub(super) fn write_thresholds(writer: &mut dyn Write, thresholds: &Thresholds) -> io::Result<()> {
    let changed: Vec<String> = thresholds
        .changed()
        .into_iter()
        .map(|(name, value, default)| format!("{name} {value} (usually {default})"))
        .collect();
    if changed.is_empty() {
        return Ok(());
    }
    writeln!(
        writer,
        "Thresholds of this workspace: {}.",
        changed.join(", ")
    )
}
