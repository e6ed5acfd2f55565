//! The sentences about a benchmark that all reports share. Also the severity of its result, and the last line of a run or comparison.
//!
//! The texts are not escaped: each report escapes them for its format.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{analysis, extras, remarks};
use crate::output::view::wrap_prose;
use crate::output::{terminal, units};
use perfcheck_analysis::compare::{Comparison, Note, Summary};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::{ExceededLimit, FailedTarget, Findings, Method, Row, RunNote};
use perfcheck_analysis::model::{
    BenchmarkKey, BySide, Failure, Metric, Run, RunId, RunStatus, Side, Statistic, Tally, Verdict,
};

/// Maximum length of a text that comes from elsewhere, such as a panic message, in characters. Longer texts are cut.
const LONGEST_SENTENCE: usize = 500;
/// Maximum number of benchmarks that a sentence names. If there are more, it counts them.
const MAX_NAMED_BENCHMARKS: usize = 3;

/// How serious a benchmark's result is, for CI systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RowSeverity {
    /// The benchmark could not be measured.
    Error,
    /// The result makes the command exit with status 1.
    Failure,
    /// The user should look at the result.
    Warning,
    /// The benchmark has no problem that is known.
    Fine,
}

impl RowSeverity {
    /// Returns how serious the result of a row is. `fail_on` has the verdicts that make the command exit with status 1.
    pub(crate) fn from_row(row: &Row<'_>, findings: &Findings<'_>, fail_on: &[Verdict]) -> Self {
        match row.verdict {
            Some(Verdict::Failed) => Self::Error,
            Some(verdict) if fail_on.contains(&verdict) => Self::Failure,
            _ if exceeded_limits(row, findings).next().is_some() => Self::Failure,
            Some(Verdict::Regressed | Verdict::Suspect | Verdict::Missing) => Self::Warning,
            _ => Self::Fine,
        }
    }
}

/// Returns the limits (`--limit`) that a benchmark exceeds. The first benchmark of a bench target also has the limits that its executable exceeds.
pub(crate) fn exceeded_limits<'f>(
    row: &'f Row<'_>,
    findings: &'f Findings<'_>,
) -> impl Iterator<Item = &'f ExceededLimit> {
    let is_of_target =
        move |key: &BenchmarkKey| key.package == row.key.package && key.target == row.key.target;
    let mut rows = findings.rows.iter().map(|one| &one.key);
    let is_first = rows.find(|key| is_of_target(key)) == Some(&row.key);
    let all = findings.verdicts.iter();
    all.flat_map(|verdicts| &verdicts.limits.exceeded)
        .filter(move |exceeded| {
            let is_of_executable = exceeded.key.id.is_empty() && is_of_target(&exceeded.key);
            exceeded.key == row.key || is_of_executable && is_first
        })
}

/// Returns all rows, those with the worst verdicts first and within a verdict those with the largest slowdown.
pub(crate) fn rows_worst_first<'f, 'm>(findings: &'f Findings<'m>) -> Vec<&'f Row<'m>> {
    let change = |row: &Row<'_>| {
        let comparison = row.comparison.as_ref();
        let change = comparison.and_then(|comparison| comparison.change);
        change.map_or(f64::NEG_INFINITY, |change| change.estimate)
    };
    let mut rows: Vec<&Row<'m>> = findings.rows.iter().collect();
    rows.sort_by(|a, b| {
        // A benchmark without a verdict comes last.
        (a.verdict.is_none(), a.verdict)
            .cmp(&(b.verdict.is_none(), b.verdict))
            .then(change(b).total_cmp(&change(a)))
            .then_with(|| a.key.cmp_natural(&b.key))
    });
    rows
}

