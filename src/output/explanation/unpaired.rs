//! Explains comparisons of stored runs. One of three methods decided them: the prediction interval over runs, the t-score, or the test of a published
//! system. Also explains verdicts about another statistic than the time, and effect sizes.
//!
//! This module must not decide anything: all numbers come from the stored decision.

use super::measured::{Explanation, failure_statements, format_level, format_p};
use crate::output::messages::{Numbers, Statement};
use crate::output::units;
use crate::output::words::analysis;
use crate::output::words::sentences::capitalize;
use perfcheck_analysis::compare::{
    Comparison, Estimate, FamilyTest, LevelShare, Location, Note, Prediction, PublishedDecision,
    SharedLevel, StoredDecision, TScoreResult,
};
use perfcheck_analysis::model::{
    Correction, Metric, Observations, Statistic, Test, Thresholds, Verdict,
};

/// Returns the statements on a comparison that the tool's own test decided, in the order from the estimates to the decision.
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
        (Test::TScore, _) => "the test compares the means over processes",
        (_, Location::Median) => "the value of a run is the mean over its processes",
        _ => {
            "the value of a run is that of its fastest process, because noise makes samples slower, never faster"
        }
    };
    Statement::new(
        format!(
            "Each process contributes its {location}; {of_run}. No sample was left out as an outlier."
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
        "The estimated change against the reference is {}.",
        units::change(change.estimate)
    );
    if is_identical(comparison, change) && test == Test::BootstrapT {
        text.push_str(" All processes of both sides had the same value.");
    } else if let Some(Prediction {
        standard_error: error,
        degrees_of_freedom: df,
    }) = grounds.prediction
    {
        let run_sd = grounds.run_sd;
        let spread = explanation.row.map_or(0, |found| found.spread.len());
        let known = if spread < 2 {
            "assumed for this kind of host because one run cannot show drift".to_owned()
        } else {
            format!("from {spread} runs and the value assumed for this kind of host")
        };
        let drift = run_sd * (1.0 + 1.0 / comparison.extent.runs_averaged().max(1) as f64).sqrt();
        let decides = if error > drift * (1.0 + 1e-9) {
            format!(
                "Differences between processes add to this, so the change has a standard error of {}",
                format_level(error)
            )
        } else {
            format!(
                "The change therefore has a standard error of {}",
                format_level(error)
            )
        };
        text = format!(
            "{text} On this host, runs of the same code have a standard deviation of {} ({known}). {decides}, with {df:.0} degrees of freedom.",
            format_level(run_sd),
        );
    } else {
        text.push_str(" Its uncertainty comes from the differences between processes; drift between runs is ignored (`--ignore-drift`).");
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
            "This benchmark was the only one compared, so it had the whole one-sided significance level of {} in each direction.",
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
                    "{count} benchmarks shared a one-sided significance level of {of_all} in each direction. Holm's procedure assigned this one {slower} for slowdowns and {faster} for speedups."
                ),
                Correction::BenjaminiHochberg => format!(
                    "On average, at most {of_all} of the benchmarks called slower are false alarms, and at most {of_all} of those called faster. The Benjamini-Hochberg procedure over {count} benchmarks assigned this one {slower} for slowdowns and {faster} for speedups."
                ),
                Correction::Unadjusted => format!(
                    "{count} benchmarks were compared, each at its own one-sided significance level of {of_all} in each direction."
                ),
            }
        }
    };
    interval_statement(&shared, test, change, (1.0, ""))
}

/// Returns a statement on the interval and the p-values of a test. `shared` describes how benchmarks share the level of the test. In a side-by-side
/// measurement, `share` is the fraction of the level that one test of the data (look) may use, and `of_look` describes this fraction. For stored
/// runs, `share` is 1 and `of_look` is empty.
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
            "{shared} At these levels, the change is within {}. The test for `{direction} by more than the threshold` has {}{of_look}, adjusted {}.",
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

