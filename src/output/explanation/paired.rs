//! Explains a side-by-side comparison: the test of the data (look) after which it was decided, which may be the last one or an earlier one, the speed
//! test in both directions, and the slow-path test.

use super::measured::{Explanation, failure_statements, format_level, format_p};
use super::unpaired::{
    describe_open_interval, describe_smallest_callable, describe_withheld_change, finite_or_none,
    format_bound, format_thresholds, improvement_threshold, interval_statement, note_statements,
    threshold_statement, verdict_statement,
};
use crate::output::messages::{Numbers, Statement};
use crate::output::units;
use crate::output::words::remarks::settlement_of;
use crate::output::words::sentences::capitalize;
use perfcheck_analysis::compare::{
    Comparison, Estimate, Location, Note, PairedDecision, PairedMethod, SlowPathResult,
};
use perfcheck_analysis::model::{ProgramBenchmark, Side, Verdict};

/// Returns the statements on a side-by-side comparison, in the order from the estimates to the decision.
pub(super) fn statements(explanation: &Explanation<'_>, comparison: &Comparison) -> Vec<Statement> {
    let mut statements = failure_statements(explanation.failures);
    let rounds = comparison.extent.processes_candidate();
    let look = comparison.look();
    statements.extend(look.map(|look| look_statement(look, rounds, comparison, explanation)));
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
    explanation: &Explanation<'_>,
) -> Statement {
    let plan = explanation.plan;
    let planned = plan.map_or_else(String::new, |plan| {
        let looks: Vec<String> = plan.looks.iter().map(u32::to_string).collect();
        format!("Checks were planned after {} rounds. ", looks.join(", "))
    });
    let early = comparison.extent.stopped_early();
    let share = format_level(look.share);
    let text = if early && comparison.verdict == Verdict::Inconclusive {
        format!(
            "The measurement stopped after {rounds} rounds because more rounds were unlikely to settle the verdict. {planned}This check used {share} of each significance level."
        )
    } else if early {
        format!(
            "The measurement stopped after {rounds} rounds because they settled the verdict. {planned}This check used {share} of each significance level, so that all checks together do not exceed it."
        )
    } else {
        format!(
            "The measurement used all {rounds} rounds because no earlier check settled the verdict. {planned}This last check used the remaining {share} of each significance level."
        )
    };
    let layouts = comparison.extent.layouts();
    let of_layouts = match layouts {
        0 if ProgramBenchmark::is_build(&explanation.key.target) => String::new(),
        0 => " Each executable kept the code layout of its build, so a small change may come from the layout.".to_owned(),
        _ => format!(
            " The rounds used {}. Each layout places the functions differently, but in the same way on both sides.",
            units::counted(layouts, "code layout")
        ),
    };
    Statement::new(
        format!("{text}{of_layouts}"),
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
                "the {}th percentile of all samples of each side (because noise only makes samples slower)",
                quantile * 100.0
            )
        }
        Location::SecondFastest => {
            "the second fastest sample of each side (there were too few samples for a low percentile)".to_owned()
        }
        Location::Median => "the median of all samples of each side (there were too few samples for a low percentile)".to_owned(),
    };
    Statement::new(
        format!(
            "The verdict combines two tests. One compares {taken}. The other compares both sides by rank, round by round. Each test uses half of the significance level, and the tighter bounds apply. No sample was left out as an outlier."
        ),
        Numbers::Location { location },
    )
}

