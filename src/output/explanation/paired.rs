//! Explains a side-by-side comparison: the interim analysis (look), both halves of the speed test, and the slow-path test.

use super::content::Explanation;
use super::measured::{failure_statements, format_level, format_p};
use super::unpaired::{
    describe_open_interval, describe_smallest_callable, finite_or_none, format_bound,
    format_thresholds, improvement_threshold, interval_statement, note_statements,
    threshold_statement, verdict_statement,
};
use crate::output::messages::{Numbers, Statement};
use crate::output::units;
use crate::output::words::remarks::settlement_of;
use crate::output::words::sentences::capitalize;
use perfcheck_analysis::compare::{
    Comparison, Estimate, Location, Note, PairedDecision, PairedMethod, Plan, SlowPathResult,
};
use perfcheck_analysis::model::{Side, Verdict};

/// Returns the statements from the estimates to the decision.
pub(super) fn statements(explanation: &Explanation<'_>, comparison: &Comparison) -> Vec<Statement> {
    let mut statements = failure_statements(explanation.failures);
    let rounds = comparison.extent.launches_candidate();
    let look = comparison.look();
    statements.extend(look.map(|look| look_statement(look, rounds, comparison, explanation.plan)));
    statements.extend(comparison.location().map(location_statement));
    if let (Some(look), Some(change)) = (look, comparison.change) {
        statements.push(estimate_statement(look, change));
        statements.push(speed_test_statement(look, change));
    }
    statements.push(threshold_statement(comparison));
    statements.extend(look.map(|look| slow_path_statement(&look.slow_path, comparison.verdict)));
    statements.push(decision_statement(comparison));
    statements.extend(note_statements(&comparison.notes));
    statements.push(alternative_statement(explanation, comparison, rounds));
    statements
}

fn look_statement(
    look: &PairedDecision,
    rounds: usize,
    comparison: &Comparison,
    plan: Option<&Plan>,
) -> Statement {
    let planned = plan.map_or_else(String::new, |plan| {
        let looks: Vec<String> = plan.looks.iter().map(u32::to_string).collect();
        format!("Looks were planned after {} rounds. ", looks.join(", "))
    });
    let early = comparison.extent.stopped_early();
    let share = format_level(look.share);
    let text = if early && comparison.verdict == Verdict::Inconclusive {
        format!(
            "{planned}At that after {rounds} rounds neither a change nor its absence could be expected any more of those to come, so it was given up; that look has {share} of each level for itself."
        )
    } else if early {
        format!(
            "{planned}That after {rounds} rounds settled it; it has {share} of each level for itself, so that all looks together keep it."
        )
    } else {
        format!(
            "{planned}No look before the end settled it, so all {rounds} rounds were judged, with the {share} of each level that earlier looks had left."
        )
    };
    let layouts = comparison.extent.layouts();
    let of_layouts = match layouts {
        0 => {
            "The executables ran as they were linked: where functions lie can make a small change."
                .to_owned()
        }
        _ => format!(
            "The rounds had {} of the code: in each, functions lay at other places, the same on both sides.",
            units::counted(layouts, "layout")
        ),
    };
    Statement::new(
        format!("{text} {of_layouts}"),
        Numbers::Look {
            rounds,
            stopped_early: early,
            layouts,
            share: look.share,
            looks: plan.map(|plan| plan.looks.clone()),
        },
    )
}

fn location_statement(location: Location) -> Statement {
    let quantile = PairedMethod::default().quantile;
    let taken = match location {
        Location::LowQuantile => {
            format!(
                "the {}th percentile (noise makes samples slower and never faster)",
                quantile * 100.0
            )
        }
        Location::SecondFastest => {
            "the second fastest (there were too few for a low percentile)".to_owned()
        }
        Location::Median => "the median (there were too few for a low percentile)".to_owned(),
    };
    Statement::new(
        format!(
            "The floor test takes {taken} of all samples of a side; the rank test compares both sides round by round. Each has half of the level, and the closer bounds count. No sample was left out as an outlier: what is significant includes the extremes."
        ),
        Numbers::Location { location },
    )
}

