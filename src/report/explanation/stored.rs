//! Explains a comparison of stored runs: by the prediction interval over runs, or by the t-score alone.

use super::content::Explanation;
use super::effects::effect_statement;
use super::measured::{failure_statements, format_level, format_p};
use crate::report::messages::{Numbers, Statement};
use crate::report::units;
use crate::report::words::sentences::capitalize;
use perfcheck_analysis::compare::{
    Comparison, Estimate, FamilyTest, Location, Note, Prediction, StoredDecision, TScoreResult,
};
use perfcheck_analysis::model::{Correction, Test, Verdict};

/// Returns the statements from the estimates to the decision.
pub(super) fn statements(
    explanation: &Explanation<'_>,
    comparison: &Comparison,
    test: Test,
) -> Vec<Statement> {
    let mut statements = failure_statements(explanation.failures);
    statements.extend(
        comparison
            .location()
            .map(|found| location_statement(found, test)),
    );
    if let (Some(grounds), Some(change)) = (comparison.run_grounds(), comparison.change) {
        statements.push(estimate_statement(
            explanation,
            comparison,
            grounds,
            change,
            test,
        ));
        statements.push(family_statement(grounds, change));
    }
    statements.push(threshold_statement(comparison));
    statements.push(decision_statement(comparison, test));
    if test == Test::BootstrapT {
        let found = comparison.run_grounds().and_then(|grounds| grounds.t_score);
        statements.extend(found.map(|found| t_score_statement(&found, comparison)));
    }
    statements.extend(effect_statement(comparison, explanation.metric));
    statements.extend(note_statements(&comparison.notes));
    statements.push(alternative_statement(comparison, test));
    statements
}

fn location_statement(location: Location, test: Test) -> Statement {
    let of_run = match (test, location) {
        (Test::TScore, _) => "and the means over launches were compared",
        (_, Location::Median) => "and of each run the mean of its launches",
        _ => "and of each run its fastest launch, as noise makes samples slower and never faster",
    };
    Statement::new(
        format!(
            "Of each launch the {location} of its samples was taken, {of_run}. No sample was left out as an outlier: what is significant includes the extremes."
        ),
        Numbers::Location { location },
    )
}

fn estimate_statement(
    explanation: &Explanation<'_>,
    comparison: &Comparison,
    grounds: &StoredDecision,
    change: Estimate,
    test: Test,
) -> Statement {
    let mut text = format!(
        "By that the run is {} against its reference.",
        units::change(change.estimate)
    );
    if is_identical(comparison, change) && test == Test::BootstrapT {
        text.push_str(" All launches of both sides gave one and the same value.");
    } else if let Some(Prediction {
        standard_error: error,
        degrees_of_freedom: df,
    }) = grounds.prediction
    {
        let run_sd = grounds.run_sd;
        let spread = explanation.row.map_or(0, |found| found.spread.len());
        let known = if spread < 2 {
            "what is assumed of such a host, as one run does not show it".to_owned()
        } else {
            format!("what is assumed of such a host and {spread} runs have shown")
        };
        let drift = run_sd * (1.0 + 1.0 / comparison.extent.runs_averaged().max(1) as f64).sqrt();
        let decides = if error > drift * (1.0 + 1e-9) {
            format!(
                "; launches within the runs leave more than that open, so the change has a standard error of {}",
                format_level(error)
            )
        } else {
            format!(
                ", which gives the change a standard error of {}",
                format_level(error)
            )
        };
        text = format!(
            "{text} Runs of the same code drift apart on this host by {} (standard deviation; {known}){decides}, with {df:.0} degrees of freedom.",
            format_level(run_sd),
        );
    } else {
        text.push_str(" How far launches differ among themselves says how uncertain that is; drift between runs is left out (`--ignore-drift`).");
    }
    Statement::new(
        text,
        Numbers::Estimate {
            change: change.estimate,
            standard_error: grounds.prediction.map(|found| found.standard_error),
            degrees_of_freedom: grounds.prediction.map(|found| found.degrees_of_freedom),
            run_std_dev: Some(grounds.run_sd),
        },
    )
}

fn family_statement(grounds: &StoredDecision, change: Estimate) -> Statement {
    let test = &grounds.test;
    let shared = match test.family {
        1 => format!(
            "It was the only benchmark compared, so it had the whole level of {}, one-sided, for slower, and the same for faster.",
            format_level(test.family_level)
        ),
        count => {
            let [of_all, slower, faster] = [
                test.family_level,
                test.step_level.slower,
                test.step_level.faster,
            ]
            .map(format_level);
            match test.rule {
                Correction::Holm => format!(
                    "{count} benchmarks were compared and shared a level of {of_all}, one-sided, for slower, and the same for faster. Holm's procedure gave this one {slower} for slower and {faster} for faster."
                ),
                Correction::BenjaminiHochberg => format!(
                    "{count} benchmarks were compared, and of those called slower a share of {of_all} is allowed to be false alarms, on average; the same for faster. Benjamini and Hochberg's procedure gave this one {slower} for slower and {faster} for faster."
                ),
                Correction::Unadjusted => format!(
                    "{count} benchmarks were compared, each by itself at a level of {of_all}, one-sided, for slower, and the same for faster."
                ),
            }
        }
    };
    interval_statement(&shared, test, change, (1.0, ""))
}