fn estimate_statement(look: &PairedDecision, change: Estimate) -> Statement {
    let error = look.standard_error;
    Statement::new(
        format!(
            "The estimated change against the reference is {}, with a standard error of {}.",
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
        "This benchmark was the only one compared, so it has the whole significance level."
            .to_owned()
    } else {
        format!(
            "Holm's procedure over {} benchmarks assigned this one {} for slowdowns and {} for speedups.",
            test.family,
            format_level(test.step_level.slower),
            format_level(test.step_level.faster)
        )
    };
    let shared = format!(
        "The speed test has a one-sided significance level of {} in each direction. {family} The levels of this check are {} for slowdowns and {} for speedups.",
        format_level(test.family_level),
        format_level(test.step_level.slower * look.share),
        format_level(test.step_level.faster * look.share),
    );
    let look = (look.share, " (divided by this check's share)");
    interval_statement(&shared, test, change, look)
}

fn slow_path_statement(found: &SlowPathResult, verdict: Verdict) -> Statement {
    let test = &found.test;
    let of_speed =
        matches!(verdict, Verdict::Regressed | Verdict::Improved) && found.side.is_none();
    let meaning = if of_speed {
        "a change in speed also makes neighboring samples differ, so this test adds nothing here"
    } else if test.shows_slower() {
        "some samples of the new run became slower"
    } else if test.shows_faster() {
        "some samples of the reference were slower"
    } else if found.is_suspected() {
        "the evidence of slower samples rules out `unchanged`, but is not conclusive"
    } else {
        "there is no evidence of this"
    };
    Statement::new(
        format!(
            "Another test checks whether some samples of one side are slower than the neighboring samples of the other by more than the noise threshold plus 10 % or 20 %: {meaning}. {} of the new samples and {} of the reference samples are more than 10 % slower than the fastest samples of their side. The test has a significance level of {}; the adjusted p is {} for the new run and {} for the reference.",
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
        _ => "No test was possible: see the notes for what was missing.".to_owned(),
    };
    verdict_statement(&text, comparison)
}

/// Returns a sentence with the condition that decided the verdict. The arms are in the order in which the decision rules apply.
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
            "The lower bound, {}, is above {high}, so the slowdown exceeds noise.",
            units::change(lower)
        ),
        Verdict::Regressed => {
            "Some samples of the new run are slower than those of the reference, but the fastest samples of the new run are not.".to_owned()
        }
        Verdict::Suspect if look.test.would_show_slower_alone() => format!(
            "The lower bound, {}, is not above {high}, but it would be if this were the only benchmark ({}, level {}).",
            format_bound(lower),
            format_p(look.test.p.slower),
            format_level(look.test.family_level)
        ),
        Verdict::Suspect => {
            "Some samples of the new run would count as slower if this were the only benchmark.".to_owned()
        }
        Verdict::Improved
            if look.slow_path.side == Some(Side::Base)
                && upper >= improvement_threshold(threshold) =>
        {
            "Some samples of the reference are slower than those of the new run, but the fastest samples of the reference are not.".to_owned()
        }
        Verdict::Improved => format!(
            "The upper bound, {}, is below {low}, so the speedup exceeds noise.",
            units::change(upper)
        ),
        Verdict::Unchanged => format!(
            "The whole interval {} is between {low} and {high}, and neither side seems to have slow samples.",
            units::change_interval(lower, upper)
        ),
        _ => describe_withheld_change(comparison, lower, upper).unwrap_or_else(|| {
            let doubt = if comparison.notes.contains(&Note::SlowPathSuspected) {
                "some samples may be slower"
            } else if lower >= improvement_threshold(threshold) && upper <= threshold {
                "timings of identical code differ too much on this host to call anything unchanged"
            } else {
                return describe_open_interval(lower, upper, threshold);
            };
            let interval = units::change_interval(lower, upper);
            format!("The whole interval {interval} is between {low} and {high}, but {doubt}.")
        }),
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
            format!("Without the slower samples, the verdict would have been `{else_verdict}`.")
        }
        (Verdict::Regressed, Some(change), Some(_)) if change.lower > threshold => {
            format!(
                "The verdict would not have been `regressed` with a measured change of {} or less, or with a noise threshold of {} or more.",
                units::change(smallest.unwrap_or(f64::NAN)),
                format_level(change.lower)
            )
        }
        (Verdict::Improved, Some(change), Some(_)) if change.upper < 0.0 => format!(
            "The verdict would not have been `improved` with a noise threshold of {} or more.",
            format_level(1.0 / (1.0 + change.upper) - 1.0)
        ),
        (Verdict::Suspect, _, Some(_)) => format!(
            "{} Measuring this benchmark alone (`--exact`) or in more rounds (`--rounds`) may settle the verdict.",
            callable.unwrap_or_default()
        ),
        (Verdict::Inconclusive, _, Some(_)) => {
            let settles = explanation.row.and_then(settlement_of);
            let settles = settles.map_or_else(
                || {
                    "The change may be too close to the threshold for more rounds to settle the verdict"
                        .to_owned()
                },
                |settles| capitalize(&settles),
            );
            format!("{} {settles}.", callable.unwrap_or_default())
        }
        (_, _, Some(_)) => callable.unwrap_or_default(),
        (_, _, None) => {
            format!("A test would have needed more than {rounds} rounds, longer samples, or both.")
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
