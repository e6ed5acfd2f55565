//! Explains a comparison of stored runs by the test of a published system, and verdicts about another statistic than time.

use super::content::Explanation;
use super::effects::effect_statement;
use super::measured::{failure_statements, format_level, format_p};
use super::stored::{note_statements, threshold_statement, verdict_statement};
use crate::report::messages::{Numbers, Statement};
use crate::report::units;
use crate::report::words::analysis;
use perfcheck_analysis::compare::{Comparison, LevelShare, PublishedDecision, SharedLevel};
use perfcheck_analysis::model::{Observations, Statistic, Test, Thresholds, Verdict};

/// Returns the statements from the observations to the decision.
pub(super) fn statements(explanation: &Explanation<'_>, comparison: &Comparison) -> Vec<Statement> {
    let thresholds = &explanation.run.begun.decision.thresholds;
    let mut statements = failure_statements(explanation.failures);
    if let Some(tested) = comparison.published_decision() {
        statements.push(observations_statement(tested));
        statements.push(test_statement(tested, comparison, thresholds));
        if tested.test != Test::P95Ratio {
            statements.push(threshold_statement(comparison));
        }
    }
    statements.push(decision_statement(comparison));
    statements.extend(effect_statement(comparison, explanation.metric));
    let centers = comparison.description.centers.as_ref();
    let told = analysis::describe_centers(comparison, explanation.metric);
    statements.extend(centers.zip(told).map(|(centers, told)| {
        Statement::new(
            format!("The summary that was asked for: {told}."),
            Numbers::Summary { centers: *centers },
        )
    }));
    statements.extend(note_statements(&comparison.notes));
    statements
}

/// Returns the statements on a verdict about another statistic than time.
pub(super) fn statements_about(subject: Statistic, comparison: &Comparison) -> Vec<Statement> {
    let seen = if let Some(count) = comparison.count(subject) {
        let how = if count.exact {
            "no iteration of either side differed from the others of its side, so a difference is a difference, whatever its size".to_owned()
        } else {
            let p = match (count.p_value, comparison.p_value, comparison.shared_level()) {
                (Some(p), Some(adjusted), Some(shared)) => format!(
                    " ({}; of {} whose counts vary {adjusted}, by Holm's procedure at {})",
                    format_p(p),
                    units::counted(shared.family, "benchmark"),
                    format_level(shared.effective_level()),
                    adjusted = units::p_value(adjusted),
                ),
                _ => String::new(),
            };
            format!(
                "iterations differ among themselves, so launches were tested by their ranks{p}, and the change must be more than noise"
            )
        };
        format!(
            "The verdict was to be about {subject}: {} per iteration against {} of the reference; {how}.",
            count.candidate, count.base
        )
    } else if let Some(found) = comparison.percentile(subject) {
        format!(
            "The verdict was to be about {subject} of single operations: {} on average over launches against {}, a change of {}.{}",
            units::time(found.candidate_ns),
            units::time(found.base_ns),
            units::change(found.change.estimate),
            describe_interval(comparison)
        )
    } else {
        format!("The verdict was to be about {subject}.")
    };
    let mut statements = vec![Statement::new(
        seen,
        Numbers::Metric {
            metric: subject,
            change: comparison.change,
            shared_level: comparison.shared_level(),
        },
    )];
    statements.push(threshold_statement(comparison));
    statements.push(verdict_statement("", comparison));
    statements.extend(note_statements(&comparison.notes));
    statements
}

/// Describes the interval that decides, and its confidence level.
fn describe_interval(comparison: &Comparison) -> String {
    let (
        Some(change),
        Some(SharedLevel {
            family,
            share:
                LevelShare::Interval {
                    confidence_level,
                    interval_level,
                },
        }),
    ) = (comparison.change, comparison.shared_level())
    else {
        return String::new();
    };
    if !change.lower.is_finite() {
        return " It has no bounds: one launch does not tell how launches differ.".to_owned();
    }
    let shares = if family > 1 {
        format!(
            "{}: {family} benchmarks have their say about it, and all their intervals together keep {}",
            units::percent(interval_level),
            units::percent(confidence_level)
        )
    } else {
        units::percent(interval_level)
    };
    let between = if comparison.is_paired() {
        ""
    } else {
        ", wide enough for the drift between runs"
    };
    format!(
        " Student's interval is {}{between} (at {shares}).",
        units::change_interval(change.lower, change.upper)
    )
}