/// Describes how a test shares its level, and its result at that level. `share` is the part of the level that this look has.
pub(super) fn interval_statement(
    shared: &str,
    test: &FamilyTest,
    change: Estimate,
    (share, of_look): (f64, &str),
) -> Statement {
    let (p, adjusted, direction) = if change.estimate >= 0.0 {
        (test.p.slower, test.adjusted.slower, "slower")
    } else {
        (test.p.faster, test.adjusted.faster, "faster")
    };
    Statement::new(
        format!(
            "{shared} At these levels the change lies in {}. For `{direction} by more than the threshold` {}{of_look}, adjusted {}.",
            units::change_interval(change.lower, change.upper),
            format_p(p),
            units::p_value(adjusted),
        ),
        Numbers::Interval {
            change,
            family: test.family,
            family_level: test.family_level,
            level_slower: test.step_level.slower * share,
            level_faster: test.step_level.faster * share,
            p_slower: test.p.slower,
            p_faster: test.p.faster,
            adjusted_p_slower: test.adjusted.slower,
            adjusted_p_faster: test.adjusted.faster,
        },
    )
}

/// Describes the noise threshold.
pub(super) fn threshold_statement(comparison: &Comparison) -> Statement {
    let threshold = comparison.noise_threshold;
    let raised = comparison
        .notes
        .iter()
        .any(|note| matches!(note, Note::ThresholdRaised { .. }));
    let why = if raised {
        ", as controls on this host have shown"
    } else {
        ""
    };
    Statement::new(
        format!(
            "Changes up to {} either way count as noise{why}.",
            format_level(threshold)
        ),
        Numbers::Threshold {
            noise_threshold: threshold,
        },
    )
}

fn decision_statement(comparison: &Comparison, test: Test) -> Statement {
    let bounds = comparison.change.map(|change| (change.lower, change.upper));
    let (low, high) = format_thresholds(comparison.noise_threshold);
    let text = match (comparison.verdict, bounds) {
        (_, None) => "No test was possible: the notes say what was missing.".to_owned(),
        (Verdict::Regressed, Some((lower, _))) => format!(
            "The lower bound, {}, lies above {high}: the whole interval is slower than noise.",
            units::change(lower)
        ),
        (Verdict::Improved, Some((_, upper))) => format!(
            "The upper bound, {}, lies below {low}: the whole interval is faster than noise.",
            units::change(upper)
        ),
        (Verdict::Unchanged, Some((lower, upper))) => format!(
            "The whole interval {} lies within {low} and {high}: a change of interest is ruled out.",
            units::change_interval(lower, upper)
        ),
        (Verdict::Suspect, Some((lower, _))) => format!(
            "The lower bound, {}, does not lie above {high}, so drift between runs could explain it; but the launches of this run are slower than those of the reference by more than launches differ.",
            format_bound(lower)
        ),
        (_, Some((lower, upper))) if test == Test::BootstrapT && faster_by_t_score(comparison) => {
            format!(
                "The interval {} shows no change, and the launches look faster by more than they differ among themselves: neither a change nor its absence is shown.",
                units::change_interval(lower, upper)
            )
        }
        (_, Some((lower, upper))) => {
            describe_open_interval(lower, upper, comparison.noise_threshold)
        }
    };
    verdict_statement(&text, comparison)
}

/// Returns a statement with the condition that decided.
pub(super) fn verdict_statement(condition: &str, comparison: &Comparison) -> Statement {
    Statement::new(
        format!("{condition} So it is {}.", comparison.verdict).trim_start(),
        Numbers::from_comparison(comparison),
    )
}

/// Returns the change below which a benchmark is faster than noise.
/// Decisions use logarithms, so its size is a little less than the threshold.
pub(super) fn improvement_threshold(threshold: f64) -> f64 {
    (-threshold.ln_1p()).exp_m1()
}

/// Explains why an interval leaves the question open.
pub(super) fn describe_open_interval(lower: f64, upper: f64, threshold: f64) -> String {
    let (low, high) = format_thresholds(threshold);
    let all = units::change_interval(lower, upper);
    if upper > threshold && lower < -threshold {
        format!(
            "The interval {all} reaches beyond both {low} and {high}: slower, faster and unchanged are all possible."
        )
    } else if upper > threshold {
        format!("The interval {all} has {high} within it: noise and a slowdown are both possible.")
    } else {
        format!(
            "The interval {all} has {low} within it: noise and an improvement are both possible."
        )
    }
}