fn estimate_statement(look: &PairedDecision, change: Estimate) -> Statement {
    let error = look.standard_error;
    Statement::new(
        format!(
            "By that the candidate is {} against the base, with a standard error of {}.",
            units::change(change.estimate),
            format_level(error)
        ),
        Numbers::Estimate {
            change: change.estimate,
            standard_error: Some(error),
            degrees_of_freedom: None,
            run_std_dev: None,
        },
    )
}

fn speed_test_statement(look: &PairedDecision, change: Estimate) -> Statement {
    let test = &look.test;
    let family = if test.family == 1 {
        "which was all its own as it was the only benchmark".to_owned()
    } else {
        format!(
            "of which Holm's procedure over {} benchmarks gave this one {} for slower and {} for faster",
            test.family,
            format_level(test.step_level.slower),
            format_level(test.step_level.faster)
        )
    };
    let shared = format!(
        "The speed test has a level of {}, one-sided, for each direction, {family}; with the share of the look that is {} and {}.",
        format_level(test.family_level),
        format_level(test.step_level.slower * look.share),
        format_level(test.step_level.faster * look.share),
    );
    let look = (look.share, " over the share of the look");
    interval_statement(&shared, test, change, look)
}

fn slow_path_statement(found: &SlowPathResult, verdict: Verdict) -> Statement {
    let test = &found.test;
    let of_speed =
        matches!(verdict, Verdict::Regressed | Verdict::Improved) && found.side.is_none();
    let meaning = if of_speed {
        "a change of speed makes neighbours differ, too, so it says nothing more here"
    } else if test.shows_slower() {
        "the candidate takes a slow path that the base does not"
    } else if test.shows_faster() {
        "the base takes a slow path that the candidate does not"
    } else if found.is_suspected() {
        "not shown, but too near to it to say `unchanged`"
    } else {
        "nothing of the kind shows"
    };
    Statement::new(
        format!(
            "The slow-path test asks whether samples of one side are slower than their neighbours of the other by 10 % or 20 %, beyond the threshold: {} of the candidate's samples lie more than 10 % above their floor, {} of the base's. Its level is {}; adjusted p {} for the candidate, {} for the base: {meaning}.",
            format_level(found.share_candidate),
            format_level(found.share_base),
            format_level(test.family_level),
            units::p_value(test.adjusted.slower),
            units::p_value(test.adjusted.faster),
        ),
        Numbers::SlowPath {
            share_candidate: found.share_candidate,
            share_base: found.share_base,
            family_level: test.family_level,
            p_slower: found.p,
            suspicion: found.suspicion,
            adjusted_p_slower: test.adjusted.slower,
            adjusted_p_faster: test.adjusted.faster,
        },
    )
}

fn decision_statement(comparison: &Comparison) -> Statement {
    let bounds = comparison.change.map(|change| (change.lower, change.upper));
    let text = match (comparison.look(), bounds) {
        (Some(look), Some((lower, upper))) => describe_condition(comparison, look, lower, upper),
        _ => "No test was possible: the notes say what was missing.".to_owned(),
    };
    verdict_statement(&text, comparison)
}

