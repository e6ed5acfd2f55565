//! Summarizes a history in sentences, with advice.

use std::io::{self, Write};

use super::content::{BenchmarkHistory, ExclusionReason, ProcessorDisagreement};
use crate::report::units;
use perfcheck_analysis::compare::{Difference, Estimate, Position};

/// Writes levels, side-by-side changes, scatter, the newest run, baselines, runs left out, and advice.
pub(super) fn write_conclusion(
    writer: &mut dyn Write,
    history: &BenchmarkHistory,
    columns: usize,
) -> io::Result<()> {
    let mut say = |text: String| -> io::Result<()> {
        for line in units::wrap_if_needed(&text, columns.min(110)) {
            writeln!(writer, "{line}")?;
        }
        Ok(())
    };
    let value = |ns: f64| units::value(&history.metric, ns);
    for level in &history.course.levels {
        let (first, last) = (
            history.counted_point(level.first).run,
            history.counted_point(level.last).run,
        );
        let runs = level.last - level.first + 1;
        let here = if runs == 1 {
            format!("run {first}")
        } else {
            format!("runs {first} to {last} ({runs})")
        };
        let step = level.step.map_or_else(String::new, |step| {
            let how = match (step.p_value, step.accepted) {
                (_, true) => ", accepted".to_owned(),
                (Some(p), false) => format!(" (p {p:.4})"),
                (None, false) => String::new(),
            };
            format!(", {}{how}", format_change(step.change))
        });
        say(format!("Level {} in {here}{step}", value(level.value)))?;
    }
    for text in describe_side_by_side(history) {
        say(text)?;
    }
    // Without repeated measurements of the same code the scatter is zero and means nothing.
    if let Some(sd) = history.course.run_sd.filter(|sd| *sd > 0.0) {
        let strays = match history.course.strays.len() {
            0 => String::new(),
            some => format!(", but for {} far off (stray)", units::counted(some, "run")),
        };
        say(format!(
            "Runs of one level differ by {} (SD){strays}.",
            units::rounded_percent(sd.exp_m1())
        ))?;
    }
    say(describe_newest_run(history))?;
    for since in &history.since_baselines {
        say(format!(
            "Since baseline `{}` (run {}): {}",
            since.name,
            since.run,
            if is_same_level(since.change) {
                "the same level".to_owned()
            } else {
                format_change(since.change)
            }
        ))?;
    }
    for text in describe_exclusions(history) {
        say(text)?;
    }
    advise_acceptance(history).map_or(Ok(()), say)
}

/// Describes the results of side-by-side runs: the change from first to last, trends, and disagreeing processors.
pub(in crate::report) fn describe_side_by_side(history: &BenchmarkHistory) -> Vec<String> {
    let trends = history.trends.iter().map(|trend| {
        format!(
            "Runs {} to {} show a trend: {} in all, by changes that no single run shows",
            trend.first_run,
            trend.last_run,
            format_change(trend.change)
        )
    });
    let end_to_end = describe_total_change(history).into_iter();
    let processors = history.processors.as_ref().map(describe_disagreement);
    end_to_end.chain(trends).chain(processors).collect()
}

/// Describes the sum of all steps, if there are several.
fn describe_total_change(history: &BenchmarkHistory) -> Option<String> {
    let mut known = history
        .points
        .iter()
        .filter(|point| point.since_first.is_some());
    let (first, last) = (known.clone().next()?, known.next_back()?);
    let steps = history
        .course
        .levels
        .iter()
        .filter(|level| level.step.is_some());
    let change = last.since_first.filter(|_| steps.count() > 1)?;
    Some(format!(
        "From run {} to run {}: {}",
        first.run,
        last.run,
        if is_same_level(change) {
            "the same level".to_owned()
        } else {
            format_change(change)
        }
    ))
}

