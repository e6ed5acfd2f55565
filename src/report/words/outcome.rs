//! The last line of a run or comparison: the outcome, the run, its verdicts and the exit status.

use std::io::{self, Write};

use super::sentences;
use crate::report::view::wrap_prose;
use crate::report::{theme, units};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::{Findings, Row, RunNote};
use perfcheck_analysis::model::{RunId, Tally, Verdict};

/// The outcome of a run or comparison.
pub(crate) struct RunOutcome {
    run: RunId,
    exit_code: u8,
    /// Reasons for the exit status that are not verdicts
    reasons: Vec<String>,
    tally: Tally,
    benchmarks: usize,
    /// Whether the run is one shard of a suite; only the merged run is judged
    is_part: bool,
    /// The reference; `None` if there was nothing to compare with
    reference: Option<String>,
}

impl RunOutcome {
    /// Creates the outcome of a run with all its findings.
    pub(crate) fn from_findings(findings: &Findings<'_>) -> Self {
        let has_reference = |row: &Row<'_>| {
            let missed = [Verdict::Incomparable, Verdict::Missing].map(Some);
            row.comparison.is_some() || row.sameness().is_some() || missed.contains(&row.verdict)
        };
        let verdicts = findings.verdicts.as_ref();
        let reference = verdicts.filter(|_| findings.rows.iter().any(has_reference));
        let exceeded = verdicts.map_or(0, |verdicts| verdicts.limits.exceeded.len());
        let targets = findings.failed_targets.len();
        let mut outcome = Self::from_verdicts(
            findings.run.id,
            findings.exit_code,
            findings.tally(),
            findings.rows.len(),
        );
        let is = |code: ExitCode| findings.exit_code == code.number();
        let remarks = verdicts.iter().flat_map(|verdicts| &verdicts.remarks);
        let missing = remarks.filter_map(|remark| match remark {
            RunNote::PartsMissing { parts } => Some(parts.len()),
            _ => None,
        });
        let missing: usize = missing.sum();
        let failed = outcome.tally.count(Verdict::Failed) + targets + missing > 0;
        let reasons = [
            (missing > 0).then(|| format!("{} missing", units::counted(missing, "part"))),
            (targets > 0).then(|| format!("{} failed", units::counted(targets, "bench target"))),
            (is(ExitCode::BenchmarkFailed) && !failed).then(|| "nothing was measured".to_owned()),
            is(ExitCode::NoBaseline).then(|| "nothing was comparable".to_owned()),
            (exceeded > 0).then(|| format!("{} exceeded", units::counted(exceeded, "limit"))),
        ];
        outcome.reasons = reasons.into_iter().flatten().collect();
        outcome.is_part = findings.run.begun.partition.is_some();
        outcome.reference =
            reference.map(|verdicts| theme::escape_terminal_text(&verdicts.reference));
        outcome
    }

    /// Creates the outcome of a run of which only the verdicts are known.
    pub(crate) fn from_verdicts(
        run: RunId,
        exit_code: u8,
        tally: Tally,
        benchmarks: usize,
    ) -> Self {
        Self {
            run,
            exit_code,
            reasons: Vec::new(),
            tally,
            benchmarks,
            is_part: false,
            reference: None,
        }
    }

    /// Returns `OK`, `FAIL` or `STOPPED`.
    pub(crate) fn word(&self) -> &'static str {
        match self.exit_code {
            code if code == ExitCode::Clean.number() => "OK",
            code if code == ExitCode::Interrupted.number() => "STOPPED",
            _ => "FAIL",
        }
    }

    /// Lists the reasons for the outcome, with verdicts formatted by `write`: `1 limit exceeded; 2 of 13 regressed, 11 unchanged`.
    pub(crate) fn describe_reasons(&self, write: impl Fn(Verdict) -> String) -> String {
        let counts = self.tally.iter().enumerate().map(|(at, (verdict, count))| {
            let of = match at {
                0 => format!(" of {}", self.benchmarks),
                _ => String::new(),
            };
            format!("{count}{of} {}", write(verdict))
        });
        let counts: Vec<String> = counts.collect();
        let counts = match (counts.is_empty(), self.benchmarks) {
            (false, _) => Some(counts.join(", ")),
            (true, 0) => None,
            (true, measured) => Some(format!("{measured} measured")),
        };
        let reasons = (!self.reasons.is_empty()).then(|| self.reasons.join(", "));
        let parts: Vec<String> = reasons.into_iter().chain(counts).collect();
        if parts.is_empty() {
            "no benchmarks".to_owned()
        } else {
            parts.join("; ")
        }
    }

    /// Returns the last line of a command; `exit` is the verb before its status. The reference is not shortened in narrow terminals.
    fn line(&self, exit: &str, columns: usize) -> String {
        let is_good = self.exit_code == ExitCode::Clean.number();
        let word = self.word();
        let coloured = theme::outcome(word, is_good);
        let is_let = is_good && self.tally.count(Verdict::Regressed) > 0;
        let is_let = match (is_let, self.is_part) {
            (true, true) => ", which `merge` decides about",
            (true, false) => ", which `--fail-on` allows",
            (false, _) => "",
        };
        let grounds = self.describe_reasons(theme::verdict);
        let versus = self.reference.as_ref();
        let versus = versus.map_or_else(String::new, |reference| format!(" vs {reference}"));
        let words = |gap: &str| {
            let (run, code) = (self.run, self.exit_code);
            format!("run {run}: {grounds}{versus}{is_let}{gap}{exit} {code}")
        };
        let line = format!("{coloured}  {}", words("   "));
        if units::width(&line) <= columns {
            return line;
        }
        let indent = " ".repeat(word.len() + 2);
        let words = wrap_prose(&words("; "), columns, &indent);
        format!("{coloured}  {words}")
    }
}

