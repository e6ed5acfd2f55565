//! Prints the result of `doctor --benches`: verdicts per benchmark, and the rates of false alarms and of slowdowns found.

use std::io::{self, Write};
use std::time::Duration;

use super::listing::{self, write_keyed};
use crate::escape;
use crate::report::layout::{Cell, Column, cell_builder};
use crate::report::messages::{
    JsonMessage, Rate, SelfTestFindings, SelfTestRow, SkippedBenchmark, write_message,
};
use crate::report::view::{MessageFormat, View};
use crate::report::{theme, units};
use perfcheck_analysis::model::{BenchmarkKey, Verdict};

/// Share of slowdowns found below which advice is given.
const FEW: f64 = 0.9;

/// Writes all findings. `view` sets the layout for people.
pub fn write_self_test(
    writer: &mut dyn Write,
    findings: &SelfTestFindings,
    format: MessageFormat,
    view: &View,
) -> io::Result<()> {
    match format {
        MessageFormat::Human => write_for_people(writer, findings, view),
        MessageFormat::Json => write_messages(writer, findings),
    }
}

fn write_for_people(
    writer: &mut dyn Write,
    findings: &SelfTestFindings,
    view: &View,
) -> io::Result<()> {
    let keys: Vec<&BenchmarkKey> = findings.rows.iter().map(|row| &row.key).collect();
    write_keyed(writer, &keys, columns(findings), view)?;
    for SkippedBenchmark { key, why } in &findings.skipped {
        let skipped = format!(
            "skipped {}/{}: {}: {why}",
            key.package,
            key.target,
            units::id_in_prose(&key.id, view.columns)
        );
        writeln!(writer, "{}", theme::faint(escape::one_line(&skipped)))?;
    }
    writeln!(writer)?;
    for line in summarize_trials(findings) {
        writeln!(writer, "{}", view.wrap_prose(&line, ""))?;
    }
    Ok(())
}

fn columns(findings: &SelfTestFindings) -> Vec<Column> {
    let rows = &findings.rows;
    let cells = cell_builder(rows);
    let slower = format!("{} slower", units::percent(findings.slowdown));
    let seconds = |row: &SelfTestRow| {
        let seconds = row.seconds_per_verdict();
        units::or_dash(seconds.map(|seconds| format!("{seconds:.1} s")))
    };
    vec![
        Column::words("the same", rows.iter().map(|row| counts(&row.same))),
        Column::words(&slower, rows.iter().map(|row| counts(&row.slowed))),
        Column::number(
            "noise threshold",
            cells(&|row| units::percent(row.noise_threshold)),
        )
        .dispensable(2),
        Column::number("per verdict", cells(&seconds)).dispensable(1),
    ]
}

/// Formats `4 regressed, 1 inconclusive`.
fn counts(verdicts: &[Verdict]) -> Cell {
    match verdicts {
        [] => Cell::from("-"),
        some => listing::format_tally(&some.iter().copied().collect()),
    }
}

fn summarize_trials(findings: &SelfTestFindings) -> Vec<String> {
    let mut lines = Vec::new();
    if findings.interrupted {
        lines.push(format!(
            "Interrupted: this is what the trials until then gave, of {} of each kind.",
            findings.trials
        ));
    }
    lines.extend(summarize_false_alarms(findings));
    lines.extend(summarize_slowdowns(findings));
    let all: Duration = findings.rows.iter().map(|row| row.time).sum();
    let verdicts = |row: &SelfTestRow| row.same.len() + row.slowed.len();
    let verdicts: usize = findings.rows.iter().map(verdicts).sum();
    if verdicts > 0 {
        lines.push(format!(
            "{:.1} s per verdict on average; seed {}.",
            all.as_secs_f64() / verdicts as f64,
            findings.seed
        ));
    }
    lines
}

fn summarize_false_alarms(findings: &SelfTestFindings) -> Vec<String> {
    let Rate {
        count,
        of,
        lower,
        upper,
    } = findings.false_alarms;
    if of == 0 {
        return Vec::new();
    }
    let confidence = units::percent(findings.bound_level);
    let seen = match count {
        0 => "none".to_owned(),
        some => some.to_string(),
    };
    let mut lines = vec![format!(
        "False alarms: {seen} in {} of an executable with itself: at most {} of them, with {confidence} confidence.",
        units::counted(of, "comparison"),
        units::rounded_percent(upper),
    )];
    let level = findings.significance_level;
    if lower > level {
        lines.push(format!(
            "That is more than the significance level of {} allows: the machine does something to one side that it does not do to the other. Close what is running, or lower --significance-level.",
            units::percent(level)
        ));
    } else if count == 0 && upper > level {
        let needed = ((1.0 - findings.bound_level).ln() / (-level).ln_1p()).ceil();
        lines.push(format!(
            "{needed} comparisons without one would show less than {} (--trials).",
            units::percent(level)
        ));
    }
    lines
}

