//! Rules that benchmarks must keep (`--fail`, `fail = [...]`): which of them a comparison breaks, and which of them say nothing.
//!
//! A rule never changes a verdict. It is broken only where the whole interval lies above its limit.

use std::collections::BTreeSet;

use crate::compare::{Comparison, Estimate, value_of};
use crate::exit_code::ExitCode;
use crate::model::{Limit, Metric, Statistic, Subject, Unit};
use crate::report::{Gates, Row, Violation};
use crate::settings::FailRule;

/// What `rules` make of `rows`. Rules of the workspace count beside those of the command line.
pub(super) fn gates<'r>(
    rows: &[Row<'_>],
    rules: impl Iterator<Item = &'r FailRule>,
    confidence_level: f64,
) -> Gates {
    let mut gates = Gates::default();
    let mut said = BTreeSet::new();
    for rule in rules {
        let mut meant = rows.iter().filter(|row| rule.is_for(&row.key)).peekable();
        if meant.peek().is_none() && said.insert(rule.gate.text.clone()) {
            gates.remarks.push(format!(
                "the rule `{}` is for no benchmark that was compared",
                rule.gate
            ));
        }
        let mut without = Vec::new();
        for row in meant {
            match found(row, rule, confidence_level) {
                Found::Value(found) => {
                    let (is_change, limit) = match rule.gate.limit {
                        Limit::Change(limit) => (true, limit),
                        Limit::Value(limit) => (false, limit),
                    };
                    if found.lower > limit {
                        gates.violations.push(Violation {
                            key: row.key.clone(),
                            rule: rule.gate.text.clone(),
                            statistic: rule.gate.statistic.to_string(),
                            unit: rule.gate.statistic.unit(),
                            is_change,
                            limit,
                            found,
                        });
                    }
                }
                Found::Nothing => without.push(row.key.id.as_str()),
                Found::NotCompared => {}
            }
        }
        if let [first, others @ ..] = &without[..] {
            let whom = match others {
                [] => format!("`{first}`"),
                _ => format!("`{first}` and {} more", others.len()),
            };
            gates.remarks.push(format!(
                "the rule `{}` says nothing of {whom}: {}",
                rule.gate,
                why(rule.gate.statistic)
            ));
        }
    }
    gates.violations.sort_by(|a, b| a.key.cmp(&b.key));
    gates
}

/// The status of a command whose rules were applied.
pub(super) fn exit_code(gates: &Gates) -> ExitCode {
    if gates.violations.is_empty() {
        ExitCode::Clean
    } else {
        ExitCode::Regression
    }
}

/// Whether a change is more than a rule allows: such a run is no reference for later ones, or it would turn green by itself.
pub(super) fn has_worsened(gates: &Gates) -> bool {
    gates.violations.iter().any(|violation| violation.is_change)
}

enum Found {
    /// The change or value with its interval; without one the bounds are the value.
    Value(Estimate),
    /// The benchmark does not have the statistic.
    Nothing,
    /// There is nothing to compare it with, or nothing was measured: that has words of its own.
    NotCompared,
}

fn found(row: &Row<'_>, rule: &FailRule, confidence_level: f64) -> Found {
    let value = match rule.gate.limit {
        Limit::Change(_) => {
            let Some(comparison) = &row.comparison else {
                return Found::NotCompared;
            };
            change(comparison, rule.gate.statistic)
        }
        Limit::Value(_) => {
            if row.summary.is_none() {
                return Found::NotCompared;
            }
            of_run(row, rule.gate.statistic, confidence_level)
        }
    };
    value.map_or(Found::Nothing, Found::Value)
}

/// The change of a statistic against the reference.
fn change(comparison: &Comparison, statistic: Statistic) -> Option<Estimate> {
    match statistic {
        Statistic::Time => comparison.change,
        Statistic::Mean => comparison.change_mean.or(comparison.change),
        Statistic::Median => comparison.change_median.or(comparison.change),
        other => {
            let subject = subject(other)?;
            let count = comparison.count(subject).map(|count| {
                // From none to some is more than any percentage.
                let some = Estimate {
                    estimate: f64::INFINITY,
                    lower: f64::INFINITY,
                    upper: f64::INFINITY,
                };
                count.change().unwrap_or(some)
            });
            count.or_else(|| comparison.percentile(subject).map(|found| found.change))
        }
    }
}

/// The statistic of the run itself.
fn of_run(row: &Row<'_>, statistic: Statistic, confidence_level: f64) -> Option<Estimate> {
    let summary = row.summary.as_ref()?;
    let measurement = row.measurement?;
    let is_amount = matches!(measurement.benchmark.metric, Metric::Amount { .. });
    if is_amount && statistic.unit() == Unit::Time {
        return None;
    }
    match statistic {
        Statistic::Mean => Some(summary.mean),
        Statistic::Time | Statistic::Median => Some(summary.median),
        Statistic::Slope => summary.slope,
        Statistic::StdDev => summary.sd,
        Statistic::Mad => Some(summary.mad),
        other => value_of(measurement, subject(other)?, confidence_level),
    }
}

/// What a statistic beside the time is.
fn subject(statistic: Statistic) -> Option<Subject> {
    match statistic {
        Statistic::Allocations => Some(Subject::Allocations),
        Statistic::Bytes => Some(Subject::Bytes),
        Statistic::Peak => Some(Subject::Peak),
        Statistic::Latency(500) => Some(Subject::P50),
        Statistic::Latency(950) => Some(Subject::P95),
        Statistic::Latency(990) => Some(Subject::P99),
        Statistic::Latency(999) => Some(Subject::P999),
        Statistic::Latency(1000) => Some(Subject::Max),
        _ => None,
    }
}

fn why(statistic: Statistic) -> &'static str {
    match statistic {
        Statistic::Allocations | Statistic::Bytes | Statistic::Peak => {
            "its allocations were not counted (the bench needs the counting allocator of `perfcheck`)"
        }
        Statistic::Latency(_) => {
            "it is no latency benchmark (`iter_latency` times single operations)"
        }
        Statistic::Slope => "it has no linear phase",
        _ => "its samples do not give it, or are no times",
    }
}