/// Says how many benchmarks are inconclusive, because readers might take them for unchanged. Returns `None` if there are none.
pub(crate) fn summarize_undecided(findings: &Findings<'_>) -> Option<String> {
    let open = findings.tally().count(Verdict::Inconclusive);
    let slower = count_looking_slower(&findings.rows);
    let slower = match slower {
        0 => String::new(),
        1 if open == 1 => " and looks slower".to_owned(),
        1 => "; 1 of them looks slower".to_owned(),
        some => format!("; {some} of them look slower"),
    };
    (open > 0).then(|| {
        format!(
            "{} {} inconclusive{slower}.",
            units::counted(open, "benchmark"),
            if open == 1 { "is" } else { "are" }
        )
    })
}

/// Counts the inconclusive benchmarks that look slower: their estimated slowdown exceeds the noise threshold and is too clear to be mere noise, but
/// not certain enough for `regressed` ([`Row::looks_slower`]).
pub(crate) fn count_looking_slower<'r, 'm: 'r>(
    rows: impl IntoIterator<Item = &'r Row<'m>>,
) -> usize {
    rows.into_iter()
        .filter(|row| row.verdict == Some(Verdict::Inconclusive) && row.looks_slower())
        .count()
}

/// Returns the unit and meaning of a row's samples, which are times if the row has no measurement.
pub(crate) fn metric<'a>(row: &'a Row<'_>) -> &'a Metric {
    row.measurement
        .map_or(&Metric::Time, |measurement| &measurement.benchmark.metric)
}

/// Formats the median of a row with its unit.
pub(crate) fn median(row: &Row<'_>) -> Option<String> {
    let summary = row.summary.as_ref()?;
    Some(units::value(metric(row), summary.median.estimate))
}

/// Formats the interval of a row's median with its unit. Returns `None` if a bound is unknown.
pub(crate) fn median_interval(row: &Row<'_>) -> Option<String> {
    let median = &row.summary.as_ref()?.median;
    let is_known = median.lower.is_finite() && median.upper.is_finite();
    is_known.then(|| units::interval(metric(row), median.lower, median.upper))
}

/// Formats the two values that the change relates, in the unit of the statistic that the verdict is about.
pub(crate) fn format_compared_values(
    row: &Row<'_>,
    findings: &Findings<'_>,
) -> Option<BySide<String>> {
    let subject = findings.decision().analysis.subject;
    format_values(row.comparison.as_ref()?, subject, metric(row))
}

/// Formats the two values of a comparison whose verdict is about `subject`.
pub(crate) fn format_values(
    comparison: &Comparison,
    subject: Statistic,
    metric: &Metric,
) -> Option<BySide<String>> {
    let values = comparison.compared?;
    let write = |value| match subject {
        Statistic::Allocations | Statistic::Instructions => units::count(value),
        Statistic::Bytes | Statistic::Peak => units::bytes(value),
        Statistic::Latency(_) => units::time(value),
        _ => units::value(metric, value),
    };
    Some(BySide {
        base: write(values.base),
        candidate: write(values.candidate),
    })
}

/// Returns a sentence that explains why the interval of the median is wide: the samples form two groups. Returns `None` if they do not.
pub(crate) fn describe_modes(summary: &Summary, metric: &Metric) -> Option<String> {
    let [fast, slow] = summary.modes?;
    let write = |value| units::format_cost(metric, value);
    Some(format!(
        "the samples form two groups, near {} and {}, and the interval of the median spans both",
        write(fast),
        write(slow)
    ))
}

/// Formats the change of a row with its sign. Returns `None` if nothing was tested.
pub(crate) fn change(row: &Row<'_>) -> Option<String> {
    let change = row.comparison.as_ref()?.change?;
    Some(units::change(change.estimate))
}

/// Formats the interval of a row's change. An unknown bound is a question mark. Returns `None` if both bounds are unknown.
pub(crate) fn change_interval(row: &Row<'_>) -> Option<String> {
    let change = row.comparison.as_ref()?.change?;
    let is_known = change.lower.is_finite() || change.upper.is_finite();
    is_known.then(|| units::change_interval(change.lower, change.upper))
}

/// Formats the confidence level of the intervals of changes. Returns `None` if nothing was compared.
pub(crate) fn change_level(findings: &Findings<'_>) -> Option<String> {
    let verdicts = findings.verdicts.as_ref()?;
    Some(units::percent(analysis::interval_level(&verdicts.decision)))
}