/// Writes the outcome, the last line of a command.
pub(crate) fn write_outcome(
    writer: &mut dyn Write,
    outcome: &RunOutcome,
    columns: usize,
) -> io::Result<()> {
    writeln!(writer, "{}", outcome.line("exit", columns))
}

/// Writes the outcome of a stored run. `same` is the number of benchmarks that were not measured because both builds run the same code.
pub fn write_outcome_of_run(
    writer: &mut dyn Write,
    run: RunId,
    exit_code: u8,
    (tally, benchmarks, same): (Tally, usize, usize),
    columns: usize,
) -> io::Result<()> {
    if let Some(said) = sentences::summarize_same_code(same, benchmarks) {
        writeln!(writer, "{}", wrap_prose(&said, columns, ""))?;
    }
    let outcome = RunOutcome::from_verdicts(run, exit_code, tally, benchmarks);
    writeln!(writer, "{}", outcome.line("exited", columns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Failed, Inconclusive, New, Regressed, Unchanged};

    fn outcome(exit_code: ExitCode, verdicts: &[Verdict], reasons: &[&str]) -> RunOutcome {
        let tally = verdicts.iter().copied().collect();
        RunOutcome {
            reasons: reasons.iter().map(|reason| (*reason).to_owned()).collect(),
            reference: (!verdicts.is_empty()).then(|| "run 3".to_owned()),
            ..RunOutcome::from_verdicts(RunId(12), exit_code.number(), tally, verdicts.len())
        }
    }

    #[track_caller]
    fn says(outcome: &RunOutcome, expected: &str) {
        let line = outcome.line("exit", usize::MAX);
        assert_eq!(anstream::adapter::strip_str(&line).to_string(), expected);
    }

    #[test]
    fn a_reference_has_one_name_at_every_width() {
        let reference = "the last accepted run 4 of `main`".to_owned();
        let outcome = RunOutcome {
            reference: Some(reference.clone()),
            ..outcome(ExitCode::Clean, &[Unchanged, Unchanged], &[])
        };
        for columns in [40, 60, 80, 120] {
            let line = outcome.line("exit", columns);
            let words: Vec<&str> = line.split_whitespace().collect();
            assert!(words.join(" ").contains(&reference), "{columns}: {line}");
        }
    }

    #[test]
    fn every_status_that_a_comparison_can_have_has_its_line() {
        says(
            &outcome(ExitCode::Clean, &[Unchanged, Unchanged, Inconclusive], &[]),
            "OK  run 12: 1 of 3 inconclusive, 2 unchanged vs run 3   exit 0",
        );
        says(
            &outcome(ExitCode::Clean, &[Regressed, Unchanged], &[]),
            "OK  run 12: 1 of 2 regressed, 1 unchanged vs run 3, which `--fail-on` allows   exit 0",
        );
        says(
            &outcome(ExitCode::Regression, &[Regressed, Regressed], &[]),
            "FAIL  run 12: 2 of 2 regressed vs run 3   exit 1",
        );
        says(
            &outcome(ExitCode::Regression, &[Unchanged], &["1 limit exceeded"]),
            "FAIL  run 12: 1 limit exceeded; 1 of 1 unchanged vs run 3   exit 1",
        );
        says(
            &outcome(ExitCode::BenchmarkFailed, &[Failed, Unchanged], &[]),
            "FAIL  run 12: 1 of 2 failed, 1 unchanged vs run 3   exit 4",
        );
        says(
            &outcome(ExitCode::BenchmarkFailed, &[], &["nothing was measured"]),
            "FAIL  run 12: nothing was measured   exit 4",
        );
        says(
            &outcome(ExitCode::NoBaseline, &[New], &["nothing was comparable"]),
            "FAIL  run 12: nothing was comparable; 1 of 1 new vs run 3   exit 6",
        );
        says(
            &outcome(ExitCode::Interrupted, &[Unchanged], &[]),
            "STOPPED  run 12: 1 of 1 unchanged vs run 3   exit 130",
        );
    }

    #[test]
    fn the_outcome_of_a_stored_run_is_told_as_past_and_long_ones_take_several_lines() {
        let mut text = Vec::new();
        let tally = [Regressed, Unchanged].into_iter().collect();
        write_outcome_of_run(&mut text, RunId(3), 1, (tally, 2, 0), usize::MAX).expect("written");
        let text = String::from_utf8(text).expect("text");
        assert_eq!(
            anstream::adapter::strip_str(&text).to_string(),
            "FAIL  run 3: 1 of 2 regressed, 1 unchanged   exited 1\n"
        );
        let long = outcome(
            ExitCode::Regression,
            &[Regressed, Failed, New, Unchanged],
            &[],
        );
        let long = long.line("exit", 40);
        let long = anstream::adapter::strip_str(&long).to_string();
        assert!(
            long.lines().all(|line| line.chars().count() <= 40),
            "{long}"
        );
        assert!(long.ends_with("exit 1"), "{long}");
    }
}