fn observations_statement(tested: &PublishedDecision) -> Statement {
    let text = match tested.observations {
        Observations::Launches => format!(
            "Each launch gave one observation, the {} of its samples: {} against {}.",
            tested.center, tested.candidate, tested.base
        ),
        Observations::Samples => format!(
            "Each sample was an observation, {} against {}, as if samples of one process were independent of each other; they are not, so this test finds too much.",
            tested.candidate, tested.base
        ),
        Observations::Filtered => format!(
            "Each sample that the filter leaves was an observation, {} against {}, as if samples of one process were independent of each other; they are not, so this test finds too much.",
            tested.candidate, tested.base
        ),
    };
    let outliers = match tested.observations {
        Observations::Launches | Observations::Samples => {
            "No sample was left out as an outlier: what is significant includes the extremes."
        }
        Observations::Filtered => {
            "Test, change and effect sizes are of these samples; `--observations samples` takes all."
        }
    };
    Statement::new(
        format!("{text} {outliers} Drift between runs is left out."),
        Numbers::Observations {
            observations: tested.observations,
            center: tested.center,
            candidate: tested.candidate,
            base: tested.base,
        },
    )
}

fn test_statement(
    tested: &PublishedDecision,
    comparison: &Comparison,
    thresholds: &Thresholds,
) -> Statement {
    let statistic = tested.statistic.map_or(f64::NAN, |value| value);
    let by = match tested.test {
        Test::PooledT => format!(
            "The t-score of the means, {statistic:.4}, against resamples of both sides pooled"
        ),
        Test::Welch => format!(
            "Welch's test of the means: t = {statistic:.4} with {:.2} degrees of freedom",
            tested.degrees_of_freedom.unwrap_or(f64::NAN)
        ),
        Test::MannWhitney => format!("Mann and Whitney's test of ranks: U = {statistic}"),
        Test::Kruskal => format!("Kruskal and Wallis's test of ranks: H = {statistic:.4}"),
        Test::P95Ratio => format!(
            "The 95th percentiles have the ratio {statistic:.4}; up to {} is faster, from {} on slower, and nothing else counts",
            thresholds.p95_faster, thresholds.p95_slower
        ),
        Test::Interval => format!(
            "The two {} intervals lie {statistic:.3} times their facing halves apart; beyond 1 they do not overlap",
            units::percent(1.0 - tested.level)
        ),
        Test::BootstrapT | Test::TScore => "The t-score".to_owned(),
    };
    let p = match (tested.p_value, tested.adjusted_p_value) {
        (Some(p), Some(adjusted)) => format!(
            ", {}, adjusted {}; the level is {}, two-sided",
            format_p(p),
            units::p_value(adjusted),
            format_level(tested.level)
        ),
        _ => String::new(),
    };
    let text = if tested.significance.is_tested() {
        let seen = comparison.change.map_or_else(String::new, |change| {
            let within = if change.lower.is_finite() && change.upper.is_finite() {
                format!(
                    ", within {}",
                    units::change_interval(change.lower, change.upper)
                )
            } else {
                String::new()
            };
            format!(" The change is {}{within}.", units::change(change.estimate))
        });
        let exact = if tested.statistic.is_some() {
            format!("{by}{p}.")
        } else {
            "Neither side varies, so the difference is exact.".to_owned()
        };
        format!(
            "{exact}{seen} That is {}.",
            tested.significance.word().replace('-', " ")
        )
    } else {
        format!("{} was asked for and could not be made.", tested.test)
    };
    Statement::new(
        text,
        Numbers::Test {
            tested: *tested,
            change: comparison.change,
        },
    )
}

fn decision_statement(comparison: &Comparison) -> Statement {
    let bounds = comparison.change.map(|change| (change.lower, change.upper));
    let by_bounds = comparison
        .published_decision()
        .is_some_and(|tested| tested.test == Test::P95Ratio);
    let by_p_alone = comparison.published_decision().is_some_and(|tested| {
        matches!(tested.test, Test::MannWhitney | Test::Kruskal) && tested.p_value.is_some()
    }) && comparison.noise_threshold == 0.0;
    let text = match comparison.verdict {
        Verdict::Regressed | Verdict::Improved if by_p_alone => {
            "It is significant, which decides without a noise threshold."
        }
        Verdict::Regressed | Verdict::Improved if !by_bounds => {
            "It is significant, and the whole interval lies beyond noise."
        }
        Verdict::Unchanged if !by_bounds => "The whole interval lies within noise.",
        Verdict::Regressed | Verdict::Improved | Verdict::Unchanged => "The ratio decides.",
        _ if bounds.is_none() => "No test was possible: the notes say what was missing.",
        _ => "Neither a change beyond noise nor its absence is shown.",
    };
    verdict_statement(text, comparison)
}