/// Describes the change of a benchmark in numbers:
/// `+8.30 % (98 % interval [+8.21 %, +8.40 %]), 12.31 µs → 13.33 µs, compared with the last accepted run`.
pub(crate) fn describe_numbers(row: &Row<'_>, findings: &Findings<'_>) -> String {
    let changed = change(row).map(
        |change| match (change_interval(row), change_level(findings)) {
            (Some(interval), Some(level)) => format!("{change} ({level} interval {interval})"),
            _ => change,
        },
    );
    let reference = row.comparison.as_ref().and(findings.verdicts.as_ref());
    let parts = [
        changed,
        match format_compared_values(row, findings) {
            Some(values) => Some(format!("{} → {}", values.base, values.candidate)),
            None => median(row).map(|median| format!("median {median}")),
        },
        reference.map(|verdicts| format!("compared with {}", verdicts.reference)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The reason why a report mentions a benchmark.
pub(crate) struct Problem {
    /// The verdict's word, or `limit` if the benchmark exceeds a `--limit`.
    pub(crate) word: &'static str,
    pub(crate) sentence: String,
    /// The note on the benchmark that `sentence` repeats, if any. A report then leaves that note out.
    repeated_note: Option<String>,
}

/// Describes why a report mentions a benchmark. `fail_on` has the verdicts that make the command exit with status 1.
pub(crate) fn describe_problem(
    row: &Row<'_>,
    findings: &Findings<'_>,
    fail_on: &[Verdict],
) -> Problem {
    let word = row.verdict.map_or("measured", Verdict::word);
    let is_wanted = row.verdict.is_some_and(|found| fail_on.contains(&found));
    if !is_wanted && let Some(found) = exceeded_limits(row, findings).next() {
        let sentence = remarks::describe_excess(found);
        return Problem {
            word: "limit",
            repeated_note: Some(truncate(&sentence, LONGEST_SENTENCE)),
            sentence,
        };
    }
    let mut repeated_note = None;
    let more = match row.verdict {
        Some(Verdict::Missing) => "in the reference but not in this run".to_owned(),
        Some(Verdict::Incomparable | Verdict::Failed) => {
            repeated_note = notes(row, findings).into_iter().next();
            repeated_note.clone().unwrap_or_default()
        }
        _ => describe_numbers(row, findings),
    };
    let colon = if more.is_empty() { "" } else { ": " };
    Problem {
        word,
        sentence: format!("{word}{colon}{more}"),
        repeated_note,
    }
}

/// Returns the notes on a benchmark, without the one that `problem` repeats.
pub(crate) fn notes_beyond(
    row: &Row<'_>,
    findings: &Findings<'_>,
    problem: &Problem,
) -> Vec<String> {
    let mut notes = notes(row, findings);
    notes.retain(|note| Some(note) != problem.repeated_note.as_ref());
    notes
}

/// Returns the notes on a benchmark, with one sentence for each: exceeded limits, changes of allocations and the like, differing conditions, remarks
/// and failures.
pub(crate) fn notes(row: &Row<'_>, findings: &Findings<'_>) -> Vec<String> {
    let excesses = exceeded_limits(row, findings).map(remarks::describe_excess);
    let moved = row.comparison.iter();
    let moved = moved.flat_map(|found| extras::describe_changes(found, metric(row)));
    let differences = row
        .blocking
        .iter()
        .map(|found| format!("differs in {found}"));
    excesses
        .chain(moved)
        .chain(differences)
        .chain(remarks_on(row, |_| true, metric(row)))
        .chain(describe_failures(row, |processes| {
            units::counted(processes.len(), "process")
        }))
        .map(|sentence| truncate(&sentence, LONGEST_SENTENCE))
        .collect()
}

/// Returns the notes on the comparison of a row for which `is_told` is true, the remarks on the row, and the summary that the user requested.
pub(crate) fn remarks_on<'r>(
    row: &'r Row<'_>,
    is_told: impl Fn(&Note) -> bool + 'r,
    metric: &'r Metric,
) -> impl Iterator<Item = String> + 'r {
    let comparison = row.comparison.as_ref();
    let summary = row.summary.as_ref();
    let modes = summary.and_then(|summary| describe_modes(summary, metric));
    let limits = comparison.map_or(&[][..], |found| &found.notes);
    let centers = comparison.and_then(|found| analysis::describe_centers(found, metric));
    let changes = comparison.and_then(analysis::describe_sample_changes);
    limits
        .iter()
        .filter(move |note| is_told(note))
        .map(Note::to_string)
        .chain(modes)
        .chain(remarks::row_remarks(row))
        .chain(changes)
        .chain(centers)
}

/// Returns true if the verdict of a row needs no explanation.
pub(crate) fn is_fine(row: &Row<'_>) -> bool {
    matches!(
        row.verdict,
        Some(Verdict::Unchanged | Verdict::Improved | Verdict::New)
    )
}

/// Returns each distinct failure message with the numbers, from 1, of the processes that failed with it.
pub(crate) fn group_by_message(failures: &[Failure]) -> Vec<(String, Vec<u32>)> {
    let mut found: Vec<(String, Vec<u32>)> = Vec::new();
    for failure in failures {
        let message = describe_failure(failure.side, &failure.message);
        let number = failure.process + 1;
        match found.iter_mut().find(|(known, _)| *known == message) {
            Some((_, processes)) => processes.push(number),
            None => found.push((message, vec![number])),
        }
    }
    found
}

/// Describes the failure of a process. If the process ran the reference, the text says so, because the change of the code did not cause the failure.
pub fn describe_failure(side: Side, message: &str) -> String {
    match side {
        Side::Base => format!("the reference failed: {message}"),
        Side::Candidate => message.to_owned(),
    }
}

/// Describes the failures of a row, with one sentence for each distinct message. `in_processes` formats the numbers of the processes that failed with
/// it.
pub fn describe_failures(row: &Row<'_>, in_processes: impl Fn(&[u32]) -> String) -> Vec<String> {
    let failures = row.measurement.map_or(&[][..], |found| &found.failures);
    let failures = group_by_message(failures).into_iter();
    failures
        .map(|(message, processes)| format!("failed in {}: {message}", in_processes(&processes)))
        .collect()
}

/// Formats the numbers of processes: `process 1` or `processes 2, 3`.
pub(crate) fn format_processes(processes: &[u32]) -> String {
    let numbers: Vec<String> = processes.iter().map(u32::to_string).collect();
    let noun = units::plural(processes.len(), "process");
    format!("{noun} {}", numbers.join(", "))
}

/// Describes why a bench target failed before it had listed all its benchmarks.
pub(crate) fn describe_target_failure(failed: &FailedTarget) -> String {
    let message = truncate(&failed.message, LONGEST_SENTENCE);
    format!("failed before it listed all its benchmarks: {message}")
}

/// Returns the text with a capital first letter.
pub(crate) fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// Says how many benchmarks were not measured because both sides run the same machine code. Returns `None` if there are none.
pub(crate) fn summarize_unmeasured(findings: &Findings<'_>) -> Option<String> {
    let rows = &findings.rows;
    let same = rows.iter().filter(|row| row.is_same_code()).count();
    summarize_same_code(same, rows.len())
}

/// Says that `same` of the `of` benchmarks were not measured because both sides run the same machine code. Returns `None` if `same` is 0.
pub(super) fn summarize_same_code(same: usize, of: usize) -> Option<String> {
    let all = units::counted(of, "benchmark");
    let counted = if same == of {
        format!("{all} unchanged: both builds run the same machine code, so nothing was measured.")
    } else {
        format!(
            "{same} of {all} unchanged and not measured: both builds run the same machine code for them."
        )
    };
    (same > 0).then_some(counted)
}

/// If a side-by-side run has several references, says which reference is that of which benchmarks: `` Run 3 is the reference for `a`; run 1 for the
/// other 5 benchmarks. ``. Otherwise returns `None`.
pub(crate) fn describe_references(findings: &Findings<'_>) -> Option<String> {
    let verdicts = findings.verdicts.as_ref()?;
    let mut groups: BTreeMap<RunId, Vec<String>> = BTreeMap::new();
    for row in &findings.rows {
        let is_compared = row.comparison.is_some() || row.sameness().is_some();
        if let (true, [Some(run)]) = (is_compared, &row.reference[..]) {
            let id = units::escape_id(&row.key.id);
            groups.entry(*run).or_default().push(id);
        }
    }
    if verdicts.method != Method::Paired || groups.len() < 2 {
        return None;
    }
    let mut groups: Vec<(RunId, Vec<String>)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, ids)| ids.len());
    let last = groups.len() - 1;
    let parts = groups.iter().enumerate().map(|(at, (run, ids))| {
        let verb = if at == 0 {
            "is the reference for"
        } else {
            "for"
        };
        let ids = match &ids[..] {
            ids if at == last && ids.len() > MAX_NAMED_BENCHMARKS => {
                format!("the other {}", units::counted(ids.len(), "benchmark"))
            }
            [first, .., _] if ids.len() > MAX_NAMED_BENCHMARKS => {
                format!("`{first}` and {} more", ids.len() - 1)
            }
            ids => format!("`{}`", ids.join("`, `")),
        };
        format!("run {run} {verb} {ids}")
    });
    let parts: Vec<String> = parts.collect();
    Some(format!("{}.", capitalize(&parts.join("; "))))
}