/// Describes a disagreement of processors, and names the processor that is shown.
fn describe_disagreement(found: &ProcessorDisagreement) -> String {
    let said = found.changes.iter().map(|one| {
        let processor = units::escape_line(&one.processor);
        format!("{} on `{processor}`", format_change(one.change))
    });
    let said: Vec<String> = said.collect();
    let step = found.run.map_or_else(String::new, |run| {
        format!(", most about the step to run {run}: {}", said.join(", "))
    });
    format!(
        "Processors disagree (p {:.4}){step}. This history has side-by-side runs on `{}` alone",
        found.p_value,
        units::escape_line(&found.shown)
    )
}

/// Reports whether two runs are of the same level, in contrast to a change that is merely small.
fn is_same_level(change: Estimate) -> bool {
    [change.lower, change.estimate, change.upper] == [0.0; 3]
}

/// Formats `+5.10 % [+4.40 %, +5.80 %]`, without an interval if a bound is unknown.
fn format_change(change: Estimate) -> String {
    if change.lower.is_finite() && change.upper.is_finite() {
        units::change_with_interval(&change)
    } else {
        units::change(change.estimate)
    }
}

fn describe_newest_run(history: &BenchmarkHistory) -> String {
    let Some(band) = history.course.band else {
        return "Ten runs of one level are needed to say what the next one should be.".to_owned();
    };
    let expected = format!(
        "{} to {}, as {} before it let expect",
        units::value(&history.metric, band.lower.min(band.upper)),
        units::value(&history.metric, band.upper.max(band.lower)),
        units::counted(band.runs, "run")
    );
    match history.course.newest {
        Position::Unknown | Position::Within => {
            format!("The newest run lies within {expected} (░).")
        }
        Position::AboveOnce => {
            format!("The newest run lies above {expected} (░); one run says little: measure again.")
        }
        Position::AboveTwice => format!(
            "The two newest runs lie above {expected} (░): a new level begins, or the host has changed."
        ),
        Position::BelowOnce => {
            format!("The newest run lies below {expected} (░); one run says little: measure again.")
        }
        Position::BelowTwice => format!(
            "The two newest runs lie below {expected} (░): a new level begins, or the host has changed."
        ),
    }
}

/// Says how many runs are left out, and why.
fn describe_exclusions(history: &BenchmarkHistory) -> Vec<String> {
    let mut reasons: Vec<(String, usize)> = Vec::new();
    for reason in history
        .points
        .iter()
        .filter_map(|point| point.left_out.as_ref())
    {
        let words = match reason.why {
            ExclusionReason::Incomparable => {
                let differences = reason.differences.iter().map(Difference::to_string);
                differences.collect::<Vec<_>>().join("; ")
            }
            ExclusionReason::OtherBranch => continue,
            ExclusionReason::OtherProcessor => {
                "measured on another processor, where changes are others".to_owned()
            }
            ExclusionReason::Failed => "the benchmark failed".to_owned(),
            ExclusionReason::OtherSamples => {
                "too few samples, or of another kind, to be set beside the newest run".to_owned()
            }
        };
        match reasons.iter_mut().find(|(known, _)| *known == words) {
            Some((_, count)) => *count += 1,
            None => reasons.push((words, 1)),
        }
    }
    let said = reasons.into_iter().map(|(words, count)| {
        format!(
            "{} without a value here: {}",
            units::counted(count, "run"),
            units::escape_line(&words)
        )
    });
    let elsewhere = history.points.iter();
    let reasons = elsewhere.filter_map(|point| point.left_out.as_ref());
    let elsewhere = reasons.filter(|reason| reason.why == ExclusionReason::OtherBranch);
    let elsewhere = match elsewhere.count() {
        0 => None,
        runs => Some(format!(
            "{} of other branches than the newest one: no level has them (`--branch NAME` shows theirs)",
            units::counted(runs, "run")
        )),
    };
    said.chain(elsewhere).collect()
}

/// Returns the command that accepts the present level, if it is a slowdown that nobody has accepted.
fn advise_acceptance(history: &BenchmarkHistory) -> Option<String> {
    let step = history.present()?.step?;
    let is_open = !step.accepted && step.change.estimate > 0.0;
    is_open.then(|| format!("If the present level is intended: {}", history.accept))
}