fn summarize_slowdowns(findings: &SelfTestFindings) -> Vec<String> {
    let Rate {
        count, of, lower, ..
    } = findings.found;
    if of == 0 {
        return Vec::new();
    }
    let slowdown = units::percent(findings.slowdown);
    let share = count as f64 / of as f64;
    let mut lines = vec![format!(
        "Found: {count} of {} of {slowdown} ({}): at least {} of them, with {} confidence.",
        units::counted(of, "slowdown"),
        units::rounded_percent(share),
        units::rounded_percent(lower),
        units::percent(findings.bound_level),
    )];
    let wrong: usize = findings.rows.iter().map(SelfTestRow::wrong_direction).sum();
    if wrong > 0 {
        lines.push(format!("Called improved although slower: {wrong}."));
    }
    let thresholds = findings.rows.iter().map(|row| row.noise_threshold);
    let (least, most) = thresholds.fold((f64::INFINITY, 0.0_f64), |(least, most), threshold| {
        (least.min(threshold), most.max(threshold))
    });
    let range = if least < most {
        format!("{} to {}", units::percent(least), units::percent(most))
    } else {
        units::percent(most)
    };
    lines.push(format!(
        "Noise threshold: {range}. A slowdown is called if its whole interval lies beyond it."
    ));
    if findings.slowdown <= most {
        lines.push(format!(
            "A slowdown of {slowdown} is no more than that, and cannot be called. If it matters: --noise-threshold {}.",
            units::percent(findings.slowdown / 4.0).replace(' ', "")
        ));
    } else if share < FEW {
        lines.push(format!(
            "To find more: --rounds {} (at most {} now) or a longer --time-budget, fewer benchmarks at a time, or --noise-threshold {}.",
            2 * findings.rounds,
            findings.rounds,
            units::percent(most / 2.0).replace(' ', "")
        ));
    }
    lines
}

fn write_messages(writer: &mut dyn Write, findings: &SelfTestFindings) -> io::Result<()> {
    for row in &findings.rows {
        write_message(writer, JsonMessage::SelfTestBenchmark(row.into()))?;
    }
    write_message(writer, JsonMessage::SelfTestFinished(findings))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(same: &[Verdict], slowed: &[Verdict]) -> SelfTestFindings {
        let key = BenchmarkKey {
            package: "p".into(),
            target: "t".into(),
            id: "sort/10".into(),
        };
        let row = SelfTestRow {
            same: same.to_vec(),
            slowed: slowed.to_vec(),
            time: Duration::from_secs(30),
            ..SelfTestRow::new(&key, 0.01)
        };
        SelfTestFindings {
            false_alarms: Rate {
                count: row.false_alarms(),
                of: row.comparisons_with_itself(),
                lower: 0.0,
                upper: 0.4507,
            },
            found: Rate {
                count: row.slowdowns_found(),
                of: row.comparisons_with_slowed(),
                lower: 0.343,
                upper: 1.0,
            },
            rows: vec![row],
            skipped: vec![SkippedBenchmark {
                key,
                why: "its harness cannot slow itself down".to_owned(),
            }],
            slowdown: 0.02,
            trials: 5,
            rounds: 60,
            significance_level: 0.01,
            bound_level: 0.95,
            seed: 7,
            interrupted: false,
            exit_code: 0,
        }
    }

    fn shown(findings: &SelfTestFindings) -> String {
        let mut text = Vec::new();
        let view = View {
            columns: usize::MAX,
            screenful: usize::MAX,
            verbosity: crate::report::view::Verbosity::Usual,
            arrangement: crate::report::view::RowOrder::Targets,
            only: None,
        };
        write_self_test(&mut text, findings, MessageFormat::Human, &view).expect("written");
        let text = String::from_utf8(text).expect("text");
        anstream::adapter::strip_str(&text).to_string()
    }

    use Verdict::{Improved, Inconclusive, Regressed, Unchanged};

    #[test]
    fn the_conclusion_counts_alarms_and_finds_with_their_bounds_and_says_what_to_do() {
        let findings = findings(
            &[Unchanged; 5],
            &[Regressed, Regressed, Inconclusive, Regressed, Inconclusive],
        );
        insta::assert_snapshot!(shown(&findings));
    }

    #[test]
    fn a_slowdown_that_is_noise_by_definition_is_no_surprise() {
        let mut findings = findings(&[Unchanged; 5], &[Unchanged; 5]);
        findings.slowdown = 0.01;
        let text = shown(&findings);
        assert!(text.contains("cannot be called"), "{text}");
        assert!(text.contains("--noise-threshold 0.25%"), "{text}");
    }

    #[test]
    fn alarms_beyond_the_level_and_the_wrong_direction_are_named() {
        let mut findings = findings(&[Regressed, Improved, Unchanged], &[Improved, Regressed]);
        findings.false_alarms.lower = 0.13;
        let text = shown(&findings);
        assert!(text.contains("False alarms: 2 in 3"), "{text}");
        assert!(text.contains("more than the significance level"), "{text}");
        assert!(text.contains("improved although slower: 1"), "{text}");
    }
}