/// Describes each reported change in a sentence, if at most two benchmarks were compared. For more benchmarks, the table is easier to read. Ids are
/// shortened for lines of `columns`.
pub(crate) fn describe_called_changes(findings: &Findings<'_>, columns: usize) -> Vec<String> {
    let compared = findings.rows.iter().filter(|row| row.comparison.is_some());
    let rows: Vec<&Row<'_>> = compared.collect();
    if rows.len() > 2 {
        return Vec::new();
    }
    rows.into_iter()
        .filter_map(|row| describe_called_change(row, findings, columns))
        .collect()
}

/// Describes a reported change: `` `sort/10` takes 1.25 ± 0.03 times as long: 2.16 µs → 2.70 µs. ``
fn describe_called_change(
    row: &Row<'_>,
    findings: &Findings<'_>,
    columns: usize,
) -> Option<String> {
    let is_called = matches!(row.verdict, Some(Verdict::Regressed | Verdict::Improved));
    let change = row.comparison.as_ref()?.change.filter(|_| is_called)?;
    let BySide { base, candidate } = format_compared_values(row, findings)?;
    let id = units::id_in_prose(&row.key.id, columns);
    let half = (change.upper - change.lower) / 2.0;
    let extent = if half.is_finite() {
        let digits = usize::try_from(1 - half.log10().floor() as i64).unwrap_or(0);
        let digits = digits.clamp(2, 6);
        format!("{:.digits$} ± {half:.digits$}", 1.0 + change.estimate)
    } else {
        format!("{:.2}", 1.0 + change.estimate)
    };
    let (has, as_much) = match findings.decision().analysis.subject {
        Statistic::Time => ("takes", "times as long".to_owned()),
        other => ("has", format!("times the {other}")),
    };
    Some(format!(
        "`{id}` {has} {extent} {as_much}: {base} → {candidate}."
    ))
}