/// Formats the threshold as a change in both directions: faster, slower.
pub(super) fn format_thresholds(threshold: f64) -> (String, String) {
    let faster = improvement_threshold(threshold);
    (units::change(faster), units::change(threshold))
}

pub(super) fn format_bound(value: f64) -> String {
    if value.is_finite() {
        units::change(value)
    } else {
        "which the data do not give".to_owned()
    }
}

pub(super) fn finite_or_none(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite())
}

fn faster_by_t_score(comparison: &Comparison) -> bool {
    comparison.notes.contains(&Note::FasterByTScoreOnly)
}

fn is_identical(comparison: &Comparison, change: Estimate) -> bool {
    comparison.p_value == Some(1.0) && (change.lower, change.upper) == (0.0, 0.0)
}

fn t_score_statement(found: &TScoreResult, comparison: &Comparison) -> Statement {
    let change = found.change;
    let threshold = comparison.noise_threshold;
    let says = if change.lower > threshold {
        "by itself it would say `regressed`"
    } else if change.upper < improvement_threshold(threshold) {
        "by itself it would say `improved`"
    } else {
        "by itself it would call no change"
    };
    let adjusted = if change.estimate >= 0.0 {
        found.test.adjusted.slower
    } else {
        found.test.adjusted.faster
    };
    Statement::new(
        format!(
            "The t-score of the means over launches knows nothing of drift between runs, and makes `suspect` at most: {} in {}, adjusted p {}; {says}.",
            units::change(change.estimate),
            units::change_interval(change.lower, change.upper),
            units::p_value(adjusted),
        ),
        Numbers::TScore {
            change,
            adjusted_p_slower: found.test.adjusted.slower,
            adjusted_p_faster: found.test.adjusted.faster,
        },
    )
}

/// Returns a statement for each note.
pub(super) fn note_statements(notes: &[Note]) -> Vec<Statement> {
    let statement = |note: &Note| {
        let text = format!("{}.", capitalize(&note.to_string()));
        let notes = [note.clone()];
        Statement::new(text, Numbers::Note { notes })
    };
    notes.iter().map(statement).collect()
}

/// Describes the smallest slowdown that could have been called.
pub(super) fn describe_smallest_callable(comparison: &Comparison) -> Option<String> {
    let smallest = finite_or_none(comparison.smallest_callable)?;
    Some(format!(
        "A change seen of more than {} would have been `regressed`.",
        units::change(smallest)
    ))
}

fn alternative_statement(comparison: &Comparison, test: Test) -> Statement {
    let (low, high) = format_thresholds(comparison.noise_threshold);
    let callable = describe_smallest_callable(comparison);
    let more = match test {
        Test::BootstrapT => {
            "More accepted runs of the same code, a dedicated host (`host = \"dedicated\"`) or measuring both builds side by side (`--against REV`) make the interval narrower"
        }
        _ => "More launches make the interval narrower",
    };
    let text = match (comparison.verdict, comparison.change) {
        (_, None) => {
            "Longer samples or more launches (`--measurement-time`, `--rounds`) would have allowed a test.".to_owned()
        }
        (Verdict::Regressed, Some(change)) => {
            let smallest = comparison.smallest_callable.map_or(f64::NAN, |smallest| smallest);
            format!(
                "It would not have been called if the change seen had been {} or less, or with a noise threshold of {} or more.",
                units::change(smallest),
                format_level(change.lower),
            )
        }
        (Verdict::Improved, Some(change)) => format!(
            "It would not have been called with a noise threshold of {} or more.",
            format_level(1.0 / (1.0 + change.upper) - 1.0),
        ),
        (Verdict::Unchanged, _) => callable.unwrap_or_default(),
        (_, Some(_)) => {
            let reach = "`unchanged` needs the whole interval";
            format!(
                "{} {reach} within {low} and {high}. {more}.",
                callable.unwrap_or_default()
            )
        }
    };
    let family = comparison
        .run_grounds()
        .map_or(1, |grounds| grounds.test.family);
    let alone =
        if family > 1 && matches!(comparison.verdict, Verdict::Suspect | Verdict::Inconclusive) {
            format!(
                " Without the other {} it would have had a larger share of the level.",
                units::counted(family - 1, "benchmark")
            )
        } else {
            String::new()
        };
    Statement::new(
        format!("{}{alone}", text.trim_start()),
        Numbers::Otherwise {
            smallest_callable: finite_or_none(comparison.smallest_callable),
            rounds_needed: None,
        },
    )
}