/// Returns a statement on the noise threshold, and on why it was raised, if it was.
pub(super) fn threshold_statement(comparison: &Comparison) -> Statement {
    let threshold = comparison.noise_threshold;
    let raised = comparison
        .notes
        .iter()
        .any(|note| matches!(note, Note::ThresholdRaised { .. }));
    let why = if raised {
        " because timings of identical code differ by that much on this host"
    } else {
        ""
    };
    Statement::new(
        format!(
            "Changes up to {} in either direction count as noise{why}.",
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
        (_, None) => "No test was possible: see the notes for what was missing.".to_owned(),
        (Verdict::Regressed, Some((lower, _))) => format!(
            "The lower bound, {}, is above {high}, so the slowdown exceeds noise.",
            units::change(lower)
        ),
        (Verdict::Improved, Some((_, upper))) => format!(
            "The upper bound, {}, is below {low}, so the speedup exceeds noise.",
            units::change(upper)
        ),
        (Verdict::Unchanged, Some((lower, upper))) => format!(
            "The whole interval {} is between {low} and {high}, so any change is within noise.",
            units::change_interval(lower, upper)
        ),
        (Verdict::Suspect, Some((lower, _))) => format!(
            "The lower bound, {}, is not above {high}, so drift between runs could explain the slowdown. Variation between processes alone could not.",
            format_bound(lower)
        ),
        (_, Some((lower, upper))) if test == Test::BootstrapT && faster_by_t_score(comparison) => {
            format!(
                "The interval {} shows no change, but the processes of the new run are faster by more than the variation between processes explains, so the result is uncertain.",
                units::change_interval(lower, upper)
            )
        }
        (_, Some((lower, upper))) => describe_withheld_change(comparison, lower, upper)
            .unwrap_or_else(|| describe_open_interval(lower, upper, comparison.noise_threshold)),
    };
    verdict_statement(&text, comparison)
}

/// Returns a statement with the condition that decided and the verdict.
pub(super) fn verdict_statement(condition: &str, comparison: &Comparison) -> Statement {
    Statement::new(
        format!("{condition} The verdict is {}.", comparison.verdict).trim_start(),
        Numbers::from_comparison(comparison),
    )
}

/// Returns the change, as a negative fraction, below which a benchmark is faster by more than noise. It is a little closer to 0 than the negative
/// threshold, because decisions use logarithms.
pub(super) fn improvement_threshold(threshold: f64) -> f64 {
    (-threshold.ln_1p()).exp_m1()
}

/// Returns a sentence which says that a change is not reported because the fastest processes within a side differ too much. Returns `None` if that is
/// not the case.
pub(super) fn describe_withheld_change(
    comparison: &Comparison,
    lower: f64,
    upper: f64,
) -> Option<String> {
    if !comparison.notes.iter().any(Note::withholds_changes) {
        return None;
    }
    let threshold = comparison.noise_threshold;
    let (low, high) = format_thresholds(threshold);
    let all = units::change_interval(lower, upper);
    let seen = if lower > threshold {
        format!("The whole interval {all} is above {high}")
    } else if upper < improvement_threshold(threshold) {
        format!("The whole interval {all} is below {low}")
    } else if lower >= improvement_threshold(threshold) && upper <= threshold {
        "Some samples of one side are slower than those of the other".to_owned()
    } else {
        return None;
    };
    Some(format!(
        "{seen}, but the fastest processes within a side differ too much to call this a change."
    ))
}

/// Returns a sentence that explains why the interval of a change leaves open whether there is one.
pub(super) fn describe_open_interval(lower: f64, upper: f64, threshold: f64) -> String {
    let (low, high) = format_thresholds(threshold);
    let all = units::change_interval(lower, upper);
    if upper > threshold && lower < -threshold {
        format!(
            "The interval {all} reaches beyond both {low} and {high}: slower, faster and unchanged are all possible."
        )
    } else if upper > threshold {
        format!("The interval {all} includes {high}: noise and a slowdown are both possible.")
    } else {
        format!("The interval {all} includes {low}: noise and a speedup are both possible.")
    }
}

/// Formats the noise threshold as a change in both directions, first faster, then slower.
pub(super) fn format_thresholds(threshold: f64) -> (String, String) {
    let faster = improvement_threshold(threshold);
    (units::change(faster), units::change(threshold))
}

pub(super) fn format_bound(value: f64) -> String {
    if value.is_finite() {
        units::change(value)
    } else {
        "which is unknown".to_owned()
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
        "this test alone would give the verdict `regressed`"
    } else if change.upper < improvement_threshold(threshold) {
        "this test alone would give the verdict `improved`"
    } else {
        "this test alone would not show a change"
    };
    let adjusted = if change.estimate >= 0.0 {
        found.test.adjusted.slower
    } else {
        found.test.adjusted.faster
    };
    Statement::new(
        format!(
            "The t-score test of the process means ignores drift between runs, so it can at most make a verdict `suspect`. It estimates a change of {} {}, adjusted p {}; {says}.",
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

/// Returns a sentence with the smallest measured change that would have been `regressed`. Returns `None` if it is not known.
pub(super) fn describe_smallest_callable(comparison: &Comparison) -> Option<String> {
    let smallest = finite_or_none(comparison.smallest_callable)?;
    Some(format!(
        "A measured change of more than {} would have been `regressed`.",
        units::change(smallest)
    ))
}

fn alternative_statement(comparison: &Comparison, test: Test) -> Statement {
    let (low, high) = format_thresholds(comparison.noise_threshold);
    let callable = describe_smallest_callable(comparison);
    let more = match test {
        Test::BootstrapT => {
            "To narrow the interval, accept more runs of the same code, use a dedicated host (`host = \"dedicated\"`) or measure both builds side by side (`--against REV`)"
        }
        _ => "More processes narrow the interval",
    };
    let text = match (comparison.verdict, comparison.change) {
        (_, None) => {
            "Longer samples or more processes (`--measurement-time`, `--rounds`) would have allowed a test.".to_owned()
        }
        (Verdict::Regressed, Some(change)) => {
            let smallest = comparison.smallest_callable.map_or(f64::NAN, |smallest| smallest);
            format!(
                "The verdict would not have been `regressed` with a measured change of {} or less, or with a noise threshold of {} or more.",
                units::change(smallest),
                format_level(change.lower),
            )
        }
        (Verdict::Improved, Some(change)) => format!(
            "The verdict would not have been `improved` with a noise threshold of {} or more.",
            format_level(1.0 / (1.0 + change.upper) - 1.0),
        ),
        (Verdict::Unchanged, _) => callable.unwrap_or_default(),
        (_, Some(_)) => {
            let reach = "`unchanged` needs the whole interval";
            format!(
                "{} {reach} to be between {low} and {high}. {more}.",
                callable.unwrap_or_default()
            )
        }
    };
    let family = comparison
        .run_grounds()
        .map_or(1, |grounds| grounds.test.family);
    let alone = if family > 1
        && matches!(comparison.verdict, Verdict::Suspect | Verdict::Inconclusive)
    {
        format!(
            " Without the other {}, this one would have had a larger share of the significance level.",
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

/// Returns the statements on a comparison that the test of a published system decided, in the order from the observations to the decision.
pub(super) fn alternative_statements(
    explanation: &Explanation<'_>,
    comparison: &Comparison,
) -> Vec<Statement> {
    let thresholds = &explanation.run.begun.decision.thresholds;
    let mut alternative_statements = failure_statements(explanation.failures);
    if let Some(tested) = comparison.published_decision() {
        alternative_statements.push(observations_statement(tested));
        alternative_statements.push(test_statement(tested, comparison, thresholds));
        if tested.test != Test::P95Ratio {
            alternative_statements.push(threshold_statement(comparison));
        }
    }
    alternative_statements.push(alternative_decision_statement(comparison));
    alternative_statements.extend(effect_statement(comparison, explanation.metric));
    let centers = comparison.description.centers.as_ref();
    let description = analysis::describe_centers(comparison, explanation.metric);
    alternative_statements.extend(centers.zip(description).map(|(centers, text)| {
        Statement::new(
            format!("Requested summary: {text}."),
            Numbers::Summary { centers: *centers },
        )
    }));
    alternative_statements.extend(note_statements(&comparison.notes));
    alternative_statements
}

/// Returns the statements on a verdict that is about another statistic than the time.
pub(super) fn statements_about(subject: Statistic, comparison: &Comparison) -> Vec<Statement> {
    let seen = if let Some(count) = comparison.count(subject) {
        let how = if count.exact {
            "All iterations of a side had the same count, so any difference is real".to_owned()
        } else {
            let p = match (count.p_value, comparison.p_value, comparison.shared_level()) {
                (Some(p), Some(adjusted), Some(shared)) => format!(
                    " ({}; adjusted {adjusted} by Holm's procedure over {} whose counts vary; level {})",
                    format_p(p),
                    units::counted(shared.family, "benchmark"),
                    format_level(shared.effective_level()),
                    adjusted = units::p_value(adjusted),
                ),
                _ => String::new(),
            };
            format!(
                "Counts may vary between processes, so a test compared the processes, and the change must exceed noise{p}"
            )
        };
        format!(
            "The verdict is about {subject}: {} per iteration, against {} in the reference. {how}.",
            count.candidate, count.base
        )
    } else if let Some(found) = comparison.percentile(subject) {
        format!(
            "The verdict is about {subject} of single operations. Its average over the processes is {}. In the reference it is {}, so it changed by {}.{}",
            units::time(found.candidate_ns),
            units::time(found.base_ns),
            units::change(found.change.estimate),
            describe_interval(comparison)
        )
    } else {
        format!("The verdict is about {subject}.")
    };
    let mut alternative_statements = vec![Statement::new(
        seen,
        Numbers::Metric {
            metric: subject,
            change: comparison.change,
            shared_level: comparison.shared_level(),
        },
    )];
    alternative_statements.push(threshold_statement(comparison));
    alternative_statements.push(verdict_statement("", comparison));
    alternative_statements.extend(note_statements(&comparison.notes));
    alternative_statements
}

/// Returns sentences on the interval that decides, and on its confidence level. The text is empty if there is no such interval.
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
        return " The change has no bounds because one process does not show how much processes differ."
            .to_owned();
    }
    let shared = if family > 1 {
        format!(
            " Together, the intervals of {family} benchmarks have a confidence level of {}.",
            units::percent(confidence_level)
        )
    } else {
        String::new()
    };
    let between = if comparison.is_paired() {
        ""
    } else {
        ", which allows for drift between runs"
    };
    format!(
        " Student's {} interval is {}{between}.{shared}",
        units::percent(interval_level),
        units::change_interval(change.lower, change.upper)
    )
}

fn observations_statement(tested: &PublishedDecision) -> Statement {
    let text = match tested.observations {
        Observations::Processes => format!(
            "Each process was one observation, the {} of its samples. There were {} observations in the new run and {} in the reference.",
            tested.center, tested.candidate, tested.base
        ),
        Observations::Samples => format!(
            "Each sample was one observation. There were {} in the new run and {} in the reference. Samples of one process are not independent, so this test raises too many false alarms.",
            tested.candidate, tested.base
        ),
        Observations::Filtered => format!(
            "Each sample that the filter kept was one observation. There were {} in the new run and {} in the reference. Samples of one process are not independent, so this test raises too many false alarms.",
            tested.candidate, tested.base
        ),
    };
    let outliers = match tested.observations {
        Observations::Processes | Observations::Samples => "No sample was left out as an outlier.",
        Observations::Filtered => {
            "The test, the change and the effect sizes use these samples; with `--observations samples`, they use all samples."
        }
    };
    Statement::new(
        format!("{text} {outliers} Drift between runs is ignored."),
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
            "The t-score of the means is {statistic:.4}, compared with resamples of the pooled sides"
        ),
        Test::Welch => format!(
            "Welch's test of the means: t = {statistic:.4} with {:.2} degrees of freedom",
            tested.degrees_of_freedom.unwrap_or(f64::NAN)
        ),
        Test::MannWhitney => format!("Mann-Whitney test of ranks: U = {statistic}"),
        Test::Kruskal => format!("Kruskal-Wallis test of ranks: H = {statistic:.4}"),
        Test::P95Ratio => format!(
            "The ratio of the 95th percentiles is {statistic:.4}; {} or less means faster, {} or more means slower, and anything between means unchanged",
            thresholds.p95_faster, thresholds.p95_slower
        ),
        Test::Interval => format!(
            "The estimates are {statistic:.3} times as far apart as their {} intervals reach towards each other; above 1, the intervals do not overlap",
            units::percent(1.0 - tested.level)
        ),
        Test::BootstrapT | Test::TScore => "The t-score".to_owned(),
    };
    let p = match (tested.p_value, tested.adjusted_p_value) {
        (Some(p), Some(adjusted)) => format!(
            ", {}, adjusted {}; the two-sided significance level is {}",
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
        let found = if tested.statistic.is_some() {
            format!("{by}{p}.{seen}")
        } else {
            let exact = comparison.change.map_or_else(String::new, |change| {
                format!(": {}", units::change(change.estimate))
            });
            format!("Neither side varies, so the change is exact{exact}.")
        };
        format!(
            "{found} The difference is {}.",
            tested.significance.word().replace('-', " ")
        )
    } else {
        format!("The requested test, {}, was not possible.", tested.test)
    };
    Statement::new(
        text,
        Numbers::Test {
            tested: *tested,
            change: comparison.change,
        },
    )
}

fn alternative_decision_statement(comparison: &Comparison) -> Statement {
    let bounds = comparison.change.map(|change| (change.lower, change.upper));
    let by_bounds = comparison
        .published_decision()
        .is_some_and(|tested| tested.test == Test::P95Ratio);
    let by_p_alone = comparison.published_decision().is_some_and(|tested| {
        matches!(tested.test, Test::MannWhitney | Test::Kruskal) && tested.p_value.is_some()
    }) && comparison.noise_threshold == 0.0;
    let text = match comparison.verdict {
        Verdict::Regressed | Verdict::Improved if by_p_alone => {
            "The difference is significant, and there is no noise threshold."
        }
        Verdict::Regressed | Verdict::Improved if !by_bounds => {
            "The difference is significant, and the whole interval is beyond the noise threshold."
        }
        Verdict::Unchanged if !by_bounds => "The whole interval is within the noise threshold.",
        Verdict::Regressed | Verdict::Improved | Verdict::Unchanged => "The ratio decides.",
        _ if bounds.is_none() => "No test was possible: see the notes for what was missing.",
        _ => "The data neither show nor exclude a change beyond the noise threshold.",
    };
    verdict_statement(text, comparison)
}

/// Returns a statement on the effect sizes. Returns `None` if they were not computed.
pub(super) fn effect_statement(comparison: &Comparison, metric: &Metric) -> Option<Statement> {
    let effects = comparison.description.effects.as_ref()?;
    let delta = effects.cliffs_delta?;
    let unit = match effects.observations {
        Observations::Processes => "processes",
        Observations::Samples => "samples",
        Observations::Filtered => "samples that the filter keeps",
    };
    let hedges = effects.hedges_g.map_or_else(String::new, |g| {
        format!(" Hedges' g is {g:+.2} (in standard deviations).")
    });
    let shift = effects.shift_ns.map_or_else(String::new, |shift| {
        let (direction, size) = if shift.estimate < 0.0 {
            ("faster", -shift.estimate)
        } else {
            ("slower", shift.estimate)
        };
        format!(
            " Over all pairs of {unit}, the median difference is {} ({direction}).",
            units::format_cost(metric, size)
        )
    });
    let paired = effects.paired_change.map_or_else(String::new, |paired| {
        format!(
            " Process by process, the change is {} on average, with an interval from {} to {}.",
            units::change(paired.estimate),
            units::change(paired.lower),
            units::change(paired.upper)
        )
    });
    let pairs = if delta == 0.0 {
        format!("In pairs of {unit}, the new side is slower as often as faster")
    } else {
        format!(
            "In pairs of {unit}, the new side is {} more often than {}, by {} percentage points",
            if delta > 0.0 { "slower" } else { "faster" },
            if delta > 0.0 { "faster" } else { "slower" },
            (delta.abs() * 100.0).round()
        )
    };
    Some(Statement::new(
        format!(
            "{pairs}: Cliff's delta is {delta:+.3}, {}.{hedges}{shift}{paired}",
            effects.label.map_or("-", |size| size.label())
        ),
        Numbers::Effect(effects.clone()),
    ))
}