/// Describes the geometric mean of all changes. Returns `None` unless a change was reported and more than two benchmarks were compared.
pub(crate) fn describe_geometric_mean(findings: &Findings<'_>) -> Option<String> {
    let (benchmarks, change) = findings.mean_change()?;
    Some(format!(
        "All {} together: {} (geometric mean of the changes).",
        units::counted(benchmarks, "benchmark"),
        units::change(change)
    ))
}

/// Formats a number of benchmarks with a verb: `1 benchmark was` or `2 benchmarks were`.
pub(crate) fn count_with_verb(count: usize) -> String {
    let verb = if count == 1 { "was" } else { "were" };
    format!("{} {verb}", units::counted(count, "benchmark"))
}

/// Returns a sentence that says that a run was interrupted, so that only some of its results are known. Returns `None` for a complete run.
pub(crate) fn describe_incomplete_run(run: &Run) -> Option<String> {
    (run.status == RunStatus::Incomplete).then(|| remarks::describe_incomplete(run.id))
}

/// Cuts a text after this number of characters. An ellipsis stands for the rest.
pub(crate) fn truncate(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Shortens a name to this number of characters. An ellipsis replaces its middle, because both ends are more informative.
pub(crate) fn shorten(name: &str, characters: usize) -> String {
    let length = name.chars().count();
    if length <= characters {
        return name.to_owned();
    }
    let tail = characters / 3;
    let head: String = name.chars().take(characters - tail - 1).collect();
    let end: String = name.chars().skip(length - tail).collect();
    format!("{head}…{end}")
}

/// The outcome of a run or comparison, which the last line of a command shows.
pub(crate) struct RunOutcome {
    run: RunId,
    exit_code: u8,
    /// Reasons for the exit status other than verdicts, such as an exceeded limit.
    reasons: Vec<String>,
    tally: Tally,
    benchmarks: usize,
    /// Whether the run measured only a part of the suite (`--partition`). Such a run is not judged: `merge` judges all parts together.
    is_part: bool,
    /// The reference; `None` if there was nothing to compare with.
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
            reference.map(|verdicts| terminal::escape_terminal_text(&verdicts.reference));
        outcome
    }

    /// Creates the outcome of a run from its verdicts and its exit code alone.
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

    /// Lists the reasons for the outcome: `1 limit exceeded; 2 of 13 regressed, 11 unchanged`. `write` formats a verdict.
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

    /// Returns the last line of a command. `exit` is the verb before the exit status: `exit` for this command, or `exited` for one that ended
    /// earlier. The line is broken if it is wider than `columns`.
    fn line(&self, exit: &str, columns: usize) -> String {
        let is_good = self.exit_code == ExitCode::Clean.number();
        let word = self.word();
        let coloured = terminal::outcome(word, is_good);
        let is_let = is_good && self.tally.count(Verdict::Regressed) > 0;
        let is_let = match (is_let, self.is_part) {
            (true, true) => "; `merge` decides",
            (true, false) => ", which `--fail-on` allows",
            (false, _) => "",
        };
        let grounds = self.describe_reasons(terminal::verdict);
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

/// Writes the outcome of a run or comparison. It is the last line of a command.
pub(crate) fn write_outcome(
    writer: &mut dyn Write,
    outcome: &RunOutcome,
    columns: usize,
) -> io::Result<()> {
    writeln!(writer, "{}", outcome.line("exit", columns))
}

/// Writes the outcome of a run that ended earlier. `same` is the number of benchmarks that were not measured because both builds run the same code.
pub fn write_outcome_of_run(
    writer: &mut dyn Write,
    run: RunId,
    exit_code: u8,
    (tally, benchmarks, same): (Tally, usize, usize),
    columns: usize,
) -> io::Result<()> {
    if let Some(sentence) = summarize_same_code(same, benchmarks) {
        writeln!(writer, "{}", wrap_prose(&sentence, columns, ""))?;
    }
    let outcome = RunOutcome::from_verdicts(run, exit_code, tally, benchmarks);
    writeln!(writer, "{}", outcome.line("exited", columns))
}

#[cfg(test)]
mod tests {
    use Verdict::{Failed, Inconclusive, New, Regressed, Unchanged};

    use super::*;

    #[test]
    fn long_texts_are_cut_at_their_end_and_names_in_the_middle() {
        assert_eq!(truncate("größer", 6), "größer");
        assert_eq!(truncate("größere", 4), "größ…");
        assert_eq!(shorten("abcdefghi", 9), "abcdefghi");
        assert_eq!(shorten("abcdefghij", 9), "abcde…hij");
    }

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