/// Describes the condition that decided. The arms follow the order of the decision rules.
fn describe_condition(
    comparison: &Comparison,
    look: &PairedDecision,
    lower: f64,
    upper: f64,
) -> String {
    let threshold = comparison.noise_threshold;
    let (low, high) = format_thresholds(threshold);
    match comparison.verdict {
        Verdict::Regressed if lower > threshold => format!(
            "The lower bound, {}, lies above {high}: the whole interval is slower than noise.",
            units::change(lower)
        ),
        Verdict::Regressed => "The slow-path test has found that some samples of the candidate are slower, though its fastest ones are not.".to_owned(),
        Verdict::Suspect if look.test.would_show_slower_alone() => format!(
            "The lower bound, {}, does not lie above {high}; at the level of a single benchmark it would ({}, at most {}).",
            format_bound(lower),
            format_p(look.test.p.slower),
            format_level(look.test.family_level)
        ),
        Verdict::Suspect => "The slow-path test would have found something at the level of a single benchmark.".to_owned(),
        Verdict::Improved if look.slow_path.side == Some(Side::Base) && upper >= improvement_threshold(threshold) => {
            "The slow-path test has found that some samples of the base are slower, though its fastest ones are not.".to_owned()
        }
        Verdict::Improved => format!(
            "The upper bound, {}, lies below {low}: the whole interval is faster than noise.",
            units::change(upper)
        ),
        Verdict::Unchanged => format!(
            "The whole interval {} lies within {low} and {high}, and no slow path is suspected.",
            units::change_interval(lower, upper)
        ),
        _ if comparison.notes.contains(&Note::SlowPathSuspected) => format!(
            "The whole interval {} lies within {low} and {high}, but a slow path is suspected.",
            units::change_interval(lower, upper)
        ),
        _ if lower >= improvement_threshold(threshold) && upper <= threshold => format!(
            "The whole interval {} lies within {low} and {high}, but this host differs from itself too much to call anything unchanged.",
            units::change_interval(lower, upper)
        ),
        _ => describe_open_interval(lower, upper, threshold),
    }
}

fn alternative_statement(
    explanation: &Explanation<'_>,
    comparison: &Comparison,
    rounds: usize,
) -> Statement {
    let needed = comparison.look().and_then(|look| look.rounds_needed);
    let smallest = finite_or_none(comparison.smallest_callable);
    let callable = describe_smallest_callable(comparison);
    let threshold = comparison.noise_threshold;
    let lower_threshold = improvement_threshold(threshold);
    let text = match (comparison.verdict, comparison.change, comparison.look()) {
        (Verdict::Regressed | Verdict::Improved, Some(change), Some(_))
            if change.lower <= threshold && change.upper >= lower_threshold =>
        {
            let within = change.lower >= lower_threshold && change.upper <= threshold;
            let else_verdict = if within {
                Verdict::Unchanged
            } else {
                Verdict::Inconclusive
            };
            format!(
                "Without the slow path the interval of the speed test would have made it {else_verdict}."
            )
        }
        (Verdict::Regressed, Some(change), Some(_)) if change.lower > threshold => {
            format!(
                "It would not have been called if the change seen had been {} or less, or with a noise threshold of {} or more.",
                units::change(smallest.unwrap_or(f64::NAN)),
                format_level(change.lower)
            )
        }
        (Verdict::Improved, Some(change), Some(_)) if change.upper < 0.0 => format!(
            "It would not have been called with a noise threshold of {} or more.",
            format_level(1.0 / (1.0 + change.upper) - 1.0)
        ),
        (Verdict::Suspect, _, Some(_)) => format!(
            "{} Measured alone (`--exact`) or with more rounds (`--rounds`) it may be settled.",
            callable.unwrap_or_default()
        ),
        (Verdict::Inconclusive, _, Some(_)) => {
            let settles = explanation.row.and_then(settlement_of);
            let settles = settles.map_or_else(
                || "It is not known what would settle it: the change lies too near to the threshold, or more of the same would not help".to_owned(),
                |settles| capitalize(&settles),
            );
            format!("{} {settles}.", callable.unwrap_or_default())
        }
        (_, _, Some(_)) => callable.unwrap_or_default(),
        (_, _, None) => {
            format!("More rounds than {rounds} and longer samples would have allowed a test.")
        }
    };
    Statement::new(
        text.trim_start(),
        Numbers::Otherwise {
            smallest_callable: smallest,
            rounds_needed: needed,
        },
    )
}
